//! Events of the scheduler: wake-ups, migrations, the lives of threads, inherited priorities.

use crate::common::Value::{Int, Text};
use crate::{Case, Fields};
use whylate_base::{Cpu, Priority, Tid};
use whylate_events::{BlockedReason, EventKind, Wake};

const WAKE_FIELDS: &[&str] = &["char comm[16]", "pid_t pid", "int prio", "int target_cpu"];
const WAKE_VALUES: Fields<'_> =
    &[("comm", Text("victim")), ("pid", Int(42)), ("prio", Int(49)), ("target_cpu", Int(3))];

pub(super) fn cases() -> Vec<Case> {
    let wake = Wake { comm: "victim".into(), tid: Tid(42), prio: Priority(49), target_cpu: Cpu(3) };
    vec![
        ("sched", "sched_waking", WAKE_FIELDS, WAKE_VALUES, EventKind::Waking(wake)),
        ("sched", "sched_wakeup", WAKE_FIELDS, WAKE_VALUES, EventKind::Wakeup { wake, new: false }),
        ("sched", "sched_wakeup_new", WAKE_FIELDS, WAKE_VALUES, EventKind::Wakeup { wake, new: true }),
        (
            "sched",
            "sched_migrate_task",
            &["char comm[16]", "pid_t pid", "int prio", "int orig_cpu", "int dest_cpu"],
            &[("pid", Int(42)), ("orig_cpu", Int(1)), ("dest_cpu", Int(2))],
            EventKind::Migrate { tid: Tid(42), from: Cpu(1), to: Cpu(2) },
        ),
        (
            "sched",
            "sched_process_fork",
            &["char parent_comm[16]", "pid_t parent_pid", "char child_comm[16]", "pid_t child_pid"],
            &[("parent_pid", Int(1)), ("child_comm", Text("kid")), ("child_pid", Int(2))],
            EventKind::Fork { parent: Tid(1), child: Tid(2), comm: "kid".into() },
        ),
        (
            "sched",
            "sched_process_fork",
            &[
                "__data_loc char[] parent_comm",
                "pid_t parent_pid",
                "__data_loc char[] child_comm",
                "pid_t child_pid",
            ],
            &[("parent_pid", Int(1)), ("child_comm", Text("kid")), ("child_pid", Int(2))],
            EventKind::Fork { parent: Tid(1), child: Tid(2), comm: "kid".into() },
        ),
        (
            "sched",
            "sched_process_exec",
            &["__data_loc char[] filename", "pid_t pid", "pid_t old_pid"],
            &[("filename", Text("/bin/true")), ("pid", Int(8)), ("old_pid", Int(9))],
            EventKind::Exec { old: Tid(9), tid: Tid(8) },
        ),
        (
            "sched",
            "sched_process_exit",
            &["char comm[16]", "pid_t pid", "int prio"],
            &[("pid", Int(8))],
            EventKind::Exit { tid: Tid(8) },
        ),
        (
            "sched",
            "sched_pi_setprio",
            &["char comm[16]", "pid_t pid", "int oldprio", "int newprio"],
            &[("pid", Int(8)), ("oldprio", Int(120)), ("newprio", Int(-1))],
            EventKind::PiSetprio { tid: Tid(8), old: Priority(120), new: Priority(-1) },
        ),
        (
            "sched",
            "sched_blocked_reason",
            &["pid_t pid", "void *caller", "bool io_wait"],
            &[("pid", Int(8)), ("caller", Int(0)), ("io_wait", Int(1))],
            EventKind::BlockedReason(BlockedReason {
                tid: Tid(8),
                io_wait: true,
                caller: Default::default(),
            }),
        ),
    ]
}
