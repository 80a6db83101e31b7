//! What a schedule means, before anything runs by it.

use jiff::Timestamp;

use crate::error::Error;
use crate::task::Schedule;

/// The next slots of a schedule, strictly later than an instant: at most so many, in order.
///
/// The schedule is written as in [`RuntimeBuilder::schedule`](crate::RuntimeBuilder::schedule): `every 5m`, `cron 0 3 * * *`,
/// `cron 30 2 * * * in Europe/Berlin`. Jitter, which is the task's own, is not in them. There are none of
/// `after 5m` and `off`, whose runs depend on what happens. A cron has its slots by the zone's
/// rules as they are known on this machine.
///
/// ```
/// use tasklock_runtime::preview;
///
/// // The clocks go from 02:00 to 03:00 on 29 March 2026: half past two is not there, and the run comes at 03:00.
/// let after = "2026-03-28T00:00:00Z".parse().unwrap();
/// let slots = preview("cron 30 2 * * * in Europe/Berlin", after, 3)?;
/// let slots: Vec<String> = slots.iter().map(ToString::to_string).collect();
/// assert_eq!(slots, ["2026-03-28T01:30:00Z", "2026-03-29T01:00:00Z", "2026-03-30T00:30:00Z"]);
/// # Ok::<(), tasklock_runtime::Error>(())
/// ```
///
/// # Errors
///
/// A text that is no schedule, with what to write.
pub fn preview(schedule: &str, after: Timestamp, slots: usize) -> Result<Vec<Timestamp>, Error> {
    let read = Schedule::parse(schedule).map_err(|mistake| {
        Error::option(format!("schedule = {schedule:?}"), mistake.to_string())
    })?;
    let first = read.slot_after(after.as_microsecond());
    let all = std::iter::successors(first, |slot| read.slot_after(*slot));
    Ok(all
        .map_while(|slot| Timestamp::from_microsecond(slot).ok())
        .take(slots)
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_are_later_and_there_may_be_none() {
        let at = |micros| Timestamp::from_microsecond(micros).expect("it is one");
        let previewed = |schedule| preview(schedule, at(5_000_000), 2);
        let slots = previewed("every 5s").expect("it is a schedule");
        assert_eq!(slots, [at(10_000_000), at(15_000_000)]);
        for none in ["off", "after 5s"] {
            assert_eq!(previewed(none).expect("it is a schedule"), []);
        }
        let told = previewed("daily").err().map(|error| error.to_string());
        assert!(told.is_some_and(|told| told.starts_with("schedule = \"daily\"")));
        let last = preview("every 1d", Timestamp::MAX, 3).expect("it is a schedule");
        assert_eq!(last, [], "time is over");
    }
}
