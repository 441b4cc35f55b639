//! Draws runs of slices too narrow to see as one, so that a dense lane stays a small file.

use std::ops::Range;
use whylate_base::Ns;

/// Groups `items` (in time order) so that there are at most `budget` groups, as far as
/// merging neighbours shorter than some width can achieve it. Starts from `least`, below
/// which nothing could ever be seen. Returns the groups and the width that was needed.
pub(crate) fn merge<T>(
    items: &[T],
    span: impl Fn(&T) -> (Ns, Ns),
    least: Ns,
    budget: usize,
) -> (Vec<Range<usize>>, Ns) {
    let mut narrow = least.max(Ns(1));
    loop {
        let groups = group(items, &span, narrow);
        if groups.len() <= budget || narrow >= Ns(i64::MAX / 2) {
            return (groups, narrow);
        }
        narrow = narrow + narrow;
    }
}

fn group<T>(items: &[T], span: impl Fn(&T) -> (Ns, Ns), narrow: Ns) -> Vec<Range<usize>> {
    let mut groups: Vec<Range<usize>> = Vec::new();
    // Where the last group begins, if it may still grow.
    let mut open: Option<Ns> = None;
    for (i, item) in items.iter().enumerate() {
        let (start, end) = span(item);
        match (open, groups.last_mut()) {
            (Some(since), Some(group)) if end.since(since) < narrow => group.end = i + 1,
            _ => {
                groups.push(i..i + 1);
                open = (end.since(start) < narrow).then_some(start);
            }
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spans(lengths: &[i64]) -> Vec<(Ns, Ns)> {
        let mut at = 0;
        let span = |&length: &i64| {
            let start = at;
            at += length;
            (Ns(start), Ns(at))
        };
        lengths.iter().map(span).collect()
    }

    #[test]
    fn wide_ones_stay_alone_and_narrow_ones_join() {
        let items = spans(&[100, 1, 2, 1, 100, 3, 100]);
        let (groups, narrow) = merge(&items, |&span| span, Ns(10), 100);
        assert_eq!(groups, [0..1, 1..4, 4..5, 5..6, 6..7]);
        assert_eq!(narrow, Ns(10));
    }

    #[test]
    fn a_budget_is_kept_and_every_item_is_in_one_group() {
        let lengths: Vec<i64> = (0..10_000).map(|i| i * 7919 % 113 + 1).collect();
        let items = spans(&lengths);
        let (groups, _) = merge(&items, |&span| span, Ns(1), 300);
        assert!(groups.len() <= 300 && groups.len() > 30, "{}", groups.len());
        let mut next = 0;
        for group in groups {
            assert_eq!(group.start, next);
            next = group.end;
        }
        assert_eq!(next, items.len());
    }

    #[test]
    fn nothing_and_no_time_are_fine() {
        assert!(merge(&spans(&[]), |&span| span, Ns(0), 1).0.is_empty());
        let (groups, _) = merge(&spans(&[0, 0, 0]), |&span| span, Ns(0), 1);
        assert_eq!(groups.iter().map(Range::len).collect::<Vec<_>>(), [3]);
    }
}
