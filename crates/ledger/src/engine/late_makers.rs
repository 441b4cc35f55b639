//! Work items and timers that come late, as the thread that does them waits for a CPU, and what they lead to.
//!
//! ```text
//! work queued ...... kworker queued behind hog | work begins ── packet ── softirq NET_RX ── sched_waking
//! ^ the thread is due                                                                     ^ it is woken
//! ```

use super::Engine;
use crate::timeline::housekeeping::{is_housekeeping, runs_softirqs};
use crate::timeline::late_makers::{LateId, LateMaker};
use crate::timeline::origins::OriginKind;
use crate::timeline::running::Running;
use crate::timeline::states::State;
use crate::timeline::waking::Waking;
use whylate_base::{Comm, Cpu, Ns, Tid};
use whylate_events::Event;

/// A kworker gets its CPU by a thread's time slice, a softirq's thread by the next switch: less is no delay.
const LATE: Ns = Ns::from_us(200);

impl Engine<'_> {
    /// The number of what came late and makes what this event shows.
    pub(super) fn set_off_by(&mut self, at: Ns, event: &Event) -> Option<LateId> {
        let late = self.late_maker(at, event)?;
        self.timeline.origins.sets_off(late)
    }

    /// What came late and makes what this event shows: the work item, the softirq or the timer that it is in, or what set that off.
    fn late_maker(&self, at: Ns, event: &Event) -> Option<LateMaker> {
        let cpu = self.timeline.cpus.get(event.cpu)?;
        let interrupt = cpu.interrupt().map(|frame| (frame.running, frame.start));
        if let Some(firing) = cpu.firing {
            let expirer = self.timeline.threads.get(event.context.tid)?;
            let is_in_thread = matches!(interrupt, Some((Running::Softirq(_), _)));
            let expires = is_in_thread && runs_softirqs(expirer.comm().as_str());
            return expires.then(|| self.waited(firing.hard_due, at, expirer.tid, event.cpu)).flatten();
        }
        if !self.timeline.origins.may_be_late(at) {
            return None;
        }
        let late = self.timeline.origins.late_maker(self.origin(at, event, interrupt)?.late?)?;
        late.leads_to(at).then_some(late)
    }

    /// A work item begins: notes that it is late, unless what queued it was.
    pub(super) fn note_late_item(&mut self, at: Ns, kworker: Tid) {
        let Some(work) = self.timeline.origins.work_of(kworker).filter(|work| work.late.is_none()) else {
            return;
        };
        if let Some(late) = self.waited(work.since, at, kworker, work.cpu) {
            self.timeline.origins.work_was_late(kworker, late);
        }
    }

    /// True in the work item at this address.
    pub(super) fn is_at(&self, event: &Event, address: u64) -> bool {
        let at_work = self.timeline.origins.work_of(event.context.tid);
        at_work.is_some_and(|at| matches!(at.kind, OriginKind::Work { work, .. } if work == address))
    }

    /// What a thread was to do from `since` on, and does at `at`, where it waited for a CPU for most of that time.
    fn waited(&self, since: Ns, at: Ns, carrier: Tid, cpu: Cpu) -> Option<LateMaker> {
        if at - since < LATE {
            return None;
        }
        let queued = self.timeline.threads.get(carrier)?.history.time_queued(since, at);
        let late = LateMaker { since, begun: at, carrier, cpu };
        (queued.0.saturating_mul(2) >= (at - since).0).then_some(late)
    }

    /// A thread is woken by what something late has made: the first of them was due as that was.
    pub(super) fn reach_back(&mut self, tid: Tid, comm: Comm, waking: &mut Waking) {
        let Some(id) = waking.origin.and_then(|origin| origin.late) else { return };
        let Some(late) = self.timeline.origins.late_maker(id) else { return };
        // It carries it on.
        if is_housekeeping(comm.as_str()) {
            return;
        }
        let waits = match self.timeline.threads.get(tid).map(|thread| thread.state()) {
            Some(State::Blocked { wait, .. }) => !wait.continues(),
            Some(State::Unknown) | None => true,
            Some(_) => false,
        };
        let is_due_before = late.leads_to(waking.at) && late.since < waking.due;
        if waits && is_due_before && self.timeline.origins.is_for_first(&late) {
            waking.due = late.since;
        } else if let Some(origin) = &mut waking.origin {
            origin.late = None;
        }
    }
}
