//! Searching the past from its end: what an activation needs is almost always recent.

use std::collections::VecDeque;

/// Of so many, looking at one after the other is the quickest search.
const FEW: usize = 4;

/// How many leading items satisfy `holds`, which must be true of a prefix only. As
/// [`VecDeque::partition_point`], but in time of the logarithm of the distance from the end.
pub(crate) fn partition_from_end<T>(items: &VecDeque<T>, holds: impl Fn(&T) -> bool) -> usize {
    let mut end = items.len();
    for _ in 0..FEW.min(end) {
        if holds(&items[end - 1]) {
            return end;
        }
        end -= 1;
    }
    let mut step = FEW;
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

/// Forgets the leading items that are over once the next has begun by `horizon`. They are many, and have long
/// left the caches: most are not looked at.
pub(crate) fn forget_before<T>(items: &mut VecDeque<T>, begun: impl Fn(&T) -> bool) {
    let over = items.partition_point(begun).saturating_sub(1);
    items.drain(..over);
}

/// Forgets the leading items for which `is_over` holds.
pub(crate) fn drop_while<T>(items: &mut VecDeque<T>, is_over: impl Fn(&T) -> bool) {
    while items.front().is_some_and(&is_over) {
        items.pop_front();
    }
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
