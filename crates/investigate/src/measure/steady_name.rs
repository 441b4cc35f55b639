//! Names of culprits that are the same in each explanation, so that similar spikes can be grouped.

use whylate_base::Priority;
use whylate_ledger::{Culprit, softirq_name};

/// A culprit's name without what changes from one time to the next: ids, and which worker of a pool it was.
pub(super) fn steady_name(culprit: &Culprit) -> String {
    match culprit {
        Culprit::Task { comm, priority, .. } => {
            let realtime = priority.realtime_user().filter(|_| *priority != Priority::UNKNOWN);
            steady_task(comm.as_str(), realtime)
        }
        Culprit::Softirq { vec } => format!("softirq {}", softirq_name(*vec)),
        Culprit::Irq { irq, name } => steady_irq(*irq, name.as_str()),
    }
}

/// The same of an interrupt, by its line or, of an architecture vector, by its name.
pub fn steady_irq(irq: Option<u32>, name: &str) -> String {
    match irq {
        Some(irq) => format!("irq {irq} {name}"),
        None => format!("{name} interrupt"),
    }
}

/// The same of a thread, of its name and its real-time priority, where it has one.
pub fn steady_task(comm: &str, realtime: Option<i32>) -> String {
    let pool = comm.strip_prefix("kworker/").and_then(|rest| rest.split_once(':'));
    let name = pool.map_or_else(|| comm.to_owned(), |(pool, _)| format!("kworker/{pool}"));
    match realtime {
        Some(priority) => format!("{name} (priority {priority})"),
        None => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use whylate_base::{Comm, Tid};

    fn task(comm: &str, tid: i32, priority: Priority) -> Culprit {
        Culprit::Task { tid: Tid(tid), comm: Comm::from(comm), priority }
    }

    #[test]
    fn a_culprit_is_called_the_same_each_time() {
        for (culprit, name) in [
            (task("multipathd", 311, Priority::realtime(99)), "multipathd (priority 99)"),
            (task("kworker/0:1H-kblockd", 7, Priority::DEFAULT), "kworker/0"),
            (task("kworker/u8:3", 8, Priority::DEFAULT), "kworker/u8"),
            (task("bash", 9, Priority::UNKNOWN), "bash"),
            (Culprit::Softirq { vec: 3 }, "softirq NET_RX"),
        ] {
            assert_eq!(steady_name(&culprit), name);
        }
    }
}
