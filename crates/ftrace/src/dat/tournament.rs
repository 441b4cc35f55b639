//! Which of many queues has the earliest event.

use std::hint::select_unpredictable;

/// A winner tree that finds the queue with the earliest event. A CPU cannot predict which queue wins, so no step
/// branches on it.
pub(super) struct Tournament {
    /// Node `n` is the lesser of nodes `2n` and `2n + 1`; node 1 is the least of all. The second half are the
    /// leaves, one for each queue: the time in the upper 64 bits, the queue's number in the lower.
    nodes: Vec<i128>,
}

/// Later than every event.
const NONE: i128 = i128::MAX;

impl Tournament {
    pub(super) fn of(queues: usize) -> Tournament {
        Tournament { nodes: vec![NONE; 2 * queues.next_power_of_two()] }
    }

    /// A queue's next event is at `head`.
    #[inline]
    pub(super) fn set(&mut self, queue: usize, head: Option<i64>) {
        let mut least = head.map_or(NONE, |head| (i128::from(head) << 64) | queue as i128);
        let mut node = self.nodes.len() / 2 + queue;
        self.nodes[node] = least;
        while node > 1 {
            let other = self.nodes[node ^ 1];
            least = select_unpredictable(other < least, other, least);
            node /= 2;
            self.nodes[node] = least;
        }
    }

    #[inline]
    pub(super) fn earliest(&self) -> Option<usize> {
        Some(self.nodes[1]).filter(|&least| least != NONE).map(|least| least as u64 as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_earliest_head_is_found_and_of_equals_the_lower_lane(
            queues in 1usize..40,
            changes in prop::collection::vec((0usize..40, prop::option::of(-5i64..5)), 1..100),
        ) {
            let mut heads = Tournament::of(queues);
            let mut plain = vec![None; queues];
            prop_assert_eq!(heads.earliest(), None);
            for (queue, head) in changes {
                let queue = queue % queues;
                heads.set(queue, head);
                plain[queue] = head;
                let there = plain.iter().enumerate().filter_map(|(queue, head)| head.map(|head| (head, queue)));
                prop_assert_eq!(heads.earliest(), there.min().map(|(_, queue)| queue));
            }
        }
    }
}
