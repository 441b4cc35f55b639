//! Stories A, A2 and C of docs/stories, from task sets alone.

use whylate_base::Ns;
use whylate_ledger::Cause;
use whylate_simulate::taskset::{Overrides, read};
use whylate_simulate::{RunOptions, SimulationReport, TaskResult, simulate};

const A: &str = include_str!("../../examples/story-a.toml");
const A2: &str = include_str!("../../examples/story-a2.toml");
const C: &str = include_str!("../../examples/story-c.toml");

fn run(text: &str, kernel: &str, duration: Ns) -> SimulationReport {
    let overrides =
        Overrides { kernel: Some((kernel.parse().expect("a version"), false)), ..Overrides::default() };
    let model = read(text, &overrides).unwrap_or_else(|error| panic!("{error}"));
    simulate(&model, RunOptions { duration, ..RunOptions::default() })
}

fn task<'r>(report: &'r SimulationReport, name: &str) -> &'r TaskResult {
    report.tasks.iter().find(|task| task.name == name).expect(name)
}

/// The cause of the worst activation of a task.
fn verdict(report: &SimulationReport, name: &str) -> Cause {
    let tid = task(report, name).tid;
    let worst = report.explanation.activations.iter().find(|activation| activation.tid == tid);
    worst.unwrap_or_else(|| panic!("no activation of {name}")).verdict.cause
}

#[test]
fn a_is_throttled_on_6_1_and_served_on_6_12() {
    let old = run(A, "6.1", Ns::from_ms(3500));
    let worst = task(&old, "victim").tally.worst().expect("jobs");
    assert!((Ns::from_ms(40)..=Ns::from_ms(55)).contains(&worst), "{worst}");
    assert_eq!(verdict(&old, "victim"), Cause::RtThrottled);
    assert!(old.findings.iter().any(|finding| finding.code == "rt-throttled"));

    let new = run(A, "6.12", Ns::from_ms(3500));
    let worst = task(&new, "victim").tally.worst().expect("jobs");
    assert!((Ns::from_ms(40)..=Ns::from_ms(55)).contains(&worst), "{worst}");
    assert_eq!(verdict(&new, "victim"), Cause::FairServer);
    assert!(!new.findings.iter().any(|finding| finding.code == "rt-throttled"));

    let off = A.replace("[machine]", "[machine]\nsched_rt_runtime_us = -1\nfair-server = \"off\"");
    for kernel in ["6.1", "6.12"] {
        let report = run(&off, kernel, Ns::from_ms(3500));
        assert!(task(&report, "victim").tally.worst() < Some(Ns::from_ms(1)), "{kernel}");
        let starves = |finding: &whylate_base::Finding| finding.code == "starving";
        assert!(report.findings.iter().any(starves), "{kernel}");
    }
}

#[test]
fn a_before_5_10_borrows_from_another_cpu() {
    let one = run(A, "5.4", Ns::from_secs(3));
    assert!(task(&one, "victim").tally.worst() > Some(Ns::from_ms(40)));
    let two = A.replace("[machine]", "[machine]\ncpus = 2");
    let two = run(&two, "5.4", Ns::from_secs(3));
    assert!(task(&two, "victim").tally.worst() < Some(Ns::from_ms(1)));
}

#[test]
fn a2_hangs_if_it_is_pinned_before_its_priority_is_raised() {
    let report = run(A2, "6.12", Ns::from_secs(1));
    assert_eq!(verdict(&report, "victim"), Cause::PinnedBeforePriority);
    let worst = task(&report, "victim").tally.worst().expect("jobs");
    assert!((Ns::from_ms(250)..=Ns::from_ms(300)).contains(&worst), "{worst}");
    let fixed = A2.replace(
        r#"start = ["run 100us", "cpus 1", "run 10us", "policy fifo 50"]"#,
        r#"start = ["run 100us", "policy fifo 50", "cpus 1"]"#,
    );
    assert_ne!(fixed, A2);
    let report = run(&fixed, "6.12", Ns::from_secs(1));
    assert!(task(&report, "victim").tally.worst() < Some(Ns::from_ms(1)), "{report:#?}");
}

#[test]
fn c_is_throttled_at_one_phase_alone() {
    let mut late = Vec::new();
    for phase in (0..4000).step_by(250) {
        let text = C.replace("offset = \"3750us\"", &format!("offset = \"{phase}us\""));
        let report = run(&text, "6.1", Ns::from_secs(3));
        let worst = task(&report, "victim").tally.worst().expect("jobs");
        if worst > Ns::from_ms(1) {
            assert_eq!(verdict(&report, "victim"), Cause::CoarseClockThrottled);
            assert!((Ns::from_ms(40)..=Ns::from_ms(60)).contains(&worst), "{worst}");
            late.push(phase);
        }
    }
    assert_eq!(late, [3750]);
}

#[test]
fn an_activation_in_progress_at_the_end_is_listed_and_missed() {
    let report = run(C, "6.1", Ns::from_secs(1));
    let victim = task(&report, "victim");
    let due = victim.tally.unfinished.expect("throttled at the end");
    assert_eq!(victim.tally.missed, 1);
    let worst = report.explanation.activations.iter().find(|activation| activation.tid == victim.tid);
    let worst = worst.expect("an activation");
    assert_eq!((worst.due, worst.end, worst.done), (due, Ns::from_secs(1), None));
    let missed = report.findings.iter().find(|finding| finding.code == "simulated-deadline-missed");
    let evidence = &missed.expect("a finding").evidence;
    assert!(evidence.iter().any(|seen| seen.what.contains("not done at the end")), "{evidence:#?}");
}
