//! From an activation to its ledger: each stretch of its time charged to a cause.
//!
//! ```text
//! due ──────> waking ──────> running ────────> preempted ──> blocked ──────> done
//!  late.rs     waiting.rs     running.rs        waiting.rs    blocked.rs
//! ```

mod blocked;
mod late;
mod placement;
mod plain;
pub(crate) mod precedence;
mod quota;
mod running;
mod waiting;

use crate::activations::{Begin, Open, WakeCause};
use crate::causes::Cause;
use crate::cpus::{Clip, IrqId, Who};
use crate::engine::Engine;
use crate::model::{Culprit, Segment};
use crate::threads::{State, Thread};
use whylate_base::{Comm, Confidence, Cpu, Evidence, Ns, Priority, Tid};
use whylate_events::Symbol;

pub(crate) use plain::plain;

/// Makes the ledger of `thread`'s activation `open`, which ends at `end`.
///
/// The segments tile `open.due..end`: [`Charger::charge`] only ever extends the last one or
/// begins where it ended, and what no rule claims is charged to `unexplained`.
pub(crate) fn ledger(
    engine: &Engine<'_>,
    thread: &Thread,
    open: &Open,
    end: Ns,
) -> (Vec<Segment>, Vec<Remark>) {
    let cpu = open.cpu.unwrap_or_default();
    let mut charger = Charger {
        engine,
        victim: thread,
        open,
        at: open.settled_until(),
        cpu,
        segments: open.settled.as_ref().map_or_else(Vec::new, |settled| settled.ledger.clone()),
        remarks: Vec::new(),
        fence: open.settled.as_ref().map_or(0, |settled| settled.ledger.len()),
    };
    let waking = open.waking.clamp(open.due, end).max(charger.at);
    charger.before_wake(waking);
    for (_, to, span) in thread.between(waking, end) {
        match span.state {
            State::Running(cpu) => charger.running(cpu, to),
            State::Queued(cpu) => charger.waiting(thread, span.prio, cpu, to),
            State::Blocked { wait, waker } if wait.continues() => charger.blocked(wait, waker, span.prio, to),
            // Between the waker's call and the runqueue.
            State::Blocked { .. } => charger.waiting(thread, span.prio, cpu, to),
            State::Unknown => charger.unseen(to),
        }
    }
    (charger.segments, charger.remarks)
}

/// Builds one ledger, front to back.
struct Charger<'a> {
    engine: &'a Engine<'a>,
    victim: &'a Thread,
    open: &'a Open,
    /// Everything before is charged.
    at: Ns,
    /// Where the charges happen.
    cpu: Cpu,
    segments: Vec<Segment>,
    remarks: Vec<Remark>,
    /// Segments before this index are not extended any more.
    fence: usize,
}

/// Something that a ledger's segments do not hold and their verdict wants to tell.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Remark {
    /// While a thread waited on a CPU, another that it may use was idle.
    Idle { at: Ns, on: Cpu, idle: Cpu },
    /// What an interrupt's timers ran.
    Timers(Timers),
    /// The thread that runs expired timers waited for the CPU until then.
    Expirer { thread: Culprit, until: Ns },
    /// Something else was seen.
    Note(Evidence),
    /// The tool that measured it kept it because it was too late.
    TooLate,
}

/// The timer callbacks of one interrupt in an activation.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Timers {
    pub(crate) at: Ns,
    pub(crate) cpu: Cpu,
    /// How many ran, and for how long in all.
    pub(crate) count: usize,
    pub(crate) time: Ns,
    /// The function that took most of it, how often it ran, and for how long.
    pub(crate) most: (Symbol, usize, Ns),
    /// The thread that armed most of that function's timers, and how many of them.
    pub(crate) armed_by: Option<(Tid, Comm, usize)>,
}

/// What a stretch of time is charged to.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Charge {
    cause: Cause,
    by: Option<Culprit>,
    owner: Option<Culprit>,
    confidence: Confidence,
}

impl Charge {
    fn to(cause: Cause, by: Option<Culprit>, confidence: Confidence) -> Charge {
        Charge { cause, by, owner: None, confidence }
    }

