//! A thread of lower priority went on that was to yield, on a kernel that preempts it only where it asks for that.

use super::charger::Charger;
use super::notes::VerdictNote;
use super::queue::Queue;
use crate::timeline::standing::{Standing, standing};
use whylate_base::{Confidence, Ns, Tid};

impl Charger<'_> {
    /// That a thread went on in `start..end` though it was to yield, and how sure that is: interrupts came upon it again and again, which
    /// all that takes a CPU away would have kept back as well.
    pub(super) fn goes_on(
        &self,
        queue: &Queue<'_>,
        (start, end): (Ns, Ns),
        tid: Tid,
    ) -> Option<(Standing, Confidence)> {
        let samples = &queue.timeline.resched_in_interrupts;
        let standing = standing(samples, tid, queue.from, queue.first_choice)?;
        let standstills = self.timeline.hypervisor != Some(false) && self.timeline.standstills > 0;
        let is_around = standing.from <= end && start <= standing.to + (standing.to - standing.from);
        // The interrupts that wait for a CPU which stood still all come at once as it goes on: they show nothing of the time before.
        let shows_all = start >= standing.from || standing.to - standing.from >= end - start;
        let confidence = if standstills { Confidence::Medium } else { Confidence::High };
        (is_around && (shows_all || !standstills)).then_some((standing, confidence))
    }

    /// Notes that.
    pub(super) fn note_standing(&mut self, tid: Tid, standing: Standing) {
        let note = VerdictNote::GoesOn(tid, standing);
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }
}
