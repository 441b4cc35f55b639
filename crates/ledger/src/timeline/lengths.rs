//! How long something usually takes, in powers of two.

use whylate_base::Ns;

/// Lengths of this power of two and beyond are counted as one: 2^39 ns are nine minutes.
const CLASSES: usize = 40;
/// So many show what is usual.
const ENOUGH: u32 = 50;

/// Counts by the power of two above each length.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lengths {
    counts: [u32; CLASSES],
    count: u32,
}

impl Default for Lengths {
    fn default() -> Lengths {
        Lengths { counts: [0; CLASSES], count: 0 }
    }
}

impl Lengths {
    pub(crate) fn add(&mut self, length: Ns) {
        let class = (u64::BITS - length.0.max(0).unsigned_abs().leading_zeros()) as usize;
        self.counts[class.min(CLASSES - 1)] += 1;
        self.count += 1;
    }

    /// True when nearly all are shorter than `length`: then one so long is an exception. False where too few were seen.
    pub(crate) fn are_shorter_than(&self, length: Ns) -> bool {
        let shorter: u32 =
            (0..CLASSES).take_while(|class| 1 << class <= length.0).map(|class| self.counts[class]).sum();
        self.count >= ENOUGH && f64::from(shorter) >= 0.98 * f64::from(self.count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_long_of_a_hundred_short_is_an_exception() {
        let mut lengths = Lengths::default();
        (0..49).for_each(|n| lengths.add(Ns::from_us(3 + n % 5)));
        assert!(!lengths.are_shorter_than(Ns::from_ms(1)), "49 are too few");
        (0..50).for_each(|n| lengths.add(Ns::from_us(3 + n % 5)));
        lengths.add(Ns::from_ms(17));
        assert!(lengths.are_shorter_than(Ns::from_us(20)));
        assert!(!lengths.are_shorter_than(Ns::from_us(5)));
        (0..20).for_each(|_| lengths.add(Ns::from_ms(2)));
        assert!(!lengths.are_shorter_than(Ns::from_ms(1)), "many are as long");
        lengths.add(Ns(i64::MAX));
        lengths.add(Ns(-1));
    }
}
