//! What takes the place of values of a task set.

use crate::model::{FairServer, KernelSeries, Machine};
use whylate_base::{CpuSet, Ns};

/// What the command line sets instead of the file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Overrides {
    /// The kernel's version; with `rt` in the release it is PREEMPT_RT.
    pub kernel: Option<(KernelSeries, bool)>,
    /// How many CPUs.
    pub cpus: Option<u32>,
    /// What is known of a real machine.
    pub settings: MachineSettings,
}

/// Settings of a real machine; `None` for what is not known of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MachineSettings {
    /// `kernel.sched_rt_runtime_us`; `Some(None)`: -1, no limit.
    pub rt_runtime: Option<Option<Ns>>,
    /// `kernel.sched_rt_period_us`
    pub rt_period: Option<Ns>,
    /// `kernel.sched_rr_timeslice_ms`
    pub rr_slice: Option<Ns>,
    /// The time between two ticks, of CONFIG_HZ.
    pub tick: Option<Ns>,
    /// CONFIG_RT_GROUP_SCHED
    pub rt_group_sched: Option<bool>,
    /// CPUs among which the scheduler does not balance.
    pub isolated: Option<CpuSet>,
    /// The deadline server of each CPU.
    pub fair_server: Option<FairServer>,
}

impl MachineSettings {
    /// Sets what is known.
    pub(super) fn apply_to(&self, machine: &mut Machine) {
        fn set<T: Clone>(value: &mut T, known: &Option<T>) {
            if let Some(known) = known {
                value.clone_from(known);
            }
        }
        set(&mut machine.rt_runtime, &self.rt_runtime);
        set(&mut machine.rt_period, &self.rt_period);
        set(&mut machine.rr_slice, &self.rr_slice);
        set(&mut machine.tick, &self.tick);
        set(&mut machine.first_tick, &self.tick);
        set(&mut machine.rt_group_sched, &self.rt_group_sched);
        set(&mut machine.isolated, &self.isolated);
        set(&mut machine.fair_server, &self.fair_server);
    }
}
