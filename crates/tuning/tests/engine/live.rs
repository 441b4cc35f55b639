//! This very machine: a process of the test's own is set and put back, and a knob refuses what is no value for it.

use crate::machine::{knob, plan, run, value};
use std::fs;
use std::path::Path;
use std::process::{Child, Command};
use whylate_tuning::{
    FailurePolicy, JournalStore, LiveSystem, SessionKind, SessionOutcome, StepProgress, System, Target,
    TargetState, ThreadId, apply, rollback,
};

/// A process that sleeps, and ends with the test.
struct Sleeper(Child);

impl Drop for Sleeper {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Sleeper {
    fn new() -> Sleeper {
        Sleeper(Command::new("sleep").arg("600").spawn().expect("sleep(1)"))
    }

    fn thread(&self) -> ThreadId {
        let pid = self.0.id() as i32;
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).expect("it lives");
        let (_, fields) = stat.rsplit_once(')').expect("a name");
        let started =
            fields.split_whitespace().nth(19).and_then(|field| field.parse().ok()).expect("field 22");
        ThreadId { pid, tid: pid, started, name: "sleep".into() }
    }
}

#[test]
fn a_process_is_set_and_put_back_and_one_that_ended_is_left() {
    let sleepers = [Sleeper::new(), Sleeper::new()];
    let system = LiveSystem::open(Path::new("/")).expect("this machine");
    let policy = |sleeper: &Sleeper| Target::ThreadPolicy { thread: sleeper.thread() };
    let targets = [policy(&sleepers[0]), policy(&sleepers[1])];
    let before = system.read(&targets[0]).expect("it lives");
    let directory = tempfile::tempdir().expect("a directory");
    let store = JournalStore::of(directory.path()).expect("a root");
    let lock = store.lock("a test").expect("free");
    let mut journal = store.create(&lock, &plan()).expect("room");
    let steps = [value(targets[0].clone(), "batch 0"), value(targets[1].clone(), "idle")];
    let outcome =
        run(&system, |run| apply(&mut journal, SessionKind::Apply, &steps, FailurePolicy::Stop, run))
            .expect("room");
    assert_eq!(outcome, SessionOutcome::Complete, "{:?}", journal.entry());
    assert_eq!(system.read(&targets[0]), Ok(TargetState::Value("batch 0".into())));
    let [first, second] = sleepers;
    drop(second);
    assert_eq!(run(&system, |run| rollback(&mut journal, false, run)).outcome, SessionOutcome::Complete);
    assert_eq!(system.read(&targets[0]), Ok(before));
    assert!(system.read(&targets[1]).expect_err("it ended").gone);
    drop(first);
}

#[test]
fn the_kernel_refuses_what_is_no_value() {
    let system = LiveSystem::open(Path::new("/")).expect("this machine");
    let target = knob("/proc/sys/vm/swappiness");
    let Ok(before @ TargetState::Value(_)) = system.read(&target) else { panic!("every Linux has it") };
    let directory = tempfile::tempdir().expect("a directory");
    let store = JournalStore::of(directory.path()).expect("a root");
    let lock = store.lock("a test").expect("free");
    let mut journal = store.create(&lock, &plan()).expect("room");
    let steps = [value(target.clone(), "whylate")];
    let outcome =
        run(&system, |run| apply(&mut journal, SessionKind::Apply, &steps, FailurePolicy::Stop, run))
            .expect("room");
    assert_eq!(outcome, SessionOutcome::Failed);
    let step = &journal.entry().sessions[0].steps[0];
    let (StepProgress::Failed, Some(why)) = (step.progress, &step.why) else { panic!("{step:?}") };
    // EINVAL to root, EACCES to others, EROFS in a container.
    assert!(why.contains("the kernel rejected whylate: E"), "{why}");
    assert_eq!(system.read(&target), Ok(before));
}
