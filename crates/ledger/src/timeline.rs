//! What every thread, CPU and setting was at each instant of a trace, as far back as an activation in progress
//! needs it.
//!
//! ```text
//!              now ──────────────────────────────────────────────┐
//! thread 7     name, priority, CPUs allowed, blocked | queued | running ...
//! CPU 0        task 7 | irq 10 | softirq 1 | task 7 | idle ...   (also: late timers, callbacks)
//! machine      bandwidth windows, quota refills, losses
//! ```
//!
//! State only: the engine makes it from events, and the charger asks it. It draws no conclusions.

pub(crate) mod abi;
pub(crate) mod activations;
pub(crate) mod affinity;
pub(crate) mod armed;
pub(crate) mod bandwidth;
pub(crate) mod clocks;
pub(crate) mod contexts;
pub(crate) mod cpus;
pub(crate) mod cycles;
pub(crate) mod due_instants;
pub(crate) mod foreign_modules;
pub(crate) mod futexes;
pub(crate) mod history;
pub(crate) mod housekeeping;
pub(crate) mod huge_pages;
pub(crate) mod idle_ways;
pub(crate) mod inherited_priority;
pub(crate) mod irqs;
pub(crate) mod item_runs;
pub(crate) mod late_makers;
pub(crate) mod late_producers;
pub(crate) mod lengths;
pub(crate) mod lifetime;
pub(crate) mod links;
pub(crate) mod losses;
pub(crate) mod names;
pub(crate) mod origins;
pub(crate) mod pacing;
pub(crate) mod packets;
pub(crate) mod past;
pub(crate) mod pending;
mod per_cpu;
pub(crate) mod periods;
pub(crate) mod quota;
pub(crate) mod recent;
mod recording;
pub(crate) mod recurring;
pub(crate) mod running;
pub(crate) mod settings;
pub(crate) mod silences;
pub(crate) mod sleeps;
pub(crate) mod slept_in;
pub(crate) mod slew;
pub(crate) mod slices;
pub(crate) mod softirqs;
pub(crate) mod spent;
pub(crate) mod standing;
pub(crate) mod states;
pub(crate) mod stops;
pub(crate) mod tally;
pub(crate) mod thread;
mod thread_name;
pub(crate) mod threads;
pub(crate) mod timers;
mod usage;
pub(crate) mod wake_steps;
pub(crate) mod waking;
pub(crate) mod windows;

use crate::model::Culprit;
use bandwidth::BandwidthSettings;
use clocks::TimerClocks;
use contexts::Contexts;
use cpus::{CpuTimeline, Cpus};
use foreign_modules::ForeignModules;
use irqs::Irqs;
use item_runs::ItemRuns;
use late_producers::LateProducers;
use lifetime::ProcessEnds;
use links::Link;
use losses::Losses;
use origins::Origins;
use pending::PendingSoftirqs;
use quota::QuotaTimers;
use recurring::Recurring;
use settings::RtOverrun;
use softirqs::{Raiser, Softirqs};
use stops::StopSignals;
use thread::Thread;
use threads::Threads;
use timers::ArmedTimers;
use whylate_base::{Comm, Cpu, CpuSet, Ns, Priority, Tid};
use whylate_events::{Kind, KindSet};
use windows::Windows;

/// A page stays write-protected after a fork until it is written to, which may be seconds later.
const RECENT_FORK: Ns = Ns::from_secs(10);

/// Once or twice is an exception: see [`Timeline::stands_still`].
const OFTEN: u32 = 3;

