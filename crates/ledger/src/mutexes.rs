//! The mutex that an activation waited for, where it was read from the program's memory during that wait.

use crate::causes::Cause;
use crate::causes::info::ShownBy;
use crate::model::{Activation, Segment, thread_name};
use whylate_base::{Comm, Evidence, Ns, Tid};
use whylate_events::MutexReading;

/// Names the mutex in a verdict about a lock.
pub(crate) fn add_to_verdict(
    readings: &[MutexReading],
    activation: &mut Activation,
    comm: impl Fn(Tid) -> Comm,
) {
    let Some(reading) = of_verdict(readings, activation) else { return };
    let owner = thread_name(&comm(reading.owner), reading.owner);
    let verdict = &mut activation.verdict;
    verdict.why = format!("{}; the lock is the {reading}, held by {owner}", verdict.why);
    let seen = format!("its memory: {reading}, owner {owner}");
    verdict.evidence.insert(0, Evidence { at: Some(reading.from), ..Evidence::general(seen) });
}

/// The first reading in the waits that the verdict is about.
fn of_verdict<'a>(readings: &'a [MutexReading], activation: &Activation) -> Option<&'a MutexReading> {
    let verdict = &activation.verdict;
    if !matches!(verdict.cause.info().details.shown_by, ShownBy::Lock) {
        return None;
    }
    let charged = |segment: &&Segment| (segment.cause, segment.by) == (verdict.cause, verdict.by);
    let mut waits = activation.ledger.iter().filter(charged).map(|segment| wait_around(activation, segment));
    waits.find_map(|(from, to)| {
        let is_within = |reading: &&MutexReading| reading.from >= from && reading.to <= to;
        readings.iter().filter(|reading| reading.waiter == activation.tid).find(is_within)
    })
}

/// The wait that a segment is a part of: the thread does its own work before and behind it.
fn wait_around(activation: &Activation, segment: &Segment) -> (Ns, Ns) {
    let mut own_work = activation.ledger.iter().filter(|one| one.cause == Cause::OwnWork);
    let from = own_work.clone().rfind(|one| one.end <= segment.start).map_or(activation.due, |one| one.end);
    let to = own_work.find(|one| one.start >= segment.end).map_or(activation.end, |one| one.start);
    (from, to)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Culprit;
    use whylate_base::{Confidence, Cpu, Priority};
    use whylate_events::MutexProtocol;

    const LATE: Tid = Tid(10);

    /// 0 to 100 us own work, to 500 a lock's wait, to 600 own work, to 900 another wait of another thread.
    fn late() -> Activation {
        let us = Ns::from_us;
        let owner = |tid| {
            let (comm, priority) = (Comm::from("logger"), Priority::DEFAULT);
            Some(Culprit::Task { tid: Tid(tid), comm, priority })
        };
        let segment = |cause, start, end, by| Segment {
            cause,
            start: us(start),
            end: us(end),
            cpu: Cpu(0),
            by,
            owner: by,
            confidence: Confidence::High,
        };
        let mut activation =
            Activation::of(LATE, Comm::from("control"), Priority::realtime(80), Ns::ZERO, us(900));
        activation.ledger = vec![
            segment(Cause::OwnWork, 0, 100, None),
            segment(Cause::LockWait, 100, 400, owner(20)),
            segment(Cause::Dispatch, 400, 500, None),
            segment(Cause::OwnWork, 500, 600, None),
            segment(Cause::LockWait, 600, 900, owner(30)),
        ];
        activation.verdict.cause = Cause::LockWait;
        activation.verdict.by = owner(20);
        activation.verdict.why = "it waited".to_owned();
        activation
    }

    fn why(from: i64, to: i64, waiter: Tid, activation: &mut Activation) -> String {
        let reading = MutexReading {
            from: Ns::from_us(from),
            to: Ns::from_us(to),
            waiter,
            pid: LATE,
            address: 0x4060,
            protocol: MutexProtocol::None,
            owner: Tid(20),
            symbol: Some("queue_lock".to_owned()),
        };
        add_to_verdict(&[reading], activation, |_| Comm::from("logger"));
        activation.verdict.why.clone()
    }

    #[test]
    fn a_mutex_is_named_only_if_it_was_read_during_the_wait() {
        let named = "it waited; the lock is the mutex `queue_lock` (0x4060, without priority inheritance), held by logger:20";
        for (what, from, to, waiter, expected) in [
            ("within", 150, 160, LATE, named),
            ("in the wait's end, on its way to a CPU", 450, 460, LATE, named),
            ("before the wait", 90, 110, LATE, "it waited"),
            ("past its end", 490, 510, LATE, "it waited"),
            ("in another wait", 700, 710, LATE, "it waited"),
            ("of another thread", 150, 160, Tid(11), "it waited"),
        ] {
            assert_eq!(why(from, to, waiter, &mut late()), expected, "{what}");
        }
        let mut other = late();
        other.verdict.cause = Cause::OwnWork;
        other.verdict.by = None;
        assert_eq!(why(150, 160, LATE, &mut other), "it waited", "a verdict about no lock");
    }

    #[test]
    fn the_reading_is_evidence_with_its_instant() {
        let mut activation = late();
        why(150, 160, LATE, &mut activation);
        let evidence = &activation.verdict.evidence[0];
        assert_eq!(evidence.at, Some(Ns::from_us(150)));
        assert!(evidence.what.ends_with("owner logger:20"), "{}", evidence.what);
    }
}
