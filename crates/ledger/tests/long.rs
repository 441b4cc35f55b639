//! Activations that last for a whole trace are explained in bounded memory.
//!
//! A test program of its own, as it counts all memory that is in use.

use whylate_base::{Comm, Cpu, Ns, Priority, Tid};
use whylate_events::{
    Context, ContextFlags, Event, EventKind, EventSource, Switch, TaskState, TraceInfo, Wake,
};
use whylate_ledger::{Cause, Explanation, Options, explain};
use whylate_sys::{CountingAllocator, most_allocated};

#[global_allocator]
static MEMORY: CountingAllocator = CountingAllocator;

const POLLER: Tid = Tid(7);
const WAITER: Tid = Tid(8);

const SLEEPER: Tid = Tid(9);

/// A thread polls on a CPU for ever, and another one, of less priority, waits for ever; a third has run once, and
/// sleeps since. Every 10 us an interrupt takes 1 us.
struct Polling {
    interrupts: u64,
    step: u64,
    event: Option<Event>,
    info: TraceInfo,
}

impl Polling {
    fn at(&self, step: u64) -> Option<(Ns, EventKind)> {
        let wake = |tid, prio| Wake { comm: Comm::from("x"), tid, prio, target_cpu: Cpu(0) };
        let sleeper = Switch {
            prev_comm: Comm::from("swapper/0"),
            prev_tid: Tid::IDLE,
            prev_prio: Priority(120),
            prev_state: TaskState::Runnable,
            next_comm: Comm::from("sleeper"),
            next_tid: SLEEPER,
            next_prio: Priority::realtime(60),
        };
        let poller_in = Switch {
            prev_comm: sleeper.next_comm,
            prev_tid: SLEEPER,
            prev_prio: sleeper.next_prio,
            prev_state: TaskState::Interruptible,
            next_comm: Comm::from("poller"),
            next_tid: POLLER,
            next_prio: Priority::realtime(50),
        };
        let (poller, waiter) = (wake(POLLER, Priority::realtime(50)), wake(WAITER, Priority::realtime(40)));
        Some(match step {
            0 => (Ns(0), EventKind::Waking(poller)),
            1 => (Ns(500), EventKind::Wakeup { wake: poller, new: false }),
            2 => (Ns(800), EventKind::Switch(sleeper)),
            3 => (Ns(1_000), EventKind::Switch(poller_in)),
            4 => (Ns(2_000), EventKind::Waking(waiter)),
            5 => (Ns(2_500), EventKind::Wakeup { wake: waiter, new: false }),
            _ => {
                let nth = (step - 6) / 2;
                let at = Ns(10_000 * (nth as i64 + 1));
                match (nth < self.interrupts, step % 2) {
                    (false, _) => return None,
                    (true, 0) => (at, EventKind::IrqEntry { irq: 9, name: "nic".into() }),
                    (true, _) => (at + Ns(1_000), EventKind::IrqExit { irq: 9 }),
                }
            }
        })
    }
}

impl EventSource for Polling {
    fn next_event(&mut self) -> Option<&Event> {
        let (ts, kind) = self.at(self.step)?;
        self.step += 1;
        let tid = match ts.0 {
            ..900 => Tid::IDLE,
            900..1_500 => SLEEPER,
            _ => POLLER,
        };
        let context = Context { tid, flags: ContextFlags::default(), preempt_depth: Some(0) };
        self.event = Some(Event { ts, cpu: Cpu(0), context, kind });
        self.event.as_ref()
    }

    fn info(&self) -> &TraceInfo {
        &self.info
    }
}

#[test]
fn what_lasts_for_ever_is_charged_in_instalments() {
    const INTERRUPTS: u64 = 1_000_000;
    let source = Polling { interrupts: INTERRUPTS, step: 0, event: None, info: TraceInfo::default() };
    let mut explanation: Option<Explanation> = None;
    let used = most_allocated(|| explanation = Some(explain(source, &Options::default())));
    let explanation = explanation.expect("an explanation");
    // All of it would take two megabytes for ten thousand interrupts.
    assert!(used < 100 << 20, "{} MiB", used >> 20);

    let of = |tid: Tid| {
        explanation.activations.iter().find(|one| one.tid == tid).expect("an activation of each thread")
    };
    let charged = |tid: Tid, cause: Cause| -> Ns {
        let segments = of(tid).ledger.iter().filter(|segment| segment.cause == cause);
        segments.map(|segment| segment.length()).sum()
    };
    for tid in [POLLER, WAITER] {
        let activation = of(tid);
        let all: Ns = activation.ledger.iter().map(|segment| segment.length()).sum();
        assert_eq!(all, activation.end - activation.due);
        assert_eq!(charged(tid, Cause::Irq), Ns(1_000 * INTERRUPTS as i64));
        assert!(activation.ledger.len() < 5_000, "{}", activation.ledger.len());
    }
    // What slept all the while was done when it went to sleep.
    let slept = of(SLEEPER);
    assert_eq!(
        (slept.due, slept.done, charged(SLEEPER, Cause::OwnWork)),
        (Ns(800), Some(Ns(1_000)), Ns(200))
    );
    let work = charged(POLLER, Cause::OwnWork);
    let behind = charged(WAITER, Cause::HigherPriorityTask);
    assert!(work > Ns(8_900 * INTERRUPTS as i64) && behind > Ns(8_900 * INTERRUPTS as i64));
}
