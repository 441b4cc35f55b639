//! What latency tracers and rtla measured: charged to the nanosecond, and no culprit named beyond what they show.

mod calls;
mod cut_off;
mod harmless;
mod latency;
mod marks;
mod osnoise;
mod reports;
mod rtla;
mod timerlat;
mod wakeups;

use crate::support::Explained;
use whylate_base::{Cpu, Ns, Priority, Tid};
use whylate_events::{
    Context, ContextFlags, Event, EventKind, Noise, NoiseSource, Switch, TaskState, Timerlat,
    TimerlatContext, TraceInfo, VecSource,
};
use whylate_ledger::{Activation, Cause, Options, explain};

const CPU: Cpu = Cpu(5);
const TIMERLAT: i32 = 1035;
const CC1: i32 = 87_882;

fn explained(info: TraceInfo, events: Vec<Event>) -> Explained {
    Explained::of(explain(VecSource::new(events, info, false), &Options::default()))
}

fn on(cpu: Cpu, ns: i64, tid: i32, flags: &str, kind: EventKind) -> Event {
    let mut bits = ContextFlags::default();
    for flag in flags.chars() {
        bits = bits
            | match flag {
                'd' => ContextFlags::IRQS_OFF,
                'N' => ContextFlags::NEED_RESCHED,
                'h' => ContextFlags::HARDIRQ,
                '.' => ContextFlags::default(),
                's' => ContextFlags::SOFTIRQ,
                _ => panic!("{flag}"),
            };
    }
    let context = Context { tid: Tid(tid), flags: bits, preempt_depth: Some(1) };
    Event { ts: Ns(ns), cpu, context, kind }
}

fn event(ns: i64, tid: i32, flags: &str, kind: EventKind) -> Event {
    on(CPU, ns, tid, flags, kind)
}

fn function(name: &str) -> EventKind {
    EventKind::Function { name: name.into(), caller: "".into() }
}

fn frame(ns: i64, tid: i32, name: &str) -> Event {
    event(ns, tid, "", EventKind::StackFrame { name: name.into() })
}

fn sample(ns: i64, tid: i32, seq: u32, context: TimerlatContext, latency: i64) -> Event {
    event(ns, tid, "", EventKind::Timerlat(Timerlat { seq, context, latency: Ns(latency) }))
}

fn noise(ns: i64, tid: i32, source: NoiseSource, name: &str, id: u32, start: i64, duration: i64) -> Event {
    let noise = Noise { source, name: name.into(), id, start: Ns(start), duration: Ns(duration) };
    event(ns, tid, "", EventKind::Noise(noise))
}

/// A thread of that name leaves a CPU of its own.
fn named(name: &str) -> Vec<Event> {
    let switch = Switch {
        prev_comm: name.into(),
        prev_tid: Tid(900),
        prev_prio: Priority::DEFAULT,
        prev_state: TaskState::Interruptible,
        next_comm: "swapper/9".into(),
        next_tid: Tid::IDLE,
        next_prio: Priority::DEFAULT,
    };
    vec![on(Cpu(9), 1_000, 900, "d", EventKind::Switch(switch))]
}

fn charged(activation: &Activation) -> Vec<(Cause, i64)> {
    activation.ledger.iter().map(|segment| (segment.cause, segment.length().0)).collect()
}

fn check_tiling(activation: &Activation) {
    let mut at = activation.due;
    for segment in &activation.ledger {
        assert_eq!(segment.start, at, "{activation:#?}");
        assert!(segment.end > segment.start, "{activation:#?}");
        at = segment.end;
    }
    assert_eq!(at, activation.end, "{activation:#?}");
}
