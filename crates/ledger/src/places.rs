//! Where in the programs an activation's time went: the sampled call stacks of its segments.
//!
//! The samples are joined by thread and time. A stack is never a cause: it shows at which line what the ledger found
//! happened.

use crate::causes::Cause;
use crate::causes::info::ShownBy;
use crate::model::{Activation, Culprit, Place, PlaceRole, Segment};
use std::cmp::Reverse;
use std::collections::HashMap;
use whylate_base::{Evidence, Ns, Tid};
use whylate_events::{SampleKind, StackId, StackSample, Stacks};

/// A thread is switched out some microseconds after the event that shows it (`__schedule()`, kernel/sched/core.c), and a
/// page fault is counted before its event ends.
const BLUR: Ns = Ns::from_us(20);
/// Frames of a stack in one line of evidence.
const FRAMES: usize = 4;

/// The samples by thread.
pub(crate) struct Samples<'a> {
    stacks: &'a Stacks,
    by_thread: HashMap<Tid, Vec<StackSample>>,
}

impl<'a> Samples<'a> {
    pub(crate) fn new(stacks: &'a Stacks) -> Samples<'a> {
        let mut by_thread: HashMap<Tid, Vec<StackSample>> = HashMap::new();
        for &sample in &stacks.samples {
            by_thread.entry(sample.tid).or_default().push(sample);
        }
        Samples { stacks, by_thread }
    }

    pub(crate) fn stacks(&self) -> &'a Stacks {
        self.stacks
    }

    /// A thread's samples, in time order.
    pub(crate) fn of(&self, tid: Tid) -> &[StackSample] {
        self.by_thread.get(&tid).map(Vec::as_slice).unwrap_or_default()
    }

    /// A thread's samples from one instant to another, both included.
    fn between(&self, tid: Tid, from: Ns, to: Ns) -> &[StackSample] {
        let all = self.of(tid);
        let start = all.partition_point(|sample| sample.time < from);
        let end = all.partition_point(|sample| sample.time <= to);
        all.get(start..end).unwrap_or_default()
    }

    /// The samples of a part in which the thread ran. Its CPU clock samples it in the timer interrupt that ends such a part.
    fn ran(&self, tid: Tid, segment: &Segment) -> &[StackSample] {
        self.between(tid, segment.start, segment.end + BLUR)
    }

    /// The line that most of the samples are in, as one of their stacks, and how many they are.
    fn commonest(&self, samples: impl Iterator<Item = StackSample>) -> Option<(StackId, usize)> {
        let mut lines: HashMap<String, (usize, StackId)> = HashMap::new();
        for sample in samples {
            let line = self.stacks.own_frame(sample.stack).map(|frame| frame.to_string()).unwrap_or_default();
            lines.entry(line).or_insert((0, sample.stack)).0 += 1;
        }
        let most = lines.into_iter().min_by_key(|(line, (count, _))| (Reverse(*count), line.clone()));
        most.map(|(_, (count, stack))| (stack, count))
    }

