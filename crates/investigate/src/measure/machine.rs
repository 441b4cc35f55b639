//! How the machine was set while it was measured: what `compare` finds differences in.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;
use whylate_base::CpuSet;
use whylate_host::{FsRoot, Irq, Reading, Snapshot, Thread};
use whylate_probes::load::Loads;

/// The settings of this machine that a latency may depend on, by name. What could not be read is left out: nothing can
/// be reported of it.
pub(super) fn settings() -> Vec<(String, String)> {
    of(&Snapshot::read(&FsRoot::live()))
}

/// The loads that run are of the machine's state as well.
pub(super) fn add_loads(settings: &mut Vec<(String, String)>, loads: Option<&Loads>) {
    let Some(loads) = loads else { return };
    settings.push(("load".to_owned(), loads.to_string()));
    settings.sort();
}

/// The settings of a machine that a latency may depend on, by name; what could not be read is left out.
pub fn of(host: &Snapshot) -> Vec<(String, String)> {
    let mut all = Settings::default();
    all.add(&host.kernel.release);
    all.add(&host.kernel.version);
    all.add(&host.kernel.cmdline);
    all.add(&host.kernel.preempt);
    for reading in [&host.cpus.online, &host.cpus.isolated, &host.cpus.nohz_full] {
        all.add(reading);
    }
    for reading in [&host.cpus.smt_control, &host.cpus.idle_driver, &host.cpus.idle_governor] {
        all.add(reading);
    }
    all.add(&host.cpus.boost);
    all.add(&host.cpus.no_turbo);
    all.add(&host.cpus.dma_latency_us);
    all.add(&host.sched.rt_runtime_us);
    all.add(&host.sched.rt_period_us);
    all.add(&host.sched.timer_migration);
    all.add(&host.sched.workqueue_cpus);
    all.add(&host.sched.watchdogs.nmi_watchdog);
    all.add(&host.sched.watchdogs.soft_watchdog);
    all.add(&host.sched.watchdogs.numa_balancing);
    all.add(&host.clocks.source.current);
    all.add(&host.memory.vm.swappiness);
    all.add(&host.memory.vm.stat_interval);
    all.add(&host.memory.thp_enabled);
    all.add(&host.memory.ksm_run);
    all.add(&host.systemd.tuned_profile);
    all.add(&host.irqs.default_affinity);
    for server in host.sched.fair_servers.known().into_iter().flatten() {
        all.add(&server.runtime_ns);
    }
    each_cpu(&mut all, host);
    each_irq(&mut all, host);
    real_time_threads(&mut all, host);
    all.0.into_iter().collect()
}

#[derive(Default)]
struct Settings(BTreeMap<String, String>);

impl Settings {
    fn add<T: Display>(&mut self, reading: &Reading<T>) {
        if let Some(value) = reading.known() {
            self.put(reading.path.clone(), value.to_string());
        }
    }

    fn put(&mut self, name: impl Into<String>, value: impl Into<String>) {
        self.0.insert(name.into(), value.into());
    }
}

/// Of what every CPU has, the CPUs by value: `performance: 0-3`.
fn each_cpu(all: &mut Settings, host: &Snapshot) {
    let mut governors: BTreeMap<&String, CpuSet> = BTreeMap::new();
    let mut disabled: BTreeMap<&String, CpuSet> = BTreeMap::new();
    for state in host.cpus.each.known().into_iter().flatten() {
        if let Some(governor) = state.cpufreq.governor.known() {
            governors.entry(governor).or_default().insert(state.cpu);
        }
        for idle in state.idle_states.known().into_iter().flatten() {
            if let (Some(name), Some(true)) = (idle.name.known(), idle.disabled.known()) {
                disabled.entry(name).or_default().insert(state.cpu);
            }
        }
    }
    let list = |values: BTreeMap<&String, CpuSet>| {
        values.into_iter().map(|(value, cpus)| format!("{value}: {cpus}")).collect::<Vec<_>>().join("; ")
    };
    if !governors.is_empty() {
        all.put("frequency governors", list(governors));
    }
    if !disabled.is_empty() {
        all.put("idle states disabled", list(disabled));
    }
}

/// Interrupts that a device uses, by its name: numbers change from boot to boot.
fn each_irq(all: &mut Settings, host: &Snapshot) {
    let irqs = host.irqs.each.known().into_iter().flatten().filter(|irq| !irq.actions.is_empty());
    for irq in irqs {
        let Irq { actions, affinity, .. } = irq;
        if let Some(cpus) = affinity.known() {
            all.put(format!("CPUs of interrupt {}", actions.join(" ")), cpus.to_string());
        }
    }
}

/// Threads with real-time policies, by name: how many, and at which priority. The kernel's own on each CPU are one.
fn real_time_threads(all: &mut Settings, host: &Snapshot) {
    let mut threads: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let own = std::process::id() as i32;
    let real_time = |thread: &&Thread| thread.is_realtime() && thread.pid != own;
    for thread in host.threads.each.known().into_iter().flatten().filter(real_time) {
        let name = match thread.kernel {
            true => thread.comm.split('/').next().unwrap_or_default(),
            false => thread.comm.as_str(),
        };
        let policy = thread.policy.map_or("", |policy| policy.name());
        threads.entry(name.to_owned()).or_default().insert(format!("{policy} {}", thread.priority));
    }
    for (name, policies) in threads {
        let policies: Vec<String> = policies.into_iter().collect();
        all.put(format!("real-time thread {name}"), policies.join(", "));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_read_is_left_out() {
        let host = Snapshot::read(&FsRoot::memory(&[
            ("/proc/sys/kernel/osrelease", "6.12.0-rt\n"),
            ("/proc/sys/kernel/sched_rt_runtime_us", "950000\n"),
            ("/proc/irq/24/disk0/x", ""),
            ("/proc/irq/24/smp_affinity_list", "0-1\n"),
        ]));
        let settings = of(&host);
        let value =
            |name: &str| settings.iter().find(|(own, _)| own == name).map(|(_, value)| value.as_str());
        assert_eq!(value("/proc/sys/kernel/osrelease"), Some("6.12.0-rt"));
        assert_eq!(value("/proc/sys/kernel/sched_rt_runtime_us"), Some("950000"));
        assert_eq!(value("CPUs of interrupt disk0"), Some("0-1"));
        assert_eq!(value("/proc/sys/vm/swappiness"), None);
        assert!(settings.is_sorted());
    }
}
