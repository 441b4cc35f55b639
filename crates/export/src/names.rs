//! What made an activation due, for other tools' views.

use whylate_ledger::{Trigger, irq_name, softirq_name, thread_name};

/// What made an activation due.
pub(crate) fn trigger(trigger: &Trigger) -> String {
    match trigger {
        Trigger::Timer => "timer".to_owned(),
        Trigger::Thread { tid, comm } => format!("woken by {}", thread_name(comm, *tid)),
        Trigger::Upon { tid, comm } => {
            format!("woken by {}, or by an interrupt upon it", thread_name(comm, *tid))
        }
        Trigger::Irq { irq, name } => format!("woken by {}", irq_name(Some(*irq), name.as_str())),
        Trigger::Softirq { vec } => format!("woken by softirq {}", softirq_name(*vec)),
        Trigger::Marker => "marker".to_owned(),
        Trigger::Wakeup => "woken".to_owned(),
        Trigger::TraceStart => "start of the trace".to_owned(),
        Trigger::Running => "held up".to_owned(),
    }
}
