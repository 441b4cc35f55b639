//! The history of hand-made activations.

use super::*;
use whylate_base::{Confidence, Priority};
use whylate_events::KvmExitReason;

const VCPU: (i32, &str) = (50, "CPU 0/KVM");

fn hog() -> Culprit {
    Culprit::Task { tid: Tid(77), comm: Comm::from("hog"), priority: Priority::realtime(50) }
}

fn segment(cause: Cause, by: Option<Culprit>, start: i64, end: i64) -> Segment {
    let (start, end, cpu) = (Ns(start), Ns(end), Cpu(3));
    Segment { cause, start, end, cpu, by, owner: None, confidence: Confidence::High }
}

fn history(activations: Vec<(i32, &str, Option<i32>, Vec<Segment>)>) -> History {
    let mut history = History::default();
    for (tid, comm, woken_by, ledger) in activations {
        let (due, end) = (ledger[0].start, ledger[ledger.len() - 1].end);
        let woken_by = woken_by.map(Tid);
        let kept = HostActivation { comm: Comm::from(comm), due, end, woken_by, ledger };
        history.threads.entry(Tid(tid)).or_default().push(kept);
    }
    history
}

/// From, to, the thread and the state of each stay.
fn stays(history: &History, exits: &[Exited], from: i64, to: i64) -> Vec<(i64, i64, i32, String)> {
    let stays = history.stays((Tid(VCPU.0), Comm::from(VCPU.1)), exits, Ns(from), Ns(to));
    stays
        .into_iter()
        .map(|stay| {
            let by = stay.state.delay().map_or_else(String::new, |(cause, _)| format!(" {cause}"));
            let exit = stay.exit.map_or_else(String::new, |exit| format!(" {exit}"));
            (stay.from.0, stay.to.0, stay.thread.0.0, format!("{}{by}{exit}", stay.state.name()))
        })
        .collect()
}

fn two_activations() -> History {
    let delay = Cause::HigherPriorityTask;
    history(vec![
        (
            50,
            VCPU.1,
            None,
            vec![
                segment(Cause::OwnWork, None, 0, 100),
                segment(delay, Some(hog()), 100, 600),
                segment(Cause::OwnWork, None, 600, 700),
            ],
        ),
        (50, VCPU.1, Some(60), vec![segment(Cause::OwnWork, None, 1_500, 1_900)]),
        (
            60,
            "qemu-system-x86",
            None,
            vec![segment(delay, Some(hog()), 900, 1_400), segment(Cause::OwnWork, None, 1_400, 1_600)],
        ),
    ])
}

#[test]
fn a_cpu_of_a_guest_runs_is_delayed_and_sleeps() {
    let found = stays(&two_activations(), &[], 50, 1_700);
    let expected = [
        (50, 100, 50, "ran"),
        (100, 600, 50, "delayed higher-priority-task"),
        (600, 700, 50, "ran"),
        (700, 900, 50, "asleep"),
        (900, 1_400, 60, "waker-delayed higher-priority-task"),
        (1_400, 1_500, 50, "asleep"),
        (1_500, 1_700, 50, "ran"),
    ];
    assert_eq!(found, expected.map(|(from, to, tid, what)| (from, to, tid, what.to_owned())));
}

#[test]
fn behind_what_was_seen_nothing_is_known() {
    assert_eq!(stays(&two_activations(), &[], 2_000, 3_000), []);
    assert_eq!(stays(&History::default(), &[], 0, 3_000), []);
}

#[test]
fn exits_divide_the_time_on_a_cpu_and_name_a_delay() {
    let exit = |from, to, code| Exited {
        from: Ns(from),
        to: Ns(to),
        reason: KvmExitReason { isa: KvmExitReason::VMX, code },
    };
    let found = stays(&two_activations(), &[exit(20, 60, 48), exit(95, 610, 1)], 0, 650);
    let expected = [
        (0, 20, "ran"),
        (20, 60, "ran EPT_VIOLATION"),
        (60, 95, "ran"),
        (95, 100, "ran EXTERNAL_INTERRUPT"),
        (100, 600, "delayed higher-priority-task EXTERNAL_INTERRUPT"),
        (600, 610, "ran EXTERNAL_INTERRUPT"),
        (610, 650, "ran"),
    ];
    assert_eq!(found, expected.map(|(from, to, what)| (from, to, 50, what.to_owned())));
}
