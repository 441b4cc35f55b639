//! The host's side added to an explained guest: time in which the host kept a guest's CPU off its own CPUs is charged to
//! `stolen`, whatever the guest's recording alone made of it, and each stolen segment gets what the host did meanwhile.

use crate::causes::Cause;
use crate::causes::advised::{HOST, all_by_hand};
use crate::findings::{self, of_host};
use crate::model::{
    Activation, Culprit, Explanation, HostPart, HostRecording, HostState, HostStay, Place, Segment,
    thread_name,
};
use std::cmp::Reverse;
use whylate_base::{AdvisedFix, Confidence, Cpu, Evidence, Ns};

/// Shorter thefts make nothing late.
const NOTABLE: Ns = Ns::from_us(50);
/// A smaller share of a response is no answer.
const NOTABLE_SHARE: f64 = 0.1;
/// What is listed as evidence.
const MAX_EVIDENCE: usize = 4;

/// Adds a host's recording to the explanation of its guest. `stays` gives what the host did with a guest's CPU from one
/// instant of the guest's time to another, in time order; nothing where that is not known.
pub fn add_host(
    explanation: &mut Explanation,
    recording: HostRecording,
    stays: &dyn Fn(Cpu, Ns, Ns) -> Vec<HostStay>,
) {
    let error = recording.join.error;
    for activation in &mut explanation.activations {
        let before = stolen(activation);
        let recharged = recharge(activation, error, stays);
        resolve(activation, error, stays);
        if before > Ns::ZERO || recharged > Ns::ZERO {
            judge(activation, recharged);
        }
    }
    findings::add(&mut explanation.findings, of_host(&recording));
    explanation.host = Some(recording);
}

fn stolen(activation: &Activation) -> Ns {
    activation.ledger.iter().filter(|segment| segment.cause == Cause::Stolen).map(Segment::length).sum()
}

/// True of time that passes only while the guest's CPU executes something: what the host takes of it is stolen. A
/// budget's window, a device and another CPU's lock go on meanwhile.
fn needs_cpu(cause: Cause) -> bool {
    matches!(
        cause,
        Cause::HigherPriorityTask
            | Cause::EqualPriorityTask
            | Cause::DeadlineTask
            | Cause::StopTask
            | Cause::Irq
            | Cause::Softirq
            | Cause::Nmi
            | Cause::NapiPoll
            | Cause::IrqThread
            | Cause::WorkItem
            | Cause::IrqsDisabled
            | Cause::PreemptionDisabled
            | Cause::TimerLate
            | Cause::IdleExit
            | Cause::Dispatch
            | Cause::PageFault
            | Cause::OwnWork
            | Cause::FairQueue
            | Cause::OtherTask
            | Cause::Unexplained
    )
}

/// Charges what the host took to `stolen`; returns how much that was. The ends of an interval are known within
/// `error`, so that only its inside is charged.
fn recharge(activation: &mut Activation, error: Ns, stays: &dyn Fn(Cpu, Ns, Ns) -> Vec<HostStay>) -> Ns {
    let mut ledger: Vec<Segment> = Vec::with_capacity(activation.ledger.len());
    let mut number = Vec::with_capacity(activation.ledger.len());
    let mut taken = Ns::ZERO;
    for segment in &activation.ledger {
        number.push(ledger.len());
        if !needs_cpu(segment.cause) || segment.length() < NOTABLE {
            ledger.push(*segment);
            continue;
        }
        let mut at = segment.start;
        for stay in stays(segment.cpu, segment.start, segment.end) {
            if !matches!(stay.state, HostState::Delayed { .. }) {
                continue;
            }
            let from = (stay.from + error).max(at);
            let to = (stay.to - error).min(segment.end);
            if to - from < NOTABLE {
                continue;
            }
            if from > at {
                ledger.push(Segment { start: at, end: from, ..*segment });
            }
            let stolen = Segment {
                cause: Cause::Stolen,
                start: from,
                end: to,
                by: None,
                owner: None,
                confidence: Confidence::High,
                ..*segment
            };
            ledger.push(stolen);
            taken += stolen.length();
            at = to;
        }
        if at < segment.end {
            ledger.push(Segment { start: at, ..*segment });
        }
    }
    if taken > Ns::ZERO {
        let moved = |place: &Place| Some(Place { segment: *number.get(place.segment)?, ..place.clone() });
        activation.places = activation.places.iter().filter_map(moved).collect();
        activation.ledger = ledger;
    }
    taken
}

