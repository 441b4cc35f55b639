//! A gap: a part of an activation in which the thread ran no code, by its own clock. What delayed it?
//! A thread that spins and reads the clock knows its gaps to the nanosecond.

use crate::causes::Cause;
use crate::causes::advised::Advised;
use crate::model::{Activation, CpuTrack, Culprit, Place, Segment, Slice, Trigger, Verdict};
use crate::places::add_clauses;
use crate::stats::{Charged, charged};
use crate::verdict::{own_time, segment};
use std::cmp::Reverse;
use whylate_base::{Confidence, Evidence, Ns};

/// The thread's clock and the trace's may differ by this much (`ktime_get_mono_fast_ns`, kernel/time/timekeeping.c):
/// an event just outside of a shorter gap may belong into it.
const BLUR: Ns = Ns::from_us(10);
/// Segments that are listed as evidence.
const MAX_EVIDENCE: usize = 4;

impl Activation {
    /// The part from `from` to `to` as an activation of its own, due where the gap begins and running where it ends,
    /// with the verdict of that part; `None` where the ledger does not cover all of it.
    ///
    /// Where the trace shows the thread on the CPU for most of the gap, the time was stolen: the CPU stood still.
    pub fn gap(&self, from: Ns, to: Ns) -> Option<Activation> {
        if from < self.due || to > self.end || from >= to {
            return None;
        }
        let cut_segment = |segment: &Segment| Segment {
            start: segment.start.max(from),
            end: segment.end.min(to),
            ..*segment
        };
        let inside: Vec<(usize, Segment)> = self
            .ledger
            .iter()
            .map(cut_segment)
            .enumerate()
            .filter(|(_, segment)| segment.start < segment.end)
            .collect();
        // A place names its segment by the number in the ledger.
        let number = |old: usize| inside.iter().position(|&(number, _)| number == old);
        let renumbered = |place: &Place| Some(Place { segment: number(place.segment)?, ..place.clone() });
        let mut places: Vec<Place> = self.places.iter().filter_map(renumbered).collect();
        let mut ledger: Vec<Segment> = inside.iter().map(|&(_, segment)| segment).collect();
        let length = to - from;
        let own: Ns =
            ledger.iter().filter(|segment| segment.cause == Cause::OwnWork).map(Segment::length).sum();
        if own.0 > length.0 / 2 {
            let (cause, confidence) = match length >= BLUR {
                true => (Cause::Stolen, Confidence::Medium),
                false => (Cause::Unexplained, Confidence::Low),
            };
            // It executed nothing there, so no line did.
            let own_work =
                |place: &Place| ledger.get(place.segment).is_some_and(|one| one.cause == Cause::OwnWork);
            places.retain(|place| !own_work(place));
            let ran = ledger.iter_mut().filter(|segment| segment.cause == Cause::OwnWork);
            ran.for_each(|segment| (segment.cause, segment.confidence) = (cause, confidence));
        }
        let longest = ledger.iter().max_by_key(|segment| (segment.length(), Reverse(segment.start)))?;
        let mut part = Activation {
            cpu: longest.cpu,
            trigger: Trigger::Running,
            due: from,
            woken: None,
            running: Some(to),
            done: Some(to),
            end: to,
            verdict: Verdict::none(),
            tracks: self.tracks.iter().filter_map(|track| cut(track, from, to)).collect(),
            ledger,
            places,
            host: Vec::new(),
            ..self.clone()
        };
        part.verdict = verdict(&part);
        add_clauses(&mut part);
        Some(part)
    }
}

fn cut(track: &CpuTrack, from: Ns, to: Ns) -> Option<CpuTrack> {
    let slices: Vec<Slice> = track
        .slices
        .iter()
        .map(|slice| Slice { start: slice.start.max(from), end: slice.end.min(to), ..*slice })
        .filter(|slice| slice.start < slice.end)
        .collect();
    (!slices.is_empty()).then_some(CpuTrack { cpu: track.cpu, slices })
}

/// What took most of it.
fn verdict(part: &Activation) -> Verdict {
    let others = |&((cause, _), _): &Charged| cause != Cause::OwnWork;
    let heaviest = charged(&part.ledger)
        .into_iter()
        .filter(others)
        .max_by_key(|&((cause, _), time)| (time, Reverse(cause)));
    let Some(((cause, by), time)) = heaviest else { return Verdict::none() };
    let own: Vec<&Segment> =
        part.ledger.iter().filter(|segment| (segment.cause, segment.by) == (cause, by)).collect();
    Verdict {
        cause,
        by,
        charged: time,
        judged: part.response(),
        share: time.0 as f64 / part.response().0.max(1) as f64,
        confidence: own.iter().map(|segment| segment.confidence).min().unwrap_or(Confidence::Low),
        why: why(part, cause, by.as_ref(), time),
        fix: cause.advice(&Advised {
            by: by.as_ref(),
            priority: Some(part.priority),
            late: Some((part.tid, part.comm)),
            cpu: own.first().map(|segment| segment.cpu),
            own_time: own_time(&part.ledger),
            ..Advised::default()
        }),
        evidence: own
            .iter()
            .take(MAX_EVIDENCE)
            .map(|one| Evidence::at(one.start, one.cpu, segment(one, part, &[])))
            .collect(),
    }
}

