//! Which spikes are listed, and what is held of each: within bounds, however long it runs.

use super::spike::{NotExplained, SpikeKind};
use crate::flight::Capture;
use std::collections::HashSet;
use whylate_base::{Cpu, Finding, Ns};
use whylate_ledger::Activation;
use whylate_probes::Spike;

/// The most spikes that are listed.
pub(super) const MAX_KEPT: usize = 100;
/// The most memory for the windows of all of them. A window that has been explained may be dropped; its explanation stays.
const MAX_BYTES: usize = 64 << 20;

/// A spike that will be listed, unless worse ones come.
pub(super) struct Kept {
    pub(super) spike: Spike,
    pub(super) kind: SpikeKind,
    pub(super) window: Window,
}

/// The trace around a spike.
pub(super) enum Window {
    /// Not taken yet: it may not be over.
    Pending,
    Taken(Capture),
    /// Explained, or not explained for a reason that will not change.
    Done {
        answer: Box<Result<Activation, NotExplained>>,
        findings: Vec<Finding>,
        /// The window itself, for as long as there is memory for it: all windows together explain more.
        capture: Option<Capture>,
    },
}

impl Window {
    /// A window that will not be there.
    pub(super) fn missing(why: NotExplained) -> Window {
        Window::Done { answer: Box::new(Err(why)), findings: Vec::new(), capture: None }
    }
}

impl Kept {
    fn new(spike: Spike, kind: SpikeKind) -> Kept {
        Kept { spike, kind, window: Window::Pending }
    }

    /// What is known of it by now.
    pub(super) fn answer(&self) -> Result<&Activation, &NotExplained> {
        match &self.window {
            Window::Pending | Window::Taken(_) => Err(&NotExplained::NotYet),
            Window::Done { answer, .. } => (**answer).as_ref(),
        }
    }

    pub(super) fn is_taken(&self) -> bool {
        matches!(self.window, Window::Taken(_))
    }

    pub(super) fn is_ready(&self, now: Ns, after: Ns) -> bool {
        matches!(self.window, Window::Pending) && self.spike.woken + after <= now
    }

    /// Takes its window, if that is over at `now`.
    pub(super) fn take(
        &mut self,
        now: Ns,
        after: Ns,
        window: &mut impl FnMut(&Spike) -> Result<Capture, NotExplained>,
    ) {
        if self.is_ready(now, after) {
            self.window = match window(&self.spike) {
                Ok(capture) => Window::Taken(capture),
                Err(why) => Window::missing(why),
            };
        }
    }

    /// Drops its window; returns the window's findings beyond the spike.
    fn drop_window(&mut self) -> Vec<Finding> {
        match &mut self.window {
            Window::Done { findings, capture, .. } => {
                *capture = None;
                std::mem::take(findings)
            }
            window => {
                *window = Window::missing(NotExplained::GivenUp);
                Vec::new()
            }
        }
    }

    pub(super) fn capture(&self) -> Option<&Capture> {
        match &self.window {
            Window::Taken(capture) => Some(capture),
            Window::Done { capture, .. } => capture.as_ref(),
            Window::Pending => None,
        }
    }
}

/// The spikes that are worst, or over the threshold, so far.
pub(super) struct Keep {
    worst: usize,
    threshold: Option<Ns>,
    max_bytes: usize,
    kept: Vec<Kept>,
    over_threshold: u64,
}

impl Keep {
    /// Keeps the `worst` spikes of all CPUs, the worst of each CPU, and those over the threshold;
    /// of all these the worst [`MAX_KEPT`], so on a larger machine not of every CPU one.
    pub(super) fn new(worst: usize, threshold: Option<Ns>) -> Self {
        Keep { worst, threshold, max_bytes: MAX_BYTES, kept: Vec::new(), over_threshold: 0 }
    }

    /// How many wake-ups were over the threshold, listed or not; `None` without one.
    pub(super) fn over_threshold(&self) -> Option<u64> {
        self.threshold.map(|_| self.over_threshold)
    }

    /// Adds a spike; gives those it displaces.
    pub(super) fn offer(&mut self, spike: Spike) -> Vec<Kept> {
        let over = self.threshold.is_some_and(|threshold| spike.latency() >= threshold);
        self.over_threshold += u64::from(over);
        self.add(Kept::new(spike, if over { SpikeKind::OverThreshold } else { SpikeKind::Worst }))
    }

    /// Adds a thread that has not run since its spike's due instant; gives those it displaces.
    pub(super) fn stuck(&mut self, spike: Spike) -> Vec<Kept> {
        self.add(Kept::new(spike, SpikeKind::Stuck))
    }

    fn add(&mut self, new: Kept) -> Vec<Kept> {
        // Worst first; of equals the earlier first.
        let latency = new.spike.latency();
        let at = self.kept.partition_point(|kept| kept.spike.latency() >= latency);
        self.kept.insert(at, new);
        let mut cpus: Vec<Cpu> = Vec::new();
        let mut displaced = Vec::new();
        for (rank, kept) in std::mem::take(&mut self.kept).into_iter().enumerate() {
            let first_of_cpu = !cpus.contains(&kept.spike.cpu);
            if first_of_cpu {
                cpus.push(kept.spike.cpu);
            }
            let wanted = self.worst > 0 && (rank < self.worst || first_of_cpu);
            let listed = self.kept.len() < MAX_KEPT && (wanted || kept.kind != SpikeKind::Worst);
            if listed { self.kept.push(kept) } else { displaced.push(kept) }
        }
        displaced
    }

