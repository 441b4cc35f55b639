//! What to do about a cause, best first.

use crate::cause::Cause;
use crate::model::Culprit;
use crate::verdict::name;
use whylate_base::{Priority, SchedClass};

/// The ways out where `expirer`, the thread that runs expired timers, had to wait for `by`.
pub(crate) fn expirer(expirer: &Culprit, by: Option<&Culprit>) -> Vec<String> {
    let (expirer, who) = (name(expirer), by.map_or_else(|| "the other thread".to_owned(), name));
    vec![
        "sleep at a real-time priority with clock_nanosleep(2): on PREEMPT_RT only such timers expire in the \
         interrupt itself, those of other threads, timerfds and signals in a thread"
            .to_owned(),
        format!("give {expirer} a priority above {who}: chrt -f -p PRIORITY TID; risk: all timers' callbacks run before it"),
        format!("move {who} to another CPU: taskset -pc CPUS TID"),
    ]
}

/// The ways out of `cause`, for a victim of priority `victim`.
pub(crate) fn advice(cause: Cause, by: Option<&Culprit>, victim: Priority) -> Vec<String> {
    let who = by.map_or_else(|| "the other thread".to_owned(), name);
    match cause {
        Cause::HigherPriorityTask | Cause::EqualPriorityTask if irq_thread(by).is_some() => {
            let (irq, _) = irq_thread(by).unwrap_or_default();
            vec![
                format!("move the interrupt to another CPU, and its thread goes with it: /proc/irq/{irq}/smp_affinity_list"),
                format!("give {who} a priority below the victim's: chrt -f -p PRIORITY TID; risk: its device waits then"),
            ]
        }
        Cause::HigherPriorityTask => vec![
            format!("move {who} to another CPU: taskset -pc CPUS TID, or isolate the victim's CPU"),
            match victim.class() {
                SchedClass::Fair => "give the victim a real-time priority: chrt -f -p PRIORITY TID".to_owned(),
                _ => format!("if {who} matters less, give it a priority below the victim's: chrt -f -p PRIORITY TID"),
            },
            "if nobody needs it, stop the service that starts it".to_owned(),
        ],
        Cause::EqualPriorityTask => vec![
            format!("give the more urgent of the two, the victim or {who}, the higher priority"),
            "run them on different CPUs".to_owned(),
        ],
        Cause::DeadlineTask => vec![
            format!("reserve less for {who}: a smaller runtime, or a longer period (chrt -d)"),
            "keep SCHED_DEADLINE threads off the victim's CPU with an exclusive cpuset".to_owned(),
        ],
        Cause::StopTask => vec![
            "find what moves threads or reads per-CPU state: affinity changes, CPU hotplug, module loading, text patching"
                .to_owned(),
        ],
        Cause::RtThrottled => vec![
            format!("let {who} sleep or yield the CPU, or move it to another CPU: nobody may use 95 % of a CPU at a real-time priority"),
            "sysctl kernel.sched_rt_runtime_us=-1 turns throttling off for the whole machine; risk: a real-time thread that loops then hangs its CPU".to_owned(),
            "with throttling off, run stalld, so that starving threads are still helped".to_owned(),
        ],
        Cause::CoarseClockThrottled => vec![
            "sysctl kernel.sched_rt_runtime_us=-1: with this clock the limit measures nothing".to_owned(),
            "use a scheduler clock finer than the tick: a TSC that the kernel counts with (see dmesg)".to_owned(),
        ],
        Cause::FairServer => vec![
            "leave SCHED_OTHER threads some of this CPU's time, or keep them off it: the server only helps the starving".to_owned(),
            "echo 0 > /sys/kernel/debug/sched/fair_server/cpuN/runtime turns it off for that CPU; kernel.sched_rt_runtime_us=-1 does not; risk: kernel threads on it starve".to_owned(),
        ],
        Cause::ExtServer => vec!["echo 0 > /sys/kernel/debug/sched/ext_server/cpuN/runtime turns it off for that CPU".to_owned()],
        Cause::Irq if matches!(by, Some(Culprit::Irq { irq: None, .. })) => vec![
            "it is the CPU's own timer or a call from another CPU, and cannot be moved: take work off this CPU \
             (isolcpus=, nohz_full=, an isolated cpuset partition)"
                .to_owned(),
            "let fewer timers expire at once, or arm them on another CPU: the evidence says whose they are, where timers were \
             recorded"
                .to_owned(),
        ],
        Cause::Irq => vec![
            "move the interrupt to another CPU: /proc/irq/N/smp_affinity_list, then check effective_affinity_list".to_owned(),
            "boot with threadirqs, or use a PREEMPT_RT kernel, so that its handler is a thread with a priority".to_owned(),
        ],
        Cause::Softirq => softirq(by),
        Cause::Nmi => vec!["turn off what uses NMIs: perf, the hard lockup detector (sysctl kernel.nmi_watchdog=0)".to_owned()],
        Cause::IrqsDisabled => vec![
            format!("find the section: trace {who} with the irqsoff tracer, where the kernel has it"),
            "use a PREEMPT_RT kernel, which disables interrupts far less".to_owned(),
        ],
        Cause::PreemptionDisabled => vec![
            "use a fully preemptible kernel: preempt=full, or PREEMPT_RT".to_owned(),
            format!("find the section: trace {who} with the preemptoff tracer, where the kernel has it"),
        ],
        Cause::TimerLate => vec![
            "record the workload with -e raw_syscalls: the system calls of all threads tell a thread that had \
             interrupts disabled from a CPU that was taken away"
                .to_owned(),
        ],
        Cause::TimerSlack => vec!["make the thread real-time, or set its slack: prctl(PR_SET_TIMERSLACK, 1)".to_owned()],
        Cause::IdleExit => vec![
            "keep the CPU out of deep idle states: hold /dev/cpu_dma_latency open at 0, or boot with cpuidle.off=1".to_owned(),
        ],
        Cause::LockInversion => vec![
            "use a lock with priority inheritance: pthread_mutexattr_setprotocol(PTHREAD_PRIO_INHERIT)".to_owned(),
            format!("keep {who} off the lock owner's CPU"),
        ],
        Cause::LockWait => vec![
            format!("hold the lock for a shorter time in {who}, or do not share it with the victim"),
            "give it priority inheritance, so that the wait stays bounded: PTHREAD_PRIO_INHERIT".to_owned(),
        ],
        Cause::PageFault => vec![
            "mlockall(MCL_CURRENT | MCL_FUTURE) at start, and touch all stack and heap before the loop begins".to_owned(),
            "allocate nothing in the loop; with glibc: mallopt(M_TRIM_THRESHOLD, -1), mallopt(M_MMAP_MAX, 0)".to_owned(),
        ],
        Cause::BlockIo => vec!["hand input and output to another thread: a real-time loop must not wait for a device".to_owned()],
        Cause::OwnWork => vec!["look for what the thread did differently here: its own code ran".to_owned()],
        Cause::RelativeSleep => vec![
            "sleep until the next period's instant: clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL)".to_owned(),
        ],
        Cause::FairQueue => vec!["give the thread a real-time priority: chrt -f -p PRIORITY TID".to_owned()],
        Cause::CgroupQuota => vec![
            "raise or remove the quota of the thread's cgroup: cpu.max (v1: cpu.cfs_quota_us); in Kubernetes the CPU limit".to_owned(),
            "let it save some for later: cpu.max.burst (v1: cpu.cfs_burst_us, Linux 5.14)".to_owned(),
        ],
        Cause::PinnedBeforePriority => vec![
            "call sched_setscheduler first and sched_setaffinity second".to_owned(),
            format!("do not let {who} use a whole CPU"),
        ],
        Cause::Starved => vec![
            format!("find out why {who} does not let go of the CPU"),
            "run stalld or leave the fair server on, so that starving threads are helped".to_owned(),
        ],
        Cause::Stolen => vec![
            "on a guest: give its CPUs exclusive host CPUs, and look for steal time in /proc/stat".to_owned(),
            "on hardware: look for SMIs (the hwlat tracer; turbostat shows the SMI count), and turn off what raises them in the firmware".to_owned(),
        ],
        Cause::WakePlacement => vec![
            "pin each of the threads to a CPU of its own: taskset -pc CPU TID".to_owned(),
            "isolated CPUs (isolcpus=, /sys/devices/system/cpu/isolated) are not balanced: a SCHED_OTHER thread stays on the \
             one it is on, however many it may use"
                .to_owned(),
        ],
        Cause::Migration => vec!["pin the thread to its CPU once, after raising its priority".to_owned()],
        Cause::TraceLoss => vec!["record again with a larger --buffer, or fewer events".to_owned()],
        Cause::Dispatch => Vec::new(),
        Cause::Unexplained => {
            vec!["record again with `whylate record`, which takes all the events the ledger can use".to_owned()]
        }
    }
}

