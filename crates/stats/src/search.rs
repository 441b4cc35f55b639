//! Finding the largest value of a function: of one variable by golden section, of a few by Nelder and Mead's simplex
//! (The Computer Journal 7, 1965).

/// Where in `from..to` a function with one peak there is largest, to a relative width of 1e-10.
pub(crate) fn peak(mut from: f64, mut to: f64, value: impl Fn(f64) -> f64) -> f64 {
    const GOLDEN: f64 = 0.618_033_988_749_894_8;
    let (mut low, mut high) = (to - GOLDEN * (to - from), from + GOLDEN * (to - from));
    let (mut at_low, mut at_high) = (value(low), value(high));
    for _ in 0..120 {
        if (to - from).abs() <= 1e-10 * (from.abs() + to.abs()) {
            break;
        }
        if at_low > at_high {
            (to, high, at_high) = (high, low, at_low);
            low = to - GOLDEN * (to - from);
            at_low = value(low);
        } else {
            (from, low, at_low) = (low, high, at_high);
            high = from + GOLDEN * (to - from);
            at_high = value(high);
        }
    }
    (from + to) / 2.0
}

/// Where in a grid a function is largest, then between that point's neighbours; for functions that may have more
/// than one peak. The grid ascends.
pub(crate) fn peak_of_grid(grid: &[f64], value: impl Fn(f64) -> f64) -> f64 {
    let best = (0..grid.len()).map(|at| (at, value(grid[at]))).filter(|(_, value)| !value.is_nan());
    let Some((at, _)) = best.max_by(|a, b| a.1.total_cmp(&b.1)) else { return f64::NAN };
    peak(grid[at.saturating_sub(1)], grid[(at + 1).min(grid.len() - 1)], value)
}

/// Where a function of `N` variables is largest, from `start` on with first steps of `step`, and how large it is there.
/// What is not a number counts as minus infinity.
pub(crate) fn summit<const N: usize>(
    start: [f64; N],
    step: [f64; N],
    value: impl Fn(&[f64; N]) -> f64,
) -> ([f64; N], f64) {
    let worth = |point: &[f64; N]| {
        let value = value(point);
        if value.is_nan() { f64::NEG_INFINITY } else { value }
    };
    let mut corners: Vec<([f64; N], f64)> = (0..=N)
        .map(|at| {
            let mut corner = start;
            if at > 0 {
                corner[at - 1] += step[at - 1];
            }
            (corner, worth(&corner))
        })
        .collect();
    for _ in 0..400 * N {
        corners.sort_by(|a, b| b.1.total_cmp(&a.1));
        let (best, worst) = (corners[0].1, corners[N].1);
        if best.is_finite() && (best - worst).abs() <= 1e-12 * (best.abs() + 1.0) {
            break;
        }
        let mut centre = [0.0; N];
        for (corner, _) in &corners[..N] {
            (0..N).for_each(|at| centre[at] += corner[at] / N as f64);
        }
        let along = |share: f64| {
            let mut point = centre;
            (0..N).for_each(|at| point[at] += share * (corners[N].0[at] - centre[at]));
            (point, worth(&point))
        };
        let mirrored = along(-1.0);
        let new = if mirrored.1 > corners[0].1 {
            let further = along(-2.0);
            if further.1 > mirrored.1 { further } else { mirrored }
        } else if mirrored.1 > corners[N - 1].1 {
            mirrored
        } else {
            along(if mirrored.1 > worst { -0.5 } else { 0.5 })
        };
        if new.1 > worst {
            corners[N] = new;
            continue;
        }
        let top = corners[0].0;
        for corner in &mut corners[1..] {
            (0..N).for_each(|at| corner.0[at] = (corner.0[at] + top[at]) / 2.0);
            corner.1 = worth(&corner.0);
        }
    }
    corners.sort_by(|a, b| b.1.total_cmp(&a.1));
    corners[0]
}

/// Where between `from` and `to` an ascending function passes 0; `None` where it does not.
pub(crate) fn crossing(mut from: f64, mut to: f64, value: impl Fn(f64) -> f64) -> Option<f64> {
    if value(from) > 0.0 || value(to) < 0.0 {
        return None;
    }
    for _ in 0..200 {
        let middle = (from + to) / 2.0;
        if value(middle) < 0.0 { from = middle } else { to = middle }
    }
    Some((from + to) / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn peaks_are_found() {
        assert!((peak(-3.0, 10.0, |x| -(x - 2.0) * (x - 2.0)) - 2.0).abs() < 1e-6);
        let two = |x: f64| -(x * x - 4.0).powi(2) + x;
        let grid: Vec<f64> = (-8..=8).map(|x| f64::from(x) / 2.0).collect();
        assert!((peak_of_grid(&grid, two) - 2.03).abs() < 0.01);
        let (at, _) =
            summit([0.0, 0.0], [1.0, 1.0], |&[x, y]| -(x - 3.0).powi(2) - 10.0 * (y + 1.0 - x).powi(2));
        assert!((at[0] - 3.0).abs() < 1e-4 && (at[1] - 2.0).abs() < 1e-4, "{at:?}");
        assert_eq!(crossing(0.0, 10.0, |x| x - 4.0).map(f64::round), Some(4.0));
        assert_eq!(crossing(5.0, 10.0, |x| x - 4.0), None);
    }
}
