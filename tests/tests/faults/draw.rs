//! Chance, from a seed that is printed.

use std::time::{SystemTime, UNIX_EPOCH};

/// splitmix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014).
#[derive(Debug, Clone)]
pub(crate) struct Draw(u64);

impl Draw {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// `TASKLOCK_FAULTS_SEED`, else a new one.
    pub(crate) fn seed() -> u64 {
        match std::env::var("TASKLOCK_FAULTS_SEED") {
            Ok(seed) => seed.parse().expect("TASKLOCK_FAULTS_SEED is a number"),
            Err(_) => {
                let now = SystemTime::now().duration_since(UNIX_EPOCH);
                now.map_or(0, |now| u64::from(now.subsec_nanos()) ^ now.as_secs() << 10)
            }
        }
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut drawn = self.0;
        drawn = (drawn ^ drawn >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        drawn = (drawn ^ drawn >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        drawn ^ drawn >> 31
    }

    /// From 0 to one less than `bound`.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    pub(crate) fn one_of<T: Copy>(&mut self, choices: &[T]) -> T {
        let index = self.below(choices.len() as u64);
        choices[usize::try_from(index).expect("it fits")]
    }
}