/// See the module.
pub(crate) struct Timeline {
    pub(crate) cpus: Cpus,
    pub(crate) threads: Threads,
    pub(crate) irqs: Irqs,
    pub(crate) bandwidth: BandwidthSettings,
    /// Times real-time threads were passed over, all of the trace.
    pub(crate) windows: Windows,
    pub(crate) timers: ArmedTimers,
    pub(crate) timer_clocks: TimerClocks,
    /// When a program adjusted the clock last.
    pub(crate) clock_adjusted: Ns,
    pub(crate) quota: QuotaTimers,
    /// Where the wake-ups of devices, packets and work items began.
    pub(crate) origins: Origins,
    pub(crate) item_runs: ItemRuns,
    pub(crate) late_producers: LateProducers,
    /// The steps of chains since they were last taken away; `None` where no chain is asked for.
    pub(crate) links: Option<Vec<Link>>,
    pub(crate) rt_overruns: Vec<RtOverrun>,
    pub(crate) process_ends: ProcessEnds,
    pub(crate) stops: StopSignals,
    pub(crate) hypervisor: Option<bool>,
    pub(crate) foreign_modules: ForeignModules,
    pub(crate) losses: Losses,
    pub(crate) contexts: Contexts,
    /// The CPUs that were recorded; `None` where all were.
    pub(crate) recorded_cpus: Option<CpuSet>,
    /// How many threads began to run without a recorded wake-up.
    pub(crate) unseen_wakeups: u64,
    /// How often a CPU was shown to stand still for long.
    pub(crate) standstills: u32,
    pub(crate) seen: KindSet,
    pub(crate) softirqs: Softirqs,
    pub(crate) pending: PendingSoftirqs,
    pub(crate) recurring: Recurring,
    /// The kinds that were seen or switched on; known at the end.
    pub(crate) recorded: KindSet,
    /// A text: behind the last row of a CPU, others of it may have been left out.
    pub(crate) is_text: bool,
    /// The tick by which the trace's clock counts, where it has nothing finer; known at the end.
    pub(crate) clock_tick: Option<Ns>,
    pub(crate) now: Ns,
    /// The recording is over: what is open stays so.
    pub(crate) is_over: bool,
    pub(crate) first: Option<Ns>,
}

impl Timeline {
    /// True where a thread, or another one of its process, has locked the memory of that.
    pub(crate) fn locks_memory(&self, tid: Tid) -> bool {
        let Some(thread) = self.threads.get(tid) else { return false };
        self.threads.iter().any(|other| other.locks_memory && other.is_kin_of(thread))
    }

    /// True of two threads of one process, where the recording shows that.
    pub(crate) fn are_of_one_process(&self, one: &Culprit, other: Tid) -> bool {
        self.both(one, other).is_some_and(|(one, other)| one.shares_process_with(other))
    }

    /// True of two threads of which one forked the other, or the same thread both of them: of one process, or of one program at
    /// least.
    pub(crate) fn are_kin(&self, one: &Culprit, other: Tid) -> bool {
        self.both(one, other).is_some_and(|(one, other)| one.is_kin_of(other))
    }

    /// True of a culprit that was seen to begin and, soon after that, to end.
    pub(crate) fn is_brief(&self, culprit: &Culprit) -> bool {
        let Culprit::Task { tid, .. } = *culprit else { return false };
        self.threads.get(tid).is_some_and(|thread| thread.lifetime.is_brief())
    }

    /// The thread that is a culprit, and another one.
    fn both(&self, one: &Culprit, other: Tid) -> Option<(&Thread, &Thread)> {
        let Culprit::Task { tid, .. } = *one else { return None };
        self.threads.get(tid).zip(self.threads.get(other))
    }

    /// True where a thread, or another one of its process, has started a process with a copy of its memory not long before `at`.
    pub(crate) fn forked_before(&self, thread: &Thread, at: Ns) -> bool {
        let is_recent = |forked: Ns| forked <= at && at - forked <= RECENT_FORK;
        let forks = self.threads.iter().filter(|other| other.lifetime.forked.is_some_and(is_recent));
        forks.into_iter().any(|other| other.is_kin_of(thread))
    }

