//! By how much later than its slot a run falls due.
//!
//! Jitter makes a slot's run fall due later by a time that depends on the task's name and on the slot alone. So all replicas
//! agree on it, a task keeps its distance from another with the same schedule, and over many slots it is spread evenly. It
//! is shorter than the time between two slots: runs keep their order.

use std::time::Duration;

use super::{Plan, micros};

/// How many slots are looked at to see how close to each other they come, and from when: in a year in which clocks are set.
const LOOKED_AT: usize = 800;
const LOOKED_FROM: i64 = 1_735_689_600_000_000;

impl Plan {
    /// From zero to the task's jitter, the same for the same slot.
    pub(super) fn jitter_of(&self, slot: i64) -> i64 {
        let most = micros(self.jitter);
        if most <= 0 {
            return 0;
        }
        let drawn = mixed(self.seed ^ mixed(slot.cast_unsigned()));
        // Of two 64-bit numbers the upper half of the product: even, where a remainder is not.
        let share = u128::from(drawn) * u128::from(most.unsigned_abs() + 1);
        i64::try_from(share >> 64).unwrap_or(most)
    }

    /// Whether runs could change places: what is wrong with the jitter then.
    pub(crate) fn check(&self) -> Result<(), String> {
        let shown = tasklock_grammar::display_duration;
        let Some(closest) = self.closest().filter(|closest| self.jitter >= *closest) else {
            return Ok(());
        };
        Err(format!(
            "jitter = \"{}\" is no shorter than the {} between two slots of `{}`: runs would change places; write less",
            shown(self.jitter),
            shown(closest),
            self.text
        ))
    }

    /// How close to each other the first slots come, as far as one can see.
    pub(super) fn closest(&self) -> Option<Duration> {
        if self.jitter.is_zero() {
            return None;
        }
        let next = |slot: &i64| self.slot_after(*slot);
        let slots = std::iter::successors(self.slot_after(LOOKED_FROM), next).take(LOOKED_AT);
        let slots: Vec<i64> = slots.collect();
        let gaps = slots.windows(2).map(|pair| pair[1] - pair[0]);
        gaps.min()
            .map(|gap| Duration::from_micros(gap.unsigned_abs()))
    }
}

/// FNV-1a: the same whatever a binary was built with.
pub(super) fn fnv(bytes: impl Iterator<Item = u8>) -> u64 {
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// The finalizer of SplitMix64 (Steele, Lea and Flood 2014), in Stafford's variant 13.
fn mixed(number: u64) -> u64 {
    let number = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}
