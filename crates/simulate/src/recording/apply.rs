//! From events to what each thread did.

use super::calls::Shown;
use super::state::Reading;
use super::tape::{LockKey, Mark, State};
use super::track::Interruption;
use whylate_base::{Cpu, Ns, Priority, SchedClass};
use whylate_events::{Context, ContextFlags, Event, EventKind, Fact, Kind, Switch, TaskState, Wake};

/// So long on its way to a CPU that lower threads have, a thread was kept from it by a section without preemption.
const LONG_WAY: Ns = Ns::from_us(100);
/// No way out of an idle state takes as long.
const LONGEST_EXIT: Ns = Ns::from_ms(1);
/// A thread that waits so long while another CPU is idle may not go there.
const WOULD_MOVE: Ns = Ns::from_us(200);
/// Keeps a kernel lock apart from a futex of the same address.
const LOCK_ADDRESS_TAG: u64 = 1 << 63;

impl Reading {
    pub(super) fn apply(&mut self, event: &Event) {
        self.now = event.ts.max(self.now);
        let cpu = event.cpu;
        if self.track(cpu).is_none() {
            return;
        }
        match &event.kind {
            EventKind::Switch(switch) => self.switch(cpu, switch),
            EventKind::Waking(wake) => self.waking(event, wake),
            EventKind::Wakeup { wake, .. } => self.wakeup(event, wake),
            EventKind::Fork { child, comm, .. } => drop(self.index_of(*child, *comm)),
            EventKind::PiSetprio { tid, old, new } => self.inherits(cpu, *tid, *old, *new),
            EventKind::Marker(text) => self.fact(text.as_str()),
            EventKind::SyscallEnter(call) => {
                let shown = self.calls.map_or(Shown::Nothing, |numbers| numbers.shown(call));
                let Some(thread) = self.known(event.context.tid) else { return };
                let tape = &mut self.tapes[thread];
                tape.wants = None;
                match shown {
                    Shown::SetsCpus(tid) => {
                        let target = if tid.is_idle() { Some(thread) } else { self.known(tid) };
                        self.account_thread(thread);
                        target.into_iter().for_each(|target| self.tapes[target].sets_cpus());
                    }
                    Shown::Lock(key) => tape.wants = Some(key),
                    Shown::Sleep(true) => tape.relative_calls += 1,
                    Shown::Sleep(false) => tape.absolute_calls += 1,
                    Shown::Nothing => {}
                }
            }
            EventKind::SyscallExit(_) => self.wants(event.context, None),
            EventKind::ContentionBegin { lock, .. } => {
                let inherits = self.preempt_rt;
                self.wants(event.context, Some(LockKey { address: lock | LOCK_ADDRESS_TAG, inherits }));
            }
            EventKind::ContentionEnd { .. } => self.wants(event.context, None),
            EventKind::HrtimerStart(start) => {
                self.timers.armed(start.function.as_str());
                if event.context.flags.in_interrupt() {
                    return;
                }
                let wakes =
                    start.function.is_empty() || start.function.as_str().starts_with("hrtimer_wakeup");
                let now = self.now;
                if let Some(thread) = self.known(event.context.tid).filter(|_| wakes) {
                    self.tapes[thread].timers.add(now, start.softexpires);
                }
            }
            EventKind::HrtimerExpire(expiry) => {
                let now = self.now;
                self.timers.expired(now, cpu, expiry);
                let is_hard = event.context.flags.contains(ContextFlags::HARDIRQ);
                if is_hard && self.tracks.get(cpu.index()).is_some_and(|track| !track.is_interrupted()) {
                    self.enter(cpu, Interruption::Timer);
                }
            }
            EventKind::HrtimerExpireExit { .. } => self.leave(cpu, |what| what == Interruption::Timer),
            EventKind::IrqEntry { irq, name } => self.enter(cpu, Interruption::Irq(*irq, *name)),
            EventKind::IrqExit { irq } => {
                self.leave(cpu, |what| matches!(what, Interruption::Irq(entered, _) if entered == *irq));
            }
            EventKind::VectorEntry { name } => self.enter(cpu, Interruption::Vector(*name)),
            EventKind::VectorExit { name } => self.leave(cpu, |what| what == Interruption::Vector(*name)),
            EventKind::SoftirqRaise { vec } => self.raised(event, *vec),
            EventKind::SoftirqEntry { vec } => {
                let own = self.is_own_softirq(cpu, *vec);
                self.enter(
                    cpu,
                    if own { Interruption::OwnSoftirq(*vec) } else { Interruption::Softirq(*vec) },
                );
            }
            EventKind::SoftirqExit { vec } => {
                let vec = *vec;
                self.leave(cpu, |what| {
                    matches!(what, Interruption::Softirq(entered) | Interruption::OwnSoftirq(entered) if entered == vec)
                });
            }
            EventKind::Lost { since, kinds, .. }
                if kinds.contains(Kind::Switch) || *kinds == whylate_events::KindSet::NONE =>
            {
                self.lost(cpu, *since);
            }
            _ => {}
        }
    }