fn why(part: &Activation, cause: Cause, by: Option<&Culprit>, time: Ns) -> String {
    let thread = format!("{} ({})", part.comm, part.priority);
    let (length, cpu) = (part.response(), part.cpu);
    match (cause, by) {
        (Cause::Stolen, _) => format!(
            "{thread} had CPU {cpu} and executed nothing for {time} of {length}: the kernel recorded no event there, so the \
             hypervisor, the firmware (an SMI of x86, the secure world of ARM) or the hardware took the time"
        ),
        (Cause::Unexplained, _) => {
            format!("the trace cannot show what delayed {thread} on CPU {cpu}: {length} is too short")
        }
        (_, Some(by)) => format!("{by} delayed {thread} on CPU {cpu} for {time} of {length}"),
        (cause, None) => format!("{cause} delayed {thread} on CPU {cpu} for {time} of {length}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::PlaceRole;
    use whylate_base::{Comm, Cpu, Priority, SourceLocation, Tid};
    use whylate_events::{Name, StackId};

    /// Spins from 0 to 100 us, with an interrupt of 3 us at 40 us, and another thread from 60 to 80 us.
    fn spinning() -> Activation {
        let segment = |start, end, cause, by| Segment {
            cause,
            start: Ns::from_us(start),
            end: Ns::from_us(end),
            cpu: Cpu(1),
            by,
            owner: None,
            confidence: Confidence::High,
        };
        let irq = Culprit::Irq { irq: None, name: Name::from("local_timer") };
        let other =
            Culprit::Task { tid: Tid(9), comm: Comm::from("other"), priority: Priority::realtime(90) };
        Activation {
            cpu: Cpu(1),
            trigger: Trigger::Timer,
            woken: Some(Ns::ZERO),
            running: Some(Ns::ZERO),
            ledger: vec![
                segment(0, 40, Cause::OwnWork, None),
                segment(40, 43, Cause::Irq, Some(irq)),
                segment(43, 60, Cause::OwnWork, None),
                segment(60, 80, Cause::HigherPriorityTask, Some(other)),
                segment(80, 100, Cause::OwnWork, None),
            ],
            ..Activation::of(Tid(5), Comm::from("spins"), Priority::realtime(80), Ns::ZERO, Ns::from_us(100))
        }
    }

    fn part(from: i64, to: i64) -> Activation {
        spinning().gap(Ns(from), Ns(to)).expect("covered")
    }

    #[test]
    fn what_happened_in_a_gap_delayed_the_thread() {
        let part = part(59_700, 80_400);
        assert_eq!((part.verdict.cause, part.verdict.charged), (Cause::HigherPriorityTask, Ns::from_us(20)));
        assert_eq!(part.latency(), Some(Ns(20_700)));
        assert!(
            part.verdict.why.contains("other:9") && part.verdict.evidence.len() == 1,
            "{:?}",
            part.verdict
        );
        let tiled = part.ledger.windows(2).all(|pair| pair[0].end == pair[1].start);
        assert!(
            tiled
                && part.ledger[0].start == part.due
                && part.ledger.last().map(|last| last.end) == Some(part.end)
        );
        assert_eq!(self::part(39_000, 43_500).verdict.cause, Cause::Irq);
    }

    #[test]
    fn a_place_stays_with_its_segment() {
        let place = |segment, role, line| Place {
            segment,
            role,
            tid: Tid(9),
            stack: StackId(0),
            samples: 1,
            location: SourceLocation {
                file: Some("a.c".to_owned()),
                line: Some(line),
                ..SourceLocation::default()
            },
        };
        let mut spinning = spinning();
        spinning.places = vec![
            place(0, PlaceRole::Ran, 1),
            place(3, PlaceRole::CulpritRan, 2),
            place(4, PlaceRole::Ran, 3),
        ];
        let part = spinning.gap(Ns(59_700), Ns(80_400)).expect("covered");
        let kept: Vec<_> = part.places.iter().map(|place| (place.segment, place.location.line)).collect();
        assert_eq!(kept, [(1, Some(2)), (2, Some(3))]);
        assert!(part.verdict.why.ends_with("; it ran at a.c:2"), "{}", part.verdict.why);
        let stolen = spinning.gap(Ns(5_000), Ns(30_000)).expect("covered");
        assert_eq!((stolen.verdict.cause, stolen.places.len()), (Cause::Stolen, 0));
    }

    #[test]
    fn a_gap_without_events_is_stolen_time_or_too_short() {
        assert_eq!(part(5_000, 30_000).verdict.cause, Cause::Stolen);
        assert_eq!(part(38_000, 42_000).verdict.cause, Cause::Irq, "half of it");
        let short = part(5_000, 9_000).verdict;
        assert_eq!((short.cause, short.confidence), (Cause::Unexplained, Confidence::Low));
    }

    #[test]
    fn a_gap_outside_of_the_ledger_has_no_verdict() {
        assert!(spinning().gap(Ns(90_000), Ns(100_001)).is_none());
        assert!(spinning().gap(Ns(-1), Ns(10)).is_none());
        assert!(spinning().gap(Ns(10), Ns(10)).is_none());
    }
}
