//! Event streams written by hand: a scene is played, and explained.
//!
//! ```text
//! Scene::new().cpu(1).at(0).run(HOG).at(100).timer_wakes(VICTIM).at(431).sleep(VICTIM).explain("victim")
//! ```
//!
//! Times are microseconds. A scene knows which thread is current on each CPU and which interrupts are on
//! top, so that every event gets the context that the kernel would give it.

use std::collections::BTreeMap;
use whylate_base::{Comm, Cpu, Finding, Ns, Priority, Tid};
use whylate_events::{
    ContentionFlags, Context, ContextFlags, Damage, Event, EventKind, Fact, HrtimerExpiry, HrtimerStart,
    Kind, KindSet, LeftOut, Marker, PageFault, Signal, Switch, Syscall, SyscallReturn, TaskState, TraceInfo,
    VecSource, Wake,
};
use whylate_ledger::{Activation, Cause, Culprit, Explanation, Options, Select, explain, finding_page};

/// A millisecond in the scene's unit.
pub(crate) const MS: i64 = 1_000;

/// Numbers of x86_64.
pub(crate) mod sys {
    pub(crate) const READ: i64 = 0;
    pub(crate) const FUTEX: i64 = 202;
    pub(crate) const SEMOP: i64 = 65;
    pub(crate) const IO_GETEVENTS: i64 = 208;
    pub(crate) const SCHED_SETSCHEDULER: i64 = 144;
    pub(crate) const SCHED_SETAFFINITY: i64 = 203;
    pub(crate) const SCHED_SETATTR: i64 = 314;
    pub(crate) const CLOCK_NANOSLEEP: i64 = 230;
    /// `futex(word, FUTEX_WAIT | FUTEX_PRIVATE_FLAG, 2)`: a lock that is taken and has waiters.
    pub(crate) const LOCK: [u64; 3] = [0x7f00_0000, 0x80, 2];
    /// `clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME)`.
    pub(crate) const UNTIL: [u64; 3] = [1, 1, 0];
    /// `clock_nanosleep(CLOCK_MONOTONIC, 0)`.
    pub(crate) const FOR: [u64; 3] = [1, 0, 0];
}

/// A thread in a scene.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Thread {
    pub(crate) name: &'static str,
    pub(crate) tid: i32,
    /// The kernel's number.
    pub(crate) prio: i32,
}

/// The idle task.
pub(crate) const IDLE: Thread = fair("swapper", 0);

/// A SCHED_FIFO thread of the user's priority.
pub(crate) const fn rt(name: &'static str, tid: i32, priority: i32) -> Thread {
    Thread { name, tid, prio: 99 - priority }
}

/// A SCHED_DEADLINE thread.
pub(crate) const fn deadline(name: &'static str, tid: i32) -> Thread {
    Thread { name, tid, prio: -1 }
}

/// A SCHED_OTHER thread of nice 0.
pub(crate) const fn fair(name: &'static str, tid: i32) -> Thread {
    Thread { name, tid, prio: 120 }
}

#[derive(Clone, Copy)]
struct OnCpu {
    current: Thread,
    flags: ContextFlags,
}

/// A trace in the making.
pub(crate) struct Scene {
    info: TraceInfo,
    events: Vec<Event>,
    now: Ns,
    cpu: u32,
    cpus: BTreeMap<u32, OnCpu>,
    of_switches: ContextFlags,
}

impl Scene {
    /// An empty trace by the `mono` clock of an x86_64 machine.
    pub(crate) fn new() -> Scene {
        let info = TraceInfo {
            format: "scene".into(),
            clock: Some("mono".into()),
            machine: Some("x86_64".into()),
            ..TraceInfo::default()
        };
        Scene {
            info,
            events: Vec::new(),
            now: Ns::ZERO,
            cpu: 0,
            cpus: BTreeMap::new(),
            of_switches: ContextFlags::default(),
        }
    }

    /// A file of which it is known that it has these kinds of events, and no text.
    pub(crate) fn file_with(mut self, kinds: KindSet) -> Scene {
        self.info.recorded = Some(kinds);
        self
    }

    /// Of this kernel.
    pub(crate) fn kernel(mut self, release: &str) -> Scene {
        self.info.kernel_release = Some(release.into());
        self
    }

    /// By this trace clock.
    pub(crate) fn clock(mut self, clock: &str) -> Scene {
        self.info.clock = Some(clock.into());
        self
    }

    /// Of a file in this state.
    pub(crate) fn damaged(mut self, damage: Damage) -> Scene {
        self.info.damage.push(damage);
        self
    }

