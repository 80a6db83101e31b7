# Sourced by bench/run (bash): who takes part in which measurement, and with which options.

# wanted STORE: whether it takes part in this comparison. What has no store always does.
wanted() {
    [ "$1" = none ] || [ -n "${urls[$1]-}" ]
}

# one MEASUREMENT STORE SYSTEM [OPTION...]: one run. One that fails is told, and the others go on.
one() {
    local measurement=$1 store=$2 system=$3
    shift 3
    wanted "$store" || return 0
    if ! "$bench" "$measurement" --system "$system" "$@" ${urls[$store]:+--url "${urls[$store]}"} \
        >>"$results/$measurement.$store.$round.jsonl"; then
        say "failed: $measurement on $store --system $system $*"
        failed=$((failed + 1))
    fi
}

measure_throughput() {
    local keep told
    for keep in '' --keep; do
        # shellcheck disable=SC2086 # no word where there is none
        one throughput postgres tasklock $keep
        # 500 on 16 connections are slower than on fewer.
        for told in 100:2 100:4 100:16 500:2 500:4; do
            # shellcheck disable=SC2086
            one throughput postgres raw --batch "${told%:*}" --slots "${told#*:}" $keep
        done
    done
    one throughput postgres tasklock --slots default --keep
    one throughput postgres graphile_worker
    one throughput postgres apalis
    # These take long for 20,000: fewer jobs, with which they are not slower.
    one throughput postgres sqlxmq --jobs 5000
    one throughput postgres underway --jobs 2000
    one throughput postgres fang --jobs 2000
    for keep in '' --keep; do
        # shellcheck disable=SC2086
        one throughput sqlite tasklock $keep
        for told in 100 500; do
            # shellcheck disable=SC2086
            one throughput sqlite raw --batch "$told" $keep
        done
    done
    one throughput sqlite apalis
    one throughput sqlite fang --jobs 2000
    for keep in '' --keep; do
        # shellcheck disable=SC2086
        one throughput mariadb tasklock $keep
        for told in 100:1 100:2 100:4 100:16 500:1 500:2 500:4 500:16; do
            # shellcheck disable=SC2086
            one throughput mariadb raw --batch "${told%:*}" --slots "${told#*:}" $keep
        done
        # shellcheck disable=SC2086
        one throughput redis tasklock $keep
        # The server runs one script at a time: more connections than a few only wait.
        for told in 100:1 100:2 100:4 500:1 500:2 500:4; do
            # shellcheck disable=SC2086
            one throughput redis raw --batch "${told%:*}" --slots "${told#*:}" $keep
        done
    done
}

measure_enqueue() {
    local system store
    for system in tasklock raw graphile_worker apalis sqlxmq underway; do
        one enqueue postgres "$system"
    done
    # It has no call for many.
    one enqueue postgres fang --jobs 2000
    for system in tasklock raw apalis; do
        one enqueue sqlite "$system"
    done
    one enqueue sqlite fang --jobs 2000
    for store in mariadb redis; do
        one enqueue "$store" tasklock
        one enqueue "$store" raw
    done
}

measure_latency() {
    local system
    for system in tasklock raw graphile_worker apalis sqlxmq underway fang; do
        one latency postgres "$system"
    done
    one latency postgres tasklock --across
    for system in tasklock raw; do
        one latency sqlite "$system"
        one latency sqlite "$system" --across
        one latency redis "$system"
        one latency redis "$system" --across
        # From process to process tasklock polls there, once a second: that takes minutes, and says no more.
        one latency mariadb "$system"
    done
    one latency sqlite apalis --across
}

measure_leases() {
    local store
    for store in postgres mariadb redis; do
        one leases "$store" tasklock
        one leases "$store" raw
    done
}

measure_heartbeat() {
    local store
    for store in postgres mariadb redis; do
        one heartbeat "$store" tasklock
    done
}

# idle STORE SYSTEM: in the background, its line into a file that is gathered later.
idle() {
    wanted "$1" || return 0
    "$bench" idle --system "$2" --slots 1 --url "${urls[$1]}" >"$work/idle.$1.$2" &
    runs+=("$!")
}

# All at once, in databases of their own: those who have nothing to do do not disturb each other. MariaDB and Redis count
# for the whole server, so nobody else is there.
measure_idle() {
    local system store file runs=()
    for system in tasklock raw graphile_worker apalis sqlxmq underway fang; do
        idle postgres "$system"
    done
    for store in sqlite mariadb redis; do
        idle "$store" tasklock
    done
    for run in "${runs[@]}"; do
        wait "$run" || failed=$((failed + 1))
    done
    for file in "$work"/idle.*; do
        store=${file#"$work/idle."}
        cat "$file" >>"$results/idle.${store%%.*}.$round.jsonl"
        rm "$file"
    done
}

measure_backlog() {
    one backlog postgres tasklock
}

measure_churn() {
    one churn postgres tasklock
}

measure_fleet() {
    local store
    for store in postgres mariadb redis; do
        one fleet "$store" tasklock
    done
}

measure_takeover() {
    local store
    for store in postgres mariadb redis; do
        one takeover "$store" tasklock
    done
}

measure_micro() {
    one micro none tasklock
}
