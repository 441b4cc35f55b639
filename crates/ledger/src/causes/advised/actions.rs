//! What can be done to the threads, interrupts and CPUs that advice is about.

use super::{Advised, LONG_RUN, UNNAMED, WORK_ITEM, WORKQUEUE_CPUS};
use crate::causes::brief;
use crate::model::culprit::{Culprit, is_stand_in};
use crate::timeline::housekeeping::{is_kworker, is_of_one_cpu};
use whylate_base::{
    Action, AdvisedFix, Comm, Cpu, CpuSet, IrqAction, SchedClass, ThreadAction, Tid, UnitAction,
};

impl Advised<'_> {
    /// That CPU, and those on which the late thread runs otherwise, as a list; `None`: not known.
    fn cpus_to_leave(&self) -> Option<String> {
        let cpu = self.cpu.filter(|cpu| cpu.known().is_some())?;
        let late = self.late_cpus.into_iter().flat_map(CpuSet::iter).filter(|cpu| cpu.known().is_some());
        Some(late.chain([cpu]).collect::<CpuSet>().to_string())
    }

    fn culprit_thread(&self) -> Option<ThreadAction> {
        let Culprit::Task { tid, comm, .. } = self.by? else { return None };
        named(*tid, comm)
    }

    fn late_thread(&self) -> Option<ThreadAction> {
        let (tid, comm) = self.late.as_ref()?;
        named(*tid, comm)
    }

    /// The culprit goes to the other CPUs.
    pub(crate) fn move_culprit(&self) -> Action {
        if self.is_itself() {
            return Action::by_hand("the late thread itself used the time");
        }
        match (self.culprit_thread(), self.cpus_to_leave()) {
            (Some(thread), cpus @ Some(_)) => Action::thread(ThreadAction { not_cpus: cpus, ..thread }),
            (None, _) => Action::by_hand(UNNAMED),
            (_, None) => Action::by_hand("the recording does not show on which CPU it happened"),
        }
    }

    /// That fix, in words.
    pub(crate) fn culprit_moved(&self) -> AdvisedFix {
        self.culprit_moved_with("")
    }

    /// The same, with what there is to add: `; timers expire where they are armed`.
    pub(crate) fn culprit_moved_with(&self, addition: &str) -> AdvisedFix {
        let culprit = self.the_culprit();
        self.moved_with(format!("move {culprit} to another CPU: taskset -pc CPUS TID{addition}"), addition)
    }

    /// The same, in these words; a thread that belongs to its CPU cannot be moved, nor can a kworker.
    pub(crate) fn moved(&self, text: String) -> AdvisedFix {
        self.moved_with(text, "")
    }

    fn moved_with(&self, text: String, addition: &str) -> AdvisedFix {
        if self.culprit_is_kworker() && !self.culprit_is_of_one_cpu() {
            let text = format!(
                "{} cannot be moved by taskset: keep the work of unbound workqueues away from that CPU, \
                 /sys/devices/virtual/workqueue/cpumask, or /sys/devices/virtual/workqueue/NAME/cpumask of one of them",
                self.the_culprit()
            );
            return AdvisedFix::by_hand(text, WORKQUEUE_CPUS);
        }
        if self.brief.is_some_and(|brief| self.by == Some(&brief)) {
            return brief::start_elsewhere(&self.the_culprit(), addition, self.move_culprit());
        }
        if !self.culprit_is_of_one_cpu() {
            return AdvisedFix::new(text, self.move_culprit());
        }
        let text = format!(
            "{} belongs to its CPU and cannot be moved: find out what queues work for it there, and move that",
            self.the_culprit()
        );
        AdvisedFix::by_hand(text, "a kernel thread of one CPU has no other")
    }

    /// The culprit gets a priority below that of the late thread.
    pub(crate) fn lower_culprit(&self) -> Action {
        let Some(Culprit::Task { priority, .. }) = self.by else { return Action::by_hand(UNNAMED) };
        if !matches!(priority.class(), SchedClass::Realtime) {
            return Action::by_hand("its class is not SCHED_FIFO or SCHED_RR: the program asks for it");
        }
        match (self.culprit_thread(), self.late_priority()) {
            (_, None) => Action::by_hand("the recording does not show the priority of the late thread"),
            (None, _) => Action::by_hand(UNNAMED),
            (Some(thread), Some(0 | 1)) => {
                Action::thread(ThreadAction { policy: Some("other".to_owned()), priority: Some(0), ..thread })
            }
            (Some(thread), Some(late)) => Action::thread(ThreadAction { priority: Some(late - 1), ..thread }),
        }
    }

    /// The culprit, a real-time thread, becomes SCHED_OTHER.
    pub(crate) fn demote_culprit(&self) -> Action {
        let Some(Culprit::Task { priority, .. }) = self.by else { return Action::by_hand(UNNAMED) };
        if self.is_itself() {
            return Action::by_hand("the late thread itself used the time");
        }
        match (priority.class(), self.culprit_thread()) {
            (SchedClass::Realtime, Some(thread)) => {
                Action::thread(ThreadAction { policy: Some("other".to_owned()), priority: Some(0), ..thread })
            }
            (SchedClass::Realtime, None) => Action::by_hand(UNNAMED),
            _ => Action::by_hand("its class is not SCHED_FIFO or SCHED_RR: the program asks for it"),
        }
    }

    /// `advice` to raise the late thread. A worker of the kernel runs the work items of many, and workers are made and ended as they
    /// are needed (`kernel/workqueue.c`): there, the workqueue is to be raised.
    pub(crate) fn late_raised(&self, advice: &str) -> AdvisedFix {
        match self.late.as_ref().filter(|(_, comm)| is_kworker(comm.as_str())) {
            Some((_, comm)) => AdvisedFix::by_hand(
                format!(
                    "{comm} is a worker of the kernel and runs the work items of many: lower the nice value of its workqueue \
                     (/sys/devices/virtual/workqueue/NAME/nice, where it is there), or queue the work item with WQ_HIGHPRI"
                ),
                WORK_ITEM,
            ),
            None => AdvisedFix::new(advice.to_owned(), self.raise_late()),
        }
    }

    /// The late thread gets a priority above that of the culprit, and a real-time policy if it has none: unless it would
    /// keep all other threads off its CPU then.
    pub(crate) fn raise_late(&self) -> Action {
        if self.own_time >= LONG_RUN && self.late_is_fair() {
            return Action::by_hand(format!(
                "the late thread ran for {} without a sleep: with a real-time priority it would keep every other thread off \
                 its CPU for as long",
                self.own_time
            ));
        }
        self.raise(self.late_thread(), "the recording does not name the late thread")
    }

    /// The thread that was to wake the late thread gets a priority above that of the culprit. It is the kernel's, and known by
    /// its name; `otherwise` is what it is called where it is not known, and `addition` follows.
    pub(crate) fn carrier_raised(&self, otherwise: &str, addition: &str) -> AdvisedFix {
        let (carrier, by) =
            (self.carrier.map_or_else(|| otherwise.to_owned(), Culprit::to_string), self.the_culprit());
        let thread = match self.carrier {
            Some(Culprit::Task { tid, comm, .. }) => named(*tid, comm),
            _ => None,
        };
        let thread = thread.map(|thread| ThreadAction { tid: None, ..thread });
        AdvisedFix::new(
            format!("give {carrier} a priority above {by}: chrt -f -p PRIORITY TID{addition}"),
            self.raise(thread, "the recording does not name the thread that waited"),
        )
    }

    /// A thread gets a priority above that of the culprit.
    fn raise(&self, thread: Option<ThreadAction>, unnamed: &str) -> Action {
        match (thread, self.above_culprit()) {
            (Some(thread), Some(priority @ ..99)) => {
                Action::thread(ThreadAction { priority: Some(priority), ..thread })
            }
            (None, _) => Action::by_hand(unnamed),
            _ => Action::by_hand("no priority above that of the other thread is left"),
        }
    }

    /// The lowest real-time priority above that of the culprit; `None`: there is none.
    fn above_culprit(&self) -> Option<u32> {
        let Some(Culprit::Task { priority, .. }) = self.by else { return Some(1) };
        match priority.class() {
            SchedClass::Realtime => priority.realtime_user().and_then(|user| u32::try_from(user + 1).ok()),
            SchedClass::Fair => Some(1),
            _ => None,
        }
    }

    /// The late thread stays on its CPU.
    pub(crate) fn pin_late(&self) -> Action {
        match (self.late_thread(), self.cpu_list()) {
            (Some(thread), cpus @ Some(_)) => Action::thread(ThreadAction { cpus, ..thread }),
            _ => Action::by_hand("the recording does not show the thread and its CPU"),
        }
    }

    /// The late thread gets an idle CPU of its own, and so does each thread that it waited for, as long as there are some.
    pub(crate) fn spread(&self) -> Vec<ThreadAction> {
        let culprits = self.all_by.iter().filter_map(|by| match by {
            Culprit::Task { tid, comm, .. } if !is_of_one_cpu(comm.as_str()) => named(*tid, comm),
            _ => None,
        });
        let idle = self.idle.into_iter().flat_map(CpuSet::iter);
        let on = |(thread, cpu): (ThreadAction, Cpu)| ThreadAction { cpus: Some(cpu.to_string()), ..thread };
        self.late_thread().into_iter().chain(culprits).zip(idle).map(on).collect()
    }

    /// The service of the culprit stops.
    pub(crate) fn stop_service(&self) -> Action {
        match self.culprit_thread() {
            Some(thread) if !self.is_itself() => Action::Unit {
                set: vec![UnitAction {
                    thread: Some(thread.thread),
                    runs: Some(false),
                    ..UnitAction::default()
                }],
            },
            _ => Action::by_hand(UNNAMED),
        }
    }

    /// The culprit, an interrupt or its thread, goes to the other CPUs.
    pub(crate) fn move_irq(&self) -> Action {
        let irq = match self.by {
            Some(Culprit::Irq { irq, name }) => Some((*irq, name.as_str().to_owned())),
            Some(by) => by.irq_thread().map(|(irq, action)| (Some(irq), action.to_owned())),
            None => None,
        };
        match (irq.filter(|(irq, name)| irq.is_some() || !name.is_empty()), self.cpus_to_leave()) {
            (Some((irq, name)), not_cpus @ Some(_)) => {
                Action::Irq { set: vec![IrqAction { irq, name, cpus: None, not_cpus }] }
            }
            _ => Action::by_hand("the recording does not show the interrupt and its CPU"),
        }
    }

    /// The CPU is isolated at the next boot.
    pub(crate) fn isolate(&self) -> Action {
        match self.cpu_list() {
            Some(cpu) => Action::parameters(&format!("isolcpus=managed_irq,domain,{cpu} nohz_full={cpu}")),
            None => Action::by_hand("the recording does not show on which CPU it happened"),
        }
    }
}

fn named(tid: Tid, comm: &Comm) -> Option<ThreadAction> {
    let name = comm.to_string();
    let tid_known = (!is_stand_in(tid) && !tid.is_idle()).then_some(tid.0);
    (!name.is_empty() && !tid.is_idle() && !name.contains('\u{fffd}')).then(|| ThreadAction {
        thread: name,
        tid: tid_known,
        ..ThreadAction::default()
    })
}
