//! Which of many queues has the earliest event.

use std::hint::select_unpredictable;

/// Finds the queue with the earliest event: among few queues by looking at each, among more by a winner tree. A CPU
/// cannot predict which queue wins, so no step branches on it.
pub(super) enum Tournament {
    /// The keys of at most four queues.
    Few([Key; FEW]),
    /// Node `n` is the lesser of nodes `2n` and `2n + 1`; node 1 is the least of all. The second half are the leaves, one
    /// for each queue.
    Tree(Vec<Key>),
}

/// The time of a queue's next event in the upper 64 bits, the queue's number in the lower.
type Key = i128;

/// Two CPUs of a recording with an instance beside it.
const FEW: usize = 4;

/// Later than every event.
const NONE: Key = Key::MAX;

#[inline]
fn lesser(one: Key, other: Key) -> Key {
    select_unpredictable(other < one, other, one)
}

impl Tournament {
    pub(super) fn of(queues: usize) -> Tournament {
        match queues {
            0..=FEW => Tournament::Few([NONE; FEW]),
            _ => Tournament::Tree(vec![NONE; 2 * queues.next_power_of_two()]),
        }
    }

    /// A queue's next event is at `head`.
    #[inline]
    pub(super) fn set(&mut self, queue: usize, head: Option<i64>) {
        let key = head.map_or(NONE, |head| (Key::from(head) << 64) | queue as Key);
        match self {
            Tournament::Few(keys) => keys[queue] = key,
            Tournament::Tree(nodes) => climb(nodes, queue, key),
        }
    }

    #[inline]
    pub(super) fn earliest(&self) -> Option<usize> {
        let least = match self {
            Tournament::Few([a, b, c, d]) => lesser(lesser(*a, *b), lesser(*c, *d)),
            Tournament::Tree(nodes) => nodes[1],
        };
        (least != NONE).then_some(least as u64 as usize)
    }
}

#[inline]
fn climb(nodes: &mut [Key], queue: usize, key: Key) {
    let mut least = key;
    let mut node = nodes.len() / 2 + queue;
    nodes[node] = least;
    while node > 1 {
        least = lesser(least, nodes[node ^ 1]);
        node /= 2;
        nodes[node] = least;
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
