//! The judge on made-up runs: a victim (tid 100) with one late job of 5 ms among quick ones.

use super::*;
use crate::label::LabelledThread;
use whylate_base::{Comm, Cpu, Finding, Priority, Severity, Tid};
use whylate_events::{Name, TraceInfo};
use whylate_ledger::{Culprit, Segment, TaskSummary, Trigger, Verdict};

const LATE_DUE: Ns = Ns::from_ms(50);
const LATE_DONE: Ns = Ns::from_ms(55);

fn label(fault: Option<&str>) -> Label {
    let member =
        |part: &str, name: &str, tid| LabelledThread { part: part.into(), name: name.into(), tid: Tid(tid) };
    let job = LateJob {
        due: LATE_DUE,
        start: LATE_DUE + Ns::from_ms(4),
        done: LATE_DONE,
        tid: Some(Tid(100)),
        fault: fault.map(str::to_owned),
    };
    Label {
        fault: "higher".into(),
        threads: vec![member("victim", "v", 100), member("culprit", "c", 99), member("bystander", "b", 98)],
        jobs: 10,
        late: 1,
        limit_ns: Ns::from_ms(1),
        late_jobs: vec![job],
        ..Label::default()
    }
}

fn thread(tid: i32, name: &str) -> Culprit {
    Culprit::Task { tid: Tid(tid), comm: Comm::from(name), priority: Priority(40) }
}

fn activation(due: Ns, done: Ns, cause: Cause, by: Option<Culprit>) -> Activation {
    let segment = |cause, start, end| Segment {
        cause,
        start,
        end,
        cpu: Cpu(0),
        by,
        owner: None,
        confidence: Confidence::High,
    };
    let middle = due + Ns((done - due).0 / 2);
    Activation {
        trigger: Trigger::Timer,
        woken: Some(due),
        running: Some(due),
        done: Some(done),
        ledger: vec![segment(cause, due, middle), segment(Cause::Unexplained, middle, done)],
        verdict: Verdict {
            cause,
            by,
            charged: done - due,
            judged: done - due,
            share: 1.0,
            confidence: Confidence::High,
            why: String::new(),
            fix: Vec::new(),
            evidence: Vec::new(),
        },
        ..Activation::of(Tid(100), Comm::from("v"), Priority(49), due, done)
    }
}

