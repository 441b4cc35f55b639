//! Times in which nothing happened inside of a handler that has nothing long to do: did it work, or did it lose the CPU?

use super::recent::drop_while;
use std::collections::VecDeque;
use whylate_base::Ns;

/// A handler that does nothing traceable for this long, and for many times as long as it usually takes in all, does not have
/// the CPU.
pub(crate) const LONG_SILENCE: Ns = Ns::from_ms(1);
/// The same where the machine may be a guest: a host that is busy takes a CPU for part of a millisecond, too.
pub(crate) const LONG_SILENCE_OF_GUEST: Ns = Ns::from_us(200);

/// One of them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Silence {
    pub(crate) from: Ns,
    pub(crate) to: Ns,
    /// If all that the handler does is traced, it did not have the CPU.
    pub(crate) is_sure: bool,
    /// It lies within a wake-up, which has no work for so long, whatever the handler does.
    pub(crate) in_wakeup: bool,
}

/// Those of one CPU, the oldest first.
#[derive(Default)]
pub(crate) struct Silences(VecDeque<Silence>);

impl Silences {
    pub(super) fn add(&mut self, silence: Silence) {
        self.0.push_back(silence);
    }

    /// The one around `from..to`.
    pub(crate) fn around(&self, from: Ns, to: Ns) -> Option<&Silence> {
        let mut near = self.0.iter().rev().take_while(|silence| silence.to > from);
        near.find(|silence| silence.from <= from && to <= silence.to)
    }

    /// True where the CPU was shown to stand still within a wake-up, up to [`LONG_SILENCE`] before `from..to` or after it.
    pub(crate) fn show_standing_near(&self, from: Ns, to: Ns) -> bool {
        let mut near = self.0.iter().rev().take_while(|silence| silence.to > from - LONG_SILENCE);
        near.any(|silence| silence.in_wakeup && silence.from < to + LONG_SILENCE)
    }

    /// How many there are.
    pub(super) fn held(&self) -> usize {
        self.0.len()
    }

    /// Forgets what ended before `horizon`.
    pub(super) fn forget(&mut self, horizon: Ns) {
        drop_while(&mut self.0, |silence| silence.to < horizon);
    }
}
