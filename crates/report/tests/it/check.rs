//! The answers about a machine, for a terminal and as JSON.

use crate::schema_check::violations;
use crate::{assert_current, fixture};
use whylate_checks::{Ask, Profile, Report, Selection, check};
use whylate_host::{Snapshot, Tree, Why};
use whylate_report::json::{checked, checked_schema};
use whylate_report::terminal::{self, Style};

/// A machine with something of everything: failures of all severities, passes, what does not apply, and what
/// nobody can tell.
fn mixed() -> Report {
    let tree = Tree::memory(&[
        ("/proc/sys/kernel/osrelease", "6.1.0-28-amd64\n"),
        ("/proc/sys/kernel/version", "#1 SMP PREEMPT_DYNAMIC Debian 6.1.119-1\n"),
        ("/proc/cmdline", "preempt=full\n"),
        ("/proc/sys/kernel/sched_rt_runtime_us", "950000\n"),
        ("/proc/sys/kernel/sched_rt_period_us", "1000000\n"),
        ("/sys/devices/system/cpu/online", "0-3\n"),
        ("/sys/devices/system/cpu/present", "0-3\n"),
        ("/sys/devices/system/cpu/smt/active", "0\n"),
        ("/sys/devices/system/clocksource/clocksource0/current_clocksource", "hpet\n"),
        ("/proc/irq/24/disk\u{1b}[31m/x", ""),
        ("/proc/irq/24/effective_affinity_list", "0\n"),
        ("/proc/irq/default_smp_affinity", "f\n"),
    ]);
    let ask =
        Ask { cpus: Some("2-3".parse().expect("a list")), priority: Some(80), ..Ask::of(Profile::Realtime) };
    check(&Snapshot::read(&tree), &ask, &Selection::default())
}

fn unread() -> Report {
    let host = Snapshot::read(&Tree::refusing(Why::Denied));
    check(&host, &Ask::of(Profile::Audio), &Selection::default())
}

#[test]
fn it_reads_as_before() {
    let text = |report: &Report, width| terminal::checked(report, &Style { color: false, width });
    assert_current(&fixture("check-100.txt"), &text(&mixed(), 100));
    assert_current(&fixture("check-unread-80.txt"), &text(&unread(), 80));
    assert_current(&fixture("check.json"), &format!("{:#}\n", checked(&mixed())));
}

#[test]
fn no_line_is_wider_than_the_terminal() {
    for width in [60, 80, 120] {
        for report in [mixed(), unread()] {
            let text = terminal::checked(&report, &Style { color: false, width });
            let wide: Vec<&str> = text
                .lines()
                .filter(|line| {
                    line.chars().count() > width && !line.contains("/sys/") && !line.contains("/proc/")
                })
                .collect();
            assert_eq!(wide, Vec::<&str>::new(), "{width}");
        }
    }
}

#[test]
fn names_from_the_machine_cannot_write_to_the_terminal() {
    let ask = Ask { cpus: Some("0".parse().expect("a list")), ..Ask::of(Profile::Realtime) };
    let tree = Tree::memory(&[
        ("/sys/devices/system/cpu/online", "0-1\n"),
        ("/proc/irq/24/disk\u{1b}[31m/x", ""),
        ("/proc/irq/24/effective_affinity_list", "0\n"),
        ("/proc/irq/default_smp_affinity", "1\n"),
    ]);
    let report = check(&Snapshot::read(&tree), &ask, &Selection::default());
    let text = terminal::checked(&report, &Style::default());
    assert!(text.contains("disk") && !text.contains('\u{1b}'), "{text}");
}

#[test]
fn documents_obey_the_schema() {
    for report in [mixed(), unread()] {
        assert_eq!(violations(&checked_schema(), &checked(&report)), Vec::<String>::new());
    }
}