    fn fact(&mut self, text: &str) {
        match Fact::parse(text).and_then(|fact| self.facts.take(fact)) {
            Some(Fact::Policy { tid, policy, comm, priority }) => {
                let thread = self.index_of(tid, comm);
                let tape = &mut self.tapes[thread];
                tape.policy = Some(policy);
                let own = match (policy, i32::try_from(priority)) {
                    (whylate_base::Policy::Deadline, _) => Some(Priority(-1)),
                    (_, Ok(user @ 1..)) => Some(Priority::realtime(user)),
                    _ => None,
                };
                if let Some(own) = own {
                    tape.shows(own);
                }
            }
            Some(Fact::Affinity { tid, cpus }) => {
                let thread = self.index_of(tid, "".into());
                self.tapes[thread].affinity.known = Some(cpus);
            }
            _ => {}
        }
    }

    fn wants(&mut self, context: Context, lock: Option<LockKey>) {
        if let Some(thread) = self.known(context.tid).filter(|_| !context.flags.in_interrupt()) {
            self.tapes[thread].wants = lock;
        }
    }

    /// A lock's owner inherits a priority, or returns to its own.
    fn inherits(&mut self, cpu: Cpu, tid: whylate_base::Tid, old: Priority, new: Priority) {
        let Some(thread) = self.known(tid) else { return };
        let tape = &mut self.tapes[thread];
        if !tape.boosted {
            tape.shows(old);
        }
        tape.boosted = tape.priority.is_some_and(|own| new.outranks(own));
        // The thread in whose context this is waits for a lock of that one, if it sleeps next.
        if let Some(waiter) = self.current(cpu).filter(|&waiter| waiter != thread) {
            let tape = &mut self.tapes[waiter];
            tape.wants =
                tape.wants.or(Some(LockKey { address: u64::from(tid.0.unsigned_abs()), inherits: true }));
        }
    }

    fn enter(&mut self, cpu: Cpu, what: Interruption) {
        self.account(cpu);
        let now = self.now;
        if let Some(track) = self.track(cpu) {
            track.enter(now, what);
        }
    }

    fn leave(&mut self, cpu: Cpu, is: impl Fn(Interruption) -> bool) {
        let now = self.now;
        let Some(track) = self.track(cpu) else { return };
        let Some((what, begin, own)) = track.leave(now, is) else { return };
        match what {
            Interruption::OwnSoftirq(_) => {
                let Some(thread) = track.current else { return };
                self.tapes[thread].run(own);
                if !self.preempt_rt {
                    self.tapes[thread].kept_cpu(own);
                }
            }
            _ => self.series.entry((what, cpu)).or_default().push((begin, own)),
        }
    }

    fn raised(&mut self, event: &Event, vec: u32) {
        let by_thread = !event.context.flags.in_interrupt() && !event.context.tid.is_idle();
        if let Some(track) = self.track(event.cpu).filter(|_| vec < 32) {
            let bit = 1 << vec;
            let by_thread = by_thread && !track.is_interrupted();
            track.raised = if by_thread { track.raised | bit } else { track.raised & !bit };
        }
    }

    /// True for a softirq that belongs to the thread below it.
    fn is_own_softirq(&self, cpu: Cpu, vec: u32) -> bool {
        let Some(track) = self.tracks.get(cpu.index()) else { return false };
        let Some(thread) = track.current else { return false };
        let serves = self.tapes[thread].comm.as_str().starts_with("ksoftirqd");
        self.preempt_rt || serves || vec < 32 && track.raised & (1 << vec) != 0 && !track.is_interrupted()
    }

