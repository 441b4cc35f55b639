//! What each CPU executes: a thread, and interrupts on top of it.

use rustc_hash::FxHashMap;
use whylate_base::{Cpu, Ns};
use whylate_events::Name;

/// What interrupts a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Interruption {
    Irq(u32, Name),
    Vector(Name),
    Softirq(u32),
    /// A timer interrupt of which only the timers are recorded.
    Timer,
    /// A softirq that the thread itself raised, or whose thread it is.
    OwnSoftirq(u32),
}

/// So many periods show how bandwidth is counted.
const MOST_PERIODS: usize = 64;

struct Frame {
    what: Interruption,
    begin: Ns,
    /// The time of those on top of it.
    inner: Ns,
}

/// When an interrupt came on a CPU, and how long each took, without those on top of it.
pub(super) type Series = FxHashMap<(Interruption, Cpu), Vec<(Ns, Ns)>>;

/// A CPU.
pub(super) struct Track {
    pub(super) current: Option<usize>,
    /// It is known what it executes.
    pub(super) is_known: bool,
    /// From when on the time of its thread is not counted yet.
    pub(super) since: Ns,
    pub(super) switched: Ns,
    pub(super) idle_since: Option<Ns>,
    /// Since when its real-time threads are passed over.
    pub(super) passed_over: Option<Ns>,
    /// The time that they have had.
    pub(super) realtime: Ns,
    /// The time of interrupts on top of them.
    pub(super) realtime_interrupted: Ns,
    /// The time of interrupts at the last switch.
    pub(super) interrupted_at_switch: Ns,
    /// Both at the beginning of the last period of their bandwidth, and how much of both they had in periods in which they were
    /// passed over.
    period_begin: Option<(Ns, Ns)>,
    pub(super) used_up: Vec<(Ns, Ns)>,
    /// The first time they were passed over, and the time that they and interrupts on top of them had had by then.
    pub(super) first_passed_over: Option<(Ns, Ns, Ns)>,
    /// Softirqs that its threads have raised, by their bits.
    pub(super) raised: u32,
    frames: Vec<Frame>,
    interrupted: Ns,
}

impl Track {
    pub(super) fn new(first: Ns) -> Track {
        Track {
            current: None,
            is_known: false,
            since: first,
            switched: first,
            idle_since: None,
            passed_over: None,
            realtime: Ns::ZERO,
            realtime_interrupted: Ns::ZERO,
            interrupted_at_switch: Ns::ZERO,
            period_begin: None,
            used_up: Vec::new(),
            first_passed_over: None,
            raised: 0,
            frames: Vec::new(),
            interrupted: Ns::ZERO,
        }
    }

    /// True in anything but the thread's own work.
    pub(super) fn is_interrupted(&self) -> bool {
        self.frames.iter().any(|frame| !matches!(frame.what, Interruption::OwnSoftirq(_)))
    }

    pub(super) fn has_frames(&self) -> bool {
        !self.frames.is_empty()
    }

    /// The time of interrupts by now.
    pub(super) fn interrupted(&self, now: Ns) -> Ns {
        let open = self.frames.iter().find(|frame| !matches!(frame.what, Interruption::OwnSoftirq(_)));
        self.interrupted + open.map_or(Ns::ZERO, |frame| now.since(frame.begin))
    }

    pub(super) fn enter(&mut self, now: Ns, what: Interruption) {
        self.frames.push(Frame { what, begin: now, inner: Ns::ZERO });
    }

    /// The end of an interruption: its beginning and its own time. What lies on top of it has ended unseen.
    pub(super) fn leave(
        &mut self,
        now: Ns,
        is: impl Fn(Interruption) -> bool,
    ) -> Option<(Interruption, Ns, Ns)> {
        let at = self.frames.iter().rposition(|frame| is(frame.what))?;
        self.frames.truncate(at + 1);
        let frame = self.frames.pop()?;
        let whole = now.since(frame.begin);
        if let Some(below) = self.frames.last_mut() {
            below.inner += whole;
        }
        if !matches!(frame.what, Interruption::OwnSoftirq(_)) && !self.is_interrupted() {
            self.interrupted += whole;
        }
        self.since = now;
        Some((frame.what, frame.begin, whole.since(frame.inner)))
    }

    /// The thread of the CPU leaves it.
    pub(super) fn count_interrupts(&mut self, now: Ns, is_realtime: bool) {
        let interrupted = self.interrupted(now);
        if is_realtime {
            self.realtime_interrupted += interrupted.since(self.interrupted_at_switch);
        }
        self.interrupted_at_switch = interrupted;
    }

    /// Real-time threads are passed over: they have used up their bandwidth.
    pub(super) fn uses_up(&mut self) {
        if let Some((own, interrupts)) = self.period_begin.take()
            && self.used_up.len() < MOST_PERIODS
        {
            self.used_up.push((self.realtime - own, self.realtime_interrupted - interrupts));
        }
    }

    /// They go on: a period of their bandwidth begins.
    pub(super) fn begins_period(&mut self) {
        self.period_begin = Some((self.realtime, self.realtime_interrupted));
    }

    /// No interruption outlasts this: their ends were not seen.
    pub(super) fn clear(&mut self) {
        self.frames.clear();
    }
}