/// Gives each stolen segment what the host did meanwhile.
fn resolve(activation: &mut Activation, error: Ns, stays: &dyn Fn(Cpu, Ns, Ns) -> Vec<HostStay>) {
    activation.host = Vec::new();
    for (number, segment) in activation.ledger.iter().enumerate() {
        if segment.cause != Cause::Stolen || segment.length() < NOTABLE {
            continue;
        }
        let first = activation.host.len();
        let mut longest: Vec<Ns> = Vec::new();
        for stay in stays(segment.cpu, segment.start, segment.end) {
            let (from, to) = (stay.from.max(segment.start), stay.to.min(segment.end));
            // A shorter overlap may be none.
            if to - from <= error + error {
                continue;
            }
            let HostStay { thread, state, exit, .. } = stay;
            let same = |part: &HostPart| {
                part.thread == thread
                    && part.exit == exit
                    && (part.state.name(), part.state.delay()) == (state.name(), state.delay())
            };
            match activation.host[first..].iter().position(same) {
                Some(index) => {
                    let part = &mut activation.host[first + index];
                    part.time += to - from;
                    if to - from > longest[index] {
                        longest[index] = to - from;
                        part.at = from;
                        part.state = state;
                    }
                }
                None => {
                    longest.push(to - from);
                    let part = HostPart { segment: number, thread, state, exit, time: to - from, at: from };
                    activation.host.push(part);
                }
            }
        }
        activation.host[first..].sort_by_key(|part| Reverse(part.time));
    }
}

/// Judges an activation anew of which `recharged` was charged to `stolen`.
fn judge(activation: &mut Activation, recharged: Ns) {
    let stolen = stolen(activation);
    let response = activation.response().0.max(1) as f64;
    let verdict = &activation.verdict;
    if verdict.cause != Cause::Stolen {
        let key = (verdict.cause, verdict.by);
        let left: Ns = (activation.ledger.iter())
            .filter(|segment| (segment.cause, segment.by) == key)
            .map(Segment::length)
            .sum();
        let is_answer = stolen >= NOTABLE && stolen.0 as f64 / response >= NOTABLE_SHARE;
        if recharged == Ns::ZERO || stolen < left || !is_answer {
            if left < verdict.charged {
                let taken = verdict.charged - left;
                activation.verdict.charged = left;
                activation.verdict.share = left.0 as f64 / response;
                activation.verdict.why += &format!("; by the host's recording {taken} of that was stolen");
            }
            return;
        }
    }
    let Some(answer) = answer(activation, stolen) else { return };
    activation.verdict.cause = Cause::Stolen;
    activation.verdict.by = None;
    activation.verdict.charged = stolen;
    activation.verdict.share = stolen.0 as f64 / response;
    activation.verdict.confidence = answer.confidence;
    activation.verdict.why = answer.why;
    activation.verdict.evidence = answer.evidence;
    activation.verdict.fix = answer.fix;
}

struct Answer {
    confidence: Confidence,
    why: String,
    evidence: Vec<Evidence>,
    fix: Vec<AdvisedFix>,
}

/// What the host did with the guest's CPU in the stolen time; `None` where it shows nothing.
fn answer(activation: &Activation, stolen: Ns) -> Option<Answer> {
    let mut sums: Vec<(HostPart, Ns)> = Vec::new();
    for part in &activation.host {
        match sums.iter_mut().find(|(sum, _)| is_same(sum, part)) {
            Some((sum, longest)) => {
                sum.time += part.time;
                if part.time > *longest {
                    (*longest, sum.at, sum.segment) = (part.time, part.at, part.segment);
                }
            }
            None => sums.push((part.clone(), part.time)),
        }
    }
    sums.sort_by_key(|(part, _)| (rank(part), Reverse(part.time)));
    // A delay explains more than a sleep; but only where it is a good part of the time.
    let heavy = |(part, _): &&(HostPart, Ns)| part.time.0.saturating_mul(4) >= stolen.0;
    let (main, _) = sums.iter().find(heavy).or(sums.first())?;
    let shown: Ns = sums.iter().map(|(part, _)| part.time).sum();
    let cpu = activation.ledger.get(main.segment).map_or(activation.cpu, |segment| segment.cpu);
    let confidence = match main.state {
        HostState::Delayed { .. } if main.time.0.saturating_mul(2) >= stolen.0 => Confidence::High,
        _ if shown.0.saturating_mul(2) >= stolen.0 => Confidence::Medium,
        _ => Confidence::Low,
    };
    let evidence = (sums.iter().take(MAX_EVIDENCE)).map(|(part, _)| {
        let cpu = activation.ledger.get(part.segment).map_or(activation.cpu, |segment| segment.cpu);
        Evidence::at(part.at, cpu, format!("on the host {}", did(part)))
    });
    Some(Answer {
        confidence,
        why: format!("CPU {cpu} did nothing for {stolen}: on the host {}", did(main)),
        evidence: evidence.collect(),
        fix: fix(main, cpu),
    })
}

