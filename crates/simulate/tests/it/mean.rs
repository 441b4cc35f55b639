//! A mean model has the distributions of the recording, for other lengths and seeds.

use crate::recording::replayed;
use whylate_base::Ns;
use whylate_events::{Event, EventSource, VecSource, drain};
use whylate_simulate::change::WrittenChange;
use whylate_simulate::recording::{self, Recording};
use whylate_simulate::taskset::{Overrides, read};
use whylate_simulate::{SimulatedSource, mean};

const TASKS: &str = r#"
[machine]
kernel = "6.1"
cpus = 2
costs = { switch = "2us", timer = "3us" }
[[task]]
name = "ctl"
priority = 50
period = "10ms"
jitter = "0..100us"
run = "300us..900us"
cpus = "1"
[[task]]
name = "rogue"
priority = 60
gap = "15ms..60ms"
run = "3ms..5ms"
cpus = "1"
[[task]]
name = "filter"
priority = 40
after = "ctl"
run = "100us..200us"
cpus = "0"
[[task]]
name = "low"
priority = 10
period = "7ms"
steps = ["lock m", "run 1ms", "unlock m"]
cpus = "1"
[[task]]
name = "high"
priority = 45
gap = "5ms..9ms"
steps = ["run 50us", "lock m", "run 100us", "unlock m", "suspend 200us..400us", "run 20us"]
cpus = "1"
[[interrupt]]
name = "eth0"
cpu = 1
gap = "1ms..3ms"
run = "10us"
"#;

fn recorded() -> Recording {
    let model = read(TASKS, &Overrides::default()).expect("a task set");
    let mut source = SimulatedSource::new(&model, Ns::from_secs(4), 3);
    let events: Vec<Event> = drain(&mut source).collect();
    let info = source.info().clone();
    recording::read(VecSource::new(events, info, true)).expect("a recording")
}

#[test]
fn a_mean_model_has_the_recordings_distributions() {
    let recording = recorded();
    let model = mean(&recording, recording.length, 1);
    let report = replayed(&model, &["ctl", "rogue", "filter", "low", "high"], &[]);
    let error = report.mean.expect("a mean model").error.expect("compared");
    assert_eq!(error.threads, 5);
    assert!(error.median.abs() < 0.05 && error.jobs.abs() < 0.1, "{error:?}");
    // One job in ten of `ctl` meets `rogue`: which side the 90th percentile is on is chance.
    assert!(error.worst.abs() < 0.5, "{error:?}");
    assert!(report.error.is_none(), "jobs that are drawn are not compared one by one");
    // A chain's second task has a job for each of the first.
    let jobs = |name: &str| {
        let thread = report.threads.iter().find(|thread| thread.name == name).expect(name);
        thread.replayed.expect("run").jobs
    };
    assert!(jobs("ctl").abs_diff(jobs("filter")) <= 1, "{} {}", jobs("ctl"), jobs("filter"));
}

#[test]
fn a_mean_model_runs_for_any_length_and_the_seed_decides() {
    let recording = recorded();
    let run = |duration: Ns, seed: u64| {
        let report = replayed(&mean(&recording, duration, seed), &["ctl"], &[]);
        let thread = report.threads.first().expect("shown").clone();
        (thread.predicted.or(thread.replayed).expect("run"), report.changes)
    };
    let (short, changes) = run(recording.length, 1);
    assert!(changes.is_empty());
    let (long, changes) = run(Ns(3 * recording.length.0), 1);
    assert_eq!(changes.len(), 1, "the length is one of the changes: {changes:?}");
    assert!(long.jobs.abs_diff(3 * short.jobs) <= 5 && long.max >= short.max, "{long:?} {short:?}");
    assert_eq!(run(recording.length, 1).0, short);
    assert_ne!(run(recording.length, 2).0, short);
}

#[test]
fn changes_have_their_effect_on_a_mean_model() {
    let recording = recorded();
    let model = mean(&recording, recording.length, 1);
    let new = |changes: &[WrittenChange]| {
        let report = replayed(&model, &["ctl"], changes);
        let thread = report.threads.first().expect("shown").clone();
        (thread.replayed.expect("run").max, thread.predicted.expect("predicted").max)
    };
    let (before, after) = new(&[WrittenChange::remove("rogue")]);
    assert!(before > Ns::from_ms(3) && after < Ns::from_ms(2), "{before} {after}");
    let (before, after) = new(&[WrittenChange::set("ctl.priority=70").expect("a change")]);
    assert!(before > Ns::from_ms(3) && after < Ns::from_ms(1), "{before} {after}");
    let (before, after) = new(&[WrittenChange::scale("rogue=2").expect("a change")]);
    assert!(after > before + Ns::from_ms(2), "{before} {after}");
}
