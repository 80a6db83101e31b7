# Sourced by scripts/lib/throwaway: a throw-away PostgreSQL server (13 or newer).
#
# It listens on 127.0.0.1 only and wants a random password, so that no other user of the machine
# becomes its superuser. What it promises is what a production server promises: fsync stays on.

server_programs='initdb postgres'

server_init() {
    initdb=$(find_binary initdb)
    postgres=$(find_binary postgres)
    password=$(random_password)
    data=$dir/data
    port=
    (umask 077 && printf '%s\n' "$password" >"$dir/password") && chown "$user" "$dir/password"
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

server_start() {
    postgres_tries=1
    if [ -z "$port" ]; then
        postgres_tries=20
    fi
    while :; do
        postgres_port=${port:-$(random_port)}
        # Each start's log is looked at alone, and kept.
        cat "$log" >>"$log.old" 2>/dev/null
        : >"$log"
        launch "$postgres" -D "$data" -p "$postgres_port"
        if until_within 60 postgres_decided && ! launched_ended; then
            break
        fi
        postgres_tries=$((postgres_tries - 1))
        if ! launched_ended; then
            fail "postgres: it is not ready after 60 s: $(tail_of "$log")"
            kill_launched
            return 1
        fi
        if [ "$postgres_tries" -le 0 ] || ! grep -q 'Address already in use' "$log"; then
            fail "postgres: it does not start: $(tail_of "$log")"
            return 1
        fi
    done
    port=$postgres_port
    pid=$(postgres_pid)
    url=postgres://tasklock:$password@127.0.0.1:$port/postgres
}

postgres_pid() {
    head -n 1 "$data/postmaster.pid" 2>/dev/null
}

# It has ended, or it accepts connections. A crashed server's file may still be there: then it names
# another process.
postgres_decided() {
    launched_ended ||
        { sed -n 8p "$data/postmaster.pid" 2>/dev/null | grep -q '^ready' && alive "$(postgres_pid)"; }
}

# server_stop fast|immediate
server_stop() {
    case $1 in
    fast) kill -INT "$pid" ;;
    immediate) kill -QUIT "$pid" ;;
    *)
        fail "postgres: no such way to stop: $1"
        return 1
        ;;
    esac
    if ! until_within 30 launched_ended; then
        fail "postgres: it does not stop: $(tail_of "$log")"
        return 1
    fi
}
