//! Killed at any place, an apply is undone exactly; and so is one whose rollback was killed as well.

use crate::machine::{
    Machine, applied, applied_with, every_kind, refused_kinds, refusing, resumed, rolled_back, some_steps,
};
use proptest::prelude::*;
use whylate_tuning::{ApplyStep, FailurePolicy, FaultInjector, SessionOutcome, Status};

/// What is left of an apply that was cut off after so many passes, rolled back by a fresh engine; how it ended where it
/// was not cut off.
fn survives(
    machine: &Machine,
    steps: &[ApplyStep],
    policy: FailurePolicy,
    passes: u64,
) -> Option<SessionOutcome> {
    let before = machine.everything();
    let outcome = applied_with(machine, &FaultInjector::failing_after(passes), steps, policy).ok();
    if outcome.is_some() {
        assert_ne!(machine.everything(), before);
    }
    let no_faults = FaultInjector::default();
    let store = machine.store(&no_faults);
    if !store.ids().expect("readable").is_empty() {
        let undone = rolled_back(machine, &no_faults, false).expect("the journal can be read");
        assert_eq!(undone.outcome, SessionOutcome::Complete, "after {passes}: {undone:?}");
        assert!(undone.unrecorded.is_none());
        let entry = store.load(1).expect("the journal can be read");
        assert_eq!(entry.status(), Status::RolledBack, "after {passes}");
    }
    assert_eq!(machine.differs_from(&before), Vec::<String>::new(), "after {passes}");
    outcome
}

/// At how many places it can be killed, and how it ends where it is not.
fn places(machine: fn() -> Machine, steps: &[ApplyStep], policy: FailurePolicy) -> (u64, SessionOutcome) {
    for passes in 0.. {
        if let Some(outcome) = survives(&machine(), steps, policy, passes) {
            return (passes, outcome);
        }
    }
    unreachable!("an apply ends");
}

#[test]
fn killed_anywhere_an_apply_is_undone_exactly() {
    let (points, outcome) = places(Machine::new, &every_kind(), FailurePolicy::Stop);
    assert_eq!(outcome, SessionOutcome::Complete);
    assert!(points > every_kind().len() as u64 * 4, "only {points} places to be killed at");
}

#[test]
fn so_is_one_that_skips_optional_settings() {
    let (points, outcome) = places(refusing, &refused_kinds(), FailurePolicy::Stop);
    assert_eq!(outcome, SessionOutcome::Complete);
    assert!(points > refused_kinds().len() as u64 * 4, "only {points} places to be killed at");
}

#[test]
fn so_is_one_that_continues_after_refusals() {
    let required: Vec<ApplyStep> =
        refused_kinds().into_iter().map(|step| ApplyStep { optional: false, ..step }).collect();
    for policy in [FailurePolicy::Stop, FailurePolicy::Continue] {
        let (_, outcome) = places(refusing, &required, policy);
        assert_eq!(outcome, SessionOutcome::Failed, "{policy:?}");
    }
}

#[test]
fn killed_anywhere_an_apply_can_be_resumed() {
    let whole = Machine::new();
    assert_eq!(
        applied(&whole, &FaultInjector::default(), &every_kind()).expect("room"),
        SessionOutcome::Complete
    );
    for passes in (0..).step_by(3) {
        let machine = Machine::new();
        let before = machine.everything();
        if applied(&machine, &FaultInjector::failing_after(passes), &every_kind()).is_ok() {
            break;
        }
        let no_faults = FaultInjector::default();
        let last = machine.store(&no_faults).ids().expect("readable").last().copied();
        let begun =
            last.is_some_and(|id| !machine.store(&no_faults).load(id).expect("readable").sessions.is_empty());
        if begun {
            assert_eq!(
                resumed(&machine, &no_faults).expect("room"),
                SessionOutcome::Complete,
                "after {passes}"
            );
            assert_eq!(machine.differs_from(&whole.everything()), Vec::<String>::new(), "after {passes}");
            assert_eq!(
                rolled_back(&machine, &no_faults, false).expect("room").outcome,
                SessionOutcome::Complete
            );
        }
        assert_eq!(machine.differs_from(&before), Vec::<String>::new(), "after {passes}");
    }
}

#[test]
fn killed_anywhere_one_that_skips_optional_settings_can_be_resumed() {
    let whole = refusing();
    applied(&whole, &FaultInjector::default(), &refused_kinds()).expect("room");
    for passes in 0.. {
        let machine = refusing();
        let before = machine.everything();
        if applied(&machine, &FaultInjector::failing_after(passes), &refused_kinds()).is_ok() {
            break;
        }
        let no_faults = FaultInjector::default();
        let store = machine.store(&no_faults);
        let begun = store
            .ids()
            .expect("readable")
            .last()
            .is_some_and(|&id| !store.load(id).expect("readable").sessions.is_empty());
        if begun {
            assert_eq!(
                resumed(&machine, &no_faults).expect("room"),
                SessionOutcome::Complete,
                "after {passes}"
            );
            assert_eq!(machine.differs_from(&whole.everything()), Vec::<String>::new(), "after {passes}");
            let undone = rolled_back(&machine, &no_faults, false).expect("room");
            assert_eq!(undone.outcome, SessionOutcome::Complete, "after {passes}");
        }
        assert_eq!(machine.differs_from(&before), Vec::<String>::new(), "after {passes}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn so_is_a_rollback_that_was_killed(
        steps in some_steps(), first in 0u64..220, second in 0u64..200, third in 0u64..200,
    ) {
        let machine = Machine::new();
        let before = machine.everything();
        let _ = applied(&machine, &FaultInjector::failing_after(first), &steps);
        let no_faults = FaultInjector::default();
        if machine.store(&no_faults).ids().expect("readable").is_empty() {
            prop_assert_eq!(machine.differs_from(&before), Vec::<String>::new());
            return Ok(());
        }
        let _ = rolled_back(&machine, &FaultInjector::failing_after(second), false);
        let _ = rolled_back(&machine, &FaultInjector::failing_after(third), false);
        let undone = rolled_back(&machine, &no_faults, false).expect("the journal can be read");
        prop_assert_eq!(undone.outcome, SessionOutcome::Complete, "{:?}", machine.store(&no_faults).load(1));
        prop_assert_eq!(machine.differs_from(&before), Vec::<String>::new());
    }
}