    /// Of a kernel of this major and minor version.
    pub(crate) fn new(kernel: Option<(u32, u32)>) -> Timeline {
        Timeline {
            cpus: Cpus::default(),
            threads: Threads::default(),
            irqs: Irqs::default(),
            bandwidth: BandwidthSettings::new(kernel),
            windows: Windows::default(),
            timers: ArmedTimers::default(),
            timer_clocks: TimerClocks::default(),
            clock_adjusted: Ns(i64::MIN),
            quota: QuotaTimers::default(),
            origins: Origins::default(),
            item_runs: ItemRuns::default(),
            late_producers: LateProducers::default(),
            links: None,
            rt_overruns: Vec::new(),
            process_ends: ProcessEnds::default(),
            stops: StopSignals::default(),
            hypervisor: None,
            foreign_modules: ForeignModules::default(),
            losses: Losses::default(),
            recorded_cpus: None,
            contexts: Contexts::default(),
            unseen_wakeups: 0,
            standstills: 0,
            seen: KindSet::NONE,
            softirqs: Softirqs::default(),
            pending: PendingSoftirqs::default(),
            recurring: Recurring::default(),
            recorded: KindSet::NONE,
            is_text: false,
            clock_tick: None,
            now: Ns(i64::MIN),
            is_over: false,
            first: None,
        }
    }

    /// True of a guest whose CPUs were shown to stand still again and again.
    pub(crate) fn stands_still(&self) -> bool {
        self.hypervisor == Some(true) && self.standstills >= OFTEN
    }

    /// True where the recording ends at `to`, and does not show whether a CPU that had no event since `from` went on as it was.
    pub(crate) fn ends_unseen(&self, cpu: &CpuTimeline, from: Ns, to: Ns) -> bool {
        self.is_text && self.is_end(to) && cpu.last_event.is_none_or(|last| last <= from)
    }

    /// True where the recording is over, and ends at that instant.
    pub(crate) fn is_end(&self, at: Ns) -> bool {
        self.is_over && at >= self.now
    }

    /// A thread's name at an instant; empty of one that was not seen.
    pub(crate) fn comm_at(&self, tid: Tid, instant: Ns) -> Comm {
        self.threads.get(tid).map(|thread| thread.comm_at(instant)).unwrap_or_default()
    }

    /// A thread as a culprit, by the name that it had at an instant.
    pub(crate) fn task(&self, tid: Tid, priority: Priority, instant: Ns) -> Culprit {
        Culprit::Task { tid, comm: self.comm_at(tid, instant), priority }
    }

    /// The same, by its priority at that instant as well; `None` of one that was not seen.
    pub(crate) fn thread_at(&self, tid: Tid, instant: Ns) -> Option<Culprit> {
        let thread = self.threads.get(tid)?;
        Some(self.task(tid, thread.priority_at(instant), instant))
    }

    /// What raised nearly all of the time of a culprit that is a softirq of that CPU, as it was at that instant.
    pub(crate) fn raiser(&self, by: &Culprit, cpu: Cpu, instant: Ns) -> Option<Culprit> {
        let Culprit::Softirq { vec } = by else { return None };
        Some(match self.softirqs.raised_by(cpu, *vec)? {
            Raiser::Task(tid) => self.thread_at(tid, instant)?,
            Raiser::Irq(id) => {
                let (irq, name) = self.irqs.get(id);
                Culprit::Irq { irq, name }
            }
        })
    }

    /// Real-time use of a CPU in the period before `until`, as far as it was seen: the top user, the share of all
    /// real-time threads, and over how long.
    pub(crate) fn realtime_use(&self, cpu: &CpuTimeline, until: Ns) -> (Option<Culprit>, f64, Ns) {
        let from = (until - self.bandwidth.at(until).period).max(self.first.unwrap_or(until));
        let (top, share, seen) = cpu.realtime_use(from, until).result();
        let top = top.map(|(tid, priority)| Culprit::Task { tid, comm: self.comm_at(tid, until), priority });
        (top, share, seen)
    }