/// The late activation has this verdict; nine others take 1 ms each.
pub(super) fn explanation(
    cause: Cause,
    by: Option<Culprit>,
    findings: &[(&'static str, Severity)],
) -> Explanation {
    let quick = (0..9).map(|number| {
        let due = Ns::from_ms(number * 5);
        activation(due, due + Ns::from_ms(1), Cause::OwnWork, None)
    });
    let finding = |(code, severity): &(&'static str, Severity)| Finding {
        code,
        severity: *severity,
        title: "a thread".into(),
        why: String::new(),
        evidence: Vec::new(),
        fix: Vec::new(),
    };
    Explanation {
        profiles: Vec::new(),
        trace: TraceInfo { span: Some((Ns::ZERO, Ns::from_ms(100))), ..TraceInfo::default() },
        tasks: vec![TaskSummary {
            tid: Tid(100),
            comm: Comm::from("v"),
            policy: None,
            priority: Priority(49),
            activations: 10,
            latency: None,
            response: None,
            causes: Vec::new(),
        }],
        unlisted: 0,
        activations: quick.chain([activation(LATE_DUE, LATE_DONE, cause, by)]).collect(),
        sections: Vec::new(),
        findings: findings.iter().map(finding).collect(),
        missing: Vec::new(),
        chains: None,
        candidates: None,
        waits_beside: None,
        scope: None,
        stands_still: false,
        host: None,
        peer: None,
    }
}

fn expected(causes: &[&str], culprits: &[&str]) -> Expectation {
    let owned = |list: &[&str]| list.iter().map(|text| (*text).to_owned()).collect();
    Expectation { causes: owned(causes), culprits: owned(culprits), ..Expectation::default() }
}

fn of(explanation: &Explanation, expected: &Expectation) -> Judgement {
    judge(&label(None), explanation, expected, Circumstances::default())
}

#[test]
fn a_verdict_is_right_when_cause_and_culprit_are() {
    let irq = Culprit::Irq { irq: Some(4), name: Name::from("ttyS1") };
    let net = Culprit::Softirq { vec: 3 };
    for (cause, by, culprits, ruling, outcome) in [
        (Cause::HigherPriorityTask, Some(thread(99, "c")), "part:culprit", Ruling::Right, Grade::Right),
        (Cause::HigherPriorityTask, Some(thread(98, "b")), "part:culprit", Ruling::Wrong, Grade::Wrong),
        (Cause::HigherPriorityTask, Some(thread(98, "b")), "part:bystander", Ruling::Right, Grade::Right),
        (Cause::HigherPriorityTask, None, "part:culprit", Ruling::NobodyNamed, Grade::Unexplained),
        (Cause::HigherPriorityTask, None, "none", Ruling::Right, Grade::Right),
        (
            Cause::HigherPriorityTask,
            Some(thread(7, "migration/0")),
            "thread:migration/*",
            Ruling::Right,
            Grade::Right,
        ),
        (Cause::HigherPriorityTask, Some(irq), "irq:ttyS*", Ruling::Right, Grade::Right),
        (Cause::HigherPriorityTask, Some(irq), "irq:eth*", Ruling::Wrong, Grade::Wrong),
        (Cause::HigherPriorityTask, Some(net), "softirq:NET_RX", Ruling::Right, Grade::Right),
        (Cause::EqualPriorityTask, Some(thread(99, "c")), "part:culprit", Ruling::Wrong, Grade::Wrong),
        (Cause::OwnWork, None, "part:culprit", Ruling::Wrong, Grade::Wrong),
        (Cause::Unexplained, None, "part:culprit", Ruling::Unexplained, Grade::Unexplained),
        (Cause::TimerLate, None, "part:culprit", Ruling::Unexplained, Grade::Unexplained),
        (Cause::TraceLoss, None, "part:culprit", Ruling::Unexplained, Grade::Unexplained),
    ] {
        let expected = expected(&["higher-priority-task"], &[culprits]);
        let judgement = of(&explanation(cause, by, &[]), &expected);
        assert_eq!(judgement.jobs[0].ruling, ruling, "{cause} {by:?} {culprits}");
        assert_eq!(judgement.outcome, outcome, "{cause} {by:?} {culprits}");
        assert_eq!(judgement.culprits_right(), ruling == Ruling::Right);
        assert_eq!(judgement.causes_right(), cause == Cause::HigherPriorityTask);
    }
}

#[test]
fn where_there_is_nobody_to_name_naming_is_wrong_but_for_the_victim_itself() {
    for (by, outcome) in
        [(None, Grade::Right), (Some(thread(100, "v")), Grade::Right), (Some(thread(99, "c")), Grade::Wrong)]
    {
        let judgement = of(&explanation(Cause::OwnWork, by, &[]), &expected(&["own-work"], &[]));
        assert_eq!(judgement.outcome, outcome, "{by:?}");
    }
}

#[test]
fn a_jobs_own_fault_goes_before_the_runs() {
    let expected = expected(&["own-work", "higher-priority-task"], &["part:culprit"]);
    for (fault, cause, by, outcome) in [
        ("own-work", Cause::OwnWork, None, Grade::Right),
        ("own-work", Cause::HigherPriorityTask, Some(thread(99, "c")), Grade::Wrong),
        ("higher-priority-task", Cause::HigherPriorityTask, Some(thread(99, "c")), Grade::Right),
        ("higher-priority-task", Cause::OwnWork, None, Grade::Wrong),
    ] {
        let explanation = explanation(cause, by, &[]);
        let judgement = judge(&label(Some(fault)), &explanation, &expected, Circumstances::default());
        assert_eq!(judgement.outcome, outcome, "{fault} {cause}");
        assert_eq!(judgement.causes_right(), outcome == Grade::Right, "{fault} {cause}");
    }
}

#[test]
fn time_the_host_took_is_set_aside_where_it_may_have() {
    let explanation = explanation(Cause::Stolen, None, &[("stolen", Severity::Warning)]);
    let expected = expected(&["own-work"], &[]);
    let noisy = judge(&label(None), &explanation, &expected, Circumstances { host_noise: true });
    assert_eq!((noisy.jobs[0].ruling, noisy.outcome), (Ruling::Aside, Grade::NotProvoked));
    assert_eq!(noisy.late_time(), (Ns::ZERO, Ns::ZERO));
    let alone = judge(&label(None), &explanation, &expected, Circumstances::default());
    assert_eq!((alone.jobs[0].ruling, alone.outcome), (Ruling::Wrong, Grade::Wrong));
    assert_eq!(alone.false_findings.len(), 1);
}

#[test]
fn late_time_is_what_goes_beyond_the_usual() {
    let judgement = of(&explanation(Cause::OwnWork, None, &[]), &expected(&["own-work"], &[]));
    // 5 ms of response, 1 ms usual; half of the response is unexplained.
    assert_eq!(judgement.late_time(), (Ns::from_ms(4), Ns::from_us(2_500)));
}

#[test]
fn a_run_without_a_late_job_has_not_provoked_its_fault() {
    let explanation = explanation(Cause::OwnWork, None, &[]);
    let quiet = Label { late_jobs: Vec::new(), late: 0, ..label(None) };
    for (late, outcome) in
        [(Late::Some, Grade::NotProvoked), (Late::Maybe, Grade::Right), (Late::None, Grade::Right)]
    {
        let expected = Expectation { late, ..expected(&["irq"], &[]) };
        let judgement = judge(&quiet, &explanation, &expected, Circumstances::default());
        assert_eq!(judgement.outcome, outcome, "{late:?}");
    }
}

#[test]
fn what_the_recording_does_not_cover_is_not_judged() {
    let mut explanation = explanation(Cause::Unexplained, None, &[]);
    explanation.trace.span = Some((LATE_DONE, Ns::from_ms(100)));
    let judgement = of(&explanation, &expected(&["irq"], &[]));
    assert_eq!((judgement.jobs.len(), judgement.not_recorded), (0, 1));
    assert_eq!(judgement.outcome, Grade::NotProvoked);
}

#[test]
fn a_job_that_is_not_seen_at_all_is_unexplained() {
    let mut explanation = explanation(Cause::OwnWork, None, &[]);
    explanation.activations.pop();
    let judgement = of(&explanation, &expected(&["own-work"], &[]));
    assert_eq!(judgement.jobs[0].cause, None);
    assert_eq!(judgement.outcome, Grade::Unexplained);
    assert_eq!(judgement.late_time(), (Ns::from_ms(5), Ns::from_ms(5)));
}

#[test]
fn findings_must_be_there_and_must_not_accuse_anybody_else() {
    let base = expected(&["own-work"], &[]);
    let list = |code: &str| vec![code.to_owned()];
    let throttled = [("rt-throttled", Severity::Error)];
    let petty = [("rt-throttled", Severity::Info)];
    let rogue = [("higher-priority-task", Severity::Warning)];
    let loss = [("trace-loss", Severity::Warning)];
    for (findings, expected, outcome) in [
        (&throttled[..], base.clone(), Grade::Wrong),
        (&petty, base.clone(), Grade::Right),
        (&petty, Expectation { no_findings: list("rt-throttled"), ..base.clone() }, Grade::Wrong),
        (&throttled, Expectation { may_find: list("rt-throttled"), ..base.clone() }, Grade::Right),
        (&throttled, Expectation { findings: list("rt-throttled"), ..base.clone() }, Grade::Right),
        (&[], Expectation { findings: list("rt-throttled"), ..base.clone() }, Grade::Unexplained),
        // Verdicts are judged by themselves: this sums up those on other threads.
        (&rogue, base.clone(), Grade::Right),
        (&loss, base.clone(), Grade::Right),
    ] {
        let judgement = of(&explanation(Cause::OwnWork, None, findings), &expected);
        assert_eq!(judgement.outcome, outcome, "{findings:?} {expected:?}");
    }
}

#[test]
fn where_nothing_is_wrong_nobody_may_be_accused() {
    let quiet = Label { late_jobs: Vec::new(), late: 0, ..label(None) };
    let expected = Expectation { late: Late::None, ..Expectation::default() };
    let rogue = [("higher-priority-task", Severity::Warning)];
    let accused = explanation(Cause::HigherPriorityTask, Some(thread(7, "kworker")), &rogue);
    let judgement = judge(&quiet, &accused, &expected, Circumstances::default());
    assert_eq!((judgement.outcome, judgement.false_findings.len()), (Grade::Wrong, 1));
    // The same finding about another thread of the run, which the victim may have delayed.
    let mut other = explanation(Cause::HigherPriorityTask, Some(thread(100, "v")), &rogue);
    other.activations.iter_mut().for_each(|activation| activation.tid = Tid(99));
    assert_eq!(judge(&quiet, &other, &expected, Circumstances::default()).outcome, Grade::Right);
}

#[test]
fn a_victim_that_is_not_selected_by_itself_is_asked_for() {
    let explanation = explanation(Cause::OwnWork, None, &[]);
    assert!(has_victims(&label(None), &explanation));
    assert!(!has_victims(&label(None), &Explanation { tasks: Vec::new(), ..explanation }));
    assert_eq!(options(&label(None), true).tasks, [Select::Tid(Tid(100))]);
    assert!(options(&label(None), false).tasks.is_empty());
}

#[test]
fn the_end_of_a_thread_is_no_part_of_its_last_job() {
    let expected = expected(&["irq"], &[]);
    for (end, ruling) in [(Ns::from_us(55_900), Ruling::Wrong), (Ns::from_ms(58), Ruling::Aside)] {
        let mut explanation = explanation(Cause::OwnWork, None, &[]);
        let last = explanation.activations.last_mut().expect("the late one");
        (last.done, last.end) = (Some(end), end);
        assert_eq!(of(&explanation, &expected).jobs[0].ruling, ruling, "{end}");
        // Where the thread does more jobs, one that went on for longer must be explained.
        explanation.activations.push(activation(Ns::from_ms(60), Ns::from_ms(61), Cause::OwnWork, None));
        assert_eq!(of(&explanation, &expected).jobs[0].ruling, Ruling::Wrong, "{end}");
    }
}

#[test]
fn a_job_that_began_before_the_recording_is_judged_by_whom_the_verdict_accuses() {
    for (cause, by, begin, ruling) in [
        (Cause::OwnWork, None, LATE_DUE + Ns(1), Ruling::Aside),
        (Cause::OwnWork, None, LATE_DUE, Ruling::Wrong),
        (Cause::HigherPriorityTask, Some(thread(98, "b")), LATE_DUE + Ns(1), Ruling::Wrong),
    ] {
        let mut explanation = explanation(cause, by, &[]);
        explanation.trace.span = Some((begin, Ns::from_ms(100)));
        let judgement = of(&explanation, &expected(&["lock-inversion"], &["part:culprit"]));
        assert_eq!(judgement.jobs[0].ruling, ruling, "{cause} from {begin}");
    }
}
