//! Applies that last over a reboot, and those that nothing confirmed until then.

use super::{OWN, SWAPPINESS, entry, no_faults, verified};
use crate::machine::{Machine, applied, content, file, knob, plan, rolled_back, run, set, value};
use std::time::Duration;
use whylate_tuning::{
    BootInstant, ClockReading, FailurePolicy, JournalEntry, RevertDue, RollbackResult, SessionKind,
    SessionOutcome, Timestamp, apply, arm, confirm, due,
};

#[test]
fn a_reboot_ends_what_is_of_a_boot_and_each_boot_has_its_own_old_values() {
    let machine = Machine::new();
    let steps = [value(knob(SWAPPINESS), "5"), set(file(OWN), content("ours\n", 0o640))];
    assert_eq!(applied(&machine, &no_faults(), &steps).expect("room"), SessionOutcome::Complete);
    // Another kernel, with another default.
    machine.put(SWAPPINESS, "70\n", 0o644);
    machine.put("/proc/sys/kernel/random/boot_id", "b1\n", 0o444);
    let drifts = verified(&machine).drifts;
    assert!(matches!(drifts.as_slice(), [drift] if drift.now == "not set in this boot"), "{drifts:?}");
    {
        let store = machine.store(&no_faults());
        let lock = store.lock("whylate apply --boot").expect("free");
        let mut journal = store.open(&lock, 1).expect("it is there");
        let outcome = run(&machine.system(&no_faults()), |run| {
            apply(&mut journal, SessionKind::Boot, &steps[..1], FailurePolicy::Stop, run)
        });
        assert_eq!(outcome.expect("room"), SessionOutcome::Complete);
    }
    assert_eq!((machine.text(SWAPPINESS).trim(), verified(&machine).drifts), ("5", vec![]));
    assert_eq!(rolled_back(&machine, &no_faults(), false).expect("room").outcome, SessionOutcome::Complete);
    assert_eq!(machine.text(SWAPPINESS).trim(), "70");
    assert_eq!(machine.text(OWN), "vm.swappiness = 60\n");
    let backs: Vec<_> = entry(&machine, 1)
        .sessions
        .iter()
        .flat_map(|session| session.steps.clone())
        .filter_map(|taken| taken.back.map(|(back, _)| back))
        .collect();
    assert_eq!(backs, [RollbackResult::Rebooted, RollbackResult::PutBack, RollbackResult::PutBack]);
}

#[test]
fn unconfirmed_it_is_due_when_its_time_has_come_or_at_the_next_boot() {
    let machine = Machine::new();
    let store = machine.store(&no_faults());
    let lock = store.lock("whylate apply").expect("free");
    let mut journal = store.create(&lock, &plan()).expect("room");
    let clocks = |wall, boot: &str, ms| ClockReading {
        wall: Timestamp(wall),
        boot: Some(BootInstant { boot_id: boot.to_owned(), ms }),
    };
    arm(&mut journal, clocks(100, "k0", 5_000), Duration::from_secs(200)).expect("room");
    let system = machine.system(&no_faults());
    let outcome = run(&system, |run| {
        apply(&mut journal, SessionKind::Apply, &[value(knob(SWAPPINESS), "5")], FailurePolicy::Stop, run)
    });
    assert_eq!(outcome.expect("room"), SessionOutcome::Complete);
    let at = RevertDue::At(Timestamp(300));
    // The wall clock may be set back or forward: the kernel's own clock counts.
    for (wall, boot, ms, expected) in [
        (299, "k0", 204_999, at),
        (9_999_999, "k0", 204_999, at),
        (-9_999_999, "k0", 205_000, RevertDue::Now),
        (100, "k1", 1, RevertDue::Now),
    ] {
        assert_eq!(due(journal.entry(), &clocks(wall, boot, ms), Some("b0")), expected, "{wall} {boot} {ms}");
    }
    assert_eq!(due(journal.entry(), &clocks(100, "k0", 5_000), Some("b1")), RevertDue::Now);
    // An earlier version wrote the wall clock's time alone.
    let earlier = JournalEntry { deadline: None, ..journal.entry().clone() };
    assert_eq!(due(&earlier, &clocks(299, "k0", 0), Some("b0")), at);
    assert_eq!(due(&earlier, &clocks(300, "k0", 0), Some("b0")), RevertDue::Now);
    confirm(&mut journal, Timestamp(20)).expect("room");
    assert_eq!(due(journal.entry(), &clocks(400, "k1", 0), Some("b1")), RevertDue::Settled);
    drop(journal);
    assert_eq!(entry(&machine, 1).confirmed, Some(Timestamp(20)));
}
