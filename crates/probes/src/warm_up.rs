//! The warm-up: rounds at the start that are not counted.

use whylate_base::Ns;

/// Rounds at the start that are not counted: they fault in code and fill caches. The timerlat probe has fewer, where
/// these would take longer than a second.
pub const WARM_UP: u32 = 10;
/// The longest interval of the warm-up, so that a long interval has no long warm-up.
pub(crate) const WARM_UP_INTERVAL: Ns = Ns::from_ms(1);
/// The longest warm-up of the timerlat probe, whose interval cannot change.
const TIMERLAT_WITHIN: Ns = Ns::from_secs(1);

/// How many activations of timerlat at the start are not counted.
pub(crate) fn timerlat_warm_up(interval: Ns) -> u32 {
    let fit = TIMERLAT_WITHIN.0 / interval.0.max(1);
    u32::try_from(fit).unwrap_or(u32::MAX).clamp(1, WARM_UP)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_period_has_a_short_warm_up() {
        assert_eq!([100, 1_000, 100_000].map(|us| timerlat_warm_up(Ns::from_us(us))), [10, 10, 10]);
        assert_eq!([250, 1_000].map(|ms| timerlat_warm_up(Ns::from_ms(ms))), [4, 1]);
    }
}
