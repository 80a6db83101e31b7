//! The log of what a Redis store did: written by the steps that did it.
//!
//! Redis has no triggers, and the whole store is scripts. So each script, before its first use, is put into another
//! one (`audit.lua`), which hands it a `redis.call` of its own. That looks at each command which is not known to
//! read, and keeps of every row that one names what the row was before. When the script has ended, by an error
//! or not, these rows are read again, and what a trigger would say of the change is appended to a list. All of it is
//! one step of the server's: no crash of a worker or of the server, no lost reply and no flushed script comes between
//! a write and its line. What the script meant to do, or answers, is not looked at: one with a mistake is recorded as
//! what it did.
//!
//! There is one thing that triggers tell better. A row does not say who writes it, and a script that forgot to
//! compare owners would leave a row as if its holder had renewed it, or ended its run. So a renewal or an end counts
//! as the holder's if the call shows its owner token, wherever among the arguments.
//!
//! `MONITOR` was the other way: the server tells whoever asks each command that it carries out, those of scripts
//! included. It touches no script, and would be the more independent witness. But it has no memory. Where the
//! server is killed or restarted, which is what these tests do to it, lines are lost that were on their way, and
//! afterwards workers are there before the witness is; and a line comes before its command is carried out, also where
//! that fails. The log would have holes where it matters most, and an oracle that forgives holes catches little.
//! The list survives what the rows survive, and shows the same moment.
//!
//! What is lost of independence is looked after elsewhere. A script that was not put into the other one is found when
//! the oracle compares the rows with the log in the end. One that fails because of it fails its tests, for the
//! conformance suite has the scripts as they are. And production has nothing of all this: the door is
//! `fault::statement`, which is empty there.

use tasklock_runtime::store::LEASES;

const AUDIT: &str = include_str!("audit.lua");
const END: &str = "
end
local is_done, answer = pcall(verb)
record()
if not is_done then
    error(answer, 0)
end
return answer
";

/// A script that records what it does; any other statement as it is.
#[must_use]
pub fn recorded(statement: String) -> String {
    if !statement.contains("redis.call") {
        return statement;
    }
    let audit = AUDIT.replace("$LEASES", LEASES);
    format!("{audit}{statement}{END}")
}
