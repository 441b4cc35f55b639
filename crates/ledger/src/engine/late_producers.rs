//! Input of a real-time thread that came late, as the thread that hands it on waited for a CPU.
//!
//! ```text
//! sensor (rt 70)    |write|
//! filter (nice 0)         ^ woken ...... waits for its CPU ......|read, write|
//! actuator (rt 60)                                                           ^ woken, and at once on its CPU
//! ```
//!
//! No activation of the last thread is late. What shows is that the one between them works for a period of the first, and comes after
//! the last one by its priority; or, of one that works by itself, that the last thread waited for its input far longer than from one
//! activation to the next.

use super::Engine;
use crate::timeline::late_producers::LateProducer;
use crate::timeline::running::Running;
use crate::timeline::sleeps::Wait;
use crate::timeline::states::State;
use crate::timeline::waking::Waking;
use std::collections::BTreeMap;
use whylate_base::{Ns, Priority, Tid};

/// A thread of SCHED_OTHER gets its CPU by a time slice: less is no delay.
const LATE: Ns = Ns::from_ms(1);
/// So many activations show how often a thread has one.
const ENOUGH: u32 = 16;
/// Input that a thread waits for so many times as long as from one activation to the next comes late.
const FAR_LONGER: i64 = 4;

impl Engine<'_> {
    /// An activation of a thread begins, which was woken so: notes where that was late because its waker waited for a CPU.
    #[inline]
    pub(super) fn note_producer(&mut self, tid: Tid, waking: &Waking) {
        let Some(by) = waking.cause.waker().filter(|_| waking.prio.is_realtime()) else { return };
        let open = self.timeline.threads.get(by).and_then(|producer| producer.open.as_ref());
        let late = match open.is_some_and(|open| open.errand.is_some() && waking.at - open.waking >= LATE) {
            true => self.late_errand(by, tid, waking),
            false => None,
        };
        if let Some(late) = late.or_else(|| self.late_by_itself(by, tid, waking)) {
            self.timeline.late_producers.note(tid, late);
        }
    }

    /// The producer works for a period of another thread.
    #[cold]
    fn late_errand(&self, by: Tid, tid: Tid, waking: &Waking) -> Option<LateProducer> {
        let threads = &self.timeline.threads;
        let open = threads.get(by)?.open.as_ref()?;
        let of = threads.get(open.errand?.of).filter(|of| of.tid != tid && of.priority().is_realtime())?;
        if !of.priority().outranks(threads.get(by)?.priority()) {
            return None;
        }
        // Since it woke the same thread before, it works for another period of that.
        let from = open.waking.max(threads.get(tid)?.last_due.unwrap_or(open.waking));
        self.late_since(from, by, tid, waking).map(|late| LateProducer { of: Some(of.tid), ..late })
    }

    /// The thread waits for input, and has done so for far longer than from one of its activations to the next.
    fn late_by_itself(&self, by: Tid, tid: Tid, waking: &Waking) -> Option<LateProducer> {
        let thread = self.timeline.threads.get(tid)?;
        let State::Blocked { wait: Wait::Input, .. } = thread.state() else { return None };
        let from = thread.since().filter(|&since| waking.at - since >= LATE)?;
        let activations = thread.lifetime.activations;
        let apart = Ns((from - self.timeline.first?).0 / i64::from(activations.max(1)));
        let is_far_longer = (waking.at - from).0 >= apart.0.saturating_mul(FAR_LONGER);
        if activations < ENOUGH || !is_far_longer {
            return None;
        }
        self.late_since(from, by, tid, waking)
    }

    /// Where the producer waited for a CPU for most of the time since `from`.
    #[cold]
    fn late_since(&self, from: Ns, by: Tid, tid: Tid, waking: &Waking) -> Option<LateProducer> {
        let threads = &self.timeline.threads;
        let (thread, producer) = (threads.get(tid)?, threads.get(by)?);
        // What a thread does that is as urgent has its place by the program's plan.
        let comes_last = waking.prio.outranks(producer.priority());
        if !comes_last || thread.is_housekeeping() || producer.is_housekeeping() {
            return None;
        }
        let stays = producer.history.between(from, waking.at);
        let (mut queued, mut on) = (Ns::ZERO, None);
        let mut behind: BTreeMap<(Tid, Priority), Ns> = BTreeMap::new();
        for stay in stays {
            let State::Queued(cpu) = stay.state else { continue };
            queued += stay.to - stay.from;
            on = Some(cpu);
            let slices =
                self.timeline.cpus.get(cpu).into_iter().flat_map(|cpu| cpu.between(stay.from, stay.to));
            for (start, end, slice) in slices {
                if let Running::Task(other, priority) = slice.running {
                    *behind.entry((other, priority)).or_insert(Ns::ZERO) += end - start;
                }
            }
        }
        let most = behind.into_iter().max_by_key(|(_, time)| *time);
        let is_most = |time: Ns| time.0.saturating_mul(2) >= queued.0;
        let is_late = queued >= LATE && queued.0.saturating_mul(2) >= (waking.at - from).0;
        let behind = most.filter(|(_, time)| is_most(*time)).map(|(thread, _)| thread);
        is_late.then_some(LateProducer { tid: by, of: None, from, to: waking.at, queued, cpu: on?, behind })
    }
}
