"""What an editor can do in and around `#[locked_task]`, asked of a rust-analyzer: see scripts/editor -h."""

import os
import pathlib
import re
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from checks import Checks
from lsp import Server

ROOT = pathlib.Path(__file__).resolve().parents[3]
REFERENCE = ROOT / "tasklock-macros/src/locked_task.md"
# The time that the first build of the macros may take.
LOADING = 900

MANIFEST = """\
[package]
name = "edited"
version = "0.0.0"
edition = "2024"
publish = false

[workspace]

[dependencies]
tasklock-runtime = { path = "%s", default-features = false }
"""

# A place is marked by what stands between two bars, which are taken out.
SOURCE = """\
use tasklock_runtime::{LeaseContext, TaskResult, locked_task};

/// The attribute is wrong.
#[locked_task(|ttl| = "30", every = "5m", hartbeat = "1s")]
async fn |wrong|(lease: LeaseContext) -> TaskResult {
    let |given| = lease.fence();
    lease.|chec|();
    |helper|(given);
    Ok(())
}

/// The signature is wrong.
#[locked_task]
async fn without_lease(number: i64) -> TaskResult {
    number.|absx|();
    Ok(())
}

/// The body is broken.
#[locked_task(every = "1m")]
async fn broken(lease: LeaseContext) -> TaskResult {
    let own = lease.fence();
    if own > 0 {
        lease.|fenc|
    }
    Ok(())
}

fn helper(_: i64) {}

fn main() {
    let _ = (|wrong|::NAME, without_lease::NAME, broken::NAME);
}
"""


class Editor(Checks):
    def __init__(self, server, file, text):
        super().__init__()
        self.server, self.file = server, file
        self.places = []
        plain = ""
        for part, marked in re.findall(r"([^|]*)(?:\|([^|]*)\|)?", text):
            plain += part
            if marked:
                self.places.append((marked, len(plain)))
                plain += marked
        self.text = plain

    def params(self, offset):
        line = self.text.count("\n", 0, offset)
        column = offset - (self.text.rfind("\n", 0, offset) + 1)
        return {"textDocument": {"uri": self.file.as_uri()}, "position": {"line": line, "character": column}}

    def ask(self, method, name, nth=0, more=None, end=False):
        places = [offset for marked, offset in self.places if marked == name]
        offset = places[nth] + (len(name) if end else 1)
        return self.server.request(f"textDocument/{method}", {**self.params(offset), **(more or {})})

    def completes(self, what, name, expected):
        answer = self.ask("completion", name, end=True) or []
        items = answer["items"] if isinstance(answer, dict) else answer
        labels = [item["label"] for item in items]
        self.expect(what, any(label.split("(")[0] == expected for label in labels), labels[:10])

    def renames(self, what, name, nth, times):
        answer = self.ask("rename", name, nth, {"newName": "renamed"})
        edits = [edit for change in answer["documentChanges"] for edit in change["edits"]]
        self.expect(what, len(edits) == times, edits)

    def shows(self, what, name, text, nth=0):
        answer = self.ask("hover", name, nth)
        value = answer["contents"]["value"] if answer else None
        self.expect(what, value is not None and text in value, value)


def sections():
    """Each option with the first line of its reference, and an example of its value."""
    _, options = REFERENCE.read_text().split("# Options\n")
    for section in re.split(r"^## ", options, flags=re.M)[1:]:
        head, body = section.split("\n", 1)
        key = head.strip("`")
        text, example = body.split("```", 2)[:2]
        value = re.search(rf'[(, ]{key} = ("[^"]*"|\w+)', example)
        # No item can be named like the keyword.
        if key != "crate":
            yield key, text.strip().splitlines()[0], value.group(1)


def with_every_option(source):
    """And where the mouse would point at it, in the text of an attribute that has no other."""
    firsts = {}
    for key, first, value in sections():
        firsts[key] = first
        source += f"\n#[locked_task(|{key}| = {value})]\nasync fn with_{key}(_lease: LeaseContext) -> TaskResult {{\n    Ok(())\n}}\n"
    return source, firsts


def main(folder):
    package = pathlib.Path(folder)
    (package / "src").mkdir()
    (package / "Cargo.toml").write_text(MANIFEST % (ROOT / "tasklock-runtime"))
    for name in ("Cargo.lock", "rust-toolchain.toml"):
        (package / name).write_bytes((ROOT / name).read_bytes())
    source, firsts = with_every_option(SOURCE)
    file = package / "src/main.rs"
    server = Server("rust-analyzer", package, dict(os.environ))
    checks = Editor(server, file, source)
    file.write_text(checks.text)
    began = time.monotonic()
    document = {"uri": file.as_uri(), "languageId": "rust", "version": 1, "text": checks.text}
    server.notify("textDocument/didOpen", {"textDocument": document})
    server.wait_until_ready(LOADING)
    print(f"ready after {time.monotonic() - began:.0f} s")

    checks.completes("a method of the lease, where the attribute is wrong", "chec", "check")
    checks.completes("a method of a number, where the signature is wrong", "absx", "abs")
    checks.completes("a method of the lease, where the body is broken", "fenc", "fence")
    definition = checks.ask("definition", "helper")
    line = checks.text[: checks.text.index("fn helper")].count("\n")
    checks.expect("go to a function's definition, where the attribute is wrong", [
        place["range"]["start"]["line"] if "range" in place else place["targetRange"]["start"]["line"] for place in definition
    ] == [line], definition)
    checks.renames("rename a variable, where the attribute is wrong", "given", 0, 2)
    checks.renames("rename the function and its handle, from the function", "wrong", 0, 2)
    checks.renames("rename the function and its handle, from a use of the handle", "wrong", 1, 2)
    checks.shows("the documentation of an option in a wrong attribute", "ttl", firsts["ttl"])
    for key, first in firsts.items():
        nth = 1 if key == "ttl" else 0
        checks.shows(f"the documentation of `{key}`", key, first, nth)
    server.stop()
    checks.end()


main(sys.argv[1])
