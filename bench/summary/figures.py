"""The lines of all rounds, and what can be picked from them."""

import collections
import json
import statistics

# They keep what has ended, whatever they are told.
KEEPERS = ("apalis", "underway")
# Those that are named beside their figures.
STORES = {"sqlite": "SQLite", "mariadb": "MariaDB", "redis": "Redis"}
# What a run was told; all else in its line is a figure.
OPTIONS = ["measurement", "system", "store", "jobs", "slots", "keep", "across", "batch", "minutes", "complete"]


def rounds(results):
    """The lines of each round, in the order of the rounds."""
    found = collections.defaultdict(list)
    for path in sorted(results.glob("*.*.jsonl")):
        number = int(path.suffixes[-2].lstrip("."))
        with path.open(encoding="utf-8") as lines:
            found[number] += [json.loads(line) for line in lines if line.strip()]
    return [found[number] for number in sorted(found)]


class Pick:
    """A figure of those runs that were told this, the best of them; `in_round` is None where there is none."""

    def __init__(self, measurement, figure, best=max, **told):
        self.figure, self.best = figure, best
        self.told = {"measurement": measurement, **told}

    def lines(self, lines):
        def fits(line):
            return all(
                line.get(name) in value if isinstance(value, tuple) else line.get(name) == value
                for name, value in self.told.items()
            )

        return [line for line in lines if fits(line) and self.figure in line]

    def in_round(self, lines):
        return self.best((line[self.figure] for line in self.lines(lines)), default=None)


def spread(values):
    """The median, and the least and the most where there are several."""
    text = number(statistics.median(values))
    if len(values) > 1:
        text += f" ({number(min(values))}–{number(max(values))})"
    return text


def number(value):
    """Three digits, or all that stand before the point."""
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def table(rounds):
    """All figures of all runs."""
    rows = collections.OrderedDict()
    for lines in rounds:
        for line in lines:
            for figure, value in line.items():
                if figure not in OPTIONS:
                    rows.setdefault((about(line), figure), []).append(value)
    yield "| run | figure | median (least–most) |"
    yield "| --- | --- | --- |"
    for (run, figure), values in sorted(rows.items()):
        yield f"| {run} | {figure} | {spread(values)} |"


def about(line):
    """What a run was told, in words."""
    words = [line["measurement"], line["system"]]
    if line["store"] in STORES:
        words.append(STORES[line["store"]])
    if line["measurement"] in ("throughput", "backlog", "heartbeat"):
        words.append(f"{line['jobs']:,} jobs")
    if line["measurement"] == "throughput":
        words.append("kept" if line["keep"] or line["system"] in KEEPERS else "deleted")
        if line["store"] != "sqlite" or line["system"] != "raw":
            words.append(f"{line['slots'] or 'default'} {'connections' if line['system'] == 'raw' else 'slots'}")
        if "batch" in line:
            words.append(f"batches of {line['batch']}")
        if not line["complete"]:
            words.append("stopped after 60 s")
    if line["measurement"] == "churn":
        words.append(f"{line['jobs']:,} jobs a second for {line['minutes']} minutes")
    if line["across"]:
        words.append("another process enqueues")
    return ", ".join(words)
