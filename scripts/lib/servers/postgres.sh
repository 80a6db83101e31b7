# Sourced by scripts/lib/throwaway: a throw-away PostgreSQL server (13 or newer).
#
# It listens on 127.0.0.1 only and wants a random password, so that no other user of the machine
# becomes its superuser. What it promises is what a production server promises: fsync stays on.

server_programs='initdb postgres'
server_fast=INT
server_immediate=QUIT

server_init() {
    initdb=$(find_binary initdb)
    postgres=$(find_binary postgres)
    data=$dir/data
    printf '%s\n' "$password" | secret "$dir/password"
    if ! as_user "$initdb" --pgdata="$data" --username=tasklock --pwfile="$dir/password" \
        --auth=scram-sha-256 --encoding=UTF8 --locale=C --no-sync \
        </dev/null >"$dir/initdb.log" 2>&1; then
        fail "postgres: initdb failed: $(tail_of "$dir/initdb.log")"
        return 1
    fi
    postgres_settings >>"$data/postgresql.conf"
}

postgres_settings() {
    cat <<SETTINGS
listen_addresses = '127.0.0.1'
unix_socket_directories = ''
max_connections = 300
shared_buffers = 64MB
# In the data folder, so that a killed server leaves nothing in /dev/shm.
dynamic_shared_memory_type = mmap
log_line_prefix = '%m [%p] %d '
track_counts = on
SETTINGS
    # Counts of single statements; Debian's server package has it.
    postgres_modules=$(dirname "$(readlink -f "$postgres")")/../lib
    if [ -e "$postgres_modules/pg_stat_statements.so" ] ||
        [ -e "$("$(find_binary pg_config)" --pkglibdir 2>/dev/null)/pg_stat_statements.so" ]; then
        cat <<SETTINGS
shared_preload_libraries = 'pg_stat_statements'
pg_stat_statements.max = 10000
SETTINGS
    fi
}

server_launch() {
    launch "$postgres" -D "$data" -p "$1"
}

# A crashed server's file may still be there: then it names another process.
server_ready() {
    sed -n 8p "$data/postmaster.pid" 2>/dev/null | grep -q '^ready' && alive "$(server_pid)"
}

server_pid() {
    head -n 1 "$data/postmaster.pid" 2>/dev/null
}

server_url() {
    printf '%s\n' "postgres://tasklock:$password@127.0.0.1:$1/postgres"
}
