"""Bars of jobs a second: the median, and a whisker from the least to the most."""

import statistics
from html import escape
from figures import Pick

WIDTH, LEFT, RIGHT, TOP, ROW, BAR = 760, 236, 96, 58, 34, 18
FONT = "-apple-system, 'Segoe UI', Helvetica, Arial, sans-serif"
STYLE = """
  text { font: 13px FONT; fill: #1f2328; }
  .title { font-size: 15px; font-weight: 600; }
  .small { font-size: 11px; fill: #59636e; }
  .bar { fill: #8c959f; }
  .ours { fill: #0969da; }
  .limit { fill: none; stroke: #8c959f; stroke-dasharray: 3 2; }
  .whisker { stroke: #1f2328; stroke-width: 1.5; }
  .grid { stroke: #d1d9e0; stroke-width: 1; }
  @media (prefers-color-scheme: dark) {
    text { fill: #f0f6fc; }
    .small { fill: #9198a1; }
    .bar { fill: #6e7681; }
    .ours { fill: #4493f8; }
    .limit { stroke: #9198a1; }
    .whisker { stroke: #f0f6fc; }
    .grid { stroke: #3d444d; }
  }
""".replace("FONT", FONT)


def bars(rounds):
    """Names, classes and values, the raw statements first, the others from the fastest on."""
    def of(system, **told):
        pick = Pick("throughput", "jobs_per_s", system=system, store="postgres", keep=False, **told)
        return [value for value in map(pick.in_round, rounds) if value is not None]

    raw = max((of("raw", batch=batch) for batch in (100, 500)), key=lambda values: statistics.median(values or [0]))
    found = [("tasklock", "ours", of("tasklock", slots=16))]
    for system in ("graphile_worker", "apalis"):
        found.append((system, "bar", of(system)))
    for system, jobs in (("sqlxmq", "5,000"), ("underway", "2,000"), ("fang", "2,000")):
        found.append((f"{system} (of {jobs} jobs)", "bar", of(system)))
    found = [bar for bar in found if bar[2]]
    found.sort(key=lambda bar: -statistics.median(bar[2]))
    return [("raw statements, no queue", "limit", raw)] * bool(raw) + found


def throughput(rounds):
    rows = bars(rounds)
    most = max((max(values) for _, _, values in rows), default=1)
    step = next(step for size in (1, 10, 100, 1_000, 10_000, 100_000, 1_000_000)
                for step in (size, 2 * size, 5 * size) if most / step <= 6)
    end = -(-most // step) * step
    height = TOP + ROW * len(rows) + 26

    def x(value):
        return LEFT + (WIDTH - LEFT - RIGHT) * value / end

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}" role="img">',
        "<title>Jobs a second on Postgres</title>",
        f"<style>{STYLE}</style>",
        '<text class="title" x="12" y="24">Jobs a second on Postgres</text>',
        f'<text class="small" x="12" y="42">20,000 no-op jobs, 16 slots, ended jobs deleted (apalis and underway keep them); '
        f'median of {len(rounds)}, least to most</text>',
    ]
    value = 0
    while value <= end:
        parts.append(f'<line class="grid" x1="{x(value):.1f}" y1="{TOP}" x2="{x(value):.1f}" y2="{height - 22}"/>')
        parts.append(f'<text class="small" x="{x(value):.1f}" y="{height - 8}" text-anchor="middle">{value:,.0f}</text>')
        value += step
    for number, (name, kind, values) in enumerate(rows):
        middle = TOP + ROW * number + ROW / 2
        median, least, top = statistics.median(values), min(values), max(values)
        parts.append(f'<text x="{LEFT - 10}" y="{middle + 4.5:.1f}" text-anchor="end">{escape(name)}</text>')
        parts.append(f'<rect class="{kind}" x="{LEFT}" y="{middle - BAR / 2:.1f}" width="{max(x(median) - LEFT, 1):.1f}" '
                     f'height="{BAR}" rx="2"/>')
        if len(values) > 1:
            parts.append(f'<path class="whisker" d="M{x(least):.1f} {middle:.1f}H{x(top):.1f}'
                         f'M{x(least):.1f} {middle - 4:.1f}v8M{x(top):.1f} {middle - 4:.1f}v8"/>')
        parts.append(f'<text x="{x(top) + 8:.1f}" y="{middle + 4.5:.1f}">{median:,.0f}</text>')
    return "\n".join(parts + ["</svg>"]) + "\n"
