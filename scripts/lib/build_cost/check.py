"""What annotated functions, and the macro itself, cost a build: see scripts/build-cost -h.

All figures are seconds of processor time of cargo and all that it starts, so that what else the machine does counts less.
"""

import os
import pathlib
import resource
import shutil
import statistics
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from checks import Checks

ROOT = pathlib.Path(__file__).resolve().parents[3]
FUNCTIONS = 200
MOST_OF_A_FUNCTION = 3.0
MOST_OF_THE_MACRO = 1.15
RUNTIME = f'tasklock-runtime = {{ path = "{ROOT}/tasklock-runtime", default-features = false }}'

HEAD = """\
#![allow(unused_imports)]
use tasklock_runtime::{LeaseContext, TaskResult};

pub fn edited() -> u32 {
    0
}
"""

# What somebody would write who has no macro: a struct of the essential, and one registration.
BY_HAND = """
pub struct Registered {
    pub name: &'static str,
    pub ttl: u64,
    pub every: u64,
    pub run: fn(LeaseContext) -> std::pin::Pin<Box<dyn Future<Output = TaskResult> + Send>>,
}
inventory::collect!(Registered);
"""


def function(number):
    return f"""
pub async fn task_{number}(lease: LeaseContext) -> TaskResult {{
    lease.check()?;
    Ok(())
}}
"""


def annotated(count):
    attribute = '\n#[tasklock_runtime::locked_task(ttl = "30s", every = "5m")]'
    return HEAD + "".join(attribute + function(number) for number in range(count))


def by_hand(count):
    registration = """inventory::submit! {{
    Registered {{ name: "task_{0}", ttl: 30, every: 300, run: |lease| Box::pin(task_{0}(lease)) }}
}}
"""
    tasks = "".join(function(number) + registration.format(number) for number in range(count))
    return HEAD + BY_HAND + tasks


def package(folder, name, text, dependencies):
    (folder / name / "src").mkdir(parents=True)
    (folder / name / "src/lib.rs").write_text(text)
    (folder / name / "Cargo.toml").write_text(
        f'[package]\nname = "{name}"\nversion = "0.0.0"\nedition = "2024"\npublish = false\n\n[dependencies]\n' + "\n".join(dependencies) + "\n"
    )


class Builds:
    def __init__(self, folder, target):
        self.folder, self.target = folder, target

    def cost(self, arguments, incremental, target=None):
        environment = dict(os.environ, CARGO_TARGET_DIR=str(target or self.target), CARGO_INCREMENTAL=str(int(incremental)))
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(["cargo", *arguments, "--quiet"], cwd=self.folder, env=environment, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    def clean(self, name):
        (self.folder / name / "src/lib.rs").touch()
        return self.cost(["build", "-p", name], incremental=False)

    def after_an_edit(self, name, number):
        file = self.folder / name / "src/lib.rs"
        text = file.read_text()
        start = text.index("pub fn edited() -> u32 {\n    ") + len("pub fn edited() -> u32 {\n    ")
        file.write_text(text[:start] + str(number) + text[text.index("\n}", start) :])
        return self.cost(["build", "-p", name], incremental=True)

    def from_nothing(self, package):
        target = self.target / "from-nothing"
        shutil.rmtree(target, ignore_errors=True)
        cost = self.cost(["build", "-p", package], incremental=False, target=target)
        shutil.rmtree(target)
        return cost


def spread(values, unit="s", scale=1):
    low, middle, high = min(values) * scale, statistics.median(values) * scale, max(values) * scale
    return f"{middle:.2f} {unit} ({low:.2f}–{high:.2f})"


def write(folder):
    manifest = (ROOT / "Cargo.toml").read_text()
    # The very features of the macro's own dependency.
    syn = next(line for line in manifest.splitlines() if line.startswith("syn = "))
    quote = next(line for line in manifest.splitlines() if line.startswith("quote = "))
    package(folder, "none", annotated(0), [RUNTIME])
    package(folder, "annotated", annotated(FUNCTIONS), [RUNTIME])
    package(folder, "by-hand-none", by_hand(0), [RUNTIME, 'inventory = "0.3"'])
    package(folder, "by-hand", by_hand(FUNCTIONS), [RUNTIME, 'inventory = "0.3"'])
    package(folder, "alone", "", [syn, quote])
    package(folder, "macro-alone", "", [f'tasklock-macros = {{ path = "{ROOT}/tasklock-macros" }}'])
    (folder / "Cargo.toml").write_text('[workspace]\nresolver = "3"\nmembers = ["*"]\n')
    for name in ("Cargo.lock", "rust-toolchain.toml"):
        (folder / name).write_bytes((ROOT / name).read_bytes())


def main(folder, rounds):
    folder, target = pathlib.Path(folder), pathlib.Path(os.environ["CARGO_TARGET_DIR"])
    write(folder)
    builds, checks = Builds(folder, target), Checks()
    names = ["none", "annotated", "by-hand-none", "by-hand"]
    print(f"{rounds} rounds of {FUNCTIONS} functions; processor time, median (least–most)", flush=True)
    for incremental in (False, True):
        for name in names:
            builds.after_an_edit(name, 0) if incremental else builds.clean(name)
    clean, edit = {name: [] for name in names}, {name: [] for name in names}
    for number in range(rounds):
        for name in names:
            clean[name].append(builds.clean(name))
        # The first build after the other kind is whole.
        for name in names:
            builds.after_an_edit(name, 1000 + number)
            edit[name].append(builds.after_an_edit(name, 2000 + number))
    for what, costs in (("clean build", clean), ("build after an edit elsewhere in the crate", edit)):
        ours = [(full - none) / FUNCTIONS for full, none in zip(costs["annotated"], costs["none"])]
        theirs = [(full - none) / FUNCTIONS for full, none in zip(costs["by-hand"], costs["by-hand-none"])]
        print(f"        {what}, without a function: {spread(costs['none'])}; with {FUNCTIONS}: {spread(costs['annotated'])}")
        print(f"        {what}, a function: annotated {spread(ours, 'ms', 1000)}, by hand {spread(theirs, 'ms', 1000)}")
        ratio = statistics.median(ours) / statistics.median(theirs)
        checks.expect(f"{what}: an annotated function costs {ratio:.2f} × one by hand, at most {MOST_OF_A_FUNCTION}", ratio <= MOST_OF_A_FUNCTION, ratio)
    ours, alone = [], []
    for _ in range(rounds):
        ours.append(builds.from_nothing("macro-alone"))
        alone.append(builds.from_nothing("alone"))
    print(f"        from nothing: tasklock-macros {spread(ours)}, syn and quote alone {spread(alone)}")
    ratio = statistics.median(ours) / statistics.median(alone)
    checks.expect(f"from nothing: the macro costs {ratio:.2f} × syn and quote alone, at most {MOST_OF_THE_MACRO}", ratio <= MOST_OF_THE_MACRO, ratio)
    checks.end()


main(sys.argv[1], int(sys.argv[2]))