    /// The places of an activation's segments.
    pub(crate) fn places(&self, activation: &Activation) -> Vec<Place> {
        let mut places = Vec::new();
        for (index, segment) in activation.ledger.iter().enumerate() {
            let mut add = |role, tid, found: Option<(StackId, usize)>| {
                places.extend(found.and_then(|(stack, samples)| {
                    let location = self.stacks.own_frame(stack)?.source();
                    Some(Place { segment: index, role, tid, stack, samples, location })
                }));
            };
            let tid = activation.tid;
            match segment.cause.info().details.shown_by {
                ShownBy::Nothing => {}
                ShownBy::OwnSamples => {
                    let ran = self.ran(tid, segment);
                    add(PlaceRole::Ran, tid, self.commonest(of(ran, is_clock)));
                }
                ShownBy::Faults => {
                    let faults = self.between(tid, segment.start - BLUR, segment.end + BLUR);
                    add(PlaceRole::Faulted, tid, self.commonest(of(faults, is_fault)));
                }
                ShownBy::Blocking => {
                    let blocked = self.blocked(activation, segment);
                    add(PlaceRole::Blocked, tid, blocked.map(|sample| (sample.stack, 1)));
                }
                ShownBy::Lock => {
                    let blocked = self.blocked(activation, segment);
                    add(PlaceRole::Blocked, tid, blocked.map(|sample| (sample.stack, 1)));
                    let Some(Culprit::Task { tid: owner, .. }) = segment.owner.or(segment.by) else {
                        continue;
                    };
                    let from = blocked.map_or(segment.start, |sample| sample.time.min(segment.start));
                    for (role, found) in self.owner(owner, tid, (from, segment.end)) {
                        add(role, owner, found);
                    }
                }
                ShownBy::Culprit => {
                    let Some(Culprit::Task { tid: culprit, .. }) = segment.by else { continue };
                    let ran = self.commonest(of(self.ran(culprit, segment), is_clock));
                    add(
                        PlaceRole::CulpritRan,
                        culprit,
                        ran.or_else(|| self.interrupted(culprit, tid, segment)),
                    );
                }
            }
        }
        places
    }

    /// Where a culprit was when the late thread was woken: by the timer's interrupt, or by the culprit itself.
    fn interrupted(&self, culprit: Tid, late: Tid, segment: &Segment) -> Option<(StackId, usize)> {
        let samples = self.between(culprit, segment.start - BLUR, segment.end + BLUR);
        let woke = |sample: &&StackSample| sample.kind == SampleKind::Wake { woken: late };
        samples.iter().find(woke).map(|sample| (sample.stack, 1))
    }

    /// The switch by which the thread left the CPU that it lacked in this segment: its last one before.
    fn blocked(&self, activation: &Activation, segment: &Segment) -> Option<StackSample> {
        // What it ran of since is behind another switch, which was not sampled if none is found.
        let ran = |one: &&Segment| one.cause == Cause::OwnWork && one.end <= segment.start;
        let since = activation.ledger.iter().rfind(ran).map_or(activation.due, |ran| ran.end);
        let samples = self.between(activation.tid, since, segment.end);
        let mut switches = samples.iter().filter(|sample| sample.kind == SampleKind::SwitchOut);
        switches.rfind(|sample| sample.time <= segment.start + BLUR).or_else(|| switches.next()).copied()
    }

    /// What a lock's owner did from the instant at which `waiter` blocked until it had the lock.
    fn owner(
        &self,
        owner: Tid,
        waiter: Tid,
        (from, to): (Ns, Ns),
    ) -> [(PlaceRole, Option<(StackId, usize)>); 3] {
        let samples = self.between(owner, from, to + BLUR);
        let wakes = |sample: &&StackSample| sample.kind == SampleKind::Wake { woken: waiter };
        let released = samples.iter().rev().find(wakes);
        // It may have done something else since, or before.
        let end = released.map_or(to, |released| released.time);
        let held = |sample: &StackSample| sample.time <= end;
        // Without a CPU all the time, it is where it was switched out before, if that was sampled.
        let off_cpu = || {
            let before = self.between(owner, Ns::ZERO, from);
            before.iter().rfind(|sample| sample.kind == SampleKind::SwitchOut).map(|sample| (sample.stack, 1))
        };
        let was = |sample: &StackSample| is_clock(sample) || sample.kind == SampleKind::SwitchOut;
        [
            (PlaceRole::Released, released.map(|sample| (sample.stack, 1))),
            (PlaceRole::OwnerFaulted, self.commonest(of(samples, is_fault).filter(held))),
            (PlaceRole::OwnerWas, self.commonest(of(samples, was).filter(held)).or_else(off_cpu)),
        ]
    }

    /// Adds to the verdict where it happened: a clause behind its sentence, and the stacks in front of its evidence.
    pub(crate) fn add_to_verdict(&self, activation: &mut Activation) {
        let evidence: Vec<Evidence> = of_verdict(activation)
            .into_iter()
            .map(|place| {
                let chain = format!("{}: {}", place.role.title(), self.chain(place.stack));
                Evidence { location: Some(place.location.clone()), ..Evidence::general(chain) }
            })
            .collect();
        add_clauses(activation);
        activation.verdict.evidence.splice(0..0, evidence);
    }

