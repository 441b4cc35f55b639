//! How a culprit, a trigger, an activation's thread are called in other tools' views.

use whylate_base::{Comm, Tid};
use whylate_ledger::{Culprit, Trigger, softirq_name};

/// `rtload:312`
pub(crate) fn thread(comm: Comm, tid: Tid) -> String {
    if comm.is_empty() { format!("tid {tid}") } else { format!("{comm}:{tid}") }
}

/// `rtload:313 (rt 1)`, `irq 16 eth0`, `local_timer interrupt`, `softirq NET_RX`
pub(crate) fn culprit(culprit: &Culprit) -> String {
    match culprit {
        Culprit::Task { tid, comm, priority } => format!("{} ({priority})", thread(*comm, *tid)),
        Culprit::Irq { irq: Some(irq), name } if name.is_empty() => format!("irq {irq}"),
        Culprit::Irq { irq: Some(irq), name } => format!("irq {irq} {name}"),
        Culprit::Irq { irq: None, name } if name.is_empty() => "interrupt".to_owned(),
        Culprit::Irq { irq: None, name } => format!("{name} interrupt"),
        Culprit::Softirq { vec } => format!("softirq {}", softirq_name(*vec)),
    }
}

/// What made an activation due.
pub(crate) fn trigger(trigger: &Trigger) -> String {
    match trigger {
        Trigger::Timer => "timer".to_owned(),
        Trigger::Thread { tid, comm } => format!("woken by {}", thread(*comm, *tid)),
        Trigger::Irq { irq, name } => format!("woken by irq {irq} {name}"),
        Trigger::Softirq { vec } => format!("woken by softirq {}", softirq_name(*vec)),
        Trigger::Wakeup => "woken".to_owned(),
        Trigger::TraceStart => "start of the trace".to_owned(),
        Trigger::Running => "held up".to_owned(),
    }
}
