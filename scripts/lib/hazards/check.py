"""Builds and runs the packages of a generated workspace, and says what held: see scripts/hazards -h."""

import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from checks import Checks
from workspace import MAIN, ROOT, RUNTIME, TOKIO, Workspace, task

BOTH = (RUNTIME, TOKIO)


def path(name):
    return f'{name} = {{ path = "../{name}" }}'


def libraries(space):
    space.package("jobs", {"src/lib.rs": task("clean", 'every = "1h"')}, [RUNTIME])
    space.package("billing", {"src/lib.rs": task("clean") + task("bill")}, [RUNTIME])
    # A crate of a company's own, through which its applications get everything.
    space.package("facade", {"src/lib.rs": "pub use jobs;\npub use tasklock_runtime;\n"}, [RUNTIME, path("jobs")])
    macro = "#[macro_export]\nmacro_rules! job {\n    ($name:ident) => {" + task("$name") + "    };\n}\n"
    space.package("recipes", {"src/lib.rs": macro})


def programs(space):
    named = "use jobs as _;\n" + task("own") + MAIN
    space.package("unlinked", {"src/main.rs": MAIN}, [*BOTH, path("jobs")])
    space.package("linked", {"src/main.rs": named}, [*BOTH, path("jobs")])
    space.package("own-library", {"src/main.rs": MAIN, "src/lib.rs": task("mine")}, BOTH)
    space.package("chain", {"src/main.rs": "use facade as _;\n" + MAIN}, [*BOTH, path("facade")])
    both = "use billing as _;\nuse jobs as _;\n"
    space.package("same-name", {"src/main.rs": both + MAIN}, [*BOTH, path("jobs"), path("billing")])
    through = task("through", "crate = facade::tasklock_runtime").replace("tasklock_runtime::L", "facade::tasklock_runtime::L")
    through = through.replace("tasklock_runtime::T", "facade::tasklock_runtime::T").replace("#[task", "#[facade::task")
    main = MAIN.replace("tasklock_runtime", "facade::tasklock_runtime")
    space.package("through-facade", {"src/main.rs": through + main}, [TOKIO, path("facade")])
    renamed = (task("renamed", "crate = leases") + MAIN).replace("tasklock_runtime", "leases")
    leases = RUNTIME.replace("tasklock-runtime = {", 'leases = { package = "tasklock-runtime",')
    space.package("renamed", {"src/main.rs": renamed}, [leases, TOKIO])
    space.package("from-a-macro", {"src/main.rs": "recipes::job!(first);\nrecipes::job!(second);\n" + MAIN}, [*BOTH, path("recipes")])
    traced = task("above", rest="#[tracing::instrument(skip_all)]\n")
    traced += task("below").replace("pub async", '#[tracing::instrument(skip_all, fields(fence = lease.fence()))]\npub async')
    space.package("traced", {"src/main.rs": traced + MAIN}, [*BOTH, 'tracing = "0.1"'])
    for edition in ("2018", "2021", "2024"):
        space.package(f"edition-{edition}", {"src/main.rs": task("own", 'every = "1m"') + MAIN}, BOTH, edition)


def tests(space):
    count = """
#[cfg(test)]
mod tests {
    #[tokio::test]
    async fn it_starts() {
        assert_eq!(cycle_support::name(), "cyclic");
        let builder = tasklock_runtime::Runtime::builder().database_url("memory:").handle_signals(false);
        let runtime = builder.build().await.unwrap();
        runtime.shutdown_handle().shutdown();
        runtime.run().await.unwrap();
    }
}
"""
    cycle = f"[dev-dependencies]\n{path('cycle-support')}\n{TOKIO}\n"
    space.package("cycle", {"src/lib.rs": task("cyclic") + count}, [RUNTIME], more=cycle)
    space.package("cycle-support", {"src/lib.rs": "pub fn name() -> &'static str {\n    cycle::cyclic::NAME\n}\n"}, [path("cycle")])
    shown = task("shown") + MAIN.replace("builder()", 'builder().database_url("memory:").handle_signals(false)')
    lines = "".join(f"/// {line}\n" for line in shown.splitlines())
    merged, apart = f"/// ```\n{lines}/// ```\n", f"/// ```standalone_crate\n{lines}/// ```\n"
    for name, example in {"merged": merged, "apart": apart}.items():
        space.package(name, {"src/lib.rs": f"{example}pub fn one() {{}}\n\n{example}pub fn two() {{}}\n"}, BOTH)
    strict = "//! Strict.\n#![forbid(unsafe_code)]\n#![deny(warnings, missing_docs)]\n#![warn(clippy::pedantic, clippy::nursery)]\n"
    rest = "/// Documented.\n///\n/// # Errors\n///\n/// The lease is lost.\n"
    careful = task("careful", 'cron = "0 3 * * *", on_lost = "exit"', rest)
    careful = careful.replace("lease.check()?;", "lease.check()?;\n    std::future::ready(()).await;")
    space.package("strict", {"src/lib.rs": strict + careful}, [RUNTIME])


