//! What a cut keeps.

use crate::any_event::source;
use whylate_base::{Comm, Cpu, Ns, Priority, Tid};
use whylate_events::{Context, Event, EventKind, KindSet, Switch, TaskState, VecSource, Wake};
use whylate_export::{Cut, Written, text};
use whylate_ledger::{Scope, Select};

fn event(ms: i64, cpu: u32, tid: i32, kind: EventKind) -> Event {
    let context = Context { tid: Tid(tid), ..Context::default() };
    Event { ts: Ns::from_ms(ms), cpu: Cpu(cpu), context, kind }
}

fn wake(comm: &str, tid: i32) -> EventKind {
    let wake = Wake { comm: Comm::from(comm), tid: Tid(tid), prio: Priority(49), target_cpu: Cpu(0) };
    EventKind::Waking(wake)
}

fn switch(prev: (&str, i32), next: (&str, i32)) -> EventKind {
    EventKind::Switch(Switch {
        prev_comm: Comm::from(prev.0),
        prev_tid: Tid(prev.1),
        prev_prio: Priority(120),
        prev_state: TaskState::Interruptible,
        next_comm: Comm::from(next.0),
        next_tid: Tid(next.1),
        next_prio: Priority(49),
    })
}

/// Two threads on two CPUs, from 1.000 s on.
fn trace() -> VecSource {
    let lost = EventKind::Lost { count: Some(1), since: None, kinds: KindSet::NONE };
    let events = vec![
        event(1000, 0, 0, EventKind::IrqExit { irq: 5 }),
        event(1001, 0, 0, wake("rtload", 7)),
        event(1002, 0, 0, switch(("swapper/0", 0), ("rtload", 7))),
        event(1003, 1, 8, EventKind::SoftirqRaise { vec: 1 }),
        event(1004, 0, 7, EventKind::SoftirqEntry { vec: 1 }),
        event(1005, 0, 7, lost),
        event(1005, 0, 7, EventKind::SoftirqExit { vec: 1 }),
        event(1006, 1, 8, EventKind::Migrate { tid: Tid(7), from: Cpu(0), to: Cpu(1) }),
        event(1007, 1, 8, wake("other", 9)),
    ];
    source(events, None)
}

/// The milliseconds after 1 s of the lines that are kept.
fn kept(cut: &Cut) -> (Vec<i64>, Written) {
    let mut out = Vec::new();
    let written = text::write(&mut trace(), cut, &mut out).expect("written");
    let text = String::from_utf8(out).expect("UTF-8");
    let ms = |line: &str| line.split_once(" 1.00")?.1.get(..1)?.parse().ok();
    (text.lines().filter_map(ms).collect(), written)
}

#[test]
fn time_cpus_threads_and_events() {
    let events = |choices: &[&str]| Cut {
        events: choices.iter().map(|choice| choice.parse().expect("a choice")).collect(),
        ..Cut::default()
    };
    let tasks = |tasks: &[&str]| Cut {
        tasks: tasks.iter().map(|task| Select::parse(task)).collect(),
        ..Cut::default()
    };
    let time = |from: Option<&str>, to: Option<&str>| Cut {
        scope: Scope {
            from: from.map(|from| from.parse().expect("an instant")),
            to: to.map(|to| to.parse().expect("an instant")),
            cpus: None,
        },
        ..Cut::default()
    };
    let cpus = Some("1".parse().expect("a list"));
    let on_cpu_1 = Cut { scope: Scope { cpus, ..Scope::default() }, ..Cut::default() };
    for (cut, expected) in [
        (Cut::default(), vec![0, 1, 2, 3, 4, 5, 6, 7]),
        (time(Some("1.002"), Some("1.004")), vec![2, 3, 4]),
        (time(Some("+2ms"), Some("+4ms")), vec![2, 3, 4]),
        (time(None, Some("+0ms")), vec![0]),
        (time(Some("+1s"), None), vec![]),
        (on_cpu_1, vec![3, 6, 7]),
        (events(&["softirq"]), vec![3, 4, 5]),
        (events(&["softirq_entry", "sched:sched_switch"]), vec![2, 4]),
        (events(&["sched"]), vec![1, 2, 6, 7]),
        (events(&["irq"]), vec![0]),
        (events(&["irq:*"]), vec![0, 3, 4, 5]),
        // In its context, or about it.
        (tasks(&["7"]), vec![1, 2, 4, 5, 6]),
        (tasks(&["rtload"]), vec![1, 2, 4, 5, 6]),
        (tasks(&["other", "8"]), vec![3, 6, 7]),
        (tasks(&["nobody"]), vec![]),
    ] {
        assert_eq!(kept(&cut).0, expected, "{cut:?}");
    }
}

#[test]
fn what_was_met_and_what_was_not() {
    let choices = ["softirq", "sched_swich", "net:*"];
    let events = choices.iter().map(|choice| choice.parse().expect("a choice")).collect();
    let (_, written) = kept(&Cut { events, ..Cut::default() });
    // The loss stays with what is left.
    assert_eq!((written.read, written.events), (9, 4));
    assert_eq!(written.unmet, ["sched_swich", "net:*"]);
}

#[test]
fn reading_ends_where_the_cut_does() {
    let (_, written) = kept(&Cut {
        scope: Scope { to: Some("+1ms".parse().expect("an instant")), ..Scope::default() },
        ..Cut::default()
    });
    assert_eq!((written.read, written.events), (3, 2));
}
