//! Events of the rows of `perf sched timehist`.
//!
//! ```text
//!   row:  thread B, CPU 0                 <── wait ──────────────────────>
//!                                                     <── delay ────────>
//!   ───┬──────────────────────────────────┬───────────┬─────────────────┬─────────────┬───
//!      A runs                             B leaves    B is woken        A leaves,     B leaves: its row
//!                                                                       B runs
//! ```
//!
//! A row states when its thread leaves, and by that when it got the CPU and when it was woken. In which state it left shows its next
//! row: one that waits on a runqueue all the time was not woken. So rows are held back until those of the same CPU and of the
//! same thread follow, but no more than [`MOST`]. Times are cut to microseconds: what differs by less than [`BLUR`] is one instant.

use super::{BLUR, EXITED, Ran, Row, What, Who};
use crate::text::event_head::NOBODY_KNOWN;
use std::collections::{BTreeMap, HashMap};
use whylate_base::{Comm, Cpu, Ns, Priority, Tid};
use whylate_events::{Context, ContextFlags, Event, EventKind, KindSet, Switch, TaskState, Wake};

/// How many instants are held back: some 40 MiB of them. Tests need fewer.
const MOST: usize = if cfg!(test) { 256 } else { 256 * 1024 };

/// Where an instant stands among those held back: when, and in the order of the rows.
type Place = (Ns, u64);

/// The rows that wait.
#[derive(Default)]
pub(in crate::text) struct Slices {
    held: BTreeMap<Place, Held>,
    rows: u64,
    /// The last switch of each CPU.
    cpus: HashMap<Cpu, Place>,
    /// From when on rows show what each CPU ran.
    shown_from: HashMap<Cpu, Ns>,
    /// What is known of each thread's last time.
    threads: HashMap<Tid, Left>,
    /// The wake-ups that rows show of each thread that has no row of its own yet.
    woken: HashMap<Tid, Wakes>,
    /// The last row has a delay from before another wake-up.
    is_contradicted: bool,
    /// A row has a delay that is shorter than the wait around it: wake-ups are recorded.
    shows_wakeups: bool,
    /// A thread got an idle CPU without any delay: wake-ups are not recorded.
    lacks_wakeups: bool,
    /// The thread that each CPU runs, as far as events were handed out.
    running: HashMap<Cpu, Tid>,
    handed_out: Option<Ns>,
    /// There were recordings before this one.
    is_further: bool,
}

/// A thread off the CPU.
struct Left {
    /// Its switch.
    at: Place,
    /// Those that rows show since.
    wakes: Wakes,
}

/// So many wake-ups of a thread that has not run since are remembered.
const MOST_WAKES: usize = 8;

/// The wake-ups of a thread off the CPU.
#[derive(Default)]
struct Wakes(Vec<Ns>);

impl Wakes {
    fn add(&mut self, at: Ns) {
        if self.0.len() >= MOST_WAKES {
            // The first one and the last ones count.
            self.0.remove(1);
        }
        self.0.push(at);
    }

    fn has(&self, at: Ns) -> bool {
        self.0.iter().any(|wake| (*wake - at).0.abs() < BLUR.0)
    }

    /// True where a delay that began with one of them lasted beyond another one.
    fn contradict(&self, woken: Ns, start: Ns) -> bool {
        self.has(woken) && self.0.iter().any(|wake| *wake > woken + BLUR && *wake + BLUR < start)
    }
}

/// What happened at an instant.
struct Held {
    cpu: Cpu,
    kind: HeldKind,
}

enum HeldKind {
    Switch {
        ran: Ran,
        next: Next,
        /// Its next row has a wait without a delay: it was preempted, unless wake-ups are not recorded.
        waits: bool,
    },
    /// A thread left before the first row of its CPU, for which one is not known.
    Left(Ran),
    /// A thread is seen on a CPU of which it is not known what it ran before.
    Runs(Tid),
    /// Something whose thread is known.
    By(Tid, EventKind),
    /// A wake-up or a move that the thread's delay shows: by what is not known.
    ByUnknown(EventKind),
    Lost(Option<u64>),
}

