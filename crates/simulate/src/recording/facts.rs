//! What a recording has of its machine, and what is taken for granted instead.

use super::ticks::KernelTimers;
use crate::model::{FairServer, KernelSeries, Machine};
use whylate_base::{Cpu, CpuSet, Ns};
use whylate_events::{Fact, TraceInfo};

/// Where the recording does not name its kernel.
const UNKNOWN_KERNEL: KernelSeries = KernelSeries::new(6, 12);

/// The facts about the machine in a recording.
#[derive(Debug, Default)]
pub(super) struct MachineFacts {
    rt_runtime_us: Option<i64>,
    rt_period_us: Option<i64>,
    rt_group_sched: Option<bool>,
    preempt_rt: Option<bool>,
    fair_server_ns: Option<u64>,
    hypervisor: Option<bool>,
    isolated: Option<CpuSet>,
    recorded_cpus: Option<CpuSet>,
}

impl MachineFacts {
    /// Takes in a fact; one about a thread is given back.
    pub(super) fn take(&mut self, fact: Fact) -> Option<Fact> {
        match fact {
            Fact::RtRuntimeUs(us) => self.rt_runtime_us = Some(us),
            Fact::RtPeriodUs(us) => self.rt_period_us = Some(us).filter(|&us| us > 0),
            Fact::RtGroupSched(on) => self.rt_group_sched = Some(on),
            Fact::PreemptRt(on) => self.preempt_rt = Some(on),
            Fact::FairServerNs(ns) => self.fair_server_ns = Some(ns),
            Fact::Isolated(cpus) => self.isolated = Some(cpus),
            Fact::RecordedCpus(cpus) => {
                let all = self.recorded_cpus.get_or_insert_default();
                cpus.iter().for_each(|cpu| all.insert(cpu));
            }
            Fact::Hypervisor(on) => self.hypervisor = Some(on),
            Fact::TaintedModule { .. } | Fact::Callback { .. } => {}
            Fact::Policy { .. } | Fact::Affinity { .. } | Fact::Workload { .. } => return Some(fact),
        }
        None
    }

    pub(super) fn is_preempt_rt(&self, info: &TraceInfo) -> bool {
        let named = || info.kernel_release.as_deref().is_some_and(|release| release.contains("rt"));
        self.preempt_rt.unwrap_or_else(named)
    }

    /// The machine, and what of it the recording does not have.
    pub(super) fn machine(
        &self,
        info: &TraceInfo,
        cpus: u32,
        start: Ns,
        timers: &KernelTimers,
    ) -> (Machine, Vec<String>) {
        let mut notes = Vec::new();
        let kernel = info.kernel_release.as_deref().and_then(|release| release.parse().ok());
        if kernel.is_none() {
            notes.push(format!(
                "the recording does not name its kernel: it is taken for {UNKNOWN_KERNEL} (--set kernel=VERSION)"
            ));
        }
        let mut machine = Machine::new(kernel.unwrap_or(UNKNOWN_KERNEL), cpus);
        machine.preempt_rt = self.is_preempt_rt(info);
        machine.guest = self.hypervisor.unwrap_or(false);
        machine.rt_group_sched = self.rt_group_sched.unwrap_or(false);
        match self.rt_runtime_us {
            Some(us) => machine.rt_runtime = Some(Ns::from_us(us)).filter(|_| us >= 0),
            None => notes.push(
                "the recording does not have sched_rt_runtime_us: it is taken for 950000 (--set throttling=off)"
                    .to_owned(),
            ),
        }
        if let Some(us) = self.rt_period_us {
            machine.rt_period = Ns::from_us(us);
        }
        if let Some(ns) = self.fair_server_ns {
            let runtime = Ns(i64::try_from(ns).unwrap_or(0));
            machine.fair_server = FairServer { runtime, ..machine.fair_server };
        } else if machine.bandwidth().serves() && timers.show_no_server() {
            machine.fair_server.runtime = Ns::ZERO;
            notes.push(
                "no fair server is armed in the recording: it is taken to be off (--set fair-server=on)"
                    .to_owned(),
            );
        }
        if let Some(isolated) = &self.isolated {
            machine.isolated = isolated.iter().filter(|cpu| cpu.0 < cpus).collect();
        }
        if let Some((tick, first)) = timers.tick(start) {
            machine.tick = tick;
            machine.first_tick = first;
        }
        // What ends a wait of real-time threads on other kernels is no period of their bandwidth.
        let period_end = timers.rt_period_end().filter(|_| machine.bandwidth().throttles());
        machine.rt_period_end =
            period_end.map(|at| Ns((at - start).0.rem_euclid(machine.rt_period.0.max(1))));
        if let Some(recorded) = &self.recorded_cpus {
            let absent: CpuSet = (0..cpus).map(Cpu).filter(|cpu| !recorded.contains(*cpu)).collect();
            if !absent.is_empty() {
                notes.push(format!("CPU {absent} was not recorded: it seems idle in the replay"));
            }
        }
        (machine, notes)
    }
}
