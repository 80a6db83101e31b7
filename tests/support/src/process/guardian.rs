//! Ends a worker whose test process has died without doing so.

use std::io::Write;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

use rustix::process::Pid;

/// It waits for a word or for the end of its input, which comes when the test process dies.
const SCRIPT: &str = r#"
trap '' INT TERM HUP QUIT
read -r word
[ "$word" = dismissed ] || kill -s KILL -- "-$1"
"#;

/// A process that kills a process group when this process dies.
#[derive(Debug)]
pub(crate) struct Guardian(Child);

impl Guardian {
    pub(crate) fn of(group: Pid) -> Guardian {
        let mut command = Command::new("sh");
        command
            .args(["-c", SCRIPT, "guardian"])
            .arg(group.as_raw_pid().to_string());
        command
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        Guardian(
            command
                .spawn()
                .expect("sh can be started: it guards the test's processes"),
        )
    }
}

impl Drop for Guardian {
    /// The group has ended in an orderly way.
    fn drop(&mut self) {
        if let Some(mut input) = self.0.stdin.take() {
            let _ = input.write_all(b"dismissed\n");
        }
        let _ = self.0.wait();
    }
}
