//! Which version of the program this is, for tasks that run once for each (`on_start`).

use std::fs::File;
use std::io::{self, Read};

use tasklock_grammar::check_name;

use super::settings::{Environment, text};
use crate::error::Error;

const VARIABLE: &str = "TASKLOCK_VERSION";

/// What the builder or the environment says, or else a hash of the program's file: the same on all replicas that run the same build,
/// and another one where anything of it has changed.
pub(super) fn version(given: Option<String>, env: Environment<'_>) -> Result<String, Error> {
    let from = if given.is_some() { "version" } else { VARIABLE };
    if let Some(version) = text(given, VARIABLE, env) {
        return match check_name(&version) {
            Ok(()) => Ok(version),
            Err(_) => Err(Error::option(
                format!("{from} = {version:?}"),
                "has to have 1 to 128 bytes, no control characters, and no blanks at its ends",
            )),
        };
    }
    hash().map_err(|source| Error::System {
        what: "a task has `on_start`, and the program's file, whose hash tells its versions apart, cannot be read: set \
               TASKLOCK_VERSION",
        source,
    })
}

fn hash() -> io::Result<String> {
    // A file that was replaced meanwhile is still found there.
    let own = if cfg!(target_os = "linux") {
        "/proc/self/exe".into()
    } else {
        std::env::current_exe()?
    };
    let mut file = File::open(own)?;
    let mut block = vec![0; 1 << 16];
    // FNV-1a over words of eight bytes: a debug build may have some hundred megabytes.
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    loop {
        let read = fill(&mut file, &mut block)?;
        if read == 0 {
            return Ok(format!("{hash:016x}"));
        }
        block[read..].fill(0);
        for word in block[..read.next_multiple_of(8)].chunks_exact(8) {
            let word = word
                .iter()
                .fold(0, |word, byte| word << 8 | u64::from(*byte));
            hash = (hash ^ word).wrapping_mul(0x0100_0000_01b3);
            hash ^= hash >> 32;
        }
    }
}

/// Reads until the block is full or the file has ended.
fn fill(file: &mut File, block: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < block.len() {
        match file.read(&mut block[filled..]) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_has_one() {
        let own = version(None, &|_| None).expect("its file can be read");
        assert_eq!(own, version(None, &|_| None).expect("and again"));
        assert_eq!(own.len(), 16);
        let env = |name: &str| (name == VARIABLE).then(|| "v2".to_owned());
        assert_eq!(version(None, &env).ok().as_deref(), Some("v2"));
        assert_eq!(version(Some("v3".into()), &env).ok().as_deref(), Some("v3"));
        let told = version(Some(" v3".into()), &env)
            .err()
            .map(|error| error.to_string());
        assert!(told.is_some_and(|told| told.starts_with("version = \" v3\"")));
    }
}
