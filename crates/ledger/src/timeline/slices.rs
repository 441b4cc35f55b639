//! Pieces of a CPU's time, in each of which it ran one thing.

use super::recent::partition_from_end;
use super::running::Running;
use std::collections::VecDeque;
use whylate_base::Ns;

/// From `start` to the next slice's start, one content.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CpuSlice {
    pub(crate) start: Ns,
    pub(crate) running: Running,
    /// True when it began with a context switch, so that the scheduler chose it.
    pub(crate) switched: bool,
}

/// A clipped slice: from, to, and the slice it is part of.
pub(crate) type Clip = (Ns, Ns, CpuSlice);

/// What a CPU ran in a span of time: clipped, in order, without gaps.
pub(crate) struct Slices<'a> {
    slices: &'a VecDeque<CpuSlice>,
    next: usize,
    current: CpuSlice,
    at: Ns,
    to: Ns,
}

impl<'a> Slices<'a> {
    /// Those of `slices` in `from..to`.
    pub(super) fn of(slices: &'a VecDeque<CpuSlice>, from: Ns, to: Ns) -> Slices<'a> {
        let next = partition_from_end(slices, |slice| slice.start <= from);
        let current = next.checked_sub(1).and_then(|i| slices.get(i)).copied();
        let unknown = CpuSlice { start: from, running: Running::Unknown, switched: false };
        Slices { slices, next, current: current.unwrap_or(unknown), at: from, to }
    }

    /// The index of the slice that comes next, where all of it is to come.
    pub(super) fn at_start_of(&self) -> Option<usize> {
        self.next.checked_sub(1).filter(|_| self.at == self.current.start)
    }

    /// Goes on with the slice at `index`.
    pub(super) fn skip_to(&mut self, index: usize) {
        if let Some(&slice) = self.slices.get(index) {
            (self.current, self.at, self.next) = (slice, slice.start, index + 1);
        }
    }
}

impl Iterator for Slices<'_> {
    type Item = Clip;

    fn next(&mut self) -> Option<Clip> {
        while self.at < self.to {
            let upcoming = self.slices.get(self.next).copied();
            let end = upcoming.map_or(self.to, |slice| slice.start.min(self.to));
            let clip = (self.at, end, self.current);
            if let Some(slice) = upcoming {
                self.current = slice;
                self.next += 1;
            }
            if end > self.at {
                self.at = end;
                return Some(clip);
            }
        }
        None
    }
}

/// Makes the idle time behind a time in which nothing is known begin at `since`, up to a switch at `at`; returns the first slice that is another one.
pub(super) fn idle_back_to(slices: &mut VecDeque<CpuSlice>, since: Ns, at: Ns) -> Option<usize> {
    let behind = slices.iter().rposition(|slice| slice.start < at).map_or(0, |last| last + 1);
    let is_idle = |slice: &CpuSlice| {
        matches!(slice.running, Running::Idle | Running::Irq(_) | Running::Softirq(_) | Running::Nmi)
    };
    let first = slices.range(..behind).rposition(|slice| !is_idle(slice)).map_or(0, |before| before + 1);
    if slices.get(first).is_none_or(|idle| idle.start <= since) {
        return None;
    }
    let idle = CpuSlice { start: since, running: Running::Idle, switched: false };
    match first.checked_sub(1).and_then(|before| slices.get_mut(before)) {
        None => slices.insert(first, idle),
        Some(unknown) if unknown.running == Running::Unknown && unknown.start >= since => {
            unknown.running = Running::Idle;
        }
        Some(unknown) if unknown.running == Running::Unknown => slices.insert(first, idle),
        Some(_) => return None,
    }
    Some(first.saturating_sub(1))
}
