//! The judge on made-up runs: a victim (tid 100) with late activations among quick ones.

use super::*;
use whylate_base::{Comm, Cpu, Finding, Priority};
use whylate_events::TraceInfo;
use whylate_ledger::{Culprit, Trigger, Verdict};

pub(in crate::programs) fn case() -> Case {
    let text = "title = 'x'\nprograms = ['stress-ng']\npackages = ['stress-ng']\nscript = 'x'\n\
                victims = ['cyclictest']\njudged = 'realtime'\n[[faults]]\ncauses = ['higher-priority-task']\n\
                culprits = ['thread:stress-ng*']\n";
    toml::from_str(text).expect("a case")
}

fn healthy() -> Case {
    Case { faults: Vec::new(), ..case() }
}

type Named<'a> = (Cause, Option<&'a str>, Confidence);

const RIGHT: Named<'static> = (Cause::HigherPriorityTask, Some("stress-ng-cpu"), Confidence::High);

fn activation(number: i64, response: Ns, (cause, by, confidence): Named<'_>) -> Activation {
    let due = Ns::from_ms(number * 100);
    Activation {
        places: Vec::new(),
        host: Vec::new(),
        tid: Tid(100),
        comm: Comm::from("cyclictest"),
        priority: Priority(19),
        cpu: Cpu(0),
        trigger: Trigger::Timer,
        due,
        woken: Some(due),
        running: Some(due),
        done: Some(due + response),
        end: due + response,
        ledger: Vec::new(),
        verdict: Verdict {
            cause,
            by: by.map(|name| Culprit::Task { tid: Tid(7), comm: Comm::from(name), priority: Priority(9) }),
            charged: response,
            judged: response,
            share: 1.0,
            confidence,
            why: String::new(),
            fix: Vec::new(),
            evidence: Vec::new(),
        },
        tracks: Vec::new(),
        starts_program: false,
        ends_program: false,
    }
}

