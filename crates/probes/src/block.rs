//! The largest latency of each stretch of time, found by the measuring thread itself.

use crate::recorder::Recorder;
use whylate_base::Ns;

/// How long a stretch lasts.
pub(crate) const BLOCK: Ns = Ns::from_secs(1);

/// The stretch in progress.
pub(crate) struct Block {
    from: Ns,
    largest: Option<Ns>,
}

impl Block {
    /// The first one begins here.
    pub(crate) fn new(from: Ns) -> Block {
        Block { from, largest: None }
    }

    /// Takes in a sample; hands the stretch on when it is over.
    #[inline]
    pub(crate) fn record(&mut self, at: Ns, latency: Ns, recorder: &Recorder) {
        let past = (at - self.from).0 / BLOCK.0;
        if past > 0 {
            self.end(recorder);
            self.from += Ns(past * BLOCK.0);
        }
        self.largest = self.largest.max(Some(latency));
    }

    /// Hands it on as it is.
    pub(crate) fn end(&mut self, recorder: &Recorder) {
        if let Some(largest) = self.largest.take() {
            recorder.blocks.push([self.from.0, largest.0]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_stretch_is_handed_on_once() {
        let recorder = Recorder::new();
        let start = Ns::from_secs(100);
        let mut block = Block::new(start);
        for (ms, latency) in [(0, 5), (999, 9), (1_000, 2), (4_500, 7)] {
            block.record(start + Ns::from_ms(ms), Ns(latency), &recorder);
        }
        block.end(&recorder);
        block.end(&recorder);
        let seconds = |s| start + Ns::from_secs(s);
        let got: Vec<_> = std::iter::from_fn(|| recorder.blocks.pop())
            .map(|[from, largest]| (Ns(from), Ns(largest)))
            .collect();
        assert_eq!(got, [(start, Ns(9)), (seconds(1), Ns(2)), (seconds(4), Ns(7))]);
    }
}
