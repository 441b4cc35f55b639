//! The machine: CPUs, settings of the kernel, costs.

use super::kernel::{Bandwidth, KernelSeries};
use whylate_base::{CpuSet, Ns};

/// A machine.
#[derive(Clone, Debug, PartialEq)]
pub struct Machine {
    /// The kernel's version.
    pub kernel: KernelSeries,
    /// Whether it is PREEMPT_RT: handlers of interrupts and softirqs run in threads.
    pub preempt_rt: bool,
    /// Whether it is a guest of a hypervisor, which may take its CPUs away.
    pub guest: bool,
    /// How many CPUs it has.
    pub cpus: u32,
    /// CPUs among which the scheduler does not balance (`isolcpus=`).
    pub isolated: CpuSet,
    /// The time between two ticks.
    pub tick: Ns,
    /// When the first tick is.
    pub first_tick: Ns,
    /// The scheduler's clock.
    pub clock: AccountingClock,
    /// The time of interrupts counts as that of the thread below them: a kernel without CONFIG_IRQ_TIME_ACCOUNTING, or with a
    /// clock that is too slow or unstable for it.
    pub interrupts_count: bool,
    /// `kernel.sched_rt_runtime_us`; `None`: -1, no limit.
    pub rt_runtime: Option<Ns>,
    /// `kernel.sched_rt_period_us`
    pub rt_period: Ns,
    /// When the first period of real-time bandwidth ends; `None`: one period after the first real-time thread wakes.
    pub rt_period_end: Option<Ns>,
    /// What real-time threads have used of it at the beginning, by CPU; nothing on CPUs beyond the list.
    pub rt_used: Vec<Ns>,
    /// CONFIG_RT_GROUP_SCHED
    pub rt_group_sched: bool,
    /// The deadline server of each CPU, where the kernel has one.
    pub fair_server: FairServer,
    /// `kernel.sched_rr_timeslice_ms`
    pub rr_slice: Ns,
    /// The slice of SCHED_OTHER threads (`base_slice_ns`).
    pub fair_slice: Ns,
    /// What the kernel's own work costs.
    pub costs: Costs,
}

/// The clock by which the scheduler counts the time that threads use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccountingClock {
    /// Nanoseconds (a TSC, an architectural timer).
    Precise,
    /// It advances with the tick alone (jiffies).
    Tick,
}

/// The deadline server for SCHED_OTHER threads (`/sys/kernel/debug/sched/fair_server/cpuN`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FairServer {
    /// Its runtime in each period; zero is off.
    pub runtime: Ns,
    /// Its period.
    pub period: Ns,
}

/// Constant costs of the kernel's own work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Costs {
    /// From the decision to the switch.
    pub switch: Ns,
    /// A timer's interrupt, with the wake-up that it makes.
    pub timer: Ns,
    /// A tick's interrupt.
    pub tick: Ns,
    /// From an interrupt on an idle CPU to its handler.
    pub idle_exit: Ns,
}

impl Machine {
    /// A machine with the defaults of a kernel: 250 Hz, `sched_rt_runtime_us` 950000, a fair server of 50 ms from 6.12 on.
    pub fn new(kernel: KernelSeries, cpus: u32) -> Machine {
        // `get_update_sysctl_factor` (`kernel/sched/fair.c`): 1 + log2 of the CPUs, of 8 at most.
        let factor = 1 + i64::from(cpus.clamp(1, 8).ilog2());
        Machine {
            kernel,
            preempt_rt: false,
            guest: false,
            cpus,
            isolated: CpuSet::new(),
            tick: Ns::from_ms(4),
            first_tick: Ns::from_ms(4),
            clock: AccountingClock::Precise,
            interrupts_count: false,
            rt_runtime: Some(Ns::from_ms(950)),
            rt_period: Ns::from_secs(1),
            rt_period_end: None,
            rt_used: Vec::new(),
            rt_group_sched: false,
            fair_server: FairServer { runtime: Ns::from_ms(50), period: Ns::from_secs(1) },
            rr_slice: Ns::from_ms(100),
            fair_slice: Ns::from_us(750 * factor),
            costs: Costs::default(),
        }
    }

    /// How real-time threads are kept from taking a whole CPU.
    pub fn bandwidth(&self) -> Bandwidth {
        self.kernel.bandwidth(self.rt_group_sched)
    }

    /// The runtime of real-time threads in each period, where they can be throttled.
    pub fn throttle(&self) -> Option<Ns> {
        self.rt_runtime.filter(|&runtime| self.bandwidth().throttles() && runtime < self.rt_period)
    }

    /// The server of SCHED_OTHER threads, where there is one and it is on.
    pub fn server(&self) -> Option<FairServer> {
        Some(self.fair_server).filter(|server| self.bandwidth().serves() && server.runtime > Ns::ZERO)
    }
}
