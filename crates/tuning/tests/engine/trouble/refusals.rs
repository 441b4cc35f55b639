//! Steps that fail, by a refusal or because their target is gone; and an apply that is stopped between two steps.

use super::{KSM, OWN, SWAPPINESS, entry, no_faults, nothing, verified};
use crate::machine::{
    Machine, applied, applied_with, content, every_kind, file, knob, plan, refused_kinds, refusing, resumed,
    rolled_back, run, set, thread, value,
};
use std::fs;
use whylate_tuning::{
    ApplyStep, FailurePolicy, PlannedStep, RunContext, SessionKind, SessionOutcome, Status, StepProgress,
    Target, Timestamp, apply, history, rollback,
};

#[test]
fn a_knob_that_refuses_stops_it_and_says_so() {
    let machine = Machine::new();
    let before = machine.everything();
    machine.kernel.borrow_mut().refusing.push(KSM.to_owned());
    let steps = [value(knob(SWAPPINESS), "5"), value(knob(KSM), "0"), set(file(OWN), content("x\n", 0o600))];
    assert_eq!(applied(&machine, &no_faults(), &steps).expect("room"), SessionOutcome::Failed);
    let stopped = entry(&machine, 1);
    assert_eq!(stopped.status(), Status::Failed);
    let steps = &stopped.sessions[0].steps;
    let progress: Vec<_> = steps.iter().map(|step| step.progress).collect();
    assert_eq!(progress, [StepProgress::Done, StepProgress::Failed, StepProgress::Waiting]);
    assert!(steps[1].why.as_deref().is_some_and(|why| why.contains("rejected 0: EINVAL")), "{steps:?}");
    assert_eq!(stopped.remaining().len(), 2);
    // Mended, it goes on; and it can be undone from there.
    machine.kernel.borrow_mut().refusing.clear();
    assert_eq!(resumed(&machine, &no_faults()).expect("room"), SessionOutcome::Complete);
    assert_eq!((machine.text(KSM).trim(), machine.text(OWN).as_str()), ("0", "x\n"));
    assert_eq!(entry(&machine, 1).status(), Status::Applied);
    assert_eq!(rolled_back(&machine, &no_faults(), false).expect("room").outcome, SessionOutcome::Complete);
    assert_eq!(machine.differs_from(&before), nothing());
}

#[test]
fn optional_settings_that_are_refused_are_skipped_and_remembered() {
    let machine = refusing();
    let before = machine.everything();
    let steps = refused_kinds();
    assert_eq!(applied(&machine, &no_faults(), &steps).expect("room"), SessionOutcome::Complete);
    let entry = entry(&machine, 1);
    assert_eq!((entry.status(), entry.remaining().len()), (Status::Applied, 0));
    let taken = &entry.sessions[0].steps;
    let made: Vec<_> = taken.iter().filter(|step| step.progress == StepProgress::Done).collect();
    assert_eq!(made.len(), 2, "swappiness and a file: {taken:?}");
    assert!(taken.iter().all(|step| matches!(step.progress, StepProgress::Done | StepProgress::Skipped)));
    // Nothing of a setting is in effect of which one step was refused.
    let differs = machine.differs_from(&before);
    assert!(
        differs.len() == 2 && differs.iter().all(|one| one.contains("swappiness") || one.contains("10-own")),
        "{differs:?}"
    );
    let why = |what: &str| {
        let step = taken.iter().find(|step| step.planned.target.to_string().ends_with(what)).expect("a step");
        step.why.clone().unwrap_or_default()
    };
    assert!(why("ksm/run").contains("EINVAL"), "{}", why("ksm/run"));
    assert!(why("sched_rt_runtime_us").contains("it reads 2147483647"), "{taken:?}");
    assert!(why("cpu0/runtime").contains("cpu0/period was refused"), "{taken:?}");
    let verified = verified(&machine);
    assert_eq!((verified.drifts, verified.unknown), (vec![], vec![]));
    let named: Vec<_> = verified.skipped.iter().map(|one| one.what.as_str()).collect();
    assert!(named.contains(&KSM) && named.contains(&"/sys/fs/cgroup/rt"), "{named:?}");
    let lines = history(&[Ok(entry)], &[1]);
    assert_eq!((lines[0].sessions[0].failures, lines[0].sessions[0].made), (0, 2));
    assert!(lines[0].sessions[0].skipped.iter().any(|one| one.what == KSM && one.why.contains("EINVAL")));
    assert_eq!(rolled_back(&machine, &no_faults(), false).expect("room").outcome, SessionOutcome::Complete);
    assert_eq!(machine.differs_from(&before), nothing());
}

