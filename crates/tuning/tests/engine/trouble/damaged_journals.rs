//! Journals that are torn, damaged or empty.

use super::{KSM, SWAPPINESS, entry, no_faults, nothing, verified};
use crate::machine::{Machine, applied, knob, rolled_back, value};
use std::fs;
use whylate_tuning::{JournalError, SessionOutcome, Status, history, rollback_targets};

#[test]
fn a_torn_last_record_does_not_count_and_a_damaged_one_is_reported() {
    let machine = Machine::new();
    let before = machine.everything();
    let steps = [value(knob(SWAPPINESS), "5"), value(knob(KSM), "0")];
    assert_eq!(applied(&machine, &no_faults(), &steps).expect("room"), SessionOutcome::Complete);
    let path = machine.path("/var/lib/whylate/tuning/1/journal.jsonl");
    let whole = fs::read(&path).expect("the journal");
    // Cut anywhere, it reads as what is whole; and what was done is undone.
    for length in 0..whole.len() {
        fs::write(&path, &whole[..length]).expect("a torn journal");
        let read = machine.store(&no_faults()).load(1).expect("a torn end is no damage");
        assert!(read.sessions.len() <= 1);
    }
    let mut torn = whole.clone();
    torn.truncate(whole.len() - 3);
    torn.extend_from_slice(&[0; 40]);
    fs::write(&path, torn).expect("a torn journal");
    assert_eq!(entry(&machine, 1).status(), Status::Interrupted);
    assert_eq!(rolled_back(&machine, &no_faults(), false).expect("room").outcome, SessionOutcome::Complete);
    assert_eq!(entry(&machine, 1).status(), Status::RolledBack);
    assert_eq!(machine.differs_from(&before), nothing());

    let text = String::from_utf8(whole).expect("text");
    let damaged = text.replacen("\"record\":\"begin\"", "\"record\":\"b\"", 1);
    fs::write(&path, damaged).expect("a damaged journal");
    let error = machine.store(&no_faults()).load(1).expect_err("it is damaged");
    assert!(matches!(error, JournalError::Damaged { line: 2, .. }), "{error}");
    let store = machine.store(&no_faults());
    let ids = store.ids().expect("readable");
    let entries: Vec<_> = ids.iter().map(|&id| store.load(id)).collect();
    let lines = history(&entries, &ids);
    assert!(lines[0].unreadable.as_ref().is_some_and(|why| why.contains("line 2")), "{lines:?}");
}

#[test]
fn of_an_apply_that_was_undone_only_the_rollback_must_be_readable() {
    let machine = Machine::new();
    let steps = [value(knob(SWAPPINESS), "5"), value(knob(KSM), "0")];
    assert_eq!(applied(&machine, &no_faults(), &steps).expect("room"), SessionOutcome::Complete);
    assert_eq!(rolled_back(&machine, &no_faults(), false).expect("room").outcome, SessionOutcome::Complete);
    let path = machine.path("/var/lib/whylate/tuning/1/journal.jsonl");
    let whole = fs::read_to_string(&path).expect("the journal");
    let lines: Vec<&str> = whole.lines().collect();
    let rollback = lines.iter().position(|line| line.contains("\"kind\":\"rollback\"")).expect("it is there");
    for damaged in 0..lines.len() - 1 {
        let flip = |(at, line): (usize, &&str)| match at == damaged {
            true => line.replacen(':', ";", 1) + "\n",
            false => format!("{line}\n"),
        };
        fs::write(&path, lines.iter().enumerate().map(flip).collect::<String>()).expect("a damaged journal");
        let store = machine.store(&no_faults());
        match damaged < rollback {
            true => {
                assert_eq!(store.load(1).expect("undone").status(), Status::RolledBack);
                assert_eq!(whylate_tuning::unfinished(&store).expect("none"), None);
                assert!(verified(&machine).unknown.is_empty());
            }
            false => assert!(store.load(1).is_err(), "line {damaged}"),
        }
    }
}