    /// The thread in whose context something happens, with the end of its marks; `None` in an interrupt.
    fn actor(&mut self, event: &Event) -> Option<(usize, usize)> {
        let cpu = event.cpu;
        let track = self.tracks.get(cpu.index())?;
        let flags = event.context.flags;
        let seen = track.has_frames();
        let interrupted = match seen {
            true => track.is_interrupted(),
            false => {
                flags.contains(ContextFlags::HARDIRQ)
                    || flags.contains(ContextFlags::SOFTIRQ) && !self.preempt_rt
            }
        };
        if interrupted || event.context.tid.is_idle() {
            return None;
        }
        let thread = self.known(event.context.tid).filter(|&thread| track.current == Some(thread))?;
        self.account(cpu);
        Some((thread, self.tapes[thread].marks.len()))
    }

    fn waking(&mut self, event: &Event, wake: &Wake) {
        let by = self.actor(event);
        let thread = self.index_of(wake.tid, wake.comm);
        let at = self.now;
        let tape = &mut self.tapes[thread];
        match tape.state {
            State::Asleep | State::Unknown => {
                tape.shows(wake.prio);
                self.wake_up(thread, at, by, wake.target_cpu);
            }
            State::Running(_) => tape.pending = Some((at, by.map(|by| by.0), by.map_or(0, |by| by.1))),
            State::Queued { .. } => {}
        }
    }

    fn wakeup(&mut self, event: &Event, wake: &Wake) {
        let thread = self.index_of(wake.tid, wake.comm);
        match self.tapes[thread].state {
            State::Asleep | State::Unknown => {
                let (at, by) = match self.tapes[thread].pending.take() {
                    Some((at, by, mark)) => (at, by.map(|by| (by, mark))),
                    None => (self.now, self.actor(event)),
                };
                self.tapes[thread].shows(wake.prio);
                self.wake_up(thread, at, by, wake.target_cpu);
            }
            State::Queued { woken_at_irq_time: Some(_), since } => {
                // The CPU that it was queued on.
                let irq_time = self.track(wake.target_cpu).map(|track| track.interrupted(since));
                let tape = &mut self.tapes[thread];
                tape.state = State::Queued { since, woken_at_irq_time: irq_time };
                if let Some(woken) = tape.last_sleep().and_then(|sleep| sleep.woken.as_mut()) {
                    woken.cpu = wake.target_cpu;
                }
            }
            State::Running(_) | State::Queued { .. } => self.tapes[thread].pending = None,
        }
    }

    fn switch(&mut self, cpu: Cpu, switch: &Switch) {
        self.switches += 1;
        let now = self.now;
        let prev = (!switch.prev_tid.is_idle()).then(|| self.index_of(switch.prev_tid, switch.prev_comm));
        let next = (!switch.next_tid.is_idle()).then(|| self.index_of(switch.next_tid, switch.next_comm));
        let known = self.tracks.get(cpu.index()).is_some_and(|track| track.is_known);
        if self.current(cpu) != prev {
            // What ran before was not seen to leave: its time is not known.
            if let Some(lost) = self.current(cpu).filter(|_| known) {
                self.tapes[lost].sleep(now);
            }
            let since = self.tracks.get(cpu.index()).map_or(now, |track| track.since);
            if let Some(prev) = prev {
                if self.tapes[prev].state == State::Asleep {
                    self.wake_up(prev, since, None, cpu);
                }
                self.tapes[prev].state = State::Running(cpu);
            }
            if let Some(track) = self.track(cpu) {
                track.current = prev;
            }
        }
        self.account(cpu);
        let passed_over = self.watch_bandwidth(cpu, switch);
        let way = next.and_then(|next| self.way_to(cpu, prev, next, switch, passed_over));
        if let Some(prev) = prev {
            self.left(prev, switch);
        }
        if let Some(next) = next {
            self.arrives(cpu, next, switch.next_prio, way);
        }
        if let Some(track) = self.track(cpu) {
            track.current = next;
            track.is_known = true;
            track.switched = now;
            track.since = now;
            track.idle_since = next.is_none().then_some(now);
            if track.is_interrupted() {
                track.clear();
            }
        }
    }