    /// The program's own frames of a stack, innermost first, as many as a line has room for; the innermost of all where
    /// there is none.
    fn chain(&self, stack: StackId) -> String {
        let own: Vec<String> =
            self.stacks.own_frames(stack).take(FRAMES).map(|frame| frame.to_string()).collect();
        match own.is_empty() {
            true => self.stacks.own_frame(stack).map(|frame| frame.to_string()).unwrap_or_default(),
            false => own.join(", called at "),
        }
    }
}

/// The places that the verdict of an activation shows: of each role the one with most samples.
fn of_verdict(activation: &Activation) -> Vec<&Place> {
    let Activation { verdict, places, ledger, .. } = activation;
    let charged = (verdict.cause, verdict.by);
    let is_charged = |place: &&Place| {
        ledger.get(place.segment).is_some_and(|segment| (segment.cause, segment.by) == charged)
    };
    let most = |role: PlaceRole| {
        let of_role = places.iter().filter(is_charged).filter(|place| place.role == role);
        of_role.max_by_key(|place| (place.samples, Reverse(place.segment)))
    };
    let roles = shown(verdict.cause.info().details.shown_by).iter();
    roles.filter_map(|roles| roles.iter().find_map(|&role| most(role))).collect()
}

/// Adds to the sentence of the verdict where it happened.
pub(crate) fn add_clauses(activation: &mut Activation) {
    let clauses: Vec<String> = of_verdict(activation)
        .into_iter()
        .map(|place| format!("{} {}", words(place.role), place.location))
        .collect();
    if !clauses.is_empty() {
        activation.verdict.why = format!("{}; {}", activation.verdict.why, clauses.join(", "));
    }
}

/// The roles that a verdict shows, in their order; of alternatives the first that there is.
fn shown(by: ShownBy) -> &'static [&'static [PlaceRole]] {
    use PlaceRole::*;
    match by {
        ShownBy::Nothing => &[],
        ShownBy::OwnSamples => &[&[Ran]],
        ShownBy::Faults => &[&[Faulted]],
        ShownBy::Blocking => &[&[Blocked]],
        ShownBy::Culprit => &[&[CulpritRan]],
        ShownBy::Lock => &[&[Blocked], &[OwnerFaulted, OwnerWas], &[Released]],
    }
}

/// The role in a clause, before the place.
fn words(role: PlaceRole) -> &'static str {
    match role {
        PlaceRole::Ran => "most of it at",
        PlaceRole::Faulted => "touched at",
        PlaceRole::Blocked => "it blocked at",
        PlaceRole::Released => "the owner released it at",
        PlaceRole::OwnerWas => "the owner was at",
        PlaceRole::OwnerFaulted => "the owner page-faulted at",
        PlaceRole::CulpritRan => "it ran at",
    }
}

fn of(
    samples: &[StackSample],
    is_wanted: impl Fn(&StackSample) -> bool,
) -> impl Iterator<Item = StackSample> {
    samples.iter().copied().filter(move |sample| is_wanted(sample))
}

/// A sample of a thread that ran, by its own clock or another timer.
fn is_clock(sample: &StackSample) -> bool {
    matches!(sample.kind, SampleKind::CpuClock | SampleKind::Timer)
}

fn is_fault(sample: &StackSample) -> bool {
    matches!(sample.kind, SampleKind::MinorFault { .. } | SampleKind::MajorFault { .. })
}

#[cfg(test)]
mod tests {
    use super::*;
    use whylate_base::{Comm, Confidence, Cpu, Priority};
    use whylate_events::{AddressId, CodeAddress, CodeLocation, CodeModule, ModuleId};

    const LATE: Tid = Tid(10);
    const OWNER: Tid = Tid(20);

