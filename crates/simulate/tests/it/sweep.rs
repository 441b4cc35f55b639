//! A sweep finds the one bad combination, and shows of each what the same changes show by themselves.

use std::sync::atomic::AtomicBool;
use whylate_base::Ns;
use whylate_ledger::Cause;
use whylate_simulate::change::WrittenChange;
use whylate_simulate::model::Model;
use whylate_simulate::recording;
use whylate_simulate::sweep::{Sweep, SweepAxis, SweepError, SweepSubject, sweep};
use whylate_simulate::taskset::{Overrides, read};
use whylate_simulate::{RunOptions, SimulatedSource, SimulationReport};

const C: &str = include_str!("../../examples/story-c.toml");
const SEVERAL: &str = r#"
[machine]
kernel = "6.1"
cpus = 2
[[task]]
name = "ctl"
priority = 50
period = "5ms"
run = "300us..900us"
deadline = "3ms"
cpus = "0"
[[task]]
name = "cam"
priority = 40
period = "20ms"
run = "2ms..6ms"
cpus = "0-1"
[[task]]
name = "log"
after = "cam"
priority = 30
run = "1ms..3ms"
[[task]]
name = "idler"
run = "forever"
"#;

fn model(text: &str) -> Model {
    read(text, &Overrides::default()).unwrap_or_else(|error| panic!("{error}"))
}

fn axes(texts: &[&str]) -> Vec<SweepAxis> {
    texts.iter().map(|text| SweepAxis::parse(text).expect(text)).collect()
}

fn swept(
    subject: SweepSubject<'_>,
    names: &[String],
    texts: &[&str],
) -> Result<SimulationReport, SweepError> {
    sweep(subject, names, &[], &axes(texts), &AtomicBool::new(false))
}

fn of(report: &SimulationReport) -> &Sweep {
    report.sweep.as_ref().expect("a sweep")
}

/// Each combination, by itself: the same worst responses and misses.
fn equals_single_runs(subject: SweepSubject<'_>, texts: &[&str], names: &[String]) {
    let report = swept(subject, names, texts).unwrap_or_else(|error| panic!("{error}"));
    let sweep = of(&report);
    for (at, combination) in sweep.combinations.iter().enumerate() {
        let set = |(key, value): (&String, &String)| {
            WrittenChange::set(&format!("{key}={}", value.replace('+', ","))).expect("a change")
        };
        let changes: Vec<WrittenChange> = sweep.keys.iter().zip(&combination.values).map(set).collect();
        let single = subject.report(&changes, names).unwrap_or_else(|error| panic!("{error}"));
        let outcome = sweep.outcome(at).unwrap_or_else(|| panic!("{combination:?}"));
        for (name, thread) in sweep.threads.iter().zip(&outcome.threads) {
            let task = single.tasks.iter().find(|task| task.name == *name).expect(name);
            assert_eq!(
                (task.tally.jobs, task.tally.worst(), task.tally.missed, task.tally.longest_wait),
                (thread.jobs, thread.worst, thread.missed, thread.longest_wait),
                "{name} with {:?}",
                combination.values
            );
        }
    }
}

#[test]
fn the_one_bad_phase_is_found() {
    let model = model(C);
    let options = RunOptions { duration: Ns::from_secs(3), ..RunOptions::default() };
    let subject = SweepSubject::TaskSet { model: &model, options };
    let report = swept(subject, &[], &["victim.offset=0..4ms/250us"]).expect("a sweep");
    let sweep = of(&report);
    assert_eq!((sweep.combinations.len(), sweep.notes.len()), (16, 1), "{:?}", sweep.notes);
    let bad: Vec<&str> = (sweep.combinations.iter())
        .filter(|combination| combination.missed() > 0)
        .map(|combination| combination.values[0].as_str())
        .collect();
    assert_eq!(bad, ["3750us"]);
    let sizes: Vec<usize> = sweep.groups.iter().map(|group| group.members.len()).collect();
    assert_eq!(sizes, [1, 15]);
    assert_eq!(sweep.ends, Some((15, 0)));
    // The rest of the report is about the bad one.
    assert_eq!(report.explanation.activations[0].verdict.cause, Cause::CoarseClockThrottled);
}

#[test]
fn a_combination_is_what_its_changes_are_by_themselves() {
    let model = model(SEVERAL);
    let options = RunOptions { duration: Ns::from_ms(400), seed: 7, worst: 0 };
    let subject = SweepSubject::TaskSet { model: &model, options };
    let texts = ["cam.priority=30..60/15", "cam.cpus=0,1,0+1", "ctl.offset=0..4ms/2ms"];
    equals_single_runs(subject, &texts, &[]);
    equals_single_runs(subject, &["kernel=6.1,6.12", "throttling=on,off"], &["idler".to_owned()]);

    let source = SimulatedSource::new(&model, Ns::from_ms(400), 7);
    let recording = recording::read(source).expect("a recording");
    let subject = SweepSubject::Recording { recording: &recording, deadline: Some(Ns::from_ms(3)), worst: 0 };
    equals_single_runs(
        subject,
        &["cam.priority=30..60/15", "cam.cpus=0,1", "ctl.offset=0,1ms"],
        &["ctl".to_owned()],
    );
}

#[test]
fn what_gets_worse_for_others_is_named() {
    let model = model(SEVERAL);
    let options = RunOptions { duration: Ns::from_ms(400), ..RunOptions::default() };
    let subject = SweepSubject::TaskSet { model: &model, options };
    // At priority 60 it goes before ctl where both are on CPU 0, and CPU 1 is free for it.
    let report = swept(subject, &["cam".to_owned()], &["cam.priority=60", "cam.cpus=1,0"]).expect("a sweep");
    let sweep = of(&report);
    let others = |at: usize| -> Vec<&str> {
        let outcome = sweep.outcome(at).expect("it was run");
        outcome.others.iter().map(|other| sweep.names[other.task].as_str()).collect()
    };
    assert!(!others(0).contains(&"ctl"), "{:?}", others(0));
    assert!(others(1).contains(&"ctl"), "{:?}", others(1));
}

#[test]
fn a_sweep_has_a_limit_and_can_be_interrupted() {
    let model = model(SEVERAL);
    let options = RunOptions { duration: Ns::from_ms(50), ..RunOptions::default() };
    let subject = SweepSubject::TaskSet { model: &model, options };
    let many = swept(subject, &[], &["ctl.priority=1..99", "cam.priority=1..99", "log.priority=1..99"]);
    assert_eq!(many.map(|_| ()), Err(SweepError::TooManyCombinations(99 * 99 * 99)));
    for (text, named) in [
        ("nosuch.priority=1..3", "no task `nosuch`; it has ctl, cam, log"),
        ("log.offset=0..3ms/1ms", "`log` has no phase of its own"),
        ("ctl.cpus=2..5", "the machine has 2 CPUs"),
    ] {
        let error = swept(subject, &[], &[text]).expect_err(text).to_string();
        assert!(error.contains(named), "{error}");
    }
    let some = swept(subject, &[], &["ctl.cpus=0..2"]).expect("two of three can be made");
    assert!(of(&some).combinations[2].outcome.as_ref().is_some_and(Result::is_err));

    let interrupted =
        sweep(subject, &[], &[], &axes(&["ctl.priority=1..9"]), &AtomicBool::new(true)).expect("a report");
    let sweep = of(&interrupted);
    assert!(sweep.is_cut_short() && sweep.ends.is_none() && sweep.groups.is_empty(), "{sweep:?}");
}
