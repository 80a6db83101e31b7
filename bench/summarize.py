"""A table of the lines that `bench/run` has written: medians, with the least and the most."""

import collections
import json
import statistics
import sys

FIGURES = ["jobs_per_s", "batched_per_s", "single_per_s", "callers_per_s", "p50_ms", "p99_ms", "most_ms",
           "transactions_per_job", "client_cpu_us_per_job"]

rows = collections.OrderedDict()
with open(sys.argv[1], encoding="utf-8") as lines:
    for line in map(json.loads, lines):
        about = [line["measurement"], line["system"]]
        if line["measurement"] == "throughput":
            about.append("kept" if line["keep"] else "deleted")
            about.append(f"{line['slots']} " + ("slots" if line["system"] == "tasklock" else "connections"))
        for figure in FIGURES:
            if figure in line:
                rows.setdefault((", ".join(about), figure), []).append(line[figure])

print("| measurement | figure | median (least–most) |")
print("| --- | --- | --- |")
for (about, figure), values in rows.items():
    median = statistics.median(values)
    print(f"| {about} | {figure} | {median:,g} ({min(values):,g}–{max(values):,g}) |")
