//! Two machines: each late job of the master is compared with its round trip.
//!
//! The label has for each late job whether a fault of either machine touched it. One that none touched was delayed by the host, in
//! whose time both guests run: a verdict that accuses a thread is then a wrong accusation, and any other is right.

use super::accused::{self, Named, named};
use super::{Grade, JobRuling, Judgement, Ruling, findings};
use crate::label::{Label, LateJob};
use crate::scenario::{Expectation, LateMachine};
use whylate_base::{Confidence, Ns};
use whylate_ledger::{
    Activation, Cause, Culprit, Explanation, PeerHop, PeerPlace, PeerRecording, RoundTrip, TripVerdict,
};

/// What the label has of a job that no fault touched.
const UNTOUCHED: &str = "nothing";
/// The finding about the peer.
const PEER_LATE: &str = "peer-late";

/// Judges the explanation of two recordings.
pub(crate) fn judge_pair(
    own: &Label,
    peer: &Label,
    explanation: &Explanation,
    recording: &PeerRecording,
    expected: &Expectation,
) -> Judgement {
    let covered = |job: &&LateJob| {
        let (from, to) = recording.join.covered;
        job.due >= from && job.done <= to
    };
    let late: Vec<&LateJob> = own.late_jobs.iter().filter(covered).collect();
    let jobs: Vec<JobRuling> = late.iter().map(|job| of_job(job, own, peer, recording, expected)).collect();
    let mut false_findings: Vec<String> = wrong_about_own(own, explanation, expected);
    false_findings.extend(wrong_about_peer(own, explanation, recording, expected));
    let mut judgement = Judgement {
        outcome: Grade::Right,
        not_recorded: own.late_jobs.len() - late.len(),
        false_findings,
        missing_findings: findings::missing(explanation, expected),
        jobs,
    };
    judgement.outcome = super::outcome(&judgement, expected.late);
    judgement
}

/// The round trip of a job: the first that was sent in it.
fn trip_of<'p>(job: &LateJob, recording: &'p PeerRecording) -> Option<&'p RoundTrip> {
    let of_job = recording.worst.iter().filter(|trip| trip.sent >= job.due && trip.sent <= job.done);
    of_job.min_by_key(|trip| trip.sent)
}

fn of_job(
    job: &LateJob,
    own: &Label,
    peer: &Label,
    recording: &PeerRecording,
    expected: &Expectation,
) -> JobRuling {
    let trip = trip_of(job, recording);
    let hop = trip.and_then(|trip| trip.slowest(recording.join.error));
    let verdict = trip.and_then(|trip| trip.verdict(recording.join.error));
    let is_right = verdict.is_some_and(|verdict| is_right(verdict, expected));
    let place = |verdict: &TripVerdict| match verdict.place {
        PeerPlace::Own => "",
        PeerPlace::Network => "the network",
        PeerPlace::Peer => " on the peer",
    };
    let unexplained = hop.map_or(job.done - job.due, |hop| {
        hop.charges.iter().filter(|(cause, ..)| *cause == Cause::Unexplained).map(|(.., time)| *time).sum()
    });
    let late = hop.map_or(job.done - job.due, |hop| hop.excess());
    JobRuling {
        due_ns: job.due,
        ruling: rule(job, verdict, is_right, (own, peer), hop, expected),
        cause_right: is_right,
        cause: verdict.map(|verdict| verdict.cause.unwrap_or(Cause::Unexplained).code().to_owned()),
        by: verdict.map(|verdict| {
            format!("{}{}", verdict.by.as_ref().map(accused::name).unwrap_or_default(), place(&verdict))
        }),
        confidence: verdict.map(|verdict| verdict.confidence),
        late_ns: late,
        unexplained_ns: unexplained.min(late).max(Ns::ZERO),
    }
}

fn is_right(verdict: TripVerdict, expected: &Expectation) -> bool {
    let machine = match expected.machine {
        LateMachine::Own => PeerPlace::Own,
        LateMachine::Peer => PeerPlace::Peer,
    };
    let is_cause = |cause: Cause| expected.causes.iter().any(|right| right == cause.code());
    verdict.place == machine && verdict.cause.is_some_and(is_cause)
}

