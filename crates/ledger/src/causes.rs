//! The registry of causes: what makes a thread late. A cause is one file, its line here, and its page in
//! `docs/causes/` of this crate.

pub(crate) mod advised;
mod brief;
pub(crate) mod grace_period;
pub(crate) mod info;
mod kept_owner;
mod kernel_lock;
mod other_lock;

pub use info::CauseGroup;

use advised::Advised;
use info::{Blames, CauseInfo, LateActivation};
use std::fmt;
use whylate_base::AdvisedFix;

/// Declares the modules, makes [`Cause`] and collects what each module knows.
macro_rules! causes {
    ($($(#[$doc:meta])+ $variant:ident: $module:ident,)+) => {
        $(mod $module;)+

        /// Why time passed. The codes are stable and kebab-case; each has a page, [`Cause::page`].
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Cause {
            $($(#[$doc])+ $variant,)+
        }

        impl Cause {
            /// Every cause, in the order of the documentation.
            pub const ALL: [Cause; [$(stringify!($module)),+].len()] = [$(Cause::$variant,)+];

            pub(crate) fn info(self) -> &'static CauseInfo {
                match self {
                    $(Cause::$variant => &$module::CAUSE,)+
                }
            }
        }
    };
}

// A later place loses where two causes weigh the same; a new cause goes to the end of its group.
causes! {
    /// A thread of higher real-time priority held the CPU.
    HigherPriorityTask: higher_priority_task,
    /// A thread of the same real-time priority held the CPU.
    EqualPriorityTask: equal_priority_task,
    /// A SCHED_DEADLINE thread held the CPU.
    DeadlineTask: deadline_task,
    /// The stop class (migration/N) held the CPU.
    StopTask: stop_task,
    /// RT bandwidth control kept runnable RT threads off the CPU.
    RtThrottled: rt_throttled,
    /// The same, while RT use was clearly under the limit.
    CoarseClockThrottled: coarse_clock_throttled,
    /// The kernel's fair server ran SCHED_OTHER threads first.
    FairServer: fair_server,
    /// The kernel's ext server ran SCHED_EXT threads first.
    ExtServer: ext_server,
    /// A hard interrupt handler ran.
    Irq: irq,
    /// A softirq ran.
    Softirq: softirq,
    /// A non-maskable interrupt handler ran.
    Nmi: nmi,
    /// The kernel received packets for it.
    NapiPoll: napi_poll,
    /// The thread of the interrupt that wakes it waited for a CPU.
    IrqThreadDelayed: irq_thread_delayed,
    /// The thread of the interrupt that wakes it ran.
    IrqThread: irq_thread,
    /// The thread that polls the network device for it waited for a CPU.
    NapiThreadDelayed: napi_thread_delayed,
    /// The softirq that wakes it was left to a thread, which waited for a CPU.
    SoftirqDeferred: softirq_deferred,
    /// The work item that wakes it waited for a CPU.
    WorkItemDelayed: work_item_delayed,
    /// The work item that wakes it ran.
    WorkItem: work_item,
    /// A lower-priority task had interrupts disabled.
    IrqsDisabled: irqs_disabled,
    /// A lower-priority task kept the CPU after the wake-up.
    PreemptionDisabled: preemption_disabled,
    /// From a timer's expiry to its handler.
    TimerLate: timer_late,
    /// The slack that the timers of a SCHED_OTHER thread have.
    TimerSlack: timer_slack,
    /// The CPU left an idle state.
    IdleExit: idle_exit,
    /// The kernel's own path from wake-up to running: choosing the thread, switching to it.
    Dispatch: dispatch,
    /// Queued behind another task while an allowed CPU was idle.
    WakePlacement: wake_placement,
    /// Moved to another CPU, late.
    Migration: migration,
    /// Waited for a lock whose owner was itself kept off the CPU.
    LockInversion: lock_inversion,
    /// Waited for a lock whose owner was running.
    LockWait: lock_wait,
    /// The kernel handled its page fault.
    PageFault: page_fault,
    /// Waited for a device.
    BlockIo: block_io,
    /// Slept in the kernel until a timer woke it.
    KernelSleep: kernel_sleep,
    /// Its own execution.
    OwnWork: own_work,
    /// It sleeps relative to now, and so drifts.
    RelativeSleep: relative_sleep,
    /// It slept between two markers of its own.
    OwnWait: own_wait,
    /// A SCHED_OTHER thread waited for its turn.
    FairQueue: fair_queue,
    /// Another thread held the CPU, and which of the two comes first is not known.
    OtherTask: other_task,
    /// Another program stopped it.
    Stopped: stopped,
    /// The CPU controller's quota was used up.
    CgroupQuota: cgroup_quota,
    /// A limit on CPU time was used up; which one, the thread's priority would show.
    TimeLimit: time_limit,
    /// A SCHED_DEADLINE thread had used up its runtime.
    DeadlineThrottled: deadline_throttled,
    /// It pinned itself to a busy CPU before it raised its priority.
    PinnedBeforePriority: pinned_before_priority,
    /// Runnable to the end of the trace and never run.
    Starved: starved,
    /// Nothing at all happened on the CPU, not even its tick.
    Stolen: stolen,
    /// Events were lost here.
    TraceLoss: trace_loss,
    /// None of the above.
    Unexplained: unexplained,
}

impl Cause {
    /// The stable code, such as `rt-throttled`.
    pub fn code(self) -> &'static str {
        self.info().code
    }

    /// The cause of a [`Cause::code`].
    pub fn from_code(code: &str) -> Option<Cause> {
        Cause::ALL.into_iter().find(|cause| cause.code() == code)
    }

    /// The cause's page: what it means, how a trace shows it, what to do. Also in `docs/causes/` of this crate.
    pub fn page(self) -> &'static str {
        self.info().page
    }

    /// The group in which documents and colours show it.
    pub fn group(self) -> CauseGroup {
        self.info().group
    }

    /// How many causes of the same group precede it: a renderer's shade of the group's colour.
    pub fn place_in_group(self) -> usize {
        let before = Cause::ALL.into_iter().take_while(|&cause| cause != self);
        before.filter(|cause| cause.group() == self.group()).count()
    }

    /// True where it names something that can be changed, be it the late thread itself. The others name where the
    /// time passed, and not why.
    pub fn accuses(self) -> bool {
        self.info().blames != Blames::Nothing
    }

    /// True where the reason lies in the late thread itself.
    pub fn accuses_late_thread(self) -> bool {
        self.info().blames == Blames::LateThread
    }

    /// True where a finding with this code sums up all delays by one culprit.
    pub fn has_culprit_finding(self) -> bool {
        self.info().details.culprit_finding.is_some()
    }

    /// True where the culprit has the CPU while time is charged to this cause. A thread that used up a budget earlier
    /// has not.
    pub fn culprit_holds_cpu(self) -> bool {
        self.info().details.culprit_holds_cpu
    }

    /// True where the rules of the scheduling classes let the culprit run first: the late thread lacks nothing but a
    /// CPU.
    pub(crate) fn culprit_runs_first(self) -> bool {
        self.info().details.culprit_runs_first
    }

    /// True of any wait for a CPU behind another thread, by those rules or by turns.
    pub(crate) fn is_behind_thread(self) -> bool {
        self == Cause::FairQueue || self.culprit_runs_first()
    }

    /// What to do about it, best first.
    pub(crate) fn advice(self, of: &Advised<'_>) -> Vec<AdvisedFix> {
        match of.lock_owner.filter(|owner| self.culprit_runs_first() && of.by != Some(owner)) {
            Some(owner) => kept_owner::advice(of, owner, self.rule()),
            None => (self.info().advice)(of),
        }
    }

    /// Why an activation was late, in one sentence.
    pub(crate) fn why(self, late: &LateActivation<'_>) -> String {
        let sentence = self.info().why;
        let owner = late.lock_owner.filter(|owner| late.culprit != Some(owner) && !self.names_owner());
        match owner {
            Some(owner) if self.culprit_runs_first() => kept_owner::why(late, owner, self.rule()),
            Some(owner) => kept_owner::why_otherwise(late, owner, sentence),
            None => sentence(late),
        }
    }

    /// The rule by which another thread had the CPU of a lock's owner.
    fn rule(self) -> kept_owner::Rule {
        match self {
            Cause::EqualPriorityTask => kept_owner::Rule::SamePriority,
            Cause::FairQueue => kept_owner::Rule::TakesTurns,
            _ => kept_owner::Rule::GoesBefore,
        }
    }

    /// True where its own sentence names the owner of the lock that the late thread waited for.
    fn names_owner(self) -> bool {
        let names = [Cause::CgroupQuota, Cause::TimeLimit, Cause::Unexplained];
        self.group() == CauseGroup::Locks || names.contains(&self)
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.code())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::causes::info::ChargedTime;
    use crate::model::culprit::Culprit;
    use whylate_base::{Comm, Cpu, CpuSet, Ns, Priority, Tid};

    #[test]
    fn every_code_has_its_own_page() {
        for cause in Cause::ALL {
            assert_eq!(Cause::from_code(cause.code()), Some(cause));
            assert!(cause.page().starts_with(&format!("# {cause}\n")), "{cause}");
        }
    }

    /// A file that was made from another's copy has a code, a place and sentences of its own.
    #[test]
    fn every_cause_has_a_place_and_sentences_of_its_own() {
        let culprit =
            Culprit::Task { tid: Tid(7), comm: Comm::from("busy"), priority: Priority::realtime(90) };
        let late = LateActivation {
            name: "control".into(),
            thread: "control (rt 80)".into(),
            was_realtime: false,
            priority: Priority::realtime(80),
            is_deadline: false,
            cpu: Cpu(3),
            charged: Ns::from_us(70),
            response: Ns::from_us(90),
            culprit: Some(&culprit),
            culprit_own: None,
            namesakes: (1, Ns::from_us(70)),
            raised_by: None,
            carrier: None,
            lock_owner: None,
            owner_own: None,
            asked: None,
            slept_in: None,
            device_calls: &[],
            writeback: false,
            work_item: None,
            executed: None,
            goes_on: None,
            grace_period: false,
            write_protected: None,
            forked: false,
            stopped_by: None,
            is_traced: false,
            called: false,
            takes_turns: false,
            inherited_priority: false,
            waits_to_end: false,
            is_whole: true,
            growth: None,
            at_job_before: None,
            usual_work: Ns::from_us(1),
            work_misses: None,
            rt_runtime: None,
            rt_period: Ns::from_ms(1_000),
            is_guest: None,
            shows_page_faults: true,
            is_sure: true,
            starved_because: "had the CPU",
        };
        let of = Advised {
            by: Some(&culprit),
            priority: Some(Priority::realtime(80)),
            late: Some((Tid(8), Comm::from("control"))),
            cpu: Some(Cpu(3)),
            ..Advised::default()
        };
        let mut seen = std::collections::HashSet::new();
        for cause in Cause::ALL {
            let info = cause.info();
            let why = (info.why)(&late);
            assert!(why.len() > 20 && !why.ends_with('.'), "{cause}: {why}");
            assert!(seen.insert(why), "{cause} has the sentence of another cause");
            assert!(seen.insert(format!("{:?} {}", cause.group(), cause.place_in_group())), "{cause}");
            let advice = cause.advice(&of);
            let good = |fix: &AdvisedFix| fix.text.len() > 20 && !fix.text.ends_with('.');
            assert!(advice.iter().all(good), "{cause}: {advice:?}");
            assert!(!advice.is_empty() || cause == Cause::Dispatch, "{cause} has no advice");
            let time = ChargedTime {
                code: cause.code(),
                length: Ns::from_us(70),
                culprit: None,
                lock_owner: None,
                is_sure: true,
                running: None,
                expirer: None,
            };
            assert!((info.details.evidence)(&time).contains("70.00 us"), "{cause}");
        }
    }

    /// Whatever is known of culprit, thread and CPU: a fix names settings, or the reason why there are none.
    #[test]
    fn every_fix_is_machine_readable_or_states_why_not() {
        let task = |comm: &str, priority| Culprit::Task { tid: Tid(7), comm: Comm::from(comm), priority };
        let culprits = [
            None,
            Some(task("busy", Priority::realtime(90))),
            Some(task("busy", Priority::realtime(99))),
            Some(task("busy", Priority::DEFAULT)),
            Some(task("busy", Priority(-1))),
            Some(task("busy", Priority::UNKNOWN)),
            Some(task("", Priority::realtime(1))),
            Some(task("irq/27-eth0", Priority::realtime(50))),
            Some(Culprit::Irq { irq: Some(27), name: Default::default() }),
            Some(Culprit::Irq { irq: None, name: Default::default() }),
            Some(Culprit::Softirq { vec: 1 }),
            Some(Culprit::Softirq { vec: 3 }),
            Some(Culprit::Softirq { vec: 9 }),
        ];
        let priorities =
            [None, Some(Priority::realtime(1)), Some(Priority::realtime(80)), Some(Priority::DEFAULT)];
        let idle: CpuSet = "1-2".parse().expect("a list");
        for cause in Cause::ALL {
            let mut kinds = std::collections::HashSet::new();
            for by in &culprits {
                for priority in priorities {
                    for cpu in [None, Some(Cpu(3))] {
                        for tid in [7, 8] {
                            let late = Some((Tid(tid), Comm::from("control")));
                            let raised_by = culprits.first().and_then(Option::as_ref).filter(|_| tid == 7);
                            let of = Advised {
                                by: by.as_ref(),
                                priority,
                                late,
                                cpu,
                                raised_by,
                                idle: cpu.map(|_| &idle),
                                all_by: by.as_slice(),
                                ..Advised::default()
                            };
                            for fix in cause.advice(&of) {
                                assert_eq!(fix.action.flaw(), None, "{cause}: {fix:?}");
                                kinds.insert(fix.action.kind());
                            }
                        }
                    }
                }
            }
            let names_settings = kinds.iter().any(|&kind| kind != "code");
            let accuses_another = cause.accuses() && !cause.accuses_late_thread();
            let by_hand = [
                Cause::CgroupQuota,
                Cause::DeadlineTask,
                Cause::IrqThread,
                Cause::IrqsDisabled,
                Cause::LockWait,
                Cause::OtherTask,
                Cause::Stolen,
                Cause::StopTask,
                Cause::Stopped,
                Cause::WorkItem,
            ];
            assert!(names_settings || !accuses_another || by_hand.contains(&cause), "{cause}: {kinds:?}");
        }
    }

    #[test]
    fn a_thread_that_does_not_sleep_gets_no_real_time_priority() {
        let by = Culprit::Task { tid: Tid(7), comm: Comm::from("other"), priority: Priority::DEFAULT };
        let kinds = |priority, own_time| {
            let late = Some((Tid(8), Comm::from("batch")));
            let of = Advised {
                by: Some(&by),
                priority: Some(priority),
                late,
                cpu: Some(Cpu(0)),
                own_time,
                ..Advised::default()
            };
            Cause::FairQueue.advice(&of).iter().map(|fix| fix.action.kind()).collect::<Vec<_>>()
        };
        assert_eq!(kinds(Priority::DEFAULT, Ns::from_ms(6)), ["thread"]);
        assert_eq!(kinds(Priority::DEFAULT, Ns::from_ms(250)), ["code"]);
        assert_eq!(kinds(Priority::realtime(5), Ns::from_ms(250)), ["thread"]);
    }

    #[test]
    fn the_thread_that_used_up_the_time_may_become_sched_other() {
        let hog = |priority| Culprit::Task { tid: Tid(7), comm: Comm::from("hog"), priority };
        let of = |by: &Culprit, late| {
            let late = Some((Tid(late), Comm::from("control")));
            let priority = Some(Priority::realtime(80));
            let of = Advised { by: Some(by), priority, late, cpu: Some(Cpu(0)), ..Advised::default() };
            Cause::RtThrottled.advice(&of).into_iter().nth(1).map(|fix| fix.action)
        };
        let Some(whylate_base::Action::Thread { set }) = of(&hog(Priority::realtime(1)), 8) else {
            panic!("a thread's policy")
        };
        assert_eq!((set[0].policy.as_deref(), set[0].priority), (Some("other"), Some(0)));
        for (by, late) in [(hog(Priority::realtime(1)), 7), (hog(Priority(-1)), 8)] {
            assert_eq!(of(&by, late).map(|action| action.kind()), Some("code"));
        }
    }

    #[test]
    fn a_thread_that_never_sleeps_is_not_moved_to_where_it_delays_others() {
        let hog = Culprit::Task { tid: Tid(7), comm: Comm::from("hog"), priority: Priority::realtime(1) };
        let action = |charged| {
            let of = Advised { by: Some(&hog), cpu: Some(Cpu(1)), charged, ..Advised::default() };
            Cause::PinnedBeforePriority.advice(&of).pop().map(|fix| fix.action)
        };
        let Some(whylate_base::Action::Thread { set }) = action(Ns::from_ms(2_000)) else {
            panic!("a policy")
        };
        assert_eq!((set[0].policy.as_deref(), set[0].not_cpus.as_deref()), (Some("other"), None));
        let Some(whylate_base::Action::Thread { set }) = action(Ns::from_ms(2)) else { panic!("CPUs") };
        assert_eq!((set[0].policy.as_deref(), set[0].not_cpus.as_deref()), (None, Some("1")));
    }

    #[test]
    fn what_is_moved_leaves_all_cpus_of_the_late_thread() {
        let late_cpus = "0-1".parse().ok();
        let hog = Culprit::Task { tid: Tid(7), comm: Comm::from("hog"), priority: Priority::realtime(60) };
        let of = Advised {
            by: Some(&hog),
            priority: Some(Priority::realtime(50)),
            late: Some((Tid(8), Comm::from("control"))),
            cpu: Some(Cpu(1)),
            late_cpus: late_cpus.as_ref(),
            ..Advised::default()
        };
        let first = Cause::HigherPriorityTask.advice(&of).into_iter().next().expect("a fix");
        let whylate_base::Action::Thread { set } = first.action else { panic!("CPUs of a thread") };
        assert_eq!(set[0].not_cpus.as_deref(), Some("0-1"));
        assert!(first.text.contains("on which the late thread does not run"), "{}", first.text);
    }

    #[test]
    fn groups_hold_every_cause() {
        let grouped = CauseGroup::ALL.iter().map(|group| {
            let members = Cause::ALL.iter().filter(|cause| cause.group() == *group).count();
            assert!(members > 0, "{group:?} is empty");
            members
        });
        assert_eq!(grouped.sum::<usize>(), Cause::ALL.len());
    }
}