    /// Stack N is line N + 1 of `control.c`.
    fn stacks(samples: &[(i64, Tid, SampleKind, u32)]) -> Stacks {
        let lines = 0..10;
        let location = |line| CodeLocation {
            function: Some(format!("f{line}")),
            file: Some("/src/control.c".to_owned()),
            line: Some(line),
        };
        Stacks {
            modules: vec![CodeModule { path: "/opt/control".to_owned(), ..CodeModule::default() }],
            addresses: lines
                .clone()
                .map(|line| CodeAddress {
                    module: Some(ModuleId(0)),
                    offset: line.into(),
                    locations: vec![location(line + 1)],
                })
                .collect(),
            stacks: lines.map(|line| vec![AddressId(line), AddressId(9)]).collect(),
            samples: samples
                .iter()
                .map(|&(time, tid, kind, stack)| StackSample {
                    time: Ns::from_us(time),
                    tid,
                    pid: LATE,
                    cpu: Cpu(0),
                    kind,
                    stack: StackId(stack),
                })
                .collect(),
            ..Stacks::default()
        }
    }

    /// Late from 0 to 1000 us: 100 us of other work, then 800 us of a cause, then 100 us of work.
    fn late(cause: Cause, by: Option<Tid>) -> Activation {
        let segment = |cause, start, end, by: Option<Tid>| Segment {
            cause,
            start: Ns::from_us(start),
            end: Ns::from_us(end),
            cpu: Cpu(0),
            by: by.map(|tid| Culprit::Task {
                tid,
                comm: Comm::from("other"),
                priority: Priority::realtime(1),
            }),
            owner: None,
            confidence: Confidence::High,
        };
        let mut activation =
            Activation::of(LATE, Comm::from("control"), Priority::realtime(80), Ns::ZERO, Ns::from_us(1000));
        activation.ledger = vec![
            segment(Cause::Irq, 0, 100, None),
            segment(cause, 100, 900, by),
            segment(Cause::Irq, 900, 1000, None),
        ];
        activation.verdict.cause = cause;
        activation.verdict.by = activation.ledger[1].by;
        activation.verdict.why = "it was late".to_owned();
        activation
    }

    fn answer(
        cause: Cause,
        by: Option<Tid>,
        samples: &[(i64, Tid, SampleKind, u32)],
    ) -> (String, Vec<String>) {
        let stacks = stacks(samples);
        let samples = Samples::new(&stacks);
        let mut activation = late(cause, by);
        activation.places = samples.places(&activation);
        samples.add_to_verdict(&mut activation);
        assert!(activation.verdict.evidence.iter().all(|evidence| evidence.location.is_some()));
        let evidence = activation.verdict.evidence.into_iter().map(|evidence| evidence.what).collect();
        (activation.verdict.why, evidence)
    }

    #[test]
    fn own_work_is_where_most_samples_of_the_running_thread_are() {
        use SampleKind::{CpuClock, Timer};
        let samples = [
            (50, LATE, CpuClock, 7),
            (200, LATE, CpuClock, 1),
            (300, LATE, CpuClock, 2),
            (400, LATE, Timer, 2),
            (450, OWNER, CpuClock, 3),
            (500, OWNER, CpuClock, 3),
            (550, OWNER, CpuClock, 3),
            (600, LATE, SampleKind::SwitchOut, 4),
            (905, LATE, CpuClock, 2),
            (950, LATE, CpuClock, 5),
        ];
        let (why, evidence) = answer(Cause::OwnWork, None, &samples);
        assert_eq!(why, "it was late; most of it at control.c:3 (`f3`)");
        assert_eq!(evidence, ["its own work: control.c:3 (`f3`), called at control.c:10 (`f10`)"]);
    }

