//! How a run goes, drawn from what it is a run of: the same again where a seed is drawn again.

use tasklock_runtime::{LeaseContext, TaskResult};
use tasklock_tests::torment::panicky;

pub(crate) struct Fate {
    pub(crate) effects: u64,
    /// Milliseconds before each effect.
    pub(crate) pause: u64,
    pub(crate) completes: bool,
    /// From 0 to 19.
    pub(crate) end: u64,
}

impl Fate {
    /// Of this run, of a job that carries this number.
    pub(crate) fn of(lease: &LeaseContext, number: u64) -> Self {
        // The finalizer of splitmix64 (Steele, Lea, Flood 2014): all bits depend on all bits.
        let mut drawn = lease.job_id().cast_unsigned() << 32 ^ lease.fence().cast_unsigned();
        drawn = (drawn ^ number.rotate_left(17)).wrapping_add(0x9e37_79b9_7f4a_7c15);
        drawn = (drawn ^ drawn >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        drawn = (drawn ^ drawn >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        drawn ^= drawn >> 31;
        Self {
            effects: [1, 2, 6, 20][usize::try_from(drawn % 4).expect("it fits")],
            pause: 20 + drawn / 4 % 100,
            completes: (drawn / 400).is_multiple_of(5),
            end: drawn / 2_000 % 20,
        }
    }

    pub(crate) fn end(&self) -> TaskResult {
        match self.end {
            _ if panicky() => panic!("as the test wants it"),
            0 => panic!("as it was drawn"),
            1 => Err("as it was drawn".into()),
            _ => Ok(()),
        }
    }
}