/// A verdict with more than low confidence whose cause [`accuses`].
fn accuses_another(verdict: &TripVerdict) -> bool {
    verdict.confidence > Confidence::Low && verdict.cause.is_some_and(accuses)
}

/// A cause that names something else than the late thread and the host, which has taken the CPU from whatever had it: a thread
/// that worked for longer than it should is no accusation of another.
fn accuses(cause: Cause) -> bool {
    cause.accuses() && cause != Cause::Stolen && !cause.accuses_late_thread()
}

fn rule(
    job: &LateJob,
    verdict: Option<TripVerdict>,
    is_right: bool,
    (own, peer): (&Label, &Label),
    hop: Option<&PeerHop>,
    expected: &Expectation,
) -> Ruling {
    let is_accused = verdict.as_ref().is_some_and(accuses_another);
    if job.fault.as_deref() == Some(UNTOUCHED) {
        return if is_accused { Ruling::Wrong } else { Ruling::Aside };
    }
    let Some(verdict) = verdict.filter(|_| is_right) else {
        return match verdict.and_then(|verdict| verdict.cause) {
            Some(Cause::Stolen) => Ruling::Aside,
            _ if is_accused => Ruling::Wrong,
            _ => Ruling::Unexplained,
        };
    };
    let label = if verdict.place == PeerPlace::Peer { peer } else { own };
    let late = hop.and_then(|hop| hop.thread).map(|(tid, _)| tid).unwrap_or_default();
    match named(label, late, verdict.by.as_ref(), &expected.culprits) {
        Named::Rightly => Ruling::Right,
        Named::Missing => Ruling::NobodyNamed,
        Named::Wrongly => Ruling::Wrong,
    }
}

/// Verdicts on late activations of the master that accuse another thread wrongly, by the explanation of its recording alone.
fn wrong_about_own(own: &Label, explanation: &Explanation, expected: &Expectation) -> Vec<String> {
    let is_right = |cause: Cause| {
        expected.machine == LateMachine::Own && expected.causes.iter().any(|right| right == cause.code())
    };
    let is_wrong = |activation: &&Activation| {
        let verdict = &activation.verdict;
        own.is_victim(activation.tid)
            && activation.response() > own.limit_ns
            && accuses(verdict.cause)
            && matches!(verdict.by, Some(Culprit::Task { tid, .. }) if tid != activation.tid)
            && !is_right(verdict.cause)
    };
    let wrong = explanation.activations.iter().filter(is_wrong);
    wrong.map(|activation| format!("{}: {}", activation.verdict.cause, activation.verdict.why)).collect()
}

