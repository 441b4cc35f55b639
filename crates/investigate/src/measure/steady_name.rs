//! Names of culprits that are the same in each explanation, so that similar spikes can be grouped.

use whylate_base::Priority;
use whylate_ledger::Culprit;

/// A culprit's name without what changes from one time to the next: ids, and which worker of a pool it was.
pub(crate) fn steady_name(culprit: &Culprit) -> String {
    match culprit {
        Culprit::Task { comm, priority, .. } => {
            let realtime = priority.realtime_user().filter(|_| *priority != Priority::UNKNOWN);
            steady_task(comm.as_str(), realtime)
        }
        Culprit::Softirq { .. } | Culprit::Irq { .. } => culprit.to_string(),
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
            (Culprit::Irq { irq: Some(16), name: "eth0".into() }, "irq 16 eth0"),
            (Culprit::Irq { irq: None, name: "local_timer".into() }, "local_timer interrupt"),
        ] {
            assert_eq!(steady_name(&culprit), name);
        }
    }
}