def two_versions(folder, environment):
    """One of them stands for another version of the library: it has the same `links`."""
    space = Workspace(folder, environment)
    old = '[package]\nname = "tasklock-runtime"\nversion = "0.0.1"\nedition = "2024"\nlinks = "tasklock_runtime"\nbuild = "build.rs"\n'
    space.package("both", {"src/lib.rs": "", "../old/src/lib.rs": "", "../old/build.rs": "fn main() {}\n"}, [
        RUNTIME, 'old = { package = "tasklock-runtime", path = "../old" }'
    ])
    (space.folder / "old/Cargo.toml").write_text(old)
    space.write()
    return space.cargo("metadata", "--format-version", "1", "--quiet")


def main(folder):
    checks = Checks()
    environment = dict(os.environ)
    space = Workspace(f"{folder}/one", environment)
    libraries(space)
    programs(space)
    tests(space)
    space.write()

    built, said = space.cargo("build", "--workspace", "--quiet")
    checks.expect("all packages build, without a warning", built and "warning" not in said, said)
    for program, words in {
        "unlinked": ["no task is linked", "use my_jobs as _;"],
        "own-library": ["no task is linked"],
        "same-name": ['"clean"', "twice", "jobs/src/lib.rs:2", "billing/src/lib.rs:2"],
    }.items():
        success, said = space.run(program)
        checks.expect(f"{program}: does not start, and says why", not success and all(word in said for word in words), said)
    for program, expected in {
        "linked": ["clean", "own"],
        "chain": ["clean"],
        "through-facade": ["clean", "through"],
        "renamed": ["renamed"],
        "from-a-macro": ["first", "second"],
        "traced": ["above", "below"],
        "edition-2018": ["own"],
        "edition-2021": ["own"],
        "edition-2024": ["own"],
    }.items():
        seen = space.tasks(program)
        checks.expect(f"{program}: has the tasks {', '.join(expected)}", seen == expected, seen)
    passed, said = space.cargo("test", "-p", "cycle", "--quiet")
    checks.expect("a dev-dependency on who depends on the tasks: each is there once", passed and "1 passed" in said, said)
    passed, said = space.cargo("test", "-p", "merged", "--doc", "--quiet")
    words = ['task "shown" is defined twice', "`standalone_crate`"]
    checks.expect(
        "two doc tests with a task of one name, merged into one program: the error tells the way out",
        not passed and all(word in said for word in words),
        said,
    )
    passed, said = space.cargo("test", "-p", "apart", "--doc", "--quiet")
    checks.expect("two doc tests with a task of one name, each marked as a program of its own", passed and "2 passed" in said, said)
    passed, said = space.cargo("clippy", "-p", "strict", "--quiet", "--", "-D", "warnings")
    checks.expect("clippy's pedantic and nursery lints, and no unsafe code", passed, said)
    for profile in ("thin", "fat", "small"):
        built, said = space.cargo("build", "-p", "linked", "--profile", profile, "--quiet")
        seen = space.tasks("linked", profile) if built else said
        checks.expect(f"profile {profile}: has the tasks clean, own", seen == ["clean", "own"], seen)
    resolved, said = two_versions(f"{folder}/two", environment)
    checks.expect("two versions in one program: cargo refuses them", not resolved and "links" in said and "`tasklock_runtime`" in said, said)
    checks.end()


main(sys.argv[1])
