# Sourced by scripts/lib/throwaway: a throw-away MariaDB server (10.4 or newer).
#
# It listens on 127.0.0.1 only and has one user, with a random password, so that nobody else on the
# machine becomes its administrator. What it promises is what a production server promises: each
# commit is flushed.

server_programs='mariadb-install-db mariadbd'
server_fast=TERM
# On SIGQUIT it would shut down in order.
server_immediate=KILL

server_init() {
    mariadbd=$(find_binary mariadbd)
    mariadb_settings >"$dir/my.cnf"
    mariadb_user | secret "$dir/user.sql"
    # Its temporary files go with the folder, too.
    if ! as_user mkdir "$dir/tmp" ||
        ! as_user timeout 120 "$(find_binary mariadb-install-db)" --defaults-file="$dir/my.cnf" \
            --auth-root-authentication-method=normal --skip-test-db --extra-file="$dir/user.sql" \
            </dev/null >"$dir/install.log" 2>&1; then
        fail "mariadb: mariadb-install-db failed: $(tail_of "$dir/install.log")"
        return 1
    fi
    rm "$dir/user.sql"
}

# Nobody needs a socket, whose path could be too long, too. Names are not resolved, so that a slow
# resolver slows no connection down.
mariadb_settings() {
    cat <<SETTINGS
[mariadbd]
datadir = $dir/data
tmpdir = $dir/tmp
pid-file = $dir/server.pid
bind-address = 127.0.0.1
socket =
skip-name-resolve
max_connections = 400
character-set-server = utf8mb4
innodb_flush_log_at_trx_commit = 1
innodb_buffer_pool_size = 64M
innodb_log_file_size = 32M
performance_schema = OFF
SETTINGS
}

# The installation's own users have no password.
mariadb_user() {
    cat <<SQL
DELETE FROM mysql.global_priv WHERE User <> 'mariadb.sys';
DELETE FROM mysql.proxies_priv;
FLUSH PRIVILEGES;
CREATE USER tasklock@'%' IDENTIFIED BY '$password';
GRANT ALL ON *.* TO tasklock@'%' WITH GRANT OPTION;
SQL
}

# THROWAWAY_OPTIONS has more options for it, as words.
server_launch() {
    # shellcheck disable=SC2086 # a list of words
    launch "$mariadbd" --defaults-file="$dir/my.cnf" --port="$1" ${THROWAWAY_OPTIONS:-}
}

server_ready() {
    logged 'ready for connections'
}

server_pid() {
    cat "$dir/server.pid"
}

server_url() {
    printf '%s\n' "mysql://tasklock:$password@127.0.0.1:$1/mysql"
}