/// Which thread gets the CPU.
#[derive(Clone, Copy)]
enum Next {
    /// No row shows it yet.
    Open,
    Is(Who, Priority),
}

impl Slices {
    /// True before the first row.
    pub(in crate::text) fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// Another recording begins, after all events of this one were handed out.
    pub(in crate::text) fn begin_again(&mut self) {
        *self = Slices { rows: self.rows, is_further: true, ..Slices::default() };
    }

    /// The times of all rows, as long as no event of them was handed out.
    pub(in crate::text) fn span(&self) -> Option<(Ns, Ns)> {
        let ((first, _), (last, _)) = (self.held.keys().next()?, self.held.keys().next_back()?);
        (self.handed_out.is_none() && !self.is_further).then_some((*first, *last))
    }

    /// How many switches the rows that wait show.
    pub(in crate::text) fn switches(&self) -> usize {
        self.held.values().filter(|held| matches!(held.kind, HeldKind::Switch { .. })).count()
    }

    /// Takes in a row.
    pub(in crate::text) fn row(&mut self, row: Row) {
        self.rows += 1;
        self.is_contradicted = false;
        let Row { ts, cpu, what } = row;
        match what {
            What::Ran(ran) => self.ran(ts, cpu, ran),
            What::Wakes { by, woken: None } => {
                self.hold((ts, self.rows), cpu, HeldKind::By(by.tid, EventKind::Other));
            }
            What::Wakes { by, woken: Some(woken) } => {
                let place = (ts, self.rows);
                match self.threads.get_mut(&woken.tid) {
                    Some(left) => left.wakes.add(ts),
                    None => self.woken.entry(woken.tid).or_default().add(ts),
                }
                let kind = EventKind::Waking(wake(woken, Priority::UNKNOWN, cpu));
                self.hold(place, cpu, HeldKind::By(by.tid, kind));
            }
            What::Migrates { by, moved, from, to } => {
                let kind = EventKind::Migrate { tid: moved.tid, from, to };
                self.hold((ts, self.rows), cpu, HeldKind::By(by.tid, kind));
            }
            What::Lost(count) => self.hold((ts, self.rows), cpu, HeldKind::Lost(Some(count))),
        }
    }

    /// True where the delay of the last row is from before another wake-up of its thread: the kernel wakes no thread that is woken and has
    /// not run since (`ttwu_state_match()` in kernel/sched/core.c), so that perf did not get what lies between.
    pub(in crate::text) fn is_contradicted(&self) -> bool {
        self.is_contradicted
    }

    /// What later rows show is not earlier than what was handed out.
    fn hold(&mut self, (ts, number): Place, cpu: Cpu, kind: HeldKind) {
        let ts = self.handed_out.map_or(ts, |last| last.max(ts));
        self.held.insert((ts, number), Held { cpu, kind });
    }

    fn ran(&mut self, ts: Ns, cpu: Cpu, ran: Ran) {
        self.shows_wakeups |= ran.delay + BLUR < ran.wait && ran.delay > Ns::ZERO;
        let start = self.got_cpu(ts, cpu, &ran);
        self.shown_from.entry(cpu).or_insert(ts - ran.run);
        if let Some(start) = start.filter(|_| ran.who.is_known()) {
            self.lacks_wakeups |= ran.has_wait_alone() && self.was_idle(start, cpu);
            self.came(start, cpu, &ran);
        }
        let place = (ts, self.rows);
        // A loss may follow.
        self.rows += 1;
        self.hold(place, cpu, HeldKind::Switch { ran, next: Next::Open, waits: false });
        self.cpus.insert(cpu, place);
        if ran.who.is_known() {
            self.threads.insert(ran.who.tid, Left { at: place, wakes: Wakes::default() });
        }
    }

