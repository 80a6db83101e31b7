"""A workspace of small packages, each of which uses the library in a way that might hurt it."""

import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[3]
RUNTIME = f'tasklock-runtime = {{ path = "{ROOT}/tasklock-runtime", default-features = false }}'
TOKIO = 'tokio = { version = "1", features = ["macros", "rt"] }\ntracing-subscriber = "0.3"'

# Starts, tells its tasks, and ends.
MAIN = """
#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), tasklock_runtime::Error> {
    tracing_subscriber::fmt().init();
    let runtime = tasklock_runtime::Runtime::builder().build().await?;
    runtime.shutdown_handle().shutdown();
    runtime.run().await
}
"""


def task(name, options="", rest=""):
    attribute = f"({options})" if options else ""
    return f"""
{rest}#[tasklock_runtime::locked_task{attribute}]
pub async fn {name}(lease: tasklock_runtime::LeaseContext) -> tasklock_runtime::TaskResult {{
    lease.check()?;
    Ok(())
}}
"""


class Workspace:
    def __init__(self, folder, environment):
        self.folder, self.environment = pathlib.Path(folder), environment
        self.members = []

    def package(self, name, files, dependencies=(), edition="2024", more=""):
        """`files`: path below the package → text."""
        package = self.folder / name
        for path, text in files.items():
            file = package / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        lines = "\n".join(dependencies)
        (package / "Cargo.toml").write_text(
            f'[package]\nname = "{name}"\nversion = "0.0.0"\nedition = "{edition}"\npublish = false\n\n'
            f"[dependencies]\n{lines}\n{more}\n"
        )
        self.members.append(name)

    def write(self):
        members = ", ".join(f'"{name}"' for name in self.members)
        (self.folder / "Cargo.toml").write_text(
            f"[workspace]\nresolver = \"3\"\nmembers = [{members}]\n"
            '[profile.thin]\ninherits = "release"\nlto = "thin"\n'
            '[profile.fat]\ninherits = "release"\nlto = "fat"\ncodegen-units = 1\nstrip = true\npanic = "abort"\n'
            '[profile.small]\ninherits = "release"\nopt-level = "z"\nstrip = true\n'
        )
        for name in ("Cargo.lock", "rust-toolchain.toml"):
            (self.folder / name).write_bytes((ROOT / name).read_bytes())

    def cargo(self, *arguments):
        """Its success, and all it said."""
        ended = subprocess.run(
            ["cargo", *arguments], cwd=self.folder, env=self.environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
        return ended.returncode == 0, ended.stdout

    def run(self, program, profile="debug"):
        """Its success, and all it said."""
        path = pathlib.Path(self.environment["CARGO_TARGET_DIR"]) / profile / program
        ended = subprocess.run(
            [path], env={"TASKLOCK_DATABASE_URL": "memory:"}, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60
        )
        return ended.returncode == 0, ended.stdout

    def tasks(self, program, profile="debug"):
        """The tasks of its table; or what it said instead."""
        success, said = self.run(program, profile)
        if not success or "defined at\n" not in said:
            return said
        rows = said.split("defined at\n", 1)[1].splitlines()
        names = []
        for row in rows:
            if not row.startswith("  "):
                break
            names.append(row.split()[0])
        return names
