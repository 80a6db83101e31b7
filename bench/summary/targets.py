"""The targets, and how far they are reached."""

import statistics
from figures import Pick, spread

PEERS = ("graphile_worker", "apalis", "sqlxmq", "underway", "fang")
# Batches, and the connections that were tried with them.
RAW = ((100, "2, 4, 16"), (500, "2, 4"))
RAW_ELSEWHERE = {"mariadb": "1, 2, 4, 16", "redis": "1, 2, 4"}
POSTGRES, SQLITE = {"store": "postgres"}, {"store": "sqlite"}


def jobs(system, keep=False, **told):
    if system == "tasklock":
        told = {"slots": 16, **told}
    return Pick("throughput", "jobs_per_s", system=system, keep=keep, **told)


def enqueue(system, figure, **told):
    return Pick("enqueue", figure, system=system, **told)


def latency(system, figure, store, across=False):
    return Pick("latency", figure, min, system=system, across=across, **store)


def ours(measurement, figure, **told):
    return Pick(measurement, figure, system="tasklock", **told)


def leases(system, figure, **told):
    return Pick("leases", figure, system=system, **told)


def held(figure, **told):
    return ours("heartbeat", figure, jobs=10_000, **told)


# Target, what is measured, against what, at least or at most how much, ours, theirs (or nothing), commands.
ROWS = [
    ("T1", "20,000 jobs, ended ones deleted", "graphile_worker, its fastest", ">=", 1.2,
     jobs("tasklock", **POSTGRES), jobs("graphile_worker", **POSTGRES), "throughput"),
    *(
        ("T1", "the same", f"raw, batches of {batch}, best of {connections} connections", ">=", 0.8,
         jobs("tasklock", **POSTGRES), jobs("raw", batch=batch, **POSTGRES), f"throughput --batch {batch} --slots {connections}")
        for batch, connections in RAW
    ),
    *(
        ("T2", "20,000 jobs, ended ones kept", f"raw, batches of {batch}, best of {connections} connections", ">=", 0.8,
         jobs("tasklock", True, **POSTGRES), jobs("raw", True, batch=batch, **POSTGRES),
         f"throughput --keep --batch {batch} --slots {connections}")
        for batch, connections in RAW
    ),
    ("T3", "the same at default settings", "with 16 slots", ">=", 0.8,
     jobs("tasklock", True, slots=None, **POSTGRES), jobs("tasklock", True, **POSTGRES), "throughput --keep --slots default"),
    ("T4", "enqueued, many in a call", "the best peer", ">=", 2,
     enqueue("tasklock", "batched_per_s", **POSTGRES), enqueue(PEERS, "batched_per_s", **POSTGRES), "enqueue"),
    ("T4", "one by one", "raw", ">=", 0.95,
     enqueue("tasklock", "single_per_s", **POSTGRES), enqueue("raw", "single_per_s", **POSTGRES), "enqueue"),
    ("T4", "by 16 callers at once", "raw, a statement per job", ">=", 3,
     enqueue("tasklock", "callers_per_s", **POSTGRES), enqueue("raw", "callers_per_s", **POSTGRES), "enqueue"),
    ("T5", "enqueued → handler, median", "raw", "<=", 1.3,
     latency("tasklock", "p50_ms", POSTGRES), latency("raw", "p50_ms", POSTGRES), "latency"),
    ("T5", "the same, 99th percentile", "raw", "<=", 1.3,
     latency("tasklock", "p99_ms", POSTGRES), latency("raw", "p99_ms", POSTGRES), "latency"),
    ("T5", "the same", "the best peer", "<=", 1,
     latency("tasklock", "p99_ms", POSTGRES), latency(PEERS, "p99_ms", POSTGRES), "latency"),
    ("T6", "named leases, 16 callers", "raw, a statement per operation", ">=", 2,
     leases("tasklock", "callers_per_s", **POSTGRES), leases("raw", "callers_per_s", **POSTGRES), "leases"),
    ("T6", "one caller", "raw", ">=", 0.9,
     leases("tasklock", "single_per_s", **POSTGRES), leases("raw", "single_per_s", **POSTGRES), "leases"),
    ("T7", "10,000 leases held, % of one core", "", "<=", 1, held("cpu_percent", **POSTGRES), None, "heartbeat"),
    ("T7", "transactions a beat", "", "<=", 21, held("transactions_per_beat", **POSTGRES), None, "heartbeat"),
    ("T7", "share of heap-only updates", "", ">=", 0.95, held("hot_ratio", **POSTGRES), None, "heartbeat"),
    ("T7", "bytes a lease", "", "<=", 1024, held("bytes_per_lease", **POSTGRES), None, "heartbeat"),
    ("T8", "idle with 200 scheduled tasks, transactions/s", "", "<=", 0.2,
     ours("idle", "transactions_per_s", **POSTGRES), None, "idle --slots 1"),
    ("T9", "the first 20,000 of a backlog of 5,000,000", "20,000 alone", ">=", 0.8,
     ours("backlog", "ratio", jobs=5_000_000, **POSTGRES), None, "backlog"),
    ("T10", "8 processes", "one", ">=", 0.9, ours("fleet", "ratio", **POSTGRES), None, "fleet"),
    ("T10", "8 idle ones with a slot every second, transactions", "one", "<=", 2,
     ours("fleet", "ticking_of_8", **POSTGRES), ours("fleet", "ticking_of_1", **POSTGRES), "fleet"),
    ("T11", "SQLite: 20,000 jobs, ended ones deleted", "raw, batches of 100 or 500", ">=", 0.8,
     jobs("tasklock", **SQLITE), jobs("raw", **SQLITE), "throughput"),
    ("T11", "the same", "the best peer", ">=", 3, jobs("tasklock", **SQLITE), jobs(PEERS, **SQLITE), "throughput"),
    ("T11", "SQLite: enqueued, many in a call", "raw", ">=", 0.8,
     enqueue("tasklock", "batched_per_s", **SQLITE), enqueue("raw", "batched_per_s", **SQLITE), "enqueue"),
    ("T11", "the same", "the best peer", ">=", 3,
     enqueue("tasklock", "batched_per_s", **SQLITE), enqueue(PEERS, "batched_per_s", **SQLITE), "enqueue"),
    ("T11", "SQLite: one by one", "raw", ">=", 0.8,
     enqueue("tasklock", "single_per_s", **SQLITE), enqueue("raw", "single_per_s", **SQLITE), "enqueue"),
    ("T11", "SQLite: another process enqueues → handler, 99th percentile, ms", "", "<=", 60,
     latency("tasklock", "p99_ms", SQLITE, True), None, "latency --across"),
    ("T11", "the same in one process", "", "<=", 2, latency("tasklock", "p99_ms", SQLITE), None, "latency"),
    ("T12", "a run's first step → handler, ns", "", "<=", 2_000, ours("micro", "span_to_handler_ns"), None, "micro"),
    ("T12", "`lease.check()`", "clock_gettime", "<=", 2, ours("micro", "check_ns"), ours("micro", "clock_ns"), "micro"),
    ("T13", "killed → runs elsewhere, ms beyond the ttl", "", "<=", 100, ours("takeover", "over_ttl_ms", **POSTGRES), None, "takeover"),
    ("T13", "stopped → runs elsewhere, ms", "", "<=", 100, ours("takeover", "stopped_ms", **POSTGRES), None, "takeover"),
]


