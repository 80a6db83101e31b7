"""What `bench/run` has measured: main.py RESULTS writes RESULTS/README.md and RESULTS/throughput.svg."""

import pathlib
import sys

import figures
import plot
import targets

results = pathlib.Path(sys.argv[1])
rounds = figures.rounds(results)
text = [
    "# What was measured",
    "",
    "Made by `bench/run`; how, and of what, is told in [the benchmark's README](../README.md). Each figure is the median of "
    "the rounds (least–most). A ratio is taken in each round, between runs of that round, and then its median.",
    "",
    *targets.table(rounds, targets.ROWS),
    "",
    "On MariaDB and Redis, by the same targets as on Postgres:",
    "",
    *targets.table(rounds, [*targets.elsewhere("MariaDB", "mariadb"), *targets.elsewhere("Redis", "redis")]),
    "",
    "What is missed, where the time goes and what was tried is told in [PROFILE.md](../PROFILE.md).",
    "",
    "## All figures",
    "",
    *figures.table(rounds),
]
(results / "README.md").write_text("\n".join(text) + "\n", encoding="utf-8")
(results / "throughput.svg").write_text(plot.throughput(rounds), encoding="utf-8")