    /// A real-time thread that is runnable is passed over, or goes on where it was: the period of real-time bandwidth ends.
    /// True where some were passed over until now.
    fn watch_bandwidth(&mut self, cpu: Cpu, switch: &Switch) -> bool {
        let now = self.now;
        let is_realtime = |own: Priority| own.class() == SchedClass::Realtime;
        let next = self.known(switch.next_tid);
        let Some(track) = self.track(cpu) else { return false };
        let before = track.passed_over.is_some();
        track.count_interrupts(now, is_realtime(switch.prev_prio));
        if switch.prev_state.is_runnable() && is_realtime(switch.prev_prio) && !switch.next_prio.is_realtime()
        {
            track.passed_over = Some(now);
            let realtime = track.realtime;
            track.first_passed_over.get_or_insert((now, realtime, track.realtime_interrupted));
            track.uses_up();
        } else if is_realtime(switch.next_prio)
            && let Some(since) = track.passed_over.take()
            && let Some(next) = next
            && let State::Queued { since: queued, .. } = self.tapes[next].state
            && (queued <= since || now - queued >= LONG_WAY)
        {
            self.timers.goes_on(now);
            if let Some(track) = self.track(cpu) {
                track.begins_period();
            }
        }
        before
    }

    /// The time from a thread's wake-up to its CPU, without interrupts, where no other thread was to run; it is taken from the
    /// thread that had the CPU meanwhile.
    fn way_to(
        &mut self,
        cpu: Cpu,
        prev: Option<usize>,
        next: usize,
        switch: &Switch,
        passed_over: bool,
    ) -> Option<Ns> {
        let State::Queued { since, woken_at_irq_time: Some(before) } = self.tapes[next].state else {
            return None;
        };
        let now = self.now;
        let track = self.track(cpu)?;
        if track.switched > since || prev.is_some() && !switch.prev_state.is_runnable() {
            return None;
        }
        let way = now.since(since).since(track.interrupted(now).since(before));
        // A CPU that idles for longer does so because the thread may not run.
        let Some(prev) = prev else { return Some(way).filter(|&way| way < LONGEST_EXIT) };
        if way >= LONG_WAY {
            // A thread that the kernel passes over waits for no section.
            if switch.next_prio.outranks(switch.prev_prio) && !passed_over {
                self.tapes[prev].kept_cpu(way);
            }
            return None;
        }
        self.tapes[prev].give_back(way);
        Some(way)
    }

    fn left(&mut self, prev: usize, switch: &Switch) {
        let now = self.now;
        let tape = &mut self.tapes[prev];
        tape.shows(switch.prev_prio);
        if switch.prev_state.is_runnable() {
            tape.state = State::Queued { since: now, woken_at_irq_time: None };
        } else {
            tape.sleep(now);
            if switch.prev_state == TaskState::Dead {
                tape.pending = None;
            }
        }
    }

    fn arrives(&mut self, cpu: Cpu, next: usize, priority: Priority, way: Option<Ns>) {
        let now = self.now;
        if self.tapes[next].state == State::Asleep {
            self.wake_up(next, now, None, cpu);
        }
        if let State::Queued { since, .. } = self.tapes[next].state
            && now - since >= WOULD_MOVE
        {
            let idle = |track: &super::track::Track| track.idle_since.is_some_and(|idle| idle <= since);
            let mut others = self.tracks.iter().enumerate().filter(|&(at, _)| at != cpu.index());
            self.tapes[next].affinity.stayed |= others.any(|(_, track)| idle(track));
        }
        let tape = &mut self.tapes[next];
        tape.shows(priority);
        tape.affinity.used.insert(cpu);
        tape.state = State::Running(cpu);
        if let Some(woken) = tape.last_sleep().and_then(|sleep| sleep.woken.as_mut())
            && woken.dispatch.is_none()
        {
            woken.dispatch = way;
        }
    }

    /// Events of a CPU were lost: what it ran from there on is not known.
    fn lost(&mut self, cpu: Cpu, since: Option<Ns>) {
        let now = self.now;
        let Some(track) = self.track(cpu) else { return };
        let from = since.unwrap_or(track.since).max(track.since);
        let current = track.current.take();
        track.clear();
        track.is_known = false;
        track.since = now;
        track.idle_since = None;
        self.unknown += now.since(from);
        if let Some(thread) = current {
            self.tapes[thread].sleep(from.min(now));
        }
    }

    /// The recording ends.
    pub(super) fn end(&mut self, at: Ns) {
        self.now = at.max(self.now);
        for cpu in 0..self.tracks.len() {
            self.account(Cpu(cpu as u32));
        }
    }

    /// A thread that has marks, or runs all the time.
    pub(super) fn is_active(&self, thread: usize) -> bool {
        let tape = &self.tapes[thread];
        tape.ran > Ns::ZERO || tape.marks.iter().any(|mark| !matches!(mark, Mark::Sleep(_)))
    }
}
