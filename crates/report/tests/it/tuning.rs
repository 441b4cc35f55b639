//! The reports of applies: done, stopped, undone in part, verified, remembered.

use crate::schema_check::violations;
use crate::{assert_current, fixture};
use whylate_profiles::{DesiredState, Skipped};
use whylate_report::{Style, apply, history, verify};
use whylate_tuning::{
    Drift, JournalEntry, JournalRecord, Plan, PlannedAction, PlannedStep, RollbackResult, SessionKind,
    SessionOutcome, StoredState, Target, Timestamp, Uncovered, Verification, history,
};

fn value(value: &str) -> StoredState {
    StoredState::Value { value: value.to_owned() }
}

fn knob(path: &str, to: &str) -> PlannedStep {
    let target = Target::Tunable { path: path.to_owned() };
    PlannedStep {
        settings: vec![target.to_string()],
        target,
        then: PlannedAction::Set(value(to)),
        notify: None,
        optional: false,
    }
}

/// An apply of five steps that skipped an optional one and failed at the third.
fn failed() -> JournalEntry {
    let menu = Target::File { path: "/boot/grub/grub.cfg".into() };
    let steps = vec![
        knob("/proc/sys/vm/swappiness", "10"),
        knob("/proc/sys/kernel/timer_migration", "0"),
        knob("/proc/irq/24/smp_affinity_list", "0-1"),
        PlannedStep {
            settings: vec!["kernel parameter nohz_full".into()],
            target: menu,
            then: PlannedAction::Make(vec!["update-grub".into()]),
            notify: None,
            optional: false,
        },
        PlannedStep { optional: true, ..knob("/sys/module/pcie_aspm/parameters/policy", "performance") },
    ];
    let plan = Plan {
        desired: DesiredState { profile: "realtime".into(), ..DesiredState::default() },
        ..Plan::default()
    };
    let mut entry = JournalEntry { id: 3, plan: Some(plan), ..JournalEntry::default() };
    let why = "cannot set /proc/irq/24/smp_affinity_list: the kernel rejected 0-1: EINVAL (Invalid argument)";
    let aspm = "cannot set /sys/module/pcie_aspm/parameters/policy: the kernel rejected performance: EPERM (Operation not \
                permitted); the firmware controls ASPM";
    for record in [
        JournalRecord::Armed { until: Timestamp(1_700_000_300), deadline: None },
        JournalRecord::Session {
            kind: SessionKind::Apply,
            boot_id: Some("b0".into()),
            at: Timestamp(1_700_000_000),
            version: "1".into(),
            steps,
        },
        JournalRecord::Begin { step: 0, before: value("60") },
        JournalRecord::Done { step: 0, after: None },
        JournalRecord::Already { step: 1 },
        JournalRecord::Begin { step: 4, before: value("default") },
        JournalRecord::Skipped { step: 4, others: vec![], why: aspm.into() },
        JournalRecord::Begin { step: 2, before: value("0-3") },
        JournalRecord::Failed { step: 2, why: why.into() },
        JournalRecord::End { outcome: SessionOutcome::Failed, at: Timestamp(1_700_000_001) },
    ] {
        entry.take(record).expect("it fits");
    }
    entry
}

/// The same, after a rollback that left one value.
fn partly_back() -> JournalEntry {
    let mut entry = failed();
    let why = "another program changed it: it was set to 10, and is 33".to_owned();
    let session = JournalRecord::Session {
        kind: SessionKind::Rollback,
        boot_id: None,
        at: Timestamp(1_700_000_100),
        version: "1".into(),
        steps: vec![],
    };
    for record in [
        session,
        JournalRecord::Back { session: 0, step: 2, outcome: RollbackResult::WasBack, why: None },
        JournalRecord::Back { session: 0, step: 0, outcome: RollbackResult::Changed, why: Some(why) },
        JournalRecord::End { outcome: SessionOutcome::Failed, at: Timestamp(1_700_000_101) },
    ] {
        entry.take(record).expect("it fits");
    }
    entry
}

fn verified() -> Verification {
    Verification {
        applies: vec![2, 3],
        drifts: vec![Drift {
            id: 3,
            what: "/proc/sys/vm/swappiness".into(),
            settings: vec!["vm.swappiness".into()],
            before: Some("60".into()),
            made: "10".into(),
            now: "33".into(),
            who: vec!["/etc/sysctl.d/99-local.conf sets it so".into()],
        }],
        unknown: vec![Skipped { what: "/etc/shadowed".into(), why: "EACCES (Permission denied)".into() }],
        skipped: vec![Skipped {
            what: "/sys/kernel/mm/ksm/run".into(),
            why: "cannot set /sys/kernel/mm/ksm/run: the kernel rejected 2: EINVAL (Invalid argument)".into(),
        }],
        pending: vec!["nohz_full=2-3".into()],
        uncovered: vec![Uncovered {
            setting: "CPUs of late (77)".into(),
            now: Some("0-3".into()),
            desired: Some("0-1".into()),
        }],
        as_made: 41,
        ended: 2,
    }
}

fn lines() -> Vec<whylate_tuning::HistoryEntry> {
    let empty = JournalEntry { id: 1, ..JournalEntry::default() };
    history(&[Ok(empty), Ok(failed()), Ok(partly_back())], &[1, 3, 4])
}

#[test]
fn text_is_as_before() {
    let style = Style::default();
    let text = [
        apply::terminal::render(&[failed(), partly_back()], &style),
        verify::terminal::render(&verified(), &style),
        verify::terminal::render(&Verification::default(), &style),
        history::terminal::render(&lines(), &style),
        history::terminal::render(&[], &style),
    ];
    assert_current(&fixture("tuning-100.txt"), &text.join("----\n"));
}

#[test]
fn documents_obey_their_schemas() {
    for (schema, document) in [
        (apply::json::schema(), apply::json::render(&[failed(), partly_back()])),
        (apply::json::schema(), apply::json::render(&[])),
        (verify::json::schema(), verify::json::render(&verified())),
        (history::json::schema(), history::json::render(&lines())),
    ] {
        assert_eq!(violations(&schema, &document), Vec::<String>::new());
    }
    let document = apply::json::render(&[partly_back()]);
    assert_eq!(document["applies"][0]["action"], "rollback");
    assert_eq!(document["applies"][0]["steps"][0]["back"], "changed");
    assert_eq!(
        document["applies"][0]["steps"][0]["why"],
        "another program changed it: it was set to 10, and is 33"
    );
    let mut wrong = document;
    wrong["applies"][0]["standing"] = "fine".into();
    assert_ne!(violations(&apply::json::schema(), &wrong), Vec::<String>::new());
}

#[test]
fn hostile_names_do_not_reach_the_terminal() {
    let mut entry = failed();
    entry.sessions[0].steps[2].planned.target = Target::Tunable { path: "/sys/\u{1b}[31mred".into() };
    let text = apply::terminal::render(&[entry], &Style::default());
    assert!(!text.contains('\u{1b}'), "{text}");
}
