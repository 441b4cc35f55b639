//! A simulated run is a recording: replayed, it is the same run.

use whylate_base::{Cpu, Ns};
use whylate_events::{Event, EventKind, EventSource, Fact, KindSet, VecSource, drain};
use whylate_simulate::change::WrittenChange;
use whylate_simulate::recording::{self, Recording, RecordingError};
use whylate_simulate::replay::{ReplayOptions, replay};
use whylate_simulate::taskset::{Overrides, read};
use whylate_simulate::{ReplayReport, SimulatedSource};

const TASKS: &str = r#"
[machine]
kernel = "6.1"
cpus = 2
costs = { switch = "2us", timer = "3us" }
[[task]]
name = "ctl"
priority = 50
period = "10ms"
run = "300us..900us"
cpus = "1"
[[task]]
name = "rogue"
priority = 60
period = "40ms"
offset = "200us"
run = "5ms"
cpus = "1"
[[task]]
name = "filter"
priority = 40
after = "ctl"
run = "200us"
cpus = "0"
[[task]]
name = "low"
priority = 10
period = "50ms"
offset = "7ms"
steps = ["lock m", "run 4ms", "unlock m"]
cpus = "1"
[[task]]
name = "high"
priority = 45
period = "50ms"
offset = "9ms"
steps = ["run 50us", "lock m", "run 100us", "unlock m"]
cpus = "1"
[[task]]
name = "batch"
nice = 5
period = "100ms"
run = "20ms"
cpus = "0"
[[interrupt]]
name = "eth0"
cpu = 1
gap = "1ms..3ms"
run = "10us"
softirq = "NET_RX"
softirq-run = "30us"
"#;

fn simulated() -> (Vec<Event>, whylate_events::TraceInfo) {
    let model = read(TASKS, &Overrides::default()).expect("a task set");
    let mut source = SimulatedSource::new(&model, Ns::from_secs(1), 3);
    let events: Vec<Event> = drain(&mut source).collect();
    let info = source.info().clone();
    (events, info)
}

fn recorded(events: Vec<Event>, info: whylate_events::TraceInfo) -> Recording {
    recording::read(VecSource::new(events, info, true)).expect("a recording")
}

pub(crate) fn replayed(recording: &Recording, tasks: &[&str], changes: &[WrittenChange]) -> ReplayReport {
    let asked = ReplayOptions {
        tasks: tasks.iter().map(|&task| task.to_owned()).collect(),
        deadline: None,
        changes: changes.to_vec(),
        worst: 1,
    };
    replay(recording, &asked).expect("replayed").replay.expect("of a recording")
}

#[test]
fn a_replay_gives_the_recording_back() {
    let (events, info) = simulated();
    let recording = recorded(events, info);
    let report = replayed(&recording, &["ctl", "rogue", "filter", "low", "high"], &[]);
    let error = report.error.expect("compared");
    assert!(error.jobs > 200, "{error:?}");
    assert_eq!(error.not_reached, 0, "{report:#?}");
    assert!(error.median <= Ns::from_us(5) && error.most <= Ns::from_us(150), "{report:#?}");
    assert!(error.worst_share.abs() < 0.02, "{report:#?}");
}

#[test]
fn a_change_has_its_effect() {
    let (events, info) = simulated();
    let recording = recorded(events, info);
    let new = |changes: &[WrittenChange], task: &str| {
        let report = replayed(&recording, &[task], changes);
        let thread = report.threads.first().expect("shown").clone();
        assert_eq!(thread.name, task);
        (thread.replayed.expect("replayed").max, thread.predicted.map(|new| new.max))
    };
    let (before, after) = new(&[WrittenChange::remove("rogue")], "ctl");
    assert!(before > Ns::from_ms(5) && after < Some(Ns::from_ms(2)), "{before} {after:?}");
    let (_, after) = new(&[WrittenChange::set("rogue.priority=20").expect("a change")], "ctl");
    assert!(after < Some(Ns::from_ms(2)), "{after:?}");
    let (_, after) = new(&[WrittenChange::set("rogue.cpus=0").expect("a change")], "ctl");
    assert!(after < Some(Ns::from_ms(2)), "{after:?}");
    let (_, after) = new(&[WrittenChange::scale("rogue=2").expect("a change")], "ctl");
    assert!(after > Some(Ns::from_ms(10)), "{after:?}");
    // What waits for a thread that is not there is never due.
    let (_, after) = new(&[WrittenChange::remove("ctl")], "filter");
    assert_eq!(after, None);
}

