//! How much of a window something takes at most, as a recording shows it.

use whylate_base::Ns;

/// The most of any window of a length: seen as it ran, and as it would run if nothing had held it up.
#[derive(Clone, Debug, Default)]
pub(super) struct DemandCurve {
    /// Disjoint times in which it ran, in order; and the sum of all before each.
    starts: Vec<i64>,
    ends: Vec<i64>,
    before: Vec<i64>,
    /// When it was due, in order; and the sum of the work of all before each.
    dues: Vec<i64>,
    work_before: Vec<i64>,
    /// How much nearer to each other its work may come than its due instants.
    jitter: Ns,
}

impl DemandCurve {
    /// Of the times in which it ran, and of its arrivals with their work.
    pub(super) fn new(mut ran: Vec<(Ns, Ns)>, mut arrivals: Vec<(Ns, Ns)>, jitter: Ns) -> DemandCurve {
        let mut curve = DemandCurve { jitter: jitter.max(Ns::ZERO), ..DemandCurve::default() };
        ran.retain(|(start, end)| end > start);
        ran.sort_unstable();
        for (start, end) in ran {
            match curve.ends.last_mut() {
                Some(last) if *last >= start.0 => *last = (*last).max(end.0),
                _ => {
                    curve.starts.push(start.0);
                    curve.ends.push(end.0);
                }
            }
        }
        curve.before = sums(curve.starts.iter().zip(&curve.ends).map(|(start, end)| end - start));
        arrivals.retain(|(_, work)| *work > Ns::ZERO);
        arrivals.sort_unstable();
        curve.work_before = sums(arrivals.iter().map(|(_, work)| work.0));
        curve.dues = arrivals.into_iter().map(|(due, _)| due.0).collect();
        curve
    }

    /// The most that it takes of any window of this length.
    pub(super) fn within(&self, window: Ns) -> Ns {
        if window <= Ns::ZERO {
            return Ns::ZERO;
        }
        self.as_it_ran(window.0).max(self.as_it_arrives(window.0).map_or(Ns::ZERO, |(work, _)| work))
    }

    fn as_it_ran(&self, window: i64) -> Ns {
        // The window with the most begins where one of the times does.
        let (mut most, mut last) = (0, 0);
        for (first, &start) in self.starts.iter().enumerate() {
            let end = start.saturating_add(window);
            while last + 1 < self.starts.len() && self.starts[last + 1] < end {
                last += 1;
            }
            let last = last.max(first);
            let beyond = (self.ends[last] - end).max(0);
            let all = self.before[last] + (self.ends[last] - self.starts[last]) - self.before[first];
            most = most.max(all - beyond);
        }
        Ns(most)
    }

    /// The most work that arrives in a window, and the first of its jobs.
    fn as_it_arrives(&self, window: i64) -> Option<(Ns, usize)> {
        let length = window.saturating_add(self.jitter.0);
        let (mut most, mut end) = (None, 0);
        for (first, &due) in self.dues.iter().enumerate() {
            while end < self.dues.len() && self.dues[end] < due.saturating_add(length) {
                end += 1;
            }
            let all = self.work_before.get(end).copied().unwrap_or(0) - self.work_before[first];
            if most.is_none_or(|(before, _)| Ns(all) > before) {
                most = Some((Ns(all), first));
            }
        }
        most
    }

    /// The jobs of the window with the most work: when each is due in it, and its work.
    pub(super) fn densest(&self, window: Ns) -> Vec<(Ns, Ns)> {
        let Some((_, first)) = self.as_it_arrives(window.0) else { return Vec::new() };
        let begin = self.dues[first];
        let jobs = self.dues.iter().enumerate().skip(first).take_while(|&(_, &due)| due < begin + window.0);
        jobs.map(|(at, &due)| (Ns(due - begin), Ns(self.work_before[at + 1] - self.work_before[at])))
            .collect()
    }
}

/// The sum of all before each, and the sum of all at the end.
fn sums(values: impl Iterator<Item = i64>) -> Vec<i64> {
    let mut sum = 0i64;
    let mut all = vec![0];
    all.extend(values.map(|value| {
        sum = sum.saturating_add(value);
        sum
    }));
    all
}

/// The least distance of the first and the last of `count` instants in a row; `None`: there are not so many.
pub(super) fn least_distance(instants: &[Ns], count: usize) -> Option<Ns> {
    instants.windows(count).map(|row| row[count - 1] - row[0]).min()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn pairs(pairs: &[(i64, i64)]) -> Vec<(Ns, Ns)> {
        pairs.iter().map(|&(a, b)| (Ns(a), Ns(b))).collect()
    }

    #[test]
    fn windows_hold_what_was_nearest() {
        let curve = DemandCurve::new(pairs(&[(0, 10), (100, 120), (125, 135)]), Vec::new(), Ns::ZERO);
        assert_eq!([5, 20, 25, 35, 1000].map(|window| curve.within(Ns(window)).0), [5, 20, 20, 30, 40]);
    }

    #[test]
    fn arrivals_count_as_if_nothing_held_them_up() {
        // Two jobs of 10 at a distance of 50; the first was held up by 30 and ran 20 before the second.
        let jobs = pairs(&[(0, 10), (50, 10)]);
        let curve = DemandCurve::new(Vec::new(), jobs.clone(), Ns::ZERO);
        assert_eq!([1, 50, 51].map(|window| curve.within(Ns(window)).0), [10, 10, 20]);
        assert_eq!(curve.densest(Ns(51)), jobs);
        let put_off = DemandCurve::new(Vec::new(), jobs, Ns(30));
        assert_eq!(put_off.within(Ns(21)), Ns(20));
    }

    proptest! {
        #[test]
        fn no_window_has_more(
            parts in prop::collection::vec((1i64..50, 1i64..50), 1..20),
            window in 1i64..200,
            at in 0i64..1500,
        ) {
            let mut now = 0;
            let mut ran = Vec::new();
            for (gap, length) in parts {
                ran.push((Ns(now + gap), Ns(now + gap + length)));
                now += gap + length;
            }
            let inside: i64 =
                ran.iter().map(|(start, end)| (end.0.min(at + window) - start.0.max(at)).max(0)).sum();
            let curve = DemandCurve::new(ran, Vec::new(), Ns::ZERO);
            let most = curve.within(Ns(window)).0;
            prop_assert!(inside <= most && most <= window);
            prop_assert!(curve.within(Ns(window + 1)).0 >= most);
        }
    }
}
