//! In which threads' contexts events are recorded: those of all threads, or of few.
//!
//! With `set_event_pid`, as `trace-cmd record -P` sets it, an event is recorded in the context of a chosen thread only, and a switch or
//! a wake-up where it concerns one (`kernel/trace/trace_events.c`, `event_filter_pid_sched_waking_probe_pre()`). So it is where the
//! rows with a thread's name were picked out of a text. What an interrupt does upon the idle task is missing then, and so are
//! timers that are armed, cancelled and handled there:
//!
//! ```text
//! control-7  hrtimer_start ...  sched_switch control ==> swapper
//! <idle>-0                                                         sched_waking control    and no interrupt around it
//! ```

use rustc_hash::FxHashSet;
use whylate_base::Tid;
use whylate_events::{Event, Kind};

/// So many wake-ups outside of every recorded interrupt are no chance.
const ENOUGH: u32 = 3;
/// Where interrupts were seen upon more threads than this, they are upon all.
const MOST: usize = 1_000;

/// What the events so far show of it.
pub(crate) enum Contexts {
    /// The CPU's own interrupts were seen in the contexts of some threads, and wake-ups without their interrupts in those of others.
    Open { interrupted: FxHashSet<Tid>, bare: FxHashSet<Tid>, wakeups: u32 },
    /// Interrupts are recorded upon any thread.
    All,
}

impl Default for Contexts {
    fn default() -> Contexts {
        Contexts::Open { interrupted: FxHashSet::default(), bare: FxHashSet::default(), wakeups: 0 }
    }
}

impl Contexts {
    /// Takes in any event.
    #[inline]
    pub(crate) fn note(&mut self, event: &Event) {
        if matches!(self, Contexts::Open { .. }) {
            self.note_interrupt(event);
        }
    }

    #[cold]
    fn note_interrupt(&mut self, event: &Event) {
        let Contexts::Open { interrupted, bare, .. } = self else { return };
        let (kind, tid) = (event.kind.kind(), event.context.tid);
        let is_of_interrupt = matches!(
            kind,
            Kind::Irq
                | Kind::Vector
                | Kind::Softirq
                | Kind::HrtimerExpire
                | Kind::HrtimerStart
                | Kind::CpuIdle
        );
        if !is_of_interrupt || interrupted.contains(&tid) {
            return;
        }
        if tid.is_idle() || bare.contains(&tid) || interrupted.len() == MOST {
            *self = Contexts::All;
        } else if matches!(kind, Kind::Vector | Kind::HrtimerExpire) {
            // Where these are recorded, the wake-ups of timers show theirs.
            interrupted.insert(tid);
        }
    }

    /// An interrupt of which no event was recorded woke a thread in the context of `tid`.
    #[cold]
    pub(crate) fn wakes_barely(&mut self, tid: Tid) {
        let Contexts::Open { interrupted, bare, wakeups } = self else { return };
        if interrupted.contains(&tid) {
            return;
        }
        *wakeups = wakeups.saturating_add(1);
        if bare.len() < MOST {
            bare.insert(tid);
        }
    }

    /// True where only few threads' events are recorded, by what was seen so far.
    pub(crate) fn are_chosen(&self) -> bool {
        self.are_chosen_by(ENOUGH)
    }

    /// True where that may be so.
    pub(crate) fn may_be_chosen(&self) -> bool {
        self.are_chosen_by(1)
    }

    fn are_chosen_by(&self, enough: u32) -> bool {
        match self {
            Contexts::Open { interrupted, wakeups, .. } => !interrupted.is_empty() && *wakeups >= enough,
            Contexts::All => false,
        }
    }

    /// True where an interrupt upon this thread would be seen, if any are.
    pub(crate) fn show_interrupts_upon(&self, tid: Tid) -> bool {
        match self {
            Contexts::Open { interrupted, .. } => !self.may_be_chosen() || interrupted.contains(&tid),
            Contexts::All => true,
        }
    }
}
