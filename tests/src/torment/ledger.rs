//! What one process believed of each lease it held, in a file that survives every death of the process.
//! Times are nanoseconds since boot, one clock for all processes, read *before* the check they go with.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes of a record: ten numbers, the owner's 32 characters.
const RECORD: usize = 112;
const OWNER: usize = 80;

/// A number of a record, by its place.
#[derive(Debug, Clone, Copy)]
pub enum Field {
    /// The lease's job; zero where only its name is known.
    Job = 0,
    /// Its fence.
    Fence = 1,
    /// The last check that succeeded.
    LastOk = 2,
    /// The first that failed.
    FirstLost = 3,
    /// One that succeeded after it.
    Revived = 4,
    /// The last unguarded effect, made a moment after a check that had succeeded.
    LastCanary = 5,
    /// Guarded transactions that were acknowledged.
    Acknowledged = 6,
    /// Whether one of them completed the job.
    Completed = 7,
    /// The last unguarded effect before which the process did not stand still.
    PromptCanary = 8,
    /// Of a named lease, one more than the number of its name.
    Name = 9,
}

/// A process's ledger.
#[derive(Debug)]
pub struct Ledger {
    file: File,
    records: AtomicU64,
}

/// One lease's place in it.
#[derive(Debug, Clone, Copy)]
pub struct Record(u64);

impl Ledger {
    /// A new one.
    ///
    /// # Errors
    ///
    /// If the file is there already, or cannot be made.
    pub fn create(path: &Path) -> io::Result<Self> {
        let file = OpenOptions::new().write(true).create_new(true).open(path)?;
        Ok(Self {
            file,
            records: AtomicU64::new(0),
        })
    }

    /// A new lease: a job's, or one of this name.
    pub fn begin(&self, job: i64, fence: i64, owner: &str, name: Option<u64>) -> Record {
        let record = Record(self.records.fetch_add(1, Ordering::SeqCst));
        let mut bytes = [0; RECORD];
        bytes[..8].copy_from_slice(&job.to_le_bytes());
        bytes[8..16].copy_from_slice(&fence.to_le_bytes());
        let name = name.map_or(0, |number| number + 1);
        bytes[8 * Field::Name as usize..][..8].copy_from_slice(&name.to_le_bytes());
        let owner = owner.as_bytes();
        let length = owner.len().min(RECORD - OWNER);
        bytes[OWNER..OWNER + length].copy_from_slice(&owner[..length]);
        self.write(record.0 * RECORD as u64, &bytes);
        record
    }

    /// Writes a number.
    pub fn set(&self, record: Record, field: Field, value: u64) {
        let at = record.0 * RECORD as u64 + 8 * field as u64;
        self.write(at, &value.to_le_bytes());
    }

    fn write(&self, at: u64, bytes: &[u8]) {
        self.file
            .write_all_at(bytes, at)
            .expect("the ledger can be written");
    }
}

/// A record that was read back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Belief {
    /// The lease's job; zero where only its name is known.
    pub job: i64,
    /// Of a named lease, the number of its name.
    pub name: Option<u64>,
    /// Its fence.
    pub fence: i64,
    /// Its owner token.
    pub owner: String,
    /// [`Field::LastOk`]
    pub last_ok: u64,
    /// [`Field::FirstLost`]; zero if none has failed.
    pub first_lost: u64,
    /// [`Field::Revived`]; zero if there was none.
    pub revived: u64,
    /// [`Field::LastCanary`]
    pub last_canary: u64,
    /// [`Field::PromptCanary`]
    pub prompt_canary: u64,
    /// [`Field::Acknowledged`]
    pub acknowledged: u64,
    /// [`Field::Completed`]
    pub completed: bool,
}

impl Belief {
    fn of(bytes: &[u8]) -> Self {
        let number = |field: Field| {
            let at = 8 * field as usize;
            let bytes = bytes[at..at + 8].try_into().expect("eight bytes");
            u64::from_le_bytes(bytes)
        };
        let owner = String::from_utf8_lossy(&bytes[OWNER..]);
        Self {
            job: number(Field::Job).cast_signed(),
            name: number(Field::Name).checked_sub(1),
            fence: number(Field::Fence).cast_signed(),
            owner: owner.trim_end_matches('\0').to_owned(),
            last_ok: number(Field::LastOk),
            first_lost: number(Field::FirstLost),
            revived: number(Field::Revived),
            last_canary: number(Field::LastCanary),
            prompt_canary: number(Field::PromptCanary),
            acknowledged: number(Field::Acknowledged),
            completed: number(Field::Completed) != 0,
        }
    }
}

/// Everything that a process has written; nothing if it never came so far.
pub fn read(path: &Path) -> Vec<Belief> {
    let bytes = std::fs::read(path).unwrap_or_default();
    let beliefs = bytes.chunks_exact(RECORD).map(Belief::of);
    // A place that was given out, and whose process died before it wrote there: a hole in the file.
    beliefs.filter(|belief| !belief.owner.is_empty()).collect()
}