#[test]
fn a_bit_that_flipped_in_a_saved_value_is_damage() {
    let machine = Machine::new();
    let steps = [value(knob(SWAPPINESS), "5")];
    assert_eq!(applied(&machine, &no_faults(), &steps).expect("room"), SessionOutcome::Complete);
    let path = machine.path("/var/lib/whylate/tuning/1/journal.jsonl");
    let text = fs::read_to_string(&path).expect("the journal");
    fs::write(&path, text.replacen("\"value\":\"60\"", "\"value\":\"61\"", 1)).expect("a damaged journal");
    let error = machine.store(&no_faults()).load(1).expect_err("it is damaged");
    assert!(error.to_string().contains("its checksum is wrong"), "{error}");
}

#[test]
fn a_damaged_journal_keeps_no_other_from_being_confirmed_verified_or_undone() {
    let machine = Machine::new();
    for value_now in ["5", "6", "7"] {
        let steps = [value(knob(SWAPPINESS), value_now)];
        assert_eq!(applied(&machine, &no_faults(), &steps).expect("room"), SessionOutcome::Complete);
    }
    let damage = |id: u64| {
        let path = machine.path(&format!("/var/lib/whylate/tuning/{id}/journal.jsonl"));
        let text = fs::read_to_string(&path).expect("a journal");
        fs::write(&path, text.replacen("\"record\":\"begin\"", "\"record\":\"cegin\"", 1)).expect("a bit");
    };
    damage(1);
    let store = machine.store(&no_faults());
    let journals = store.readable().expect("the others are");
    assert_eq!(journals.entries.iter().map(|entry| entry.id).collect::<Vec<_>>(), [2, 3]);
    assert!(matches!(&journals.unreadable[..], [(1, JournalError::Damaged { .. })]));
    let verified = verified(&machine);
    assert_eq!((verified.applies, verified.drifts.len()), (vec![2, 3], 0));
    assert!(verified.unknown.iter().any(|unknown| unknown.what == "apply 1"), "{:?}", verified.unknown);
    assert_eq!(rollback_targets(&store, None).expect("the last one").ids, [3]);
    assert!(rollback_targets(&store, Some(1)).is_err(), "asked for itself");
    // One that is later is no reason to leave a machine as it must not stay.
    damage(3);
    let targets = rollback_targets(&store, Some(2)).expect("readable");
    assert_eq!((targets.ids, targets.unreadable[0].0), (vec![2], 3));
    assert!(rollback_targets(&store, None).is_err(), "it cannot be told which is the last in effect");
}

#[test]
fn an_apply_that_was_cut_off_at_once_stays_visible() {
    let machine = Machine::new();
    fs::create_dir_all(machine.path("/var/lib/whylate/tuning/1")).expect("what a kill leaves");
    let read = entry(&machine, 1);
    assert_eq!((read.status(), read.is_in_effect()), (Status::Empty, false));
    assert_eq!(
        applied(&machine, &no_faults(), &[value(knob(SWAPPINESS), "5")]).expect("room"),
        SessionOutcome::Complete
    );
    assert_eq!(machine.store(&no_faults()).ids().expect("readable"), [1, 2]);
}

#[test]
fn a_journal_without_a_readable_line_is_damaged() {
    let machine = Machine::new();
    assert_eq!(
        applied(&machine, &no_faults(), &[value(knob(SWAPPINESS), "5")]).expect("room"),
        SessionOutcome::Complete
    );
    let path = machine.path("/var/lib/whylate/tuning/1/journal.jsonl");
    let whole = fs::read_to_string(&path).expect("the journal");
    for damaged in ["\n\n".to_owned(), whole.replace("record", "r")] {
        fs::write(&path, &damaged).expect("a damaged journal");
        let error = machine.store(&no_faults()).load(1).expect_err("it had records");
        assert!(matches!(error, JournalError::Damaged { line: 1, .. }), "{error}");
    }
    // Of one that a kill cut off within its first record, nothing was changed yet.
    fs::write(&path, whole.lines().next().expect("a line")).expect("a torn journal");
    assert_eq!(entry(&machine, 1).status(), Status::Empty);
}