fn is_same(one: &HostPart, other: &HostPart) -> bool {
    one.thread == other.thread
        && one.exit == other.exit
        && (one.state.name(), one.state.delay()) == (other.state.name(), other.state.delay())
}

fn rank(part: &HostPart) -> u8 {
    match part.state {
        HostState::Delayed { .. } => 0,
        HostState::WakerDelayed { .. } => 1,
        HostState::Ran => 2,
        HostState::Asleep => 3,
    }
}

/// What a part is, in words that follow "on the host".
pub(crate) fn did(part: &HostPart) -> String {
    let thread = thread_name(&part.thread.1, part.thread.0);
    let time = part.time;
    let exit = part.exit.as_ref().map_or_else(String::new, |reason| format!(", after the exit {reason}"));
    match part.state {
        HostState::Delayed { cause, by, cpu } => match by {
            Some(by) => format!("{by} kept {thread} off CPU {cpu} for {time} ({cause}){exit}"),
            None => format!("{thread} could not run on CPU {cpu} for {time} ({cause}){exit}"),
        },
        HostState::WakerDelayed { cause, by, cpu } => match by {
            Some(by) => format!(
                "{by} kept {thread}, which was to wake the guest's CPU, off CPU {cpu} for {time} ({cause}){exit}"
            ),
            None => format!(
                "{thread}, which was to wake the guest's CPU, could not run on CPU {cpu} for {time} ({cause}){exit}"
            ),
        },
        HostState::Ran => match &part.exit {
            Some(reason) => format!("{thread} was in the hypervisor for {time} (exit reason {reason})"),
            None => format!("{thread} ran for {time}: the emulator or the hypervisor took the time"),
        },
        HostState::Asleep => format!("{thread} slept for {time}{exit}"),
    }
}

