//! Priorities in the latency traces of the patches of 2004 to 2008: their header states that of the thread in words, and their rows have
//! numbers whose form changed.
//!
//! ```text
//! | task: audiod-3739 (uid:500 nice:0 policy:1 rt_prio:62)     the kernel's priority 37
//! __trace_start_sched_wakeup <<...>-3739> (25 0)               in hexadecimal, as most of them
//! __trace_start_sched_wakeup <<...>-3739> (37 0)               in decimal
//! __schedule <<idle>-0> (20 162)                               199 less the priority
//! ```

use whylate_base::Priority;
use whylate_events::{EventKind, LatencyTask, Switch};

/// The last form counts down from here.
const REVERSED_FROM: i32 = 199;

/// Corrects the priorities of a row that was read as hexadecimal by what the header states of the thread. Where the row is in another
/// form, its other priority is not known.
pub(super) fn mend(kind: &mut EventKind, task: LatencyTask) {
    if !task.policy.is_some_and(|policy| policy.is_realtime()) || task.rt_priority == 0 {
        return;
    }
    let Ok(stated) = i32::try_from(task.rt_priority).map(Priority::realtime) else { return };
    match kind {
        EventKind::Wakeup { wake, .. } if wake.tid == task.tid => wake.prio = by_header(wake.prio, stated),
        EventKind::Switch(Switch { next_tid, next_prio, prev_prio, .. })
            if *next_tid == task.tid && *next_prio != stated =>
        {
            *next_prio = by_header(*next_prio, stated);
            *prev_prio = Priority::UNKNOWN;
        }
        _ => {}
    }
}

/// The priority of a row, where one of the forms makes it the stated one. Otherwise it is not known: the thread may have been boosted.
fn by_header(read: Priority, stated: Priority) -> Priority {
    let decimal = format!("{:x}", read.0).parse::<i32>().ok();
    let is_stated = |number: i32| number == stated.0 || REVERSED_FROM - number == stated.0;
    if read == stated || decimal.is_some_and(is_stated) { stated } else { Priority::UNKNOWN }
}

#[cfg(test)]
mod tests {
    use super::by_header;
    use whylate_base::Priority;

    #[test]
    fn a_row_has_one_of_three_forms() {
        let stated = Priority(37);
        // As read in hexadecimal: `25`, `37`, `162`, `13`.
        for (read, expected) in [
            (0x25, stated),
            (0x37, stated),
            (0x162, stated),
            (0x13, Priority::UNKNOWN),
            (-1, Priority::UNKNOWN),
        ] {
            assert_eq!(by_header(Priority(read), stated), expected, "{read:x}");
        }
    }
}
