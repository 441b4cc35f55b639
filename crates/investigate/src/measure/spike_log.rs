//! What is remembered of a run, be it seconds or weeks: the listed spikes with their explanations, groups of all, and
//! what is on disk. Everything here is bounded.
//!
//! ```text
//! offer ─> Keep (listed) ──displaced, over the threshold──> passing ──> groups
//!            │ take: windows                                 │
//!            └─ explain_next: one a turn, the listed first ──┘ ──> Store
//! ```

use super::explained::{Explain, explain_one, explain_together};
use super::groups::{Groups, Rhythms, SpikeGroup};
use super::keep::{Keep, Kept, Window};
use super::spike::{ExplainedSpike, NotExplained, SpikeKind};
use super::store::Store;
use crate::flight::Capture;
use std::collections::VecDeque;
use std::time::{Duration, Instant};
use whylate_base::{Finding, Ns};
use whylate_probes::Spike;

/// How many spikes that are not listed may wait for their explanation.
const MOST_PASSING: usize = 64;
/// And for how long that may take when the run is over.
const LAST_LOOK: Duration = Duration::from_secs(2);

/// A run's spikes.
pub struct SpikeLog {
    keep: Keep,
    /// Over the threshold, but not listed any more, and not explained yet.
    passing: VecDeque<Kept>,
    groups: Groups,
    rhythms: Rhythms,
    /// Findings of windows that are gone, one of each code.
    findings: Vec<Finding>,
    store: Option<Store>,
}

/// What a run reports of its spikes.
#[derive(Clone, Debug)]
pub struct Listing {
    /// Worst first.
    pub spikes: Vec<ExplainedSpike>,
    /// All that were over the threshold; `None` without one.
    pub over_threshold: Option<u64>,
    /// Those of them that are not listed.
    pub not_listed: u64,
    /// Spikes by cause.
    pub groups: Vec<SpikeGroup>,
    /// What the windows show beyond the spikes.
    pub findings: Vec<Finding>,
    /// What could not be saved, in sentences.
    pub notes: Vec<String>,
}

impl SpikeLog {
    /// Lists the `worst` of all CPUs, the worst of each CPU, and those over the threshold, 100 at most; saves their
    /// windows where there is a store.
    pub fn new(worst: usize, threshold: Option<Ns>, store: Option<Store>) -> SpikeLog {
        SpikeLog {
            keep: Keep::new(worst, threshold),
            passing: VecDeque::new(),
            groups: Groups::default(),
            rhythms: Rhythms::default(),
            findings: Vec::new(),
            store,
        }
    }

    /// Takes a spike in.
    pub fn offer(&mut self, spike: Spike) {
        let displaced = self.keep.offer(spike);
        self.let_go(displaced);
    }

    /// Takes in a thread that has not run since the spike's due instant.
    pub fn stuck(&mut self, spike: Spike) {
        let displaced = self.keep.stuck(spike);
        self.let_go(displaced);
    }

    fn let_go(&mut self, displaced: Vec<Kept>) {
        for mut kept in displaced {
            if let Some(store) = &mut self.store {
                store.forget(&kept.spike);
            }
            if let Window::Done { findings, .. } = &mut kept.window {
                self.learn(std::mem::take(findings));
            }
            if kept.kind == SpikeKind::Worst {
                // It is not even among the worst any more, and over no threshold.
                continue;
            }
            match kept.answer() {
                Err(NotExplained::NotYet) if self.passing.len() < MOST_PASSING => {
                    self.passing.push_back(kept)
                }
                _ => self.count(&kept),
            }
        }
    }

    fn count(&mut self, kept: &Kept) {
        self.groups.add(kept.spike.due, kept.spike.latency(), kept.answer());
    }

    fn learn(&mut self, findings: Vec<Finding>) {
        for finding in findings {
            if self.findings.iter().all(|known| known.code != finding.code) {
                self.findings.push(finding);
            }
        }
    }

    /// True when a window can be taken: its end, `after` the wake-up, has passed.
    pub fn is_ready(&self, now: Ns, after: Ns) -> bool {
        self.keep.is_ready(now, after) || self.passing.iter().any(|kept| kept.is_ready(now, after))
    }

    /// The listed spikes, and those whose explanation is not done.
    pub fn spikes(&self) -> impl Iterator<Item = &Spike> {
        self.keep.kept().iter().chain(&self.passing).map(|kept| &kept.spike)
    }

    /// Takes every window that is over at `now`.
    pub fn take(
        &mut self,
        now: Ns,
        after: Ns,
        mut window: impl FnMut(&Spike) -> Result<Capture, NotExplained>,
    ) {
        self.passing.iter_mut().for_each(|kept| kept.take(now, after, &mut window));
        let findings = self.keep.take(now, after, &mut window);
        self.learn(findings);
    }