    /// A mark shows that lines of the text are left out here.
    pub(crate) fn left_out(mut self) -> Scene {
        self.info.left_out.push(LeftOut { at: self.now, line: 7, ends_piece: false });
        self
    }

    /// What follows happens on this CPU.
    pub(crate) fn cpu(mut self, cpu: u32) -> Scene {
        self.cpu = cpu;
        self
    }

    /// What follows happens at this instant, in microseconds.
    pub(crate) fn at(mut self, us: i64) -> Scene {
        self.now = Ns::from_us(us);
        self
    }

    fn on(&mut self) -> &mut OnCpu {
        self.cpus.entry(self.cpu).or_insert(OnCpu { current: IDLE, flags: ContextFlags::default() })
    }

    fn flag(mut self, flag: ContextFlags, set: bool) -> Scene {
        let flags = &mut self.on().flags;
        flags.0 = if set { flags.0 | flag.0 } else { flags.0 & !flag.0 };
        self
    }

    /// An event, in the context of the moment.
    pub(crate) fn event(self, kind: EventKind) -> Scene {
        self.event_with(ContextFlags::default(), kind)
    }

    pub(crate) fn event_with(mut self, flags: ContextFlags, kind: EventKind) -> Scene {
        let on = *self.on();
        let context = Context { tid: Tid(on.current.tid), flags: on.flags | flags, preempt_depth: Some(0) };
        self.events.push(Event { ts: self.now, cpu: Cpu(self.cpu), context, kind });
        self
    }

    /// An event of no type, which shows the current thread, with these flags.
    pub(crate) fn sign(self, flags: ContextFlags) -> Scene {
        self.event_with(flags, EventKind::Other)
    }

    /// `thread` is current from here on, and no event shows how that came about.
    pub(crate) fn unseen_switch_to(mut self, thread: Thread) -> Scene {
        self.on().current = thread;
        self
    }

    /// `next` gets the CPU; the current thread is recorded in this state.
    pub(crate) fn switch_as(self, state: TaskState, next: Thread) -> Scene {
        self.switch(state, next)
    }

    /// An event of no type on the way from a switch to the next thread: it has the thread before as its context.
    pub(crate) fn sign_of(mut self, before: Thread, flags: ContextFlags) -> Scene {
        let current = std::mem::replace(&mut self.on().current, before);
        let mut scene = self.sign(flags);
        scene.on().current = current;
        scene
    }

    /// Switches have these flags from here on, as recordings with flags have them.
    pub(crate) fn flagged_switches(mut self, flags: ContextFlags) -> Scene {
        self.of_switches = flags;
        self
    }

    fn switch(mut self, state: TaskState, next: Thread) -> Scene {
        let prev = self.on().current;
        let switch = Switch {
            prev_comm: prev.name.into(),
            prev_tid: Tid(prev.tid),
            prev_prio: Priority(prev.prio),
            prev_state: state,
            next_comm: next.name.into(),
            next_tid: Tid(next.tid),
            next_prio: Priority(next.prio),
        };
        let flags = self.of_switches;
        let mut scene = self.event_with(flags, EventKind::Switch(switch));
        scene.on().current = next;
        scene
    }

    /// `next` gets the CPU; the current thread is preempted.
    pub(crate) fn run(self, next: Thread) -> Scene {
        self.switch(TaskState::Preempted, next)
    }

    /// The current thread goes to sleep; `next` gets it.
    pub(crate) fn sleep(self, next: Thread) -> Scene {
        self.switch(TaskState::Interruptible, next)
    }

    /// What was recorded so far has the current threads alone, as the text of `perf script`.
    pub(crate) fn without_contexts(mut self) -> Scene {
        for event in &mut self.events {
            event.context.flags = ContextFlags::IRQS_UNKNOWN;
            event.context.preempt_depth = None;
        }
        self
    }

    /// The current thread goes to sleep uninterruptibly; `next` gets it.
    pub(crate) fn block(self, next: Thread) -> Scene {
        self.switch(TaskState::Uninterruptible, next)
    }

    /// The current thread ends; `next` gets it.
    pub(crate) fn die(self, next: Thread) -> Scene {
        self.switch(TaskState::Dead, next)
    }

    pub(crate) fn wake_event(thread: Thread, target: u32) -> Wake {
        let comm = Comm::from(thread.name);
        Wake { comm, tid: Tid(thread.tid), prio: Priority(thread.prio), target_cpu: Cpu(target) }
    }

    /// `sched_waking`
    pub(crate) fn waking(self, thread: Thread, target: u32) -> Scene {
        self.event(EventKind::Waking(Scene::wake_event(thread, target)))
    }