    /// When the thread of a row got its CPU, where that is known: at the switch before, or later, if rows are missing between.
    fn got_cpu(&mut self, ts: Ns, cpu: Cpu, ran: &Ran) -> Option<Ns> {
        let before = self.cpus.get(&cpu).copied();
        let counted = ts - ran.run;
        if let Some(place) = before.filter(|(last, _)| (*last - counted).0.abs() < BLUR.0) {
            let priority = ran.priority.map_or(unknown(ran.who.tid), |(first, _)| first);
            if let Some(Held { kind: HeldKind::Switch { next, .. }, .. }) = self.held.get_mut(&place) {
                *next = Next::Is(ran.who, priority);
            }
            return Some(place.0);
        }
        // The first row of a CPU has no time at all.
        let is_counted = ran.run > Ns::ZERO && before.is_none_or(|(last, _)| last < counted);
        let held = before.and_then(|place| self.held.get(&place));
        if let Some(Held { kind: HeldKind::Switch { ran: Ran { next: Some(_), .. }, .. }, .. }) = held {
            let until = if is_counted { counted } else { ts };
            self.hold((until, self.rows), cpu, HeldKind::Lost(None));
            self.rows += 1;
        }
        if is_counted {
            self.hold((counted, self.rows), cpu, HeldKind::Runs(ran.who.tid));
            self.rows += 1;
        }
        is_counted.then_some(counted)
    }

    /// True of a CPU that ran no thread just before `start`, as far as rows show.
    fn was_idle(&self, start: Ns, cpu: Cpu) -> bool {
        let Some(place) = self.cpus.get(&cpu) else { return false };
        let last = self.held.get(place).map(|held| &held.kind);
        let ran_idle = matches!(last, Some(HeldKind::Switch { ran, .. }) if ran.who.tid.is_idle());
        ran_idle || start - place.0 >= BLUR
    }

    /// A thread got the CPU at `start`: in which state did it leave before, and was it woken?
    fn came(&mut self, start: Ns, cpu: Cpu, ran: &Ran) {
        if !self.threads.contains_key(&ran.who.tid) && ran.waited_all_the_time() {
            self.left_before(start - ran.wait, cpu, ran);
        }
        let left = self.threads.get(&ran.who.tid);
        let is_whole = |left: &Left| (left.at.0 + ran.wait - start).0.abs() < BLUR.0;
        let at = left.filter(|left| is_whole(left)).map(|left| left.at);
        let stayed = ran.waited_all_the_time();
        let slept = ran.was_woken();
        if let Some(Held { kind: HeldKind::Switch { ran: before, waits, .. }, .. }) =
            at.and_then(|at| self.held.get_mut(&at))
            && before.state.is_none_or(|state| state == TaskState::Other)
        {
            // Before perf counted it so, the delay of a thread that was preempted is 0.
            *waits = ran.has_wait_alone();
            before.state = match (stayed, slept) {
                (true, _) => Some(TaskState::Runnable),
                (_, true) => Some(TaskState::Interruptible),
                _ => before.state,
            };
        }
        let of_first = self.woken.remove(&ran.who.tid);
        let wakes = left.map(|left| &left.wakes).or(of_first.as_ref());
        let is_shown = match left {
            Some(left) => !left.wakes.0.is_empty(),
            // Its first row: an earlier wake-up may be of another sleep.
            None => wakes.is_some_and(|wakes| wakes.has(start - ran.delay)),
        };
        if !slept {
            return;
        }
        self.is_contradicted = wakes.is_some_and(|wakes| wakes.contradict(start - ran.delay, start));
        let first = |left: &Left| left.wakes.0.first().copied().unwrap_or(left.at.0);
        let woken = (start - ran.delay).max(left.map_or(Ns(i64::MIN), first));
        let priority = ran.priority.map_or(Priority::UNKNOWN, |(first, _)| first);
        if !is_shown {
            let kind = EventKind::Waking(wake(ran.who, priority, cpu));
            self.hold_by_unknown(woken, cpu, kind);
        }
        // Before it was moved it waited for a CPU that the row does not name.
        if let Some(elsewhere) = ran.elsewhere {
            let is_moved = elsewhere >= BLUR;
            let woken_on = if is_moved { Cpu::UNKNOWN } else { cpu };
            let kind = EventKind::Wakeup { wake: wake(ran.who, priority, woken_on), new: false };
            self.hold_by_unknown(woken, cpu, kind);
            if is_moved {
                let kind = EventKind::Migrate { tid: ran.who.tid, from: Cpu::UNKNOWN, to: cpu };
                self.hold_by_unknown(woken + elsewhere, cpu, kind);
            }
        }
    }

