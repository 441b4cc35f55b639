//! The largest latency of each stretch of time: what a trend, a rhythm and the block-maxima fit are seen by.
//!
//! Its size is bounded: when there are too many blocks, neighbours are put together and blocks last twice as long.

use whylate_base::Ns;

/// With this many blocks they are put together. A week in blocks of at most 3 minutes.
const MOST_BLOCKS: usize = 4096;

/// The maxima of blocks that follow each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Maxima {
    /// How long a block lasts.
    length: Ns,
    /// Each block's largest; `None`: it had no sample.
    blocks: Vec<Option<Ns>>,
}

impl Maxima {
    /// No blocks yet; each will last `length`, until there are many.
    pub fn new(length: Ns) -> Maxima {
        Maxima { length: length.max(Ns(1)), blocks: Vec::new() }
    }

    /// Of blocks that were counted before.
    pub fn of_blocks(length: Ns, blocks: Vec<Option<Ns>>) -> Maxima {
        let mut maxima = Maxima { length: length.max(Ns(1)), blocks };
        maxima.shorten();
        maxima
    }

    /// Adds a sample that was taken so long after the beginning.
    pub fn record(&mut self, after: Ns, latency: Ns) {
        let mut block = (after.0.max(0) / self.length.0) as usize;
        while block >= MOST_BLOCKS {
            self.halve();
            block /= 2;
        }
        if block >= self.blocks.len() {
            self.blocks.resize(block + 1, None);
        }
        let own = &mut self.blocks[block];
        *own = Some(own.map_or(latency, |before| before.max(latency)));
    }

    /// How long a block lasts.
    pub fn length(&self) -> Ns {
        self.length
    }

    /// Each block's largest.
    pub fn blocks(&self) -> &[Option<Ns>] {
        &self.blocks
    }

    /// Those that are known, in order; without the last block, which may not have lasted its time.
    pub fn complete(&self) -> Vec<Ns> {
        let before_last = self.blocks.len().saturating_sub(1);
        self.blocks[..before_last].iter().flatten().copied().collect()
    }

    /// The same with blocks at least so long: neighbours are put together.
    #[must_use]
    pub fn coarser(&self, length: Ns) -> Maxima {
        let mut coarser = self.clone();
        while coarser.length < length {
            coarser.halve();
        }
        coarser
    }

    /// The larger of both in each block, of whichever length is the longer.
    #[must_use]
    pub fn with(&self, other: &Maxima) -> Maxima {
        let length = self.length.max(other.length);
        let (mut both, other) = (self.coarser(length), other.coarser(length));
        let blocks = both.blocks.len().max(other.blocks.len());
        both.blocks.resize(blocks, None);
        both.blocks.iter_mut().zip(&other.blocks).for_each(|(own, other)| *own = (*own).max(*other));
        both
    }

    fn shorten(&mut self) {
        while self.blocks.len() > MOST_BLOCKS {
            self.halve();
        }
    }

    fn halve(&mut self) {
        self.blocks = self.blocks.chunks(2).map(|pair| pair.iter().copied().flatten().max()).collect();
        self.length = Ns(self.length.0.saturating_mul(2));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_week_fits_and_keeps_its_maximum(samples in prop::collection::vec((0i64..700_000_000_000_000, 0i64..1_000_000), 1..200)) {
            let mut maxima = Maxima::new(Ns::from_secs(1));
            samples.iter().for_each(|&(after, latency)| maxima.record(Ns(after), Ns(latency)));
            prop_assert!(maxima.blocks().len() <= MOST_BLOCKS);
            let largest = samples.iter().map(|sample| Ns(sample.1)).max();
            prop_assert_eq!(maxima.blocks().iter().copied().flatten().max(), largest);
            for (after, latency) in samples {
                let block = maxima.blocks()[(after / maxima.length().0) as usize];
                prop_assert!(block.is_some_and(|largest| largest >= Ns(latency)));
            }
        }
    }

    #[test]
    fn blocks_without_samples_stay_empty() {
        let mut maxima = Maxima::new(Ns(10));
        maxima.record(Ns(5), Ns(7));
        maxima.record(Ns(35), Ns(3));
        assert_eq!(maxima.blocks(), &[Some(Ns(7)), None, None, Some(Ns(3))]);
        assert_eq!(maxima.complete(), &[Ns(7)]);
        assert_eq!(maxima.coarser(Ns(20)).blocks(), &[Some(Ns(7)), Some(Ns(3))]);
    }
}