    #[test]
    fn a_culprit_without_a_clock_sample_is_where_it_was_when_the_thread_was_woken() {
        use SampleKind::{CpuClock, Wake};
        let wake = |at, woken| (at, OWNER, Wake { woken }, 2);
        let why = |samples: &[_]| answer(Cause::HigherPriorityTask, Some(OWNER), samples).0;
        let ran = |line| format!("it was late; it ran at control.c:{line} (`f{line}`)");
        assert_eq!(why(&[wake(95, LATE)]), ran(3), "the segment begins at the event behind the sample");
        assert_eq!(why(&[wake(101, LATE), (500, OWNER, CpuClock, 5)]), ran(6));
        for other in [wake(50, LATE), wake(101, OWNER), (101, LATE, Wake { woken: LATE }, 2)] {
            assert_eq!(why(&[other]), "it was late", "{other:?}");
        }
    }

    #[test]
    fn a_fault_is_where_the_page_was_touched() {
        let fault = SampleKind::MinorFault { address: 1 };
        let samples = [(50, LATE, fault, 1), (101, LATE, fault, 2), (200, LATE, SampleKind::CpuClock, 3)];
        assert_eq!(answer(Cause::PageFault, None, &samples).0, "it was late; touched at control.c:3 (`f3`)");
    }

    #[test]
    fn a_wait_is_where_the_thread_was_switched_out_last() {
        use SampleKind::SwitchOut;
        let samples = [(40, LATE, SwitchOut, 1), (101, LATE, SwitchOut, 2), (950, LATE, SwitchOut, 3)];
        assert_eq!(answer(Cause::BlockIo, None, &samples).0, "it was late; it blocked at control.c:3 (`f3`)");
        assert_eq!(answer(Cause::BlockIo, None, &samples[2..]).0, "it was late", "switched out after it");
    }

    #[test]
    fn a_lock_has_the_wait_what_its_owner_did_and_its_release() {
        use SampleKind::{CpuClock, SwitchOut, Wake};
        let mut samples = vec![
            (30, OWNER, SwitchOut, 8),
            (101, LATE, SwitchOut, 1),
            (300, OWNER, CpuClock, 2),
            (899, OWNER, Wake { woken: LATE }, 3),
            (905, OWNER, CpuClock, 4),
        ];
        let lock = |samples: &[_]| answer(Cause::LockWait, Some(OWNER), samples).0;
        assert_eq!(
            lock(&samples),
            "it was late; it blocked at control.c:2 (`f2`), the owner was at control.c:3 (`f3`), the owner released it at \
             control.c:4 (`f4`)"
        );
        samples[2].2 = SampleKind::MajorFault { address: 0 };
        assert!(lock(&samples).contains("the owner page-faulted at control.c:3"), "{}", lock(&samples));
        // It had no CPU all the time.
        assert!(
            lock(&samples[..2]).ends_with("the owner was at control.c:9 (`f9`)"),
            "{}",
            lock(&samples[..2])
        );
    }

    #[test]
    fn a_switch_before_the_threads_last_work_is_not_where_it_blocked() {
        let switch = (40, LATE, SampleKind::SwitchOut, 3);
        let blocked_at = |activation: &Activation, samples: &[(i64, Tid, SampleKind, u32)]| {
            let stacks = stacks(samples);
            let samples = Samples::new(&stacks);
            samples.blocked(activation, &activation.ledger[1]).map(|sample| sample.stack)
        };
        let mut activation = late(Cause::LockWait, Some(OWNER));
        assert_eq!(blocked_at(&activation, &[switch]), Some(StackId(3)));
        activation.ledger[0].cause = Cause::OwnWork;
        assert_eq!(blocked_at(&activation, &[switch]), None);
        let last = (101, LATE, SampleKind::SwitchOut, 4);
        assert_eq!(blocked_at(&activation, &[switch, last]), Some(StackId(4)));
    }

    #[test]
    fn no_sample_adds_nothing_and_a_cause_of_no_program_has_no_line() {
        assert_eq!(answer(Cause::OwnWork, None, &[]), ("it was late".to_owned(), Vec::new()));
        let samples = [(200, LATE, SampleKind::CpuClock, 1), (101, LATE, SampleKind::SwitchOut, 1)];
        assert_eq!(answer(Cause::RtThrottled, None, &samples).0, "it was late");
    }
}