    fn hold_by_unknown(&mut self, at: Ns, cpu: Cpu, kind: EventKind) {
        self.hold((at, self.rows), cpu, HeldKind::ByUnknown(kind));
        self.rows += 1;
    }

    /// A thread of which this is the first row stayed runnable when it left a CPU `at` an earlier time: this one, unless rows show that
    /// another thread had it then.
    fn left_before(&mut self, at: Ns, cpu: Cpu, ran: &Ran) {
        if self.handed_out.is_some() || self.shown_from.get(&cpu).is_some_and(|shown| *shown <= at) {
            return;
        }
        let priority = ran.priority.map(|(first, _)| (first, first));
        let before = Ran { state: Some(TaskState::Runnable), priority, next: None, ..*ran };
        self.hold((at, self.rows), cpu, HeldKind::Left(before));
        self.rows += 1;
    }

    /// The next event that is known with all that later rows can show of it, or at the end any.
    pub(in crate::text) fn next(&mut self, is_end: bool) -> Option<Event> {
        if !is_end && self.held.len() <= MOST {
            return None;
        }
        let ((ts, number), Held { cpu, kind }) = self.held.pop_first()?;
        self.handed_out = Some(ts);
        let current = self.running.get(&cpu).copied().unwrap_or(NOBODY_KNOWN);
        let (tid, kind) = match kind {
            HeldKind::Switch { mut ran, next, waits } => {
                if waits && (self.shows_wakeups || !self.lacks_wakeups) {
                    ran.state = Some(TaskState::Runnable);
                }
                let switch = switch(&ran, next);
                let is_last = self.cpus.get(&cpu) == Some(&(ts, number));
                if switch.next_tid == NOBODY_KNOWN && !is_last {
                    self.hold((ts, number + 1), cpu, HeldKind::Lost(None));
                }
                self.running.insert(cpu, switch.next_tid);
                (ran.who.tid, EventKind::Switch(switch))
            }
            HeldKind::Left(ran) => {
                self.running.insert(cpu, NOBODY_KNOWN);
                (ran.who.tid, EventKind::Switch(switch(&ran, Next::Open)))
            }
            HeldKind::Runs(tid) => {
                self.running.insert(cpu, tid);
                (tid, EventKind::Other)
            }
            HeldKind::By(tid, kind) => (tid, kind),
            HeldKind::ByUnknown(kind) => {
                let flags = ContextFlags::IRQS_UNKNOWN | ContextFlags::BYSTANDER;
                let context = Context { tid: current, flags, preempt_depth: None };
                return Some(Event { ts, cpu, context, kind });
            }
            HeldKind::Lost(count) => (current, EventKind::Lost { count, since: None, kinds: KindSet::NONE }),
        };
        let context = Context { tid, flags: ContextFlags::IRQS_UNKNOWN, preempt_depth: None };
        Some(Event { ts, cpu, context, kind })
    }
}

fn switch(ran: &Ran, next: Next) -> Switch {
    let (next, next_prio) = match (next, ran.next) {
        (Next::Is(who, priority), _) => (who, priority),
        (Next::Open, Some(who)) => (who, unknown(who.tid)),
        (Next::Open, None) => (Who { tid: NOBODY_KNOWN, comm: Comm::default() }, Priority::UNKNOWN),
    };
    let is_exited = ran.who.tid == EXITED;
    Switch {
        prev_comm: ran.who.comm,
        prev_tid: ran.who.tid,
        prev_prio: ran.priority.map_or(unknown(ran.who.tid), |(_, last)| last),
        prev_state: match ran.state {
            _ if ran.who.tid.is_idle() => TaskState::Runnable,
            _ if is_exited => TaskState::Dead,
            state => state.unwrap_or(TaskState::Other),
        },
        next_comm: next.comm,
        next_tid: next.tid,
        next_prio,
    }
}

/// The idle task's priority is known.
fn unknown(tid: Tid) -> Priority {
    if tid.is_idle() { Priority::DEFAULT } else { Priority::UNKNOWN }
}

fn wake(who: Who, prio: Priority, target_cpu: Cpu) -> Wake {
    Wake { comm: who.comm, tid: who.tid, prio, target_cpu }
}
