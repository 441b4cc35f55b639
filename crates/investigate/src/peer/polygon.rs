//! The offsets and drifts that no packet refutes: a convex polygon.

/// Offset in ns and drift in ns per second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Point {
    pub(super) offset: f64,
    pub(super) drift: f64,
}

impl Point {
    /// The offset at `x` seconds from the middle.
    pub(super) fn at(self, x: f64) -> f64 {
        self.offset + self.drift * x
    }
}

/// A convex polygon by its corners, in order; without corners nothing is left.
#[derive(Clone, Debug)]
pub(super) struct Polygon {
    corners: Vec<Point>,
    spare: Vec<Point>,
}

impl Polygon {
    /// Offsets up to `offset` and drifts up to `drift` from zero.
    pub(super) fn within(offset: f64, drift: f64) -> Polygon {
        let corner = |offset, drift| Point { offset, drift };
        let corners = vec![
            corner(-offset, -drift),
            corner(offset, -drift),
            corner(offset, drift),
            corner(-offset, drift),
        ];
        Polygon { corners, spare: Vec::new() }
    }

    /// Keeps offsets of at most `most` at `x`; false where none is left.
    pub(super) fn at_most(&mut self, x: f64, most: f64) -> bool {
        self.keep(|point| most - point.at(x))
    }

    /// Keeps offsets of at least `least` at `x`; false where none is left.
    pub(super) fn at_least(&mut self, x: f64, least: f64) -> bool {
        self.keep(|point| point.at(x) - least)
    }

    /// Keeps where `inside`, a linear function, is not negative.
    fn keep(&mut self, inside: impl Fn(Point) -> f64) -> bool {
        if self.corners.iter().all(|&corner| inside(corner) >= 0.0) {
            return !self.corners.is_empty();
        }
        self.spare.clear();
        let Some(&last) = self.corners.last() else { return false };
        let mut before = (last, inside(last));
        for &corner in &self.corners {
            let value = inside(corner);
            if (before.1 < 0.0) != (value < 0.0) {
                let share = before.1 / (before.1 - value);
                let between = |from: f64, to: f64| from + (to - from) * share;
                self.spare.push(Point {
                    offset: between(before.0.offset, corner.offset),
                    drift: between(before.0.drift, corner.drift),
                });
            }
            if value >= 0.0 {
                self.spare.push(corner);
            }
            before = (corner, value);
        }
        std::mem::swap(&mut self.corners, &mut self.spare);
        !self.corners.is_empty()
    }

    /// The least and the most offset at `x`.
    pub(super) fn range(&self, x: f64) -> (f64, f64) {
        let offsets = self.corners.iter().map(|corner| corner.at(x));
        offsets.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), at| (low.min(at), high.max(at)))
    }

    /// The mean of its corners, which is inside.
    pub(super) fn middle(&self) -> Option<Point> {
        let count = self.corners.len() as f64;
        let sum = |of: fn(&Point) -> f64| self.corners.iter().map(of).sum::<f64>() / count;
        (count > 0.0).then(|| Point { offset: sum(|one| one.offset), drift: sum(|one| one.drift) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_of_both_sides_leave_what_is_between_them() {
        let mut polygon = Polygon::within(1e6, 1e5);
        for x in -10..=10 {
            let x = f64::from(x);
            // The truth is 100 + 7 x; each bound is 50 beside it.
            assert!(polygon.at_most(x, 150.0 + 7.0 * x) && polygon.at_least(x, 50.0 + 7.0 * x));
        }
        let (low, high) = polygon.range(0.0);
        assert!(low >= 50.0 && high <= 150.0, "{low} {high}");
        let middle = polygon.middle().expect("something is left");
        assert!((middle.offset - 100.0).abs() < 1.0 && (middle.drift - 7.0).abs() < 1.0, "{middle:?}");
        assert!(!polygon.at_least(3.0, 150.0 + 7.0 * 3.0 + 1.0) && polygon.middle().is_none());
    }
}