    /// `sched_wakeup`
    pub(crate) fn wakeup(self, thread: Thread, target: u32) -> Scene {
        self.event(EventKind::Wakeup { wake: Scene::wake_event(thread, target), new: false })
    }

    /// The current thread wakes `thread`, which is put on the runqueue of `target`.
    pub(crate) fn wake(self, thread: Thread, target: u32) -> Scene {
        self.waking(thread, target).wakeup(thread, target)
    }

    /// A timer expires and wakes `thread` on this CPU, all in one instant.
    pub(crate) fn timer_wakes(self, thread: Thread) -> Scene {
        let timer = 0xffff_0000 + thread.tid as u64;
        let cpu = self.cpu;
        self.fire(timer).wake(thread, cpu).fired(timer)
    }

    /// `sched_migrate_task` to this CPU.
    pub(crate) fn migrate(self, thread: Thread, from: u32, to: u32) -> Scene {
        self.event(EventKind::Migrate { tid: Tid(thread.tid), from: Cpu(from), to: Cpu(to) })
    }

    /// `hrtimer_start`, to expire at `us`.
    pub(crate) fn arm(self, timer: u64, us: i64) -> Scene {
        self.arm_with_slack(timer, us, us)
    }

    /// `hrtimer_start`, to expire between two instants.
    pub(crate) fn arm_with_slack(self, hrtimer: u64, soft: i64, hard: i64) -> Scene {
        self.event(EventKind::HrtimerStart(HrtimerStart {
            hrtimer,
            function: "hrtimer_wakeup".into(),
            expires: Ns::from_us(hard),
            softexpires: Ns::from_us(soft),
        }))
    }

    /// `hrtimer_start` of a callback, to expire at `us`.
    pub(crate) fn arm_named(self, hrtimer: u64, function: &str, us: i64) -> Scene {
        let (expires, softexpires) = (Ns::from_us(us), Ns::from_us(us));
        let function = function.into();
        self.event(EventKind::HrtimerStart(HrtimerStart { hrtimer, function, expires, softexpires }))
    }

    /// `hrtimer_expire_entry` of a sleep, which reads the clock as it is.
    pub(crate) fn fire(self, hrtimer: u64) -> Scene {
        self.fire_named(hrtimer, "hrtimer_wakeup")
    }

    /// `hrtimer_expire_entry` of a callback.
    pub(crate) fn fire_named(self, hrtimer: u64, function: &str) -> Scene {
        let now = self.now;
        let function = function.into();
        self.flag(ContextFlags::HARDIRQ, true).event(EventKind::HrtimerExpire(HrtimerExpiry {
            hrtimer,
            function,
            now,
        }))
    }

    /// `hrtimer_expire_exit`
    pub(crate) fn fired(self, hrtimer: u64) -> Scene {
        self.event(EventKind::HrtimerExpireExit { hrtimer }).flag(ContextFlags::HARDIRQ, false)
    }

    /// The interrupt is over, and its end is not recorded.
    pub(crate) fn no_longer_in_interrupt(self) -> Scene {
        self.flag(ContextFlags::HARDIRQ, false)
    }

    /// `irq_handler_entry`
    pub(crate) fn irq(self, irq: u32, name: &str) -> Scene {
        self.flag(ContextFlags::HARDIRQ, true).event(EventKind::IrqEntry { irq, name: name.into() })
    }

    /// `irq_handler_exit`
    pub(crate) fn irq_exit(self, irq: u32) -> Scene {
        self.event(EventKind::IrqExit { irq }).flag(ContextFlags::HARDIRQ, false)
    }

    /// A device's handler has returned, and the kernel wakes the thread of the interrupt, still in the interrupt.
    pub(crate) fn irq_exit_wakes(self, irq: u32, thread: Thread, cpu: u32) -> Scene {
        let scene = self.event(EventKind::IrqExit { irq }).wake(thread, cpu);
        scene.flag(ContextFlags::HARDIRQ, false)
    }

    /// Entry of an architecture's vector, such as the local timer's.
    pub(crate) fn vector(self, name: &str) -> Scene {
        self.flag(ContextFlags::HARDIRQ, true).event(EventKind::VectorEntry { name: name.into() })
    }

    /// Exit of an architecture's vector.
    pub(crate) fn vector_exit(self, name: &str) -> Scene {
        self.event(EventKind::VectorExit { name: name.into() }).flag(ContextFlags::HARDIRQ, false)
    }

    /// `softirq_entry`
    pub(crate) fn softirq(self, vec: u32) -> Scene {
        self.flag(ContextFlags::SOFTIRQ, true).event(EventKind::SoftirqEntry { vec })
    }