    /// Explains the worst spike that waits for it, and saves its window; false when none does.
    pub fn explain_next(&mut self, reader: &dyn Explain) -> bool {
        if let Some(kept) = self.keep.next_taken() {
            explain_one(kept, reader);
            if let (Some(store), Some(capture)) = (&mut self.store, kept.capture())
                && let Ok(image) = reader.file(capture)
            {
                store.save(&kept.spike, &image);
            }
            return true;
        }
        self.explain_passing(reader)
    }

    fn explain_passing(&mut self, reader: &dyn Explain) -> bool {
        let Some(at) = self.passing.iter().position(|kept| !matches!(kept.window, Window::Pending)) else {
            return false;
        };
        let Some(mut kept) = self.passing.remove(at) else { return false };
        explain_one(&mut kept, reader);
        self.count(&kept);
        if let Window::Done { findings, .. } = kept.window {
            self.learn(findings);
        }
        true
    }

    /// The listed spikes with what is known of them by now, worst first.
    pub fn listed(&self) -> Vec<ExplainedSpike> {
        self.keep.kept().iter().map(|kept| self.explained(kept)).collect()
    }

    fn explained(&self, kept: &Kept) -> ExplainedSpike {
        ExplainedSpike {
            measured: kept.spike,
            kind: kept.kind,
            answer: kept.answer().cloned().map_err(Clone::clone),
            saved: self.store.as_ref().and_then(|store| store.saved(&kept.spike)).cloned(),
        }
    }

    /// What is known by now.
    pub fn so_far(&mut self) -> Listing {
        let spikes = self.listed();
        let mut groups = self.groups.clone();
        for kept in &self.passing {
            groups.add(kept.spike.due, kept.spike.latency(), kept.answer());
        }
        let mut rhythms = std::mem::take(&mut self.rhythms);
        let listing = self.listing(spikes, groups, self.findings.clone(), &mut rhythms);
        self.rhythms = rhythms;
        listing
    }

    /// Replaces the journal, where there is one.
    pub fn journal(&mut self, document: impl FnOnce() -> Vec<u8>) {
        if let Some(store) = &mut self.store {
            store.journal(&document());
        }
    }

    /// What could not be saved first, once that happened.
    pub fn failure(&self) -> Option<&str> {
        self.store.as_ref()?.first_failure()
    }

    /// Ends it: explains what is left, saves what is not saved. The store is given back for the last journal.
    pub fn finish(mut self, reader: Option<&dyn Explain>) -> (Listing, Option<Store>) {
        let mut findings = Vec::new();
        if let Some(reader) = reader {
            let until = Instant::now() + LAST_LOOK;
            while Instant::now() < until && self.explain_passing(reader) {}
            self.save_rest(reader);
            findings = explain_together(self.keep.kept_mut(), reader);
        }
        for kept in self.keep.kept_mut().iter_mut().chain(&mut self.passing) {
            if matches!(kept.window, Window::Pending) {
                kept.window = Window::missing(NotExplained::NoTrace);
            }
        }
        for kept in std::mem::take(&mut self.passing) {
            self.count(&kept);
        }
        // A finding of all windows together is better than that of one of them.
        self.findings.retain(|known| findings.iter().all(|finding| finding.code != known.code));
        findings.append(&mut self.findings);
        findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
        let listing = self.listing(self.listed(), self.groups.clone(), findings, &mut Rhythms::default());
        (listing, self.store)
    }

    fn save_rest(&mut self, reader: &dyn Explain) {
        let Some(store) = &mut self.store else { return };
        // What is saved already has no call stacks.
        let is_due = |kept: &&Kept| kept.is_taken() || reader.adds_stacks();
        for kept in self.keep.kept().iter().filter(is_due) {
            if let Some(Ok(image)) = kept.capture().map(|capture| reader.file(capture)) {
                store.save(&kept.spike, &image);
            }
        }
    }

    fn listing(
        &self,
        spikes: Vec<ExplainedSpike>,
        groups: Groups,
        findings: Vec<Finding>,
        rhythms: &mut Rhythms,
    ) -> Listing {
        let over_threshold = self.keep.over_threshold();
        let over = |spike: &&ExplainedSpike| spike.kind == SpikeKind::OverThreshold;
        let listed = spikes.iter().filter(over).count() as u64;
        // With a threshold, what is below it is no spike, though it may be listed as among the worst.
        let grouped =
            spikes.iter().filter(|spike| over_threshold.is_none() || spike.kind != SpikeKind::Worst);
        Listing {
            groups: groups.with(grouped).totals(rhythms),
            over_threshold,
            not_listed: over_threshold.unwrap_or(0).saturating_sub(listed),
            findings,
            notes: self.store.as_ref().map(Store::notes).unwrap_or_default(),
            spikes,
        }
    }
}
