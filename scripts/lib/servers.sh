# Sourced by scripts/test (bash): the throw-away servers of one run.

# For each server: the descriptor on which it is told what to do, and the process that keeps it.
server_inputs=()
server_keepers=()

# start_server KIND NAME VARIABLE: starts one, and exports its URL under this variable.
start_server() {
    local kind=$1 name=$2 variable=$3 input output answer pid url
    mkfifo "$work/$kind.in" "$work/$kind.out"
    # Each end waits until the other one is opened, so both sides open them in the same order.
    (release_servers && exec sh scripts/lib/throwaway "$kind") \
        <"$work/$kind.in" >"$work/$kind.out" &
    server_keepers+=("$!")
    exec {input}>"$work/$kind.in" {output}<"$work/$kind.out"
    server_inputs+=("$input")
    rm -f "$work/$kind.in" "$work/$kind.out"
    ask_server "$name" "$output"
    printf 'start\n' >&"$input"
    ask_server "$name" "$output"
    exec {output}<&-
    read -r pid url <<<"$answer"
    export "$variable=$url"
    say "$name: started ${url##*@} (process $pid)"
}

# Reads an answer of a server's keeper into the caller's answer.
ask_server() {
    answer=
    read -r answer <&"$2" || true
    case $answer in
    ok*) answer=${answer#ok} ;;
    *)
        say "$1: cannot be started: ${answer#error }"
        exit 1
        ;;
    esac
}

# For processes that shall not hold the servers.
release_servers() {
    local input
    for input in "${server_inputs[@]}"; do
        exec {input}>&-
    done
}

# Ends all servers and waits until they have gone.
stop_servers() {
    release_servers
    local keeper
    for keeper in "${server_keepers[@]}"; do
        wait "$keeper" || true
    done
}