/// The finding that the peer was late, where a thread is accused of a late round trip that it did not delay. That the peer was
/// late is true also where its host had its CPU.
fn wrong_about_peer(
    own: &Label,
    explanation: &Explanation,
    recording: &PeerRecording,
    expected: &Expectation,
) -> Option<String> {
    let found = explanation.findings.iter().find(|finding| finding.code == PEER_LATE)?;
    let late = recording.worst.iter().filter(|trip| trip.time() > own.limit_ns);
    let accuses_thread = |verdict: &TripVerdict| {
        verdict.place == PeerPlace::Peer
            && accuses_another(verdict)
            && matches!(verdict.by, Some(Culprit::Task { .. }))
    };
    let mut accused = late.filter_map(|trip| trip.verdict(recording.join.error)).filter(accuses_thread);
    accused.any(|verdict| !is_right(verdict, expected)).then(|| format!("{}: {}", found.code, found.title))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::label::LabelledThread;
    use crate::scenario::Late;
    use whylate_base::{Comm, Tid};
    use whylate_ledger::PacketJoin;

    fn label(tid: i32, late: Vec<LateJob>) -> Label {
        let thread = |part: &str, tid: i32| LabelledThread {
            part: part.to_owned(),
            name: "t".to_owned(),
            tid: Tid(tid),
        };
        Label {
            threads: vec![thread("victim", 100), thread("culprit", tid)],
            late_jobs: late,
            ..Label::default()
        }
    }

    fn hop(place: PeerPlace, tid: i32, ms: (i64, i64), charge: Option<(Cause, i32)>) -> PeerHop {
        let (start, end) = (Ns::from_ms(ms.0), Ns::from_ms(ms.1));
        let by = |tid: i32| Culprit::Task {
            tid: Tid(tid),
            comm: Comm::from("t"),
            priority: whylate_base::Priority(40),
        };
        PeerHop {
            place,
            thread: (place != PeerPlace::Network).then_some((Tid(tid), Comm::from("t"))),
            start,
            end,
            usually: Ns::ZERO,
            charges: charge.map(|(cause, tid)| (cause, Some(by(tid)), end - start)).into_iter().collect(),
            confidence: Confidence::High,
        }
    }

    fn judged(place: PeerPlace, charge: Option<(Cause, i32)>, fault: Option<&str>, late: Late) -> Grade {
        graded(hop(place, 100, (11, 16), charge), fault, late)
    }

    fn graded(hop: PeerHop, fault: Option<&str>, late: Late) -> Grade {
        let job = LateJob {
            due: Ns::from_ms(10),
            start: Ns::from_ms(10),
            done: Ns::from_ms(16),
            fault: fault.map(str::to_owned),
            tid: None,
        };
        let trip = RoundTrip {
            thread: (Tid(100), Comm::from("t")),
            sent: Ns::from_ms(11),
            received: Ns::from_ms(16),
            hops: vec![hop],
        };
        let recording = PeerRecording {
            file: String::new(),
            trace: whylate_events::TraceInfo::default(),
            join: PacketJoin {
                offset: Ns::ZERO,
                drift_ppb: 0,
                error: Ns::from_us(100),
                sent: 1,
                received: 1,
                covered: (Ns::ZERO, Ns::from_ms(100)),
            },
            round_trips: 1,
            times: None,
            worst: vec![trip],
        };
        let expected = Expectation {
            late,
            machine: LateMachine::Peer,
            causes: vec!["higher-priority-task".to_owned()],
            culprits: vec!["part:culprit".to_owned()],
            ..Expectation::default()
        };
        let explanation = super::super::tests::explanation(Cause::OwnWork, None, &[]);
        judge_pair(&label(1, vec![job]), &label(9, Vec::new()), &explanation, &recording, &expected).outcome
    }

    #[test]
    fn cause_culprit_and_machine_are_judged() {
        let higher = |tid| Some((Cause::HigherPriorityTask, tid));
        for (place, charge, fault, late, grade) in [
            (PeerPlace::Peer, higher(9), None, Late::Some, Grade::Right),
            (PeerPlace::Peer, higher(8), None, Late::Some, Grade::Wrong),
            (PeerPlace::Own, higher(9), None, Late::Some, Grade::Wrong),
            (PeerPlace::Peer, Some((Cause::LockWait, 9)), None, Late::Some, Grade::Wrong),
            (PeerPlace::Network, None, None, Late::Some, Grade::Unexplained),
            // No fault touched it.
            (PeerPlace::Network, None, Some("nothing"), Late::None, Grade::Right),
            (PeerPlace::Peer, Some((Cause::Stolen, 9)), Some("nothing"), Late::None, Grade::Right),
            (PeerPlace::Peer, higher(9), Some("nothing"), Late::None, Grade::Wrong),
        ] {
            assert_eq!(judged(place, charge, fault, late), grade, "{place:?} {charge:?} {fault:?}");
        }
    }

    #[test]
    fn what_is_in_doubt_accuses_none() {
        let handler = Some((Cause::IrqThread, 8));
        for (confidence, grade) in [(Confidence::High, Grade::Wrong), (Confidence::Low, Grade::Right)] {
            let hop = PeerHop { confidence, ..hop(PeerPlace::Peer, 100, (11, 16), handler) };
            assert_eq!(graded(hop, Some("nothing"), Late::None), grade, "{confidence}");
        }
    }
}
