//! The charger: it builds one ledger, front to back.

use super::attribution::Charge;
use super::notes::{VerdictNote, is_boosted};
use crate::causes::Cause;
use crate::model::{Culprit, IrqKind, Segment};
use crate::timeline::Timeline;
use crate::timeline::activations::Open;
use crate::timeline::irqs::IrqId;
use crate::timeline::origins::RCU;
use crate::timeline::running::Running;
use crate::timeline::silences::Silence;
use crate::timeline::slices::Clip;
use crate::timeline::states::State;
use crate::timeline::thread::Thread;
use whylate_base::{Confidence, Cpu, Ns, Priority, Tid};

/// See the module.
pub(super) struct Charger<'a> {
    pub(super) timeline: &'a Timeline,
    pub(super) victim: &'a Thread,
    pub(super) open: &'a Open,
    /// Everything before is charged.
    pub(super) at: Ns,
    /// Where the charges happen.
    pub(super) cpu: Cpu,
    pub(super) segments: Vec<Segment>,
    pub(super) notes: Vec<VerdictNote>,
    /// How many threads the charge has followed from the one that woke the late one.
    pub(super) hops: usize,
    /// Segments before this index are not extended any more.
    fence: usize,
}

impl<'a> Charger<'a> {
    /// Goes on where an activation's last checkpoint ends, or begins where it was due.
    pub(super) fn new(timeline: &'a Timeline, victim: &'a Thread, open: &'a Open) -> Charger<'a> {
        let segments = open.checkpoint.as_ref().map_or_else(Vec::new, |charged| charged.ledger.clone());
        Charger {
            timeline,
            victim,
            open,
            at: open.charged_until(),
            cpu: open.cpu.unwrap_or_default(),
            fence: segments.len(),
            segments,
            notes: Vec::new(),
            hops: 0,
        }
    }
}

impl Charger<'_> {
    /// Charges the time up to `to`.
    pub(super) fn charge(&mut self, to: Ns, charge: Charge) {
        if to <= self.at {
            return;
        }
        let Charge { cause, by, owner, confidence } = charge;
        match self.segments[self.fence..].last_mut() {
            Some(last)
                if (last.cause, last.by, last.owner, last.confidence, last.cpu)
                    == (cause, by, owner, confidence, self.cpu) =>
            {
                last.end = to;
            }
            _ => {
                self.note_boosted(by);
                self.note_called(cause, by);
                self.segments.push(Segment {
                    cause,
                    start: self.at,
                    end: to,
                    cpu: self.cpu,
                    by,
                    owner,
                    confidence,
                });
            }
        }
        self.at = to;
        if cause == Cause::EqualPriorityTask {
            self.note_turn(by);
        }
    }

    /// Notes of a thread that left the CPU just now, runnable, to another one of its priority: its turn was over. A SCHED_FIFO thread has
    /// none, though it may yield for once.
    fn note_turn(&mut self, by: Option<Culprit>) {
        let Some(Culprit::Task { tid, priority, .. }) = by else { return };
        if self.notes.contains(&VerdictNote::TakesTurns(tid)) || self.timeline.is_fifo(tid, self.at - Ns(1)) {
            return;
        }
        let (now, soon) = (self.at, self.at + Ns(1));
        let thread = self.timeline.threads.get(tid);
        let stays = thread.map(|thread| thread.history.between(now, soon)).unwrap_or_default();
        // What is left of a thread behind its exit is preempted as well.
        if thread.is_some_and(|thread| thread.lifetime.is_over(now)) {
            return;
        }
        let is_queued = stays.first().is_some_and(|stay| matches!(stay.state, State::Queued(_)));
        let slice = self.timeline.cpus.get(self.cpu).and_then(|cpu| cpu.between(now, soon).next());
        let goes_on = slice.is_some_and(|(_, _, slice)| match slice.running {
            Running::Task(next, of_next) => next != tid && of_next == priority,
            _ => false,
        });
        if is_queued && goes_on {
            self.notes.push(VerdictNote::TakesTurns(tid));
        }
    }

    /// Notes of a thread that it runs at an inherited priority now.
    pub(super) fn note_boosted(&mut self, by: Option<Culprit>) {
        if let Some(by @ Culprit::Task { tid, priority, .. }) = by
            && let Some(thread) = self.timeline.threads.get(tid)
            && priority.outranks(thread.own_priority_at(self.at))
            && !is_boosted(&self.notes, &by)
        {
            let own = thread.own_priority_at(self.at);
            self.notes.push(VerdictNote::Boosted { by, own });
        }
    }

    /// Notes of a thread that runs before the late one that this woke it itself.
    fn note_called(&mut self, cause: Cause, by: Option<Culprit>) {
        if let Some(Culprit::Task { tid, .. }) = by
            && cause.culprit_runs_first()
            && self.open.marks().called.contains(&tid)
            && !self.notes.contains(&VerdictNote::Called(tid))
        {
            self.notes.push(VerdictNote::Called(tid));
        }
    }

    /// Notes of a wait that it is for a lock of the kernel; many of them are one.
    pub(super) fn note_kernel_lock(&mut self, from: Ns, to: Ns) {
        const MOST: usize = 64;
        match self.notes.iter_mut().rev().find(|note| matches!(note, VerdictNote::KernelLock { .. })) {
            Some(VerdictNote::KernelLock { to: last, .. }) if *last >= from || self.segments.len() > MOST => {
                *last = to.max(*last);
            }
            _ => self.notes.push(VerdictNote::KernelLock { from, to }),
        }
    }