#[test]
fn the_owner_of_a_lock_inherits_in_the_replay_as_well() {
    let (events, info) = simulated();
    let recording = recorded(events, info);
    assert_eq!(recording.model.locks.len(), 1, "{:?}", recording.model.locks);
    let report = replayed(&recording, &["high"], &[WrittenChange::scale("low=2").expect("a change")]);
    let high = &report.threads[0];
    let (before, after) = (high.replayed.expect("replayed").max, high.predicted.expect("done").max);
    assert!(after > before + Ns::from_ms(3), "it waits for twice the section: {before} {after}");
}

#[test]
fn losses_cost_jobs_and_are_counted() {
    let (mut events, mut info) = simulated();
    let lost =
        |event: &Event| event.cpu == Cpu(1) && event.ts >= Ns::from_ms(300) && event.ts < Ns::from_ms(400);
    let since = events
        .iter()
        .filter(|event| event.cpu == Cpu(1) && event.ts < Ns::from_ms(300))
        .map(|event| event.ts);
    let since = since.max();
    events.retain(|event| !lost(event));
    let at = events.iter().position(|event| event.ts >= Ns::from_ms(400)).expect("more events");
    let context = events[at].context;
    let kind = EventKind::Lost { count: Some(500), since, kinds: KindSet::NONE };
    events.insert(at, Event { ts: Ns::from_ms(400), cpu: Cpu(1), context, kind });
    info.lost_events = 500;
    let recording = recorded(events, info);
    assert_eq!(recording.losses.events, 500);
    let unknown = recording.losses.unknown;
    assert!(unknown > Ns::from_ms(95) && unknown < Ns::from_ms(115), "{unknown}");
    let report = replayed(&recording, &["ctl"], &[]);
    let error = report.error.expect("compared");
    assert!(error.jobs >= 85 && error.jobs <= 92, "{error:?}");
    assert!(error.median <= Ns::from_us(5), "{error:?}");
}

#[test]
fn what_cannot_be_replayed_is_refused() {
    let (events, info) = simulated();
    let recording = recorded(events.clone(), info.clone());
    let asked = |changes: Vec<WrittenChange>| {
        let asked = ReplayOptions { tasks: Vec::new(), deadline: None, changes, worst: 1 };
        replay(&recording, &asked).err().map(|error| error.to_string()).unwrap_or_default()
    };
    let unknown = asked(vec![WrittenChange::remove("nosuch")]);
    assert!(unknown.contains("no thread `nosuch`") && unknown.contains("rogue"), "{unknown}");
    assert!(asked(vec![WrittenChange::set("ctl.cpus=7").expect("a change")]).contains("2 CPUs"));
    assert!(asked(vec![WrittenChange::set("kernel=6.12-rt").expect("a change")]).contains("PREEMPT_RT"));
    let without = events.into_iter().filter(|event| !matches!(event.kind, EventKind::Switch(_))).collect();
    let read = recording::read(VecSource::new(without, info, true));
    assert_eq!(read.err(), Some(RecordingError::NoSwitches));
}

/// A thread that never sleeps, and an interrupt that takes a tenth of its CPU.
const THROTTLED: &str = r#"
[machine]
kernel = "6.1"
cpus = 1
[[task]]
name = "ctl"
priority = 50
period = "10ms"
run = "200us"
[[task]]
name = "hog"
priority = 1
period = "10s"
run = "forever"
[[interrupt]]
name = "eth0"
gap = "1ms"
run = "100us"
"#;

#[test]
fn a_recording_shows_whether_interrupts_count_as_the_thread_below_them() {
    for counts in [true, false] {
        let mut model = read(THROTTLED, &Overrides::default()).expect("a task set");
        // Else they are never passed over: 90 % is less than 95 %.
        model.machine.interrupts_count = counts;
        model.machine.rt_runtime = Some(Ns::from_ms(if counts { 950 } else { 800 }));
        let mut source = SimulatedSource::new(&model, Ns::from_secs(4), 1);
        let mut events: Vec<Event> = drain(&mut source).collect();
        let runtime = Fact::RtRuntimeUs(if counts { 950_000 } else { 800_000 });
        let mut fact = events[0];
        fact.kind = EventKind::Marker(runtime.to_string().as_str().into());
        events.insert(0, fact);
        let recording = recorded(events, source.info().clone());
        assert_eq!(recording.model.machine.interrupts_count, counts, "{:?}", recording.model.machine);
        let error = replayed(&recording, &["ctl"], &[]).error.expect("compared");
        assert!(error.worst_share.abs() < 0.02, "{counts}: {error:?}");
    }
}