    /// True when a window can be taken: its end, `after` the wake-up, has passed.
    pub(super) fn is_ready(&self, now: Ns, after: Ns) -> bool {
        self.kept.iter().any(|kept| kept.is_ready(now, after))
    }

    /// Takes every window that is over at `now`, worst spikes first, and drops windows where memory is used up:
    /// those of the smallest latencies. Returns the findings of the dropped windows.
    pub(super) fn take(
        &mut self,
        now: Ns,
        after: Ns,
        window: &mut impl FnMut(&Spike) -> Result<Capture, NotExplained>,
    ) -> Vec<Finding> {
        self.kept.iter_mut().for_each(|kept| kept.take(now, after, window));
        let (mut bytes, mut seen) = (0, HashSet::new());
        let mut dropped = Vec::new();
        for (nth, kept) in self.kept.iter_mut().enumerate() {
            if let Some(capture) = kept.capture() {
                bytes += capture.unseen_bytes(&mut seen);
                if nth > 0 && bytes > self.max_bytes {
                    dropped.append(&mut kept.drop_window());
                }
            }
        }
        dropped
    }

    /// All that is kept, worst first.
    pub(super) fn kept(&self) -> &[Kept] {
        &self.kept
    }

    /// The same, to be explained.
    pub(super) fn kept_mut(&mut self) -> &mut [Kept] {
        &mut self.kept
    }

    /// The worst whose window has not been looked at.
    pub(super) fn next_taken(&mut self) -> Option<&mut Kept> {
        self.kept.iter_mut().find(|kept| kept.is_taken())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use whylate_base::Tid;

    fn spike(cpu: u32, due: i64, latency: i64) -> Spike {
        Spike { cpu: Cpu(cpu), tid: Tid(1000 + cpu as i32), due: Ns(due), woken: Ns(due + latency) }
    }

    fn latencies(keep: &Keep) -> Vec<(u32, i64)> {
        keep.kept().iter().map(|kept| (kept.spike.cpu.0, kept.spike.latency().0)).collect()
    }

    #[test]
    fn the_worst_of_all_and_the_worst_of_each_cpu() {
        let mut keep = Keep::new(2, None);
        for (due, (cpu, latency)) in (0..).zip([(0, 10), (0, 40), (0, 30), (1, 5), (0, 50), (1, 7)]) {
            keep.offer(spike(cpu, due, latency));
        }
        assert_eq!(latencies(&keep), [(0, 50), (0, 40), (1, 7)]);
    }

    #[test]
    fn over_the_threshold_all_are_counted_and_the_worst_hundred_listed() {
        let mut keep = Keep::new(0, Some(Ns(100)));
        let displaced: usize = (0..300).map(|i| keep.offer(spike(0, i, i)).len()).sum();
        assert_eq!(displaced, 200);
        assert_eq!(keep.over_threshold(), Some(200));
        let listed = latencies(&keep);
        assert_eq!(listed.len(), MAX_KEPT);
        assert_eq!((listed[0].1, listed[99].1), (299, 200));
    }

    #[test]
    fn a_window_is_taken_once_it_is_over() {
        let mut keep = Keep::new(5, None);
        keep.offer(spike(0, 100, 50));
        keep.offer(spike(0, 300, 50));
        assert!(!keep.is_ready(Ns(159), Ns(10)));
        assert!(keep.is_ready(Ns(160), Ns(10)));
        let mut taken = 0;
        let mut take = |keep: &mut Keep, now| {
            keep.take(Ns(now), Ns(10), &mut |spike| {
                taken += 1;
                Ok(Capture { from: spike.due, to: spike.woken, cpus: vec![] })
            });
        };
        take(&mut keep, 160);
        assert!(!keep.is_ready(Ns(200), Ns(10)));
        take(&mut keep, 400);
        assert_eq!(taken, 2);
        assert!(keep.kept().iter().all(Kept::is_taken));
    }

    proptest! {
        #[test]
        fn what_is_kept_are_the_worst(samples in prop::collection::vec((0u32..3, 0i64..1_000), 0..80), n in 1usize..6) {
            let mut keep = Keep::new(n, None);
            for (due, &(cpu, latency)) in (0..).zip(&samples) {
                keep.offer(spike(cpu, due * 10_000, latency));
            }
            let listed = latencies(&keep);
            let mut sorted: Vec<i64> = samples.iter().map(|sample| sample.1).collect();
            sorted.sort_unstable_by(|a, b| b.cmp(a));
            sorted.truncate(n);
            prop_assert_eq!(listed.iter().map(|l| l.1).take(n).collect::<Vec<_>>(), sorted);
            for cpu in 0..3 {
                let worst = samples.iter().filter(|s| s.0 == cpu).map(|s| s.1).max();
                prop_assert_eq!(listed.iter().filter(|l| l.0 == cpu).map(|l| l.1).max(), worst);
            }
            prop_assert!(listed.len() <= n + 3);
        }
    }
}