    /// What is charged from here on becomes segments of its own; returns the index of the first.
    pub(super) fn fence(&mut self) -> usize {
        self.fence = self.segments.len();
        self.fence
    }

    /// What `charge` charges becomes segments of its own, none of which is surer than `confidence`.
    pub(super) fn at_most(&mut self, confidence: Confidence, charge: impl FnOnce(&mut Self)) {
        let before = self.fence();
        charge(self);
        for segment in &mut self.segments[before..] {
            segment.confidence = segment.confidence.min(confidence);
        }
        self.fence();
    }

    /// The thread was out of sight.
    pub(super) fn unseen(&mut self, to: Ns) {
        let charge = self.unknown(None, self.at, to);
        self.charge(to, charge);
    }

    /// Nothing is known of `from..to`: events were lost, on `cpu` or anywhere, or there were none.
    fn unknown(&self, cpu: Option<Cpu>, from: Ns, to: Ns) -> Charge {
        match self.timeline.losses.any_between(cpu, from, to) {
            true => Charge::to(Cause::TraceLoss, None, Confidence::High),
            false => Charge::unexplained(),
        }
    }

    /// The charge for what goes before any thread, or is unknown.
    pub(super) fn interruption(&self, clip: Clip) -> Option<Charge> {
        let charge = self.interruption_as_recorded(clip)?;
        let (_, _, slice) = clip;
        // The recording is over, and lacks its end: it may have been shorter.
        let is_cut = self.timeline.is_over
            && self.timeline.cpus.get(self.cpu).is_some_and(|timeline| timeline.is_open(&slice));
        let confidence = if is_cut { charge.confidence.min(Confidence::Medium) } else { charge.confidence };
        Some(Charge { confidence, ..charge })
    }

    fn interruption_as_recorded(&self, (from, to, slice): Clip) -> Option<Charge> {
        let stolen = Charge::to(Cause::Stolen, None, Confidence::Medium);
        match slice.running {
            Running::Irq(id) => {
                let (silence, in_doubt) = self.silence(from, to);
                // The timer interrupt's own work is traced, and there was none: it had lost the CPU as well.
                let is_idle =
                    |silence: &Silence| silence.is_sure && self.timeline.irqs.kind(id) == IrqKind::OwnTimer;
                match silence.is_some_and(|silence| silence.in_wakeup || is_idle(silence)) {
                    true => Some(stolen),
                    false => {
                        Some(Charge::to_handler(Cause::Irq, self.irq(id), in_doubt || self.ends_unseen(id)))
                    }
                }
            }
            Running::Softirq(vec) => {
                let (silence, in_doubt) = self.silence(from, to);
                let kept = self.kept_from_softirq(self.cpu, from, to);
                // A callback of RCU may disable interrupts itself.
                let is_kept = kept && vec != RCU && self.timeline.hypervisor == Some(true);
                match silence.is_some_and(|silence| silence.in_wakeup) || is_kept {
                    true => Some(stolen),
                    false => {
                        Some(Charge::to_handler(Cause::Softirq, Culprit::Softirq { vec }, kept || in_doubt))
                    }
                }
            }
            Running::Nmi => Some(Charge::to(Cause::Nmi, None, Confidence::High)),
            Running::Unknown => Some(self.unknown(Some(self.cpu), from, to)),
            Running::Idle | Running::Task(..) => None,
        }
    }

    /// The time around `from..to` in which nothing happened inside of a handler, and whether it is in doubt that the handler had the
    /// CPU: a CPU that stands still within a wake-up does so elsewhere in the same handler, too.
    fn silence(&self, from: Ns, to: Ns) -> (Option<&Silence>, bool) {
        let Some(timeline) = self.timeline.cpus.get(self.cpu) else { return (None, false) };
        let silence = timeline.silences.around(from, to);
        (silence, silence.is_some() || timeline.silences.show_standing_near(from, to))
    }

    /// True of an interrupt that stands for a timer of which no end shows: the thread below may have gone on long before.
    fn ends_unseen(&self, id: IrqId) -> bool {
        self.timeline.irqs.is_stand_in(id)
            && self.timeline.cpus.get(self.cpu).is_some_and(|cpu| !cpu.shows_ends)
    }

    fn irq(&self, id: IrqId) -> Culprit {
        let (irq, name) = self.timeline.irqs.get(id);
        Culprit::Irq { irq, name }
    }

    /// A thread as it was at an instant.
    pub(super) fn thread_at(&self, tid: Tid, at: Ns) -> Option<Culprit> {
        self.timeline.thread_at(tid, at)
    }

    /// The priority that a thread had for most of `from..to`: it may have inherited another one for a moment, or set it itself.
    pub(super) fn priority_in(thread: &Thread, from: Ns, to: Ns) -> Priority {
        let mut times: Vec<(Priority, Ns)> = Vec::new();
        let mut since = from;
        for until in thread.priority_changes(from, to).chain([to]) {
            let priority = thread.priority_at(since);
            match times.iter_mut().find(|(had, _)| *had == priority) {
                Some((_, time)) => *time += until - since,
                None => times.push((priority, until - since)),
            }
            since = until;
        }
        let most = times.into_iter().max_by_key(|(_, time)| *time);
        most.map_or(thread.priority_at(from), |(priority, _)| priority)
    }

    /// A thread as a culprit, by the name that it had then.
    pub(super) fn task(&self, tid: Tid, priority: Priority, at: Ns) -> Culprit {
        self.timeline.task(tid, priority, at)
    }
}
