# Sourced by scripts/lib/throwaway (POSIX sh): how a server of any kind is started and stopped.

# launch COMMAND...: runs the server as its user, in a session of its own, where no Ctrl-C reaches
# it. It stays a child of ours: so its id is free when it has ended, also where nobody cares for
# orphans.
#
# A test may want other surroundings for it: THROWAWAY_ENVIRONMENT has words NAME=VALUE, and
# THROWAWAY_CLOCK the seconds since 1970 that its clock shows at each start, for a library among
# these words that moves a clock as WORKER_CLOCK says.
launch() {
    rm -f "$dir/ended"
    surroundings=${THROWAWAY_ENVIRONMENT:-}
    if [ -n "${THROWAWAY_CLOCK:-}" ]; then
        surroundings="$surroundings WORKER_CLOCK=$((THROWAWAY_CLOCK - $(date +%s)))"
    fi
    {
        # shellcheck disable=SC2086 # a list of words
        as_user setsid env $surroundings "$@"
        : >"$dir/ended"
    } </dev/null >>"$log" 2>&1 &
    launched=$!
}

kill_launched() {
    for launched_child in $(children_of "$launched"); do
        kill_tree "$launched_child"
    done
}

launched_ended() {
    [ -e "$dir/ended" ]
}

# until_within SECONDS COMMAND...: waits until the command succeeds.
until_within() {
    tries=$(($1 * 20))
    shift
    until "$@"; do
        tries=$((tries - 1))
        [ "$tries" -gt 0 ] || return 1
        sleep 0.05
    done
}

# A port below the range from which the system takes ports for outgoing connections: so nothing
# takes it by chance while the server is stopped for a moment.
random_port() {
    printf '%s\n' $((20000 + $(od -An -N2 -tu2 /dev/urandom) % 12000))
}

# What the log of this start says.
logged() {
    grep -q "$1" "$log"
}

launch_decided() {
    launched_ended || server_ready
}

# Sets pid and url; the first start also sets port.
start_server() {
    start_tries=1
    if [ -z "$port" ]; then
        start_tries=20
    fi
    while :; do
        start_port=${port:-$(random_port)}
        # Each start's log is looked at alone, and kept.
        cat "$log" >>"$log.old" 2>/dev/null
        : >"$log"
        server_launch "$start_port"
        if until_within 60 launch_decided && ! launched_ended; then
            break
        fi
        start_tries=$((start_tries - 1))
        if ! launched_ended; then
            fail "$kind: it is not ready after 60 s: $(tail_of "$log")"
            kill_launched
            return 1
        fi
        if [ "$start_tries" -le 0 ] || ! logged 'Address already in use'; then
            fail "$kind: it does not start: $(tail_of "$log")"
            return 1
        fi
    done
    port=$start_port
    pid=$(server_pid)
    url=$(server_url "$port")
}

# stop_server fast|immediate
stop_server() {
    case $1 in
    fast) kill -s "$server_fast" "$pid" ;;
    immediate) kill -s "$server_immediate" "$pid" ;;
    *)
        fail "$kind: no such way to stop: $1"
        return 1
        ;;
    esac
    if ! until_within 30 launched_ended; then
        fail "$kind: it does not stop: $(tail_of "$log")"
        return 1
    fi
}