    /// `softirq_exit`
    pub(crate) fn softirq_exit(self, vec: u32) -> Scene {
        self.event(EventKind::SoftirqExit { vec }).flag(ContextFlags::SOFTIRQ, false)
    }

    /// `sys_enter`
    pub(crate) fn call(self, nr: i64, args: [u64; 3]) -> Scene {
        self.event(EventKind::SyscallEnter(Syscall { nr, args: [args[0], args[1], args[2], 0, 0, 0] }))
    }

    /// `sys_exit`
    pub(crate) fn ret(self, nr: i64) -> Scene {
        self.event(EventKind::SyscallExit(SyscallReturn { nr, ret: 0 }))
    }

    /// `sys_exit` of a call that failed.
    pub(crate) fn fail(self, nr: i64, error: i64) -> Scene {
        self.event(EventKind::SyscallExit(SyscallReturn { nr, ret: -error }))
    }

    /// `signal_generate` by the kernel, to `thread`.
    pub(crate) fn kernel_sends(self, thread: Thread, sig: i32) -> Scene {
        self.event(EventKind::Signal(Signal {
            sig,
            code: Signal::SI_KERNEL,
            tid: Tid(thread.tid),
            comm: thread.name.into(),
        }))
    }

    /// `sched_process_fork`
    pub(crate) fn fork(self, parent: Thread, child: Thread) -> Scene {
        self.event(EventKind::Fork {
            parent: Tid(parent.tid),
            child: Tid(child.tid),
            comm: Comm::from(child.name),
        })
    }

    /// `sched_process_exec` by the current thread, which goes on as `thread`.
    pub(crate) fn exec(mut self, thread: Thread) -> Scene {
        let old = Tid(self.on().current.tid);
        self.on().current = thread;
        self.event(EventKind::Exec { old, tid: Tid(thread.tid) })
    }

    /// Interrupts below may nest: this one ends with `vector_exit`, whatever timers ran in it.
    pub(crate) fn callback(self, hrtimer: u64, function: &str, us: i64) -> Scene {
        let end = self.now + Ns::from_us(us);
        let mut scene = self.fire_named(hrtimer, function);
        scene.now = end;
        scene.event(EventKind::HrtimerExpireExit { hrtimer })
    }

    /// `page_fault_user`
    pub(crate) fn fault(self, address: u64) -> Scene {
        self.event(EventKind::PageFault(PageFault { address, ip: 0x40_1000, user: true, error_code: 0 }))
    }

    /// The same, of a write to a page that is there and write-protected.
    pub(crate) fn fault_by_protection(self, address: u64) -> Scene {
        self.event(EventKind::PageFault(PageFault { address, ip: 0x40_1000, user: true, error_code: 7 }))
    }

    /// `contention_begin` of a sleeping lock.
    pub(crate) fn contend(self, lock: u64) -> Scene {
        self.contend_as(lock, ContentionFlags::RT)
    }

    /// The same of a lock of this kind.
    pub(crate) fn contend_as(self, lock: u64, kind: u32) -> Scene {
        self.event(EventKind::ContentionBegin { lock, flags: ContentionFlags(kind) })
    }

    /// `contention_end`
    pub(crate) fn acquire(self, lock: u64) -> Scene {
        self.event(EventKind::ContentionEnd { lock, ret: 0 })
    }

    /// `sched_pi_setprio`
    pub(crate) fn inherit(self, thread: Thread, old: Thread, new: Thread) -> Scene {
        self.event(EventKind::PiSetprio {
            tid: Tid(thread.tid),
            old: Priority(old.prio),
            new: Priority(new.prio),
        })
    }

    /// A fact that the recording carries.
    pub(crate) fn fact(self, fact: Fact) -> Scene {
        self.event(EventKind::Marker(Marker::from(fact.to_string().as_str())))
    }

    /// The current thread writes a line to `trace_marker`.
    pub(crate) fn mark(self, line: &str) -> Scene {
        self.event(EventKind::Marker(Marker::from(line)))
    }

    /// Events were lost on this CPU up to now.
    pub(crate) fn lose(mut self) -> Scene {
        self.info.lost_events += 1;
        self.event(EventKind::Lost { count: Some(1), since: None, kinds: KindSet::NONE })
    }

    /// The rows of the text are interrupted here.
    pub(crate) fn cut(mut self) -> Scene {
        self.info.left_out.push(LeftOut { at: self.now, line: 7, ends_piece: true });
        self.event(EventKind::Lost { count: None, since: None, kinds: KindSet::NONE })
    }

