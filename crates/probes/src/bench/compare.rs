//! Two benches of one kind: which operations differ by more than the noise.

use super::{BenchKind, BenchReport, BenchRow, OperationTime};

/// Rounds on each side that a difference needs: with four, medians that do not overlap are chance in 1 of 35 comparisons
/// (2 / (8 choose 4)).
const ROUNDS_NEEDED: usize = 4;

/// A bench compared with an earlier one.
#[derive(Clone, Debug, PartialEq)]
pub struct BenchComparison {
    /// What both are about.
    pub kind: BenchKind,
    /// Operations of both, in the order of the earlier one.
    pub differences: Vec<BenchDifference>,
    /// Operations that only the earlier one has.
    pub only_before: Vec<String>,
    /// Operations that only the later one has.
    pub only_after: Vec<String>,
}

/// One operation of both benches.
#[derive(Clone, Debug, PartialEq)]
pub struct BenchDifference {
    /// The operation.
    pub name: String,
    /// Its median before.
    pub before: OperationTime,
    /// And after.
    pub after: OperationTime,
    /// The change of the median, as a share of the one before.
    pub change: f64,
    /// Whether that is more than noise.
    pub answer: BenchAnswer,
}

/// Whether an operation differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BenchAnswer {
    /// Every round after was faster than every round before.
    Faster,
    /// Every round after was slower than every round before.
    Slower,
    /// The rounds overlap: the difference is within the noise.
    Noise,
    /// Too few rounds on one side: a bench that was interrupted.
    CannotTell,
}

impl BenchComparison {
    /// Compares `after` with `before`; `None` where they are not of one kind.
    pub fn of(before: &BenchReport, after: &BenchReport) -> Option<BenchComparison> {
        let missing = |of: &BenchReport, from: &BenchReport| {
            let rows = of.rows.iter().filter(|row| from.row(&row.name).is_none());
            rows.map(|row| row.name.clone()).collect()
        };
        let pairs = before.rows.iter().filter_map(|row| Some((row, after.row(&row.name)?)));
        (before.kind == after.kind).then(|| BenchComparison {
            kind: before.kind,
            differences: pairs.map(|(before, after)| difference(before, after)).collect(),
            only_before: missing(before, after),
            only_after: missing(after, before),
        })
    }

    /// Whether any operation has this answer.
    pub fn has(&self, answer: BenchAnswer) -> bool {
        self.differences.iter().any(|difference| difference.answer == answer)
    }
}

fn difference(before: &BenchRow, after: &BenchRow) -> BenchDifference {
    let (old, new) = (before.per_operation.p50, after.per_operation.p50);
    BenchDifference {
        name: before.name.clone(),
        before: old,
        after: new,
        change: new.ratio(old) - 1.0,
        answer: answer(&before.round_medians, &after.round_medians),
    }
}

fn answer(before: &[OperationTime], after: &[OperationTime]) -> BenchAnswer {
    if before.len().min(after.len()) < ROUNDS_NEEDED {
        return BenchAnswer::CannotTell;
    }
    let ends = |medians: &[OperationTime]| {
        let times = || medians.iter().map(|median| median.0);
        (times().fold(f64::INFINITY, f64::min), times().fold(f64::NEG_INFINITY, f64::max))
    };
    let ((least_before, most_before), (least_after, most_after)) = (ends(before), ends(after));
    if least_after > most_before {
        BenchAnswer::Slower
    } else if most_after < least_before {
        BenchAnswer::Faster
    } else {
        BenchAnswer::Noise
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_rounds_that_do_not_overlap_differ() {
        let of = |times: &[f64]| times.iter().copied().map(OperationTime).collect::<Vec<_>>();
        let before = of(&[20.0, 21.0, 22.0, 23.0, 24.0]);
        for (after, expected) in [
            (&[25.0, 26.0, 27.0, 28.0, 29.0][..], BenchAnswer::Slower),
            (&[15.0, 16.0, 17.0, 18.0, 19.0], BenchAnswer::Faster),
            (&[24.0, 26.0, 27.0, 28.0, 29.0], BenchAnswer::Noise),
            (&[25.0, 26.0, 27.0], BenchAnswer::CannotTell),
        ] {
            assert_eq!(answer(&before, &of(after)), expected, "{after:?}");
        }
    }
}
