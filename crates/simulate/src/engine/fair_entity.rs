//! The fair class's account of one thread, and its weight.

use crate::model::TaskPolicy;

/// The weights by nice value, -20 first (`sched_prio_to_weight`, `kernel/sched/core.c`).
const WEIGHTS: [i64; 40] = [
    88761, 71755, 56483, 46273, 36291, 29154, 23254, 18705, 14949, 11916, 9548, 7620, 6100, 4904, 3906, 3121,
    2501, 1991, 1586, 1277, 1024, 820, 655, 526, 423, 335, 272, 215, 172, 137, 110, 87, 70, 56, 45, 36, 29,
    23, 18, 15,
];
/// Of SCHED_IDLE (`WEIGHT_IDLEPRIO`).
const IDLE_WEIGHT: i64 = 3;
pub(super) const NICE_0: i64 = 1024;

/// The fair class's account of a thread.
#[derive(Clone, Copy, Debug)]
pub(super) struct FairEntity {
    pub(super) weight: i64,
    pub(super) vruntime: i64,
    pub(super) deadline: i64,
    /// How much less than its share it had when it last slept.
    pub(super) lag: i64,
    /// The deadline with which it got the CPU: it keeps the CPU until it has had that slice.
    pub(super) parity: Option<i64>,
}

impl FairEntity {
    pub(super) fn new(scheduling: TaskPolicy) -> FairEntity {
        FairEntity { weight: weight_of(scheduling), vruntime: 0, deadline: 0, lag: 0, parity: None }
    }
}

/// The weight of a thread in the fair class.
pub(super) fn weight_of(scheduling: TaskPolicy) -> i64 {
    match scheduling {
        TaskPolicy::Other(nice) => WEIGHTS[(i32::from(nice) + 20).clamp(0, 39) as usize],
        TaskPolicy::Idle => IDLE_WEIGHT,
        _ => NICE_0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_follow_nice() {
        assert_eq!(weight_of(TaskPolicy::Other(0)), 1024);
        assert_eq!(weight_of(TaskPolicy::Other(-20)), 88761);
        assert_eq!(weight_of(TaskPolicy::Other(19)), 15);
        assert_eq!(weight_of(TaskPolicy::Idle), 3);
    }
}