/// Late activations with these verdicts, between a quick first and a quick last one.
fn explanation(late: &[Named<'_>], findings: &[(&'static str, Severity)]) -> Explanation {
    let quick = (Cause::OwnWork, None, Confidence::High);
    let mut activations = vec![activation(0, Ns::from_us(50), quick)];
    for (number, verdict) in (1..).zip(late) {
        activations.push(activation(number, Ns::from_ms(5), *verdict));
    }
    activations.push(activation(50, Ns::from_us(50), quick));
    let finding = |(code, severity): &(&'static str, Severity)| Finding {
        code,
        severity: *severity,
        title: String::new(),
        why: String::new(),
        evidence: Vec::new(),
        fix: Vec::new(),
    };
    Explanation {
        profiles: Vec::new(),
        trace: TraceInfo::default(),
        tasks: Vec::new(),
        unlisted: 0,
        activations,
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

fn grade(case: &Case, late: &[Named<'_>], findings: &[(&'static str, Severity)]) -> Grade {
    judge(case, "6.1", &explanation(late, findings), false).outcome
}

#[test]
fn a_fault_is_found_by_cause_and_culprit() {
    let other = (Cause::HigherPriorityTask, Some("kworker/0:1"), Confidence::High);
    let unnamed = (Cause::HigherPriorityTask, None, Confidence::High);
    let false_cause = (Cause::PageFault, None, Confidence::Medium);
    let guess = (Cause::PageFault, None, Confidence::Low);
    let unexplained = (Cause::Unexplained, None, Confidence::Low);
    for (late, expected) in [
        (&[RIGHT][..], Grade::Right),
        (&[RIGHT, unexplained], Grade::Right),
        (&[RIGHT, unexplained, guess], Grade::Unexplained),
        (&[], Grade::Unexplained),
        (&[unnamed], Grade::Unexplained),
        (&[guess], Grade::Unexplained),
        (&[other], Grade::Wrong),
        (&[RIGHT, RIGHT, false_cause], Grade::Wrong),
    ] {
        assert_eq!(grade(&case(), late, &[]), expected, "{late:?}");
    }
}

#[test]
fn what_is_true_as_well_counts_as_neither() {
    let own_work = (Cause::OwnWork, None, Confidence::High);
    assert_eq!(grade(&case(), &[RIGHT, own_work], &[]), Grade::Wrong);
    let case = Case { may: vec!["own-work".to_owned()], ..case() };
    assert_eq!(grade(&case, &[RIGHT, own_work], &[]), Grade::Right);
    assert_eq!(grade(&case, &[own_work], &[]), Grade::Unexplained);
}

#[test]
fn of_two_faults_both_must_be_found() {
    let mut both = case();
    both.faults.push(Fault {
        kernels: vec!["*".into()],
        causes: vec!["relative-sleep".into()],
        ..Fault::default()
    });
    assert_eq!(grade(&both, &[RIGHT], &[]), Grade::Unexplained);
    assert_eq!(grade(&both, &[RIGHT], &[("relative-sleep", Severity::Warning)]), Grade::Right);
    both.faults[1].kernels = vec!["7.2".into()];
    assert_eq!(grade(&both, &[RIGHT], &[]), Grade::Right, "not on this kernel");
    assert_eq!(grade(&both, &[RIGHT], &[("relative-sleep", Severity::Warning)]), Grade::Wrong);
}

#[test]
fn a_culprits_finding_does_not_stand_for_the_culprit() {
    let findings = [("higher-priority-task", Severity::Warning)];
    assert_eq!(grade(&case(), &[], &findings), Grade::Unexplained);
    assert_eq!(grade(&case(), &[RIGHT], &findings), Grade::Right);
}

#[test]
fn a_healthy_run_may_accuse_no_thread() {
    let excluded = Case { not: vec!["relative-sleep".into()], ..healthy() };
    for (case, late, findings, expected) in [
        (healthy(), &[][..], &[][..], Grade::Right),
        (healthy(), &[RIGHT], &[], Grade::Wrong),
        (healthy(), &[], &[("higher-priority-task", Severity::Warning)], Grade::Wrong),
        (healthy(), &[], &[("trace-loss", Severity::Warning)], Grade::Right),
        (healthy(), &[], &[("relative-sleep", Severity::Info)], Grade::Right),
        (excluded, &[], &[("relative-sleep", Severity::Info)], Grade::Wrong),
        (healthy(), &[(Cause::Unexplained, None, Confidence::Low)], &[], Grade::Unexplained),
    ] {
        assert_eq!(grade(&case, late, findings), expected, "{late:?} {findings:?}");
    }
}

#[test]
fn start_and_end_of_a_program_are_judged_on_request() {
    let mut explanation = explanation(&[RIGHT], &[]);
    let (first, last) = (0, explanation.activations.len() - 1);
    for edge in [first, last] {
        explanation.activations[edge].end += Ns::from_ms(20);
        explanation.activations[edge].verdict.cause = Cause::PageFault;
    }
    assert_eq!(judge(&case(), "6.1", &explanation, false).outcome, Grade::Right);
    let whole = Case { edges: true, ..case() };
    let judgement = judge(&whole, "6.1", &explanation, false);
    assert_eq!((judgement.outcome, judgement.jobs.len()), (Grade::Wrong, 3));
}

#[test]
fn before_it_was_real_time_a_thread_is_no_victim() {
    let mut explanation = explanation(&[RIGHT, (Cause::FairQueue, None, Confidence::High)], &[]);
    explanation.activations[2].priority = Priority(120);
    assert_eq!(judge(&case(), "6.1", &explanation, false).outcome, Grade::Right);
}

#[test]
fn time_that_the_host_took_is_set_aside() {
    let explanation =
        explanation(&[RIGHT, (Cause::Stolen, None, Confidence::High)], &[("stolen", Severity::Warning)]);
    assert_eq!(judge(&case(), "6.1", &explanation, true).outcome, Grade::Right);
    assert_eq!(judge(&case(), "6.1", &explanation, false).outcome, Grade::Wrong);
}

#[test]
fn a_thread_of_the_same_name_that_is_not_real_time_is_left_out() {
    let mut explanation = explanation(&[RIGHT], &[]);
    assert!(of_victims(&case(), &explanation).is_none(), "all of them are victims");
    let mut main = activation(2, Ns::from_ms(5), RIGHT);
    (main.tid, main.priority) = (Tid(99), Priority(120));
    explanation.activations.push(main);
    let options = of_victims(&case(), &explanation).expect("a choice");
    assert_eq!(options.tasks, [Select::Tid(Tid(100))]);
    assert!(of_victims(&Case { judged: Victims::Any, ..case() }, &explanation).is_none());
}