    fn unexplained() -> Charge {
        Charge::to(Cause::Unexplained, None, Confidence::Low)
    }
}

impl Charger<'_> {
    /// Charges the time up to `to`.
    fn charge(&mut self, to: Ns, charge: Charge) {
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
            _ => self.segments.push(Segment {
                cause,
                start: self.at,
                end: to,
                cpu: self.cpu,
                by,
                owner,
                confidence,
            }),
        }
        self.at = to;
    }

    /// What is charged from here on becomes segments of its own; returns the index of the first.
    fn fence(&mut self) -> usize {
        self.fence = self.segments.len();
        self.fence
    }

    /// The time before the wake-up: a timer's lateness, and whatever an overrun of the period before left.
    fn before_wake(&mut self, waking: Ns) {
        let Begin::Woken(WakeCause::Timer { cpu: timer_cpu, hard_due, expirer }) = self.open.begin else {
            return;
        };
        let own_cpu = self.cpu;
        for (_, to, span) in self.victim.between(self.at, waking) {
            match span.state {
                State::Running(cpu) => self.running(cpu, to),
                State::Queued(cpu) => self.waiting(self.victim, span.prio, cpu, to),
                State::Blocked { .. } | State::Unknown => {
                    self.cpu = timer_cpu;
                    self.charge(hard_due.min(to), Charge::to(Cause::TimerSlack, None, Confidence::High));
                    match expirer.and_then(|tid| self.engine.threads.get(tid)) {
                        Some(expirer) => self.late_timer_in_thread(timer_cpu, expirer, to),
                        None => self.late_timer(timer_cpu, to),
                    }
                }
            }
        }
        self.cpu = own_cpu;
    }

    /// The thread was out of sight.
    fn unseen(&mut self, to: Ns) {
        let charge = self.unknown(None, self.at, to);
        self.charge(to, charge);
    }

    /// Nothing is known of `from..to`: events were lost, on `cpu` or anywhere, or there were none.
    fn unknown(&self, cpu: Option<Cpu>, from: Ns, to: Ns) -> Charge {
        match self.engine.lost_between(cpu, from, to) {
            true => Charge::to(Cause::TraceLoss, None, Confidence::High),
            false => Charge::unexplained(),
        }
    }

    /// The charge for an occupant that goes before any thread, or whose time is unknown.
    fn interruption(&self, (from, to, stretch): Clip) -> Option<Charge> {
        match stretch.who {
            // The interrupt's own work is traced, and there was none: it had lost the CPU as well.
            Who::Irq(_) if self.engine.cpus.get(self.cpu).is_some_and(|cpu| cpu.was_silent(from, to)) => {
                Some(Charge::to(Cause::Stolen, None, Confidence::Medium))
            }
            Who::Irq(id) => Some(Charge::to(Cause::Irq, Some(self.irq(id)), Confidence::High)),
            Who::Softirq(vec) => {
                Some(Charge::to(Cause::Softirq, Some(Culprit::Softirq { vec }), Confidence::High))
            }
            Who::Unknown => Some(self.unknown(Some(self.cpu), from, to)),
            Who::Idle | Who::Task(..) => None,
        }
    }

    fn irq(&self, id: IrqId) -> Culprit {
        let (irq, name) = self.engine.irqs.get(id);
        Culprit::Irq { irq, name }
    }

    fn task(&self, tid: Tid, priority: Priority) -> Culprit {
        self.engine.culprit(tid, priority)
    }
}

impl Engine<'_> {
    /// The SCHED_OTHER thread that a deadline server ran, by the name it had then.
    pub(crate) fn served(&self, tid: Tid, comm: Comm) -> Culprit {
        let priority = self.threads.get(tid).map_or(Priority::DEFAULT, |thread| thread.prio);
        Culprit::Task { tid, comm, priority }
    }

    /// A thread as a culprit.
    pub(crate) fn culprit(&self, tid: Tid, priority: Priority) -> Culprit {
        let comm = self.threads.get(tid).map(|thread| thread.comm).unwrap_or_default();
        Culprit::Task { tid, comm, priority }
    }
}
