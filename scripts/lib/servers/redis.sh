# Sourced by scripts/lib/throwaway: a throw-away Redis server (6 or newer).
#
# It listens on 127.0.0.1 only and wants a random password. It keeps nothing on disk: whatever way it
# is stopped, the next start is empty. A test that wants persistence sets it with CONFIG SET, and
# writes that with CONFIG REWRITE into the file that the next start reads.

server_programs='redis-server'
server_fast=TERM
server_immediate=KILL

server_init() {
    redis=$(find_binary redis-server)
    redis_settings | secret "$dir/redis.conf" && as_user mkdir "$dir/data"
}

# A replica that follows another such server has the same kind of password to give, and gets its data
# at once.
redis_settings() {
    cat <<SETTINGS
bind 127.0.0.1
requirepass $password
dir $dir/data
pidfile $dir/server.pid
save ""
appendonly no
repl-diskless-sync-delay 0
SETTINGS
}

server_launch() {
    launch "$redis" "$dir/redis.conf" --port "$1"
}

server_ready() {
    logged 'Ready to accept connections'
}

server_pid() {
    cat "$dir/server.pid"
}

server_url() {
    printf '%s\n' "redis://:$password@127.0.0.1:$1"
}