    /// A CPU passes over real-time threads no more, from `end` on.
    pub(crate) fn close_window(&mut self, cpu: Cpu, end: Ns) {
        if let Some(end) = self.windows.close(cpu, end)
            && let Some(timeline) = self.cpus.get_mut(cpu)
        {
            timeline.passed_over_until = timeline.passed_over_until.max(Some(end));
        }
    }

    /// True where the recording has interrupts and softirqs: without them their time looks like that of the thread below.
    pub(crate) fn shows_interrupts(&self) -> bool {
        let has = |kind| self.seen.contains(kind);
        has(Kind::Softirq) && (has(Kind::Irq) || has(Kind::Vector))
    }

    /// True where the recording shows which work items kworkers do.
    pub(crate) fn shows_items(&self) -> bool {
        self.seen.contains(Kind::Work) && !self.contexts.are_chosen()
    }

    /// True where the recording has interrupts or softirqs: an event outside them is the current thread's own.
    pub(crate) fn shows_handlers(&self) -> bool {
        [Kind::Irq, Kind::Vector, Kind::Softirq].into_iter().any(|kind| self.seen.contains(kind))
    }

    /// The same of what happens in this thread's context.
    pub(crate) fn shows_handlers_upon(&self, tid: Tid) -> bool {
        self.shows_handlers() && self.contexts.show_interrupts_upon(tid)
    }

    /// True where the recording has the kinds of events by which time is charged: another one would show no more.
    pub(crate) fn has_all_kinds(&self) -> bool {
        const KINDS: [Kind; 8] = [
            Kind::Switch,
            Kind::Waking,
            Kind::Irq,
            Kind::Softirq,
            Kind::HrtimerExpire,
            Kind::Syscall,
            Kind::Signal,
            Kind::Work,
        ];
        KINDS.into_iter().all(|kind| self.recorded.contains(kind))
    }

    /// True where the recording has what an idle CPU does: interrupts, timers, or its idle states.
    pub(crate) fn shows_idle_cpus(&self) -> bool {
        let shown = [Kind::Irq, Kind::Vector, Kind::HrtimerExpire, Kind::CpuIdle];
        !self.contexts.are_chosen() && shown.into_iter().any(|kind| self.seen.contains(kind))
    }

    /// True of a kernel that may be older than the fair scheduler (2.6.23): of two threads of SCHED_OTHER, the one of the better
    /// nice level was to preempt the other.
    pub(crate) fn may_rank_by_nice(&self, at: Ns) -> bool {
        self.bandwidth.at(at).kernel.is_some_and(|kernel| kernel <= (2, 6))
    }

    /// True where a CPU's events were recorded, or where it is not known of which CPUs they were.
    pub(crate) fn is_recorded(&self, cpu: Cpu) -> bool {
        self.recorded_cpus.as_ref().is_none_or(|recorded| recorded.contains(cpu))
    }

    /// True where a thread may have been on a CPU in `from..to` that was not recorded.
    pub(crate) fn may_be_out_of_sight(&self, thread: &Thread, from: Ns, to: Ns) -> bool {
        let within = |recorded: &CpuSet| thread.affinity.stays_within(from, to, recorded);
        !self.recorded_cpus.as_ref().is_none_or(within)
    }

    /// How much of the past it holds.
    pub(crate) fn held(&self) -> usize {
        let of_cpus: usize = self.cpus.iter().map(|(_, cpu)| cpu.held()).sum();
        of_cpus + self.threads.held() + self.losses.held()
    }

    /// Forgets what was over by `horizon`.
    pub(crate) fn forget(&mut self, horizon: Ns) {
        self.losses.forget(horizon);
        self.quota.forget(horizon);
        self.cpus.iter_mut().for_each(|cpu| cpu.forget(horizon));
        self.threads.forget(horizon);
        self.timers.forget(horizon);
        self.item_runs.forget(horizon);
    }
}
