//! Interrupts and work items that come again and again, in recordings without the scheduler's events.

use super::support::{Scene, fair};
use whylate_base::Severity;
use whylate_events::{EventKind, Work, WorkStep};

/// The title of a finding that is a hint, and no answer.
fn title(scene: Scene, code: &str) -> Option<String> {
    let explained = scene.explain_with(&Default::default());
    let finding = explained.finding(code)?;
    assert_eq!(finding.severity, Severity::Info);
    assert!(!explained.0.concludes(), "nothing is known to be late");
    Some(finding.title.clone())
}

/// An interrupt comes so often, each time so many microseconds after the last.
fn interrupts(count: i64, every: i64, with_switch: bool) -> Option<String> {
    let mut scene = Scene::new().cpu(1).at(0);
    if with_switch {
        scene = scene.run(fair("app", 20));
    }
    for at in 0..count {
        scene = scene.at(10 + at * every).irq(71, "dma").at(12 + at * every).irq_exit(71);
    }
    title(scene.at(5_000).irq(9, "eth0").irq_exit(9), "interrupt-recurring")
}

#[test]
fn an_interrupt_without_a_pause_is_named() {
    let title = interrupts(7, 9, false);
    assert_eq!(title.as_deref(), Some("irq 71 dma came 7 times in 54.00 us on CPU 1, without a pause"));
    assert_eq!(interrupts(4, 9, false), None, "by chance");
    assert_eq!(interrupts(7, 50, false), None, "there is time between them");
    assert_eq!(interrupts(7, 9, true), None, "the ledger charges it");
}

/// A thread queues these work items, one each `every` us.
fn queues(comm: &'static str, items: &[u64], every: i64) -> Option<String> {
    let mut scene = Scene::new().cpu(1).at(0).wake(fair(comm, 30), 1).unseen_switch_to(fair(comm, 30));
    for (at, &work) in (0..).zip(items) {
        let function = if work == 1 { "scan_bus" } else { "suspend_bus" };
        let queued = Work { work, function: function.into(), step: WorkStep::Queued };
        scene = scene.at(10 + at * every).event(EventKind::Work(queued));
    }
    title(scene, "work-recurring")
}

#[test]
fn work_items_that_queue_each_other_are_named() {
    let title = queues("kworker/1:2", &[1, 2, 1, 2, 1], 40);
    let words = "queued 2 work items (scan_bus, suspend_bus) 5 times in 160.0 us on CPU 1, without a pause";
    assert!(
        title.as_ref().is_some_and(|title| title.starts_with("kworker/1:2") && title.ends_with(words)),
        "{title:?}"
    );
    assert!(
        queues("kworker/1:2", &[1, 1, 1, 1], 40)
            .is_some_and(|title| title.contains("1 work item (scan_bus) 4 times"))
    );
    assert_eq!(queues("kworker/1:2", &[1, 2, 1, 2], 40), None, "by chance");
    assert_eq!(queues("kworker/1:2", &[1, 2, 1, 2, 1], 2_000), None, "it has pauses");
    assert_eq!(queues("kworker/1:2", &[1, 2, 3, 4, 5, 6], 40), None, "each once");
    assert_eq!(queues("copy", &[1, 2, 1, 2, 1], 40), None, "a program's work");
}
