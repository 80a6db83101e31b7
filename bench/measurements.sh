# Sourced by bench/run (bash): who takes part in which measurement, and with which options.

# one MEASUREMENT SYSTEM [OPTION...]: one run. One that fails is told, and the others go on.
one() {
    local measurement=$1 system=$2
    shift 2
    if ! "$bench" "$measurement" --system "$system" "$@" >>"$results/$measurement.$round.jsonl"; then
        say "failed: $measurement --system $system $*"
        failed=$((failed + 1))
    fi
}

measure_throughput() {
    local keep told
    for keep in '' --keep; do
        # shellcheck disable=SC2086 # no word where there is none
        one throughput tasklock --url "$BENCH_URL" $keep
        # 500 on 16 connections are slower than on fewer.
        for told in 100:2 100:4 100:16 500:2 500:4; do
            # shellcheck disable=SC2086
            one throughput raw --batch "${told%:*}" --slots "${told#*:}" --url "$BENCH_URL" $keep
        done
    done
    one throughput tasklock --slots default --keep --url "$BENCH_URL"
    one throughput graphile_worker --url "$BENCH_URL"
    one throughput apalis --url "$BENCH_URL"
    # These take long for 20,000: fewer jobs, with which they are not slower.
    one throughput sqlxmq --jobs 5000 --url "$BENCH_URL"
    one throughput underway --jobs 2000 --url "$BENCH_URL"
    one throughput fang --jobs 2000 --url "$BENCH_URL"
    for keep in '' --keep; do
        # shellcheck disable=SC2086
        one throughput tasklock --url "$sqlite" $keep
        # shellcheck disable=SC2086
        one throughput raw --batch 100 --url "$sqlite" $keep
        # shellcheck disable=SC2086
        one throughput raw --batch 500 --url "$sqlite" $keep
    done
    one throughput apalis --url "$sqlite"
    one throughput fang --jobs 2000 --url "$sqlite"
}

measure_enqueue() {
    local system
    for system in tasklock raw graphile_worker apalis sqlxmq underway; do
        one enqueue "$system" --url "$BENCH_URL"
    done
    # It has no call for many.
    one enqueue fang --jobs 2000 --url "$BENCH_URL"
    for system in tasklock raw apalis; do
        one enqueue "$system" --url "$sqlite"
    done
    one enqueue fang --jobs 2000 --url "$sqlite"
}

measure_latency() {
    local system
    for system in tasklock raw graphile_worker apalis sqlxmq underway fang; do
        one latency "$system" --url "$BENCH_URL"
    done
    one latency tasklock --across --url "$BENCH_URL"
    for system in tasklock raw; do
        one latency "$system" --url "$sqlite"
        one latency "$system" --across --url "$sqlite"
    done
    one latency apalis --across --url "$sqlite"
}

measure_leases() {
    one leases tasklock --url "$BENCH_URL"
    one leases raw --url "$BENCH_URL"
}

measure_heartbeat() {
    one heartbeat tasklock --url "$BENCH_URL"
}

# All at once, in databases of their own: those who have nothing to do do not disturb each other.
measure_idle() {
    local system runs=()
    for system in tasklock raw graphile_worker apalis sqlxmq underway fang; do
        "$bench" idle --system "$system" --slots 1 --url "$BENCH_URL" >"$work/idle.$system" &
        runs+=("$!")
    done
    "$bench" idle --system tasklock --slots 1 --url "$sqlite" >"$work/idle.sqlite" &
    runs+=("$!")
    for run in "${runs[@]}"; do
        wait "$run" || failed=$((failed + 1))
    done
    cat "$work"/idle.* >>"$results/idle.$round.jsonl"
}

measure_backlog() {
    one backlog tasklock --url "$BENCH_URL"
}

measure_churn() {
    one churn tasklock --url "$BENCH_URL"
}

measure_fleet() {
    one fleet tasklock --url "$BENCH_URL"
}

measure_takeover() {
    one takeover tasklock --url "$BENCH_URL"
}

measure_micro() {
    one micro tasklock
}
