//! Ticks at round times.

use whylate_base::Ns;

/// Times from zero to `span` in steps of 1, 2 or 5 times a power of ten, about `count` of them.
pub(crate) fn ticks(span: Ns, count: i64) -> Vec<(Ns, String)> {
    let step = step(span, count);
    let last = span.0 / step;
    (0..=last).map(|i| (Ns(i * step), label(i * step, step))).collect()
}

fn step(span: Ns, count: i64) -> i64 {
    let rough = (span.0 / count.max(1)).max(1);
    let mut power: i64 = 1;
    while power <= rough / 10 {
        power *= 10;
    }
    [1, 2, 5]
        .into_iter()
        .map(|times| power * times)
        .find(|&step| step >= rough)
        .unwrap_or(power.saturating_mul(10))
}

/// In the unit of the time itself, with no more digits than the step has: `250 us`, `1.5 ms`.
fn label(ns: i64, step: i64) -> String {
    let (scale, unit): (i64, _) = match ns {
        0 => return "0".to_owned(),
        1..1_000 => (1, "ns"),
        1_000..1_000_000 => (1_000, "us"),
        1_000_000..1_000_000_000 => (1_000_000, "ms"),
        _ => (1_000_000_000, "s"),
    };
    let mut digits = 0;
    let mut rest = step % scale;
    let mut place = scale;
    while rest > 0 {
        digits += 1;
        place /= 10;
        rest %= place;
    }
    format!("{:.digits$} {unit}", ns as f64 / scale as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round() {
        let labels = |span| ticks(Ns(span), 8).into_iter().map(|(_, label)| label).collect::<Vec<_>>();
        assert_eq!(labels(46_900_000), ["0", "10 ms", "20 ms", "30 ms", "40 ms"]);
        assert_eq!(labels(2_400_000), ["0", "500 us", "1.0 ms", "1.5 ms", "2.0 ms"]);
        assert_eq!(labels(7), ["0", "1 ns", "2 ns", "3 ns", "4 ns", "5 ns", "6 ns", "7 ns"]);
        assert_eq!(labels(0), ["0"]);
    }

    #[test]
    fn no_span_is_too_long() {
        for span in [1, 999, 123_456_789, i64::MAX / 3, i64::MAX] {
            let ticks = ticks(Ns(span), 8);
            assert!((1..=9).contains(&ticks.len()), "{span}: {}", ticks.len());
        }
    }
}