#[test]
fn an_apply_that_continues_makes_everything_else_and_can_be_resumed() {
    let machine = refusing();
    let before = machine.everything();
    let required = |step| ApplyStep { optional: false, ..step };
    let steps: Vec<_> = refused_kinds().into_iter().map(required).collect();
    let outcome = applied_with(&machine, &no_faults(), &steps, FailurePolicy::Continue).expect("room");
    assert_eq!(outcome, SessionOutcome::Failed);
    let failed = entry(&machine, 1);
    assert_eq!(failed.status(), Status::Failed);
    let count = |progress| failed.sessions[0].steps.iter().filter(|step| step.progress == progress).count();
    assert_eq!(count(StepProgress::Failed), 4, "{failed:?}");
    assert_eq!(machine.differs_from(&before).len(), 2, "swappiness and a file");
    // Once the kernel allows it, a resume makes each setting whole.
    machine.kernel.borrow_mut().refusing.clear();
    machine.kernel.borrow_mut().bending.clear();
    assert_eq!(resumed(&machine, &no_faults()).expect("room"), SessionOutcome::Complete);
    let whole = Machine::new();
    assert_eq!(applied(&whole, &no_faults(), &steps).expect("room"), SessionOutcome::Complete);
    assert_eq!(machine.differs_from(&whole.everything()), nothing());
    assert_eq!(rolled_back(&machine, &no_faults(), false).expect("room").outcome, SessionOutcome::Complete);
    assert_eq!(machine.differs_from(&before), nothing());
}

#[test]
fn a_file_is_never_skipped() {
    let machine = Machine::new();
    let before = machine.everything();
    // No file can be made below a file.
    let optional = |step| ApplyStep { optional: true, ..step };
    let steps = [optional(set(file("/etc/real.conf/x"), content("x\n", 0o600)))];
    assert_eq!(applied(&machine, &no_faults(), &steps).expect("room"), SessionOutcome::Failed);
    assert_eq!(rolled_back(&machine, &no_faults(), false).expect("room").outcome, SessionOutcome::Complete);
    assert_eq!(machine.differs_from(&before), nothing());
}

#[test]
fn a_file_that_is_gone_fails_clearly_and_undone_it_is_not_forgotten() {
    let machine = Machine::new();
    // As those of a CPU that goes offline in the middle.
    let governor = "/sys/devices/system/cpu/cpu3/cpufreq/scaling_governor";
    assert_eq!(
        applied(&machine, &no_faults(), &[value(knob(governor), "performance")]).expect("room"),
        SessionOutcome::Failed
    );
    let failed = entry(&machine, 1);
    assert!(failed.sessions[0].steps[0].why.as_deref().is_some_and(|why| why.contains("CPU")), "{failed:?}");
    assert_eq!(rolled_back(&machine, &no_faults(), false).expect("room").outcome, SessionOutcome::Complete);

    machine.put(governor, "powersave\n", 0o644);
    assert_eq!(
        applied(&machine, &no_faults(), &[value(knob(governor), "performance")]).expect("room"),
        SessionOutcome::Complete
    );
    fs::rename(machine.path(governor), machine.path("/sys/aside")).expect("it goes offline");
    assert_eq!(rolled_back(&machine, &no_faults(), false).expect("room").outcome, SessionOutcome::Failed);
    assert_eq!(entry(&machine, 2).status(), Status::PartlyBack);
    fs::rename(machine.path("/sys/aside"), machine.path(governor)).expect("it comes back");
    assert_eq!(rolled_back(&machine, &no_faults(), false).expect("room").outcome, SessionOutcome::Complete);
    assert_eq!(machine.text(governor).trim(), "powersave");
}

#[test]
fn a_thread_that_ended_is_no_failure() {
    let machine = Machine::new();
    let policy = |tid| Target::ThreadPolicy { thread: thread(tid) };
    let steps = [value(policy(41), "fifo 1"), value(policy(99), "fifo 1"), value(policy(42), "rr 2")];
    assert_eq!(applied(&machine, &no_faults(), &steps).expect("room"), SessionOutcome::Complete);
    assert_eq!(entry(&machine, 1).sessions[0].steps[1].progress, StepProgress::Gone);
    machine.kernel.borrow_mut().threads.remove(&41);
    assert_eq!(verified(&machine).ended, 1);
    assert_eq!(rolled_back(&machine, &no_faults(), false).expect("room").outcome, SessionOutcome::Complete);
    assert_eq!(machine.kernel.borrow().threads[&42].0, "other 0");
}

#[test]
fn a_stop_is_between_two_steps() {
    let machine = Machine::new();
    let before = machine.everything();
    let (system, store) = (machine.system(&no_faults()), machine.store(&no_faults()));
    let lock = store.lock("whylate apply").expect("free");
    let mut journal = store.create(&lock, &plan()).expect("room");
    let notified = std::cell::Cell::new(0);
    let notify = |_: &PlannedStep| notified.set(notified.get() + 1);
    let stopping =
        RunContext { system: &system, now: &|| Timestamp(0), stop: &|| notified.get() == 5, notify: &notify };
    assert_eq!(
        apply(&mut journal, SessionKind::Apply, &every_kind(), FailurePolicy::Stop, &stopping).expect("room"),
        SessionOutcome::Stopped
    );
    assert_eq!(journal.entry().status(), Status::Stopped);
    let begun =
        journal.entry().sessions[0].steps.iter().filter(|taken| taken.progress != StepProgress::Waiting);
    assert_eq!(begun.count(), 5);
    assert_eq!(run(&system, |run| rollback(&mut journal, false, run)).outcome, SessionOutcome::Complete);
    assert_eq!(machine.differs_from(&before), nothing());
}