fn fix(part: &HostPart, cpu: Cpu) -> Vec<AdvisedFix> {
    let thread = thread_name(&part.thread.1, part.thread.0);
    match part.state {
        HostState::Delayed { by: Some(by @ Culprit::Task { .. }), cpu: on, .. }
        | HostState::WakerDelayed { by: Some(by @ Culprit::Task { .. }), cpu: on, .. } => all_by_hand(
            HOST,
            &[
                &format!(
                    "on the host: keep {by} off CPU {on}, where {thread} runs, or give CPU {cpu} of the guest a CPU of its own"
                ),
                &format!(
                    "on the host: give {thread} a real-time priority above that of {by}, if it may take that CPU for good"
                ),
            ],
        ),
        HostState::Delayed { by: Some(by), cpu: on, .. }
        | HostState::WakerDelayed { by: Some(by), cpu: on, .. } => {
            all_by_hand(HOST, &[&format!("on the host: move {by} off CPU {on}, where {thread} runs")])
        }
        HostState::Delayed { cause, .. } | HostState::WakerDelayed { cause, .. } => all_by_hand(
            HOST,
            &[&format!("on the host: follow the page of {cause}: whylate explain --code {cause}")],
        ),
        HostState::Ran => all_by_hand(
            HOST,
            &[
                "on the host: find out what the hypervisor does on this exit: trace it with kvm:* and perf kvm stat",
            ],
        ),
        HostState::Asleep => all_by_hand(
            HOST,
            &[
                "on the host: find out what was to wake the guest's CPU: explain the host's recording with --task of that thread",
            ],
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use whylate_base::{Comm, Priority, Tid};

    const ERROR: Ns = Ns::from_us(10);

    fn hog() -> Culprit {
        Culprit::Task { tid: Tid(77), comm: Comm::from("hog"), priority: Priority::realtime(50) }
    }

    fn segment(cause: Cause, start: i64, end: i64) -> Segment {
        Segment {
            cause,
            start: Ns::from_us(start),
            end: Ns::from_us(end),
            cpu: Cpu(1),
            by: None,
            owner: None,
            confidence: Confidence::Low,
        }
    }

    fn stay(state: HostState, from: i64, to: i64) -> HostStay {
        let thread = (Tid(5), Comm::from("CPU 1/KVM"));
        HostStay { from: Ns::from_us(from), to: Ns::from_us(to), thread, state, exit: None }
    }

    fn delayed() -> HostState {
        HostState::Delayed { cause: Cause::HigherPriorityTask, by: Some(hog()), cpu: Cpu(7) }
    }

    fn activation(ledger: Vec<Segment>) -> Activation {
        let end = ledger.last().map_or(Ns::ZERO, |last| last.end);
        let mut activation =
            Activation::of(Tid(9), Comm::from("control"), Priority::realtime(80), Ns::ZERO, end);
        activation.cpu = Cpu(1);
        activation.verdict.cause = ledger[0].cause;
        activation.verdict.charged = ledger[0].length();
        activation.ledger = ledger;
        activation
    }

    fn with(mut activation: Activation, stays: &[HostStay]) -> Activation {
        let find = |cpu: Cpu, from: Ns, to: Ns| {
            let inside = |stay: &&HostStay| cpu == Cpu(1) && stay.from < to && stay.to > from;
            stays.iter().filter(inside).cloned().collect::<Vec<_>>()
        };
        let recharged = recharge(&mut activation, ERROR, &find);
        resolve(&mut activation, ERROR, &find);
        if stolen(&activation) > Ns::ZERO {
            judge(&mut activation, recharged);
        }
        assert!(crate::charge::tiles(&activation.ledger, activation.due, activation.end));
        activation
    }

    #[test]
    fn a_stolen_segment_names_the_thread_of_the_host() {
        let late = with(activation(vec![segment(Cause::Stolen, 0, 5_000)]), &[stay(delayed(), -100, 4_900)]);
        let why = &late.verdict.why;
        assert_eq!((late.verdict.cause, late.verdict.confidence), (Cause::Stolen, Confidence::High), "{why}");
        assert!(why.contains("hog:77 (rt 50) kept CPU 1/KVM:5 off CPU 7 for 4.90 ms"), "{why}");
        assert_eq!(late.host.len(), 1);
        assert!(late.verdict.fix.iter().all(|fix| fix.action.flaw().is_none()));
    }

    #[test]
    fn what_the_guest_took_for_own_work_is_stolen_where_the_host_shows_it() {
        let work = vec![segment(Cause::OwnWork, 0, 6_000)];
        let late = with(activation(work), &[stay(HostState::Ran, 0, 500), stay(delayed(), 500, 5_500)]);
        let causes: Vec<_> = late.ledger.iter().map(|one| (one.cause, one.length())).collect();
        let own = Ns::from_us(510);
        assert_eq!(
            causes,
            [(Cause::OwnWork, own), (Cause::Stolen, Ns::from_us(4_980)), (Cause::OwnWork, own)]
        );
        assert_eq!((late.verdict.cause, late.verdict.charged), (Cause::Stolen, Ns::from_us(4_980)));
    }

    #[test]
    fn a_budget_and_a_device_go_on_while_the_cpu_is_away() {
        for cause in [Cause::RtThrottled, Cause::BlockIo, Cause::KernelSleep, Cause::TraceLoss] {
            let late = with(activation(vec![segment(cause, 0, 6_000)]), &[stay(delayed(), 500, 5_500)]);
            assert_eq!((late.ledger.len(), late.verdict.cause, late.host.len()), (1, cause, 0));
        }
    }

    #[test]
    fn an_overlap_within_the_error_accuses_nothing() {
        let late = with(activation(vec![segment(Cause::Stolen, 0, 5_000)]), &[stay(delayed(), -900, 20)]);
        assert_eq!(late.host, []);
        assert_eq!(late.verdict.why, "", "nothing was shown, so the guest's own verdict stays");
        let late = with(activation(vec![segment(Cause::OwnWork, 0, 5_000)]), &[stay(delayed(), 100, 160)]);
        assert_eq!(late.ledger.len(), 1);
    }

    #[test]
    fn a_small_theft_leaves_the_verdict() {
        let work = vec![segment(Cause::OwnWork, 0, 6_000)];
        let late = with(activation(work), &[stay(delayed(), 500, 720)]);
        assert_eq!((late.verdict.cause, late.verdict.charged), (Cause::OwnWork, Ns::from_us(5_800)));
        assert!(late.verdict.why.contains("200.0 us of that was stolen"), "{}", late.verdict.why);
    }

    #[test]
    fn an_exit_and_a_sleep_are_named() {
        let mut exit = stay(HostState::Ran, 0, 4_000);
        exit.exit = Some("EPT_VIOLATION".to_owned());
        let late = with(activation(vec![segment(Cause::Stolen, 0, 4_000)]), &[exit]);
        assert!(late.verdict.why.contains("exit reason EPT_VIOLATION"), "{}", late.verdict.why);
        let waker =
            HostState::WakerDelayed { cause: Cause::HigherPriorityTask, by: Some(hog()), cpu: Cpu(0) };
        let both = [stay(HostState::Asleep, 0, 1_000), stay(waker, 1_000, 4_000)];
        let late = with(activation(vec![segment(Cause::Stolen, 0, 4_000)]), &both);
        assert!(late.verdict.why.contains("which was to wake the guest's CPU"), "{}", late.verdict.why);
        assert_eq!(late.verdict.confidence, Confidence::Medium);
    }
}
