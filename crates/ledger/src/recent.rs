//! Searching the past from its end: what an activation needs is almost always recent.

use std::collections::VecDeque;

/// How many leading items satisfy `holds`, which must be true of a prefix only. As
/// [`VecDeque::partition_point`], but in time of the logarithm of the distance from the end.
pub(crate) fn partition_from_end<T>(items: &VecDeque<T>, holds: impl Fn(&T) -> bool) -> usize {
    let mut end = items.len();
    let mut step = 1;
    while end > 0 {
        let start = end.saturating_sub(step);
        if holds(&items[start]) {
            return start + partition(items, start, end, holds);
        }
        end = start;
        step *= 2;
    }
    0
}

/// The same within `start..end`, counted from `start`.
fn partition<T>(items: &VecDeque<T>, start: usize, end: usize, holds: impl Fn(&T) -> bool) -> usize {
    let (mut low, mut high) = (start, end);
    while low < high {
        let middle = low + (high - low) / 2;
        if holds(&items[middle]) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low - start
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn finds_what_the_standard_search_finds(mut items in prop::collection::vec(0i32..50, 0..100), bound in 0i32..50) {
            items.sort();
            let items: VecDeque<i32> = items.into();
            prop_assert_eq!(
                partition_from_end(&items, |&item| item <= bound),
                items.partition_point(|&item| item <= bound)
            );
        }
    }
}