    /// The buffer with system calls and page faults lost events since `since` (us); the scheduler's did not.
    pub(crate) fn lose_workings(mut self, since: i64) -> Scene {
        self.info.lost_events += 1;
        let kinds = KindSet::of(&[Kind::Syscall, Kind::PageFault]);
        self.event(EventKind::Lost { count: Some(1), since: Some(Ns(since * 1_000)), kinds })
    }

    /// The buffer with the scheduler's events lost some since `since` (us); that with system calls did not.
    pub(crate) fn lose_switches(mut self, since: i64) -> Scene {
        self.info.lost_events += 1;
        let kinds = KindSet::of(&[Kind::Switch, Kind::Waking]);
        self.event(EventKind::Lost { count: None, since: Some(Ns(since * 1_000)), kinds })
    }

    /// The events as a trace.
    pub(crate) fn source(self) -> VecSource {
        VecSource::new(self.events, self.info, true)
    }

    /// Plays the scene and explains the threads of this name.
    pub(crate) fn explain(self, comm: &str) -> Explained {
        self.explain_with(&Options { tasks: vec![Select::Comm(comm.into())], ..Options::default() })
    }

    /// Plays the scene and explains what the options select.
    pub(crate) fn explain_with(self, options: &Options) -> Explained {
        assert!(self.events.is_sorted_by_key(|event| event.ts), "a scene is written in time order");
        Explained::of(explain(self.source(), options))
    }
}

/// An explanation, with questions to ask of it.
pub(crate) struct Explained(pub(crate) Explanation);

impl Explained {
    /// Every code that is reported must have a page.
    pub(crate) fn of(explanation: Explanation) -> Explained {
        for finding in &explanation.findings {
            assert!(finding_page(finding.code).is_some(), "{} has no page", finding.code);
        }
        // Every fix names settings, or the reason why there are none.
        let verdicts = explanation.activations.iter().flat_map(|activation| &activation.verdict.fix);
        for fix in explanation.findings.iter().flat_map(|finding| &finding.fix).chain(verdicts) {
            assert_eq!(fix.action.flaw(), None, "{fix:?}");
        }
        Explained(explanation)
    }

    /// The one activation that there is.
    pub(crate) fn only(&self) -> &Activation {
        match self.0.activations.as_slice() {
            [activation] => activation,
            several => panic!("{} activations: {several:#?}", several.len()),
        }
    }

    /// The activation with the worst response.
    pub(crate) fn worst(&self) -> &Activation {
        self.0.activations.first().expect("an activation")
    }

    /// All activations in the order they were due in.
    pub(crate) fn in_order(&self) -> Vec<&Activation> {
        let mut activations: Vec<&Activation> = self.0.activations.iter().collect();
        activations.sort_by_key(|activation| activation.due);
        activations
    }

    /// The finding of this code.
    pub(crate) fn finding(&self, code: &str) -> Option<&Finding> {
        self.0.findings.iter().find(|finding| finding.code == code)
    }

    /// The codes of all findings.
    pub(crate) fn codes(&self) -> Vec<&'static str> {
        self.0.findings.iter().map(|finding| finding.code).collect()
    }
}

/// Checks that the ledger charges exactly this, in microseconds per cause, and nothing else.
#[track_caller]
pub(crate) fn assert_charges(activation: &Activation, expected: &[(Cause, i64)]) {
    let mut charged: BTreeMap<Cause, Ns> = BTreeMap::new();
    for segment in &activation.ledger {
        *charged.entry(segment.cause).or_default() += segment.length();
    }
    let expected: BTreeMap<Cause, Ns> =
        expected.iter().map(|&(cause, us)| (cause, Ns::from_us(us))).collect();
    assert_eq!(charged, expected, "{:#?}", activation.ledger);
    assert_eq!(charged.values().copied().sum::<Ns>(), activation.response());
}

/// Checks the verdict: the cause, and the thread behind it.
#[track_caller]
pub(crate) fn assert_blames(activation: &Activation, cause: Cause, who: Option<Thread>) {
    let verdict = &activation.verdict;
    let tid = verdict.by.as_ref().map(|by| match by {
        Culprit::Task { tid, .. } => tid.0,
        other => panic!("{other:?} is no thread"),
    });
    assert_eq!((verdict.cause, tid), (cause, who.map(|thread| thread.tid)), "{verdict:#?}");
}

/// How long one thread is charged with a cause.
pub(crate) fn charged_to(activation: &Activation, cause: Cause, who: Thread) -> Ns {
    let theirs = |by: &Option<Culprit>| matches!(by, Some(Culprit::Task { tid, .. }) if tid.0 == who.tid);
    let segments = activation.ledger.iter().filter(|segment| segment.cause == cause && theirs(&segment.by));
    segments.map(|segment| segment.length()).sum()
}