def elsewhere(name, store):
    """The same targets on another store, where the raw loop is all that there is to compare with."""
    told, connections = {"store": store}, RAW_ELSEWHERE[store]
    for target, keep, work in (("T1", False, "20,000 jobs, ended ones deleted"), ("T2", True, "20,000 jobs, ended ones kept")):
        for batch in (100, 500):
            yield (target, f"{name}: {work}", f"raw, batches of {batch}, best of {connections} connections", ">=", 0.8,
                   jobs("tasklock", keep, **told), jobs("raw", keep, batch=batch, **told),
                   f"throughput {'--keep ' * keep}--batch {batch} --slots {connections}")
    for work, figure, bound in (("enqueued, many in a call", "batched_per_s", 0.8), ("enqueued one by one", "single_per_s", 0.95),
                                ("enqueued by 16 callers at once", "callers_per_s", 3)):
        yield ("T4", f"{name}: {work}", "raw", ">=", bound,
               enqueue("tasklock", figure, **told), enqueue("raw", figure, **told), "enqueue")
    for work, figure in (("median", "p50_ms"), ("99th percentile", "p99_ms")):
        yield ("T5", f"{name}: enqueued → handler, {work}", "raw", "<=", 1.3,
               latency("tasklock", figure, told), latency("raw", figure, told), "latency")
    if store == "redis":
        yield ("T5", f"{name}: another process enqueues → handler, median", "raw", "<=", 1.3,
               latency("tasklock", "p50_ms", told, True), latency("raw", "p50_ms", told, True), "latency --across")
    for work, figure, bound in (("16 callers", "callers_per_s", 2), ("one caller", "single_per_s", 0.9)):
        yield ("T6", f"{name}: named leases, {work}", "raw", ">=", bound,
               leases("tasklock", figure, **told), leases("raw", figure, **told), "leases")
    yield ("T7", f"{name}: 10,000 leases held, % of one core", "", "<=", 1, held("cpu_percent", **told), None, "heartbeat")
    yield ("T10", f"{name}: 8 processes", "one", ">=", 0.9, ours("fleet", "ratio", **told), None, "fleet")
    yield ("T13", f"{name}: killed → runs elsewhere, ms beyond the ttl", "", "<=", 100,
           ours("takeover", "over_ttl_ms", **told), None, "takeover")
    yield ("T13", f"{name}: stopped → runs elsewhere, ms", "", "<=", 100,
           ours("takeover", "stopped_ms", **told), None, "takeover")


def table(rounds, rows):
    yield "| | work | against | target | measured | | command |"
    yield "| --- | --- | --- | --- | --- | --- | --- |"
    for target, work, against, sign, bound, own, other, command in rows:
        values = [value for value in (compared(lines, own, other) for lines in rounds) if value is not None]
        times = "×" if against else ""
        wanted = f"{'≥' if sign == '>=' else '≤'} {bound:,}{times}"
        if values:
            median = statistics.median(values)
            met = "met" if (median >= bound if sign == ">=" else median <= bound) else "missed"
            measured = spread(values) + times
        else:
            measured, met = "not measured", ""
        yield f"| {target} | {work} | {against} | {wanted} | {measured} | {met} | `{command}` |"


def compared(lines, own, other):
    """Ours, or its ratio to theirs, in one round."""
    value = own.in_round(lines)
    if value is None or other is None:
        return value
    against = other.in_round(lines)
    return value / against if against else None