/// The line and the action's name of an interrupt's thread, `irq/27-eth0`; a shared line's second
/// handler has one of its own, `irq/27-s-eth0` (`kernel/irq/manage.c`).
pub(super) fn irq_thread(by: Option<&Culprit>) -> Option<(u32, &str)> {
    let Some(Culprit::Task { comm, .. }) = by else { return None };
    let (irq, action) = comm.as_str().strip_prefix("irq/")?.split_once('-')?;
    Some((irq.parse().ok()?, action.strip_prefix("s-").unwrap_or(action)))
}

/// What to do about a softirq depends on which it is (`include/linux/interrupt.h`).
fn softirq(by: Option<&Culprit>) -> Vec<String> {
    let lines: &[&str] = match by {
        Some(Culprit::Softirq { vec: 2 | 3 }) => &[
            "move the network interrupt, or the thread that sends, to another CPU",
            "steer received packets away from this CPU: /sys/class/net/DEV/queues/rx-N/rps_cpus",
        ],
        Some(Culprit::Softirq { vec: 9 }) => {
            &["let other CPUs run RCU's callbacks: rcu_nocbs=CPUS on the command line"]
        }
        Some(Culprit::Softirq { vec: 1 | 7 | 8 }) => &[
            "take timers and load balancing off this CPU: isolcpus=, nohz_full=, an isolated cpuset partition",
        ],
        _ => &["move the interrupt or the thread that raises this softirq to another CPU"],
    };
    lines.iter().map(|line| (*line).to_owned()).collect()
}

/// What to do about a thread that only runs before the victim because it holds a lock.
pub(super) fn boosted() -> Vec<String> {
    vec![
        "hold the lock for a shorter time: its owner inherits the priority of the thread that waits for it"
            .to_owned(),
        "do not share that lock with threads of higher priority than the victim".to_owned(),
    ]
}
