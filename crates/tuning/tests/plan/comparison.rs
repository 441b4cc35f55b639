//! Profiles and machines, compared by their settings.

use crate::machine::{Files, machine, tree};
use crate::{desired, desired_setting, knob, parameter};
use whylate_host::Snapshot;
use whylate_profiles::Selector;
use whylate_tuning::{Agreement, SideSource, ValueState, compare_settings};

/// Each setting of a comparison as `name: A | B | here, agreement`.
fn compared(a: SideSource<'_>, b: SideSource<'_>, files: &Files) -> Vec<String> {
    let tree = tree(files);
    let comparison = compare_settings(a, b, ("/", &tree, &Snapshot::read(&tree)));
    let shown = |value: &whylate_tuning::SideValue| match value.state {
        ValueState::Known => value.values.iter().map(|value| format!("{value:?}")).collect::<String>(),
        state => format!("{state:?}"),
    };
    let rows = comparison.settings.iter().map(|row| {
        format!(
            "{}: {} | {} | {}, {:?}",
            row.name,
            shown(&row.a),
            shown(&row.b),
            shown(&row.here),
            row.agreement
        )
    });
    rows.collect()
}

#[test]
fn profiles_are_compared_by_what_they_come_to() {
    let files = machine();
    let swappiness = "/proc/sys/vm/swappiness";
    let one = desired(vec![
        knob(swappiness, "10"),
        knob("/proc/sys/kernel/timer_mig*", "0"),
        parameter("nohz_full", "2,3"),
    ]);
    let two = desired(vec![
        knob(swappiness, "1"),
        knob("/proc/sys/kernel/timer_migration", "0"),
        parameter("nohz_full", "2-3"),
        knob("/proc/sys/kernel/absent", "1"),
    ]);
    let rows = compared(SideSource::Profile(&one), SideSource::Profile(&two), &files);
    assert_eq!(
        rows,
        [
            "vm.swappiness: Some(\"10\") | Some(\"1\") | Some(\"60\"), Different",
            "kernel.timer_migration: Some(\"0\") | Some(\"0\") | Some(\"1\"), Same",
            "kernel parameter nohz_full: Some(\"2,3\") | Some(\"2-3\") | None, Same",
            "kernel.absent: NotSet | Some(\"1\") | NotApplicable, Different",
        ]
    );
}

fn machine_without_systemd() -> Files {
    machine().into_iter().filter(|(path, _)| !path.contains("systemd")).collect()
}

#[test]
fn a_machine_is_compared_by_the_settings_of_the_profile() {
    let files = machine();
    let mut other = machine();
    other.insert("/proc/sys/vm/swappiness".to_owned(), "10\n".to_owned());
    let one =
        desired(vec![knob("/proc/sys/vm/swappiness", "10"), knob("/proc/sys/kernel/timer_migration", "0")]);
    let there = tree(&other).refused("/proc/sys/kernel/timer_migration", whylate_host::Why::Denied);
    let host = Snapshot::read(&there);
    let machine = SideSource::Machine { name: "other", tree: &there, host: &host };
    assert_eq!(
        compared(SideSource::Profile(&one), machine, &files),
        [
            "vm.swappiness: Some(\"10\") | Some(\"10\") | Some(\"60\"), Same",
            "kernel.timer_migration: Some(\"0\") | Unread | Some(\"1\"), CannotTell",
        ]
    );
    // A request is what it is, whether or not systemd could hold one.
    let latency = desired(vec![desired_setting(Selector::CpuDmaLatency, "10")]);
    let mut requested = machine_without_systemd();
    requested.insert("/dev/cpu_dma_latency".to_owned(), "\u{14}\0\0\0".to_owned());
    let there = tree(&requested);
    let host = Snapshot::read(&there);
    let asked = SideSource::Machine { name: "asked", tree: &there, host: &host };
    let rows = compared(SideSource::Profile(&latency), asked, &files);
    assert!(rows.len() == 1 && rows[0].contains("| Some(\"20\") |"), "{rows:?}");
    let own = tree(&files);
    let own_host = Snapshot::read(&own);
    let same = SideSource::Machine { name: "own", tree: &own, host: &own_host };
    let both = compare_settings(same, same, ("/", &own, &own_host));
    assert!(!both.settings.is_empty());
    assert_eq!(both.count(Agreement::Different), 0);
    let differ = compared(same, machine, &files);
    let different: Vec<&String> = differ.iter().filter(|row| row.ends_with("Different")).collect();
    assert_eq!(different, ["vm.swappiness: Some(\"60\") | Some(\"10\") | Some(\"60\"), Different"]);
}
