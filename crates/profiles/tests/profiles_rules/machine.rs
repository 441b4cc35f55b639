//! A machine made of files and threads, on which wishes are made as a plan and a reboot would make them.

use std::collections::BTreeMap;
use whylate_base::CpuSet;
use whylate_host::{FsRoot, Snapshot};
use whylate_profiles::{DesiredSetting, DesiredState, Pattern, Selector, ThreadSelector, tunable};

/// A machine that wishes are made on.
#[derive(Clone)]
pub(crate) struct Machine {
    pub(crate) files: BTreeMap<String, String>,
    threads: Vec<Task>,
    cmdline: Vec<String>,
}

#[derive(Clone)]
struct Task {
    pid: i32,
    tid: i32,
    name: &'static str,
    kernel: bool,
    policy: String,
    cpus: CpuSet,
}

pub(crate) fn list(text: &str) -> CpuSet {
    text.parse().expect("a CPU list")
}

impl Machine {
    /// Four CPUs, two to a core; everything is as no real-time machine should be. CPU 2 and 3 are to be isolated.
    pub(crate) fn wrong(release: &str, version: &str) -> Machine {
        let fixed: &[(&str, &str)] = &[
            ("/sys/devices/system/cpu/online", "0-3"),
            ("/sys/devices/system/cpu/present", "0-3"),
            ("/sys/devices/system/cpu/possible", "0-3"),
            ("/sys/devices/system/cpu/isolated", ""),
            ("/sys/devices/system/cpu/nohz_full", "(null)"),
            ("/sys/devices/system/cpu/smt/active", "1"),
            ("/sys/devices/system/cpu/smt/control", "on"),
            ("/sys/devices/system/cpu/intel_pstate/no_turbo", "0"),
            ("/sys/devices/system/cpu/intel_pstate/min_perf_pct", "20"),
            ("/sys/devices/system/cpu/cpuidle/current_driver", "intel_idle"),
            ("/sys/devices/system/cpu/cpuidle/current_governor", "menu"),
            ("/sys/devices/system/cpu/vulnerabilities/meltdown", "Mitigation: PTI"),
            ("/sys/devices/system/machinecheck/machinecheck0/ignore_ce", "0"),
            ("/sys/devices/system/machinecheck/machinecheck0/check_interval", "12c"),
            ("/sys/devices/system/node/node0/cpulist", "0-1"),
            ("/sys/devices/system/node/node1/cpulist", "2-3"),
            ("/sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc"),
            ("/sys/devices/system/clocksource/clocksource0/available_clocksource", "tsc hpet acpi_pm"),
            ("/sys/devices/virtual/workqueue/cpumask", "f"),
            ("/sys/devices/virtual/workqueue/writeback/cpumask", "f"),
            ("/sys/devices/virtual/workqueue/efi_runtime/cpumask", "f"),
            ("/sys/class/devfreq/3d400000.memory-controller/governor", "simple_ondemand"),
            ("/sys/class/devfreq/3d400000.memory-controller/min_freq", "25000000"),
            ("/sys/class/devfreq/3d400000.memory-controller/max_freq", "800000000"),
            ("/sys/firmware/efi/runtime", "0x0"),
            ("/sys/kernel/debug/sched/verbose", "N"),
            ("/sys/kernel/debug/sched/features", "TTWU_QUEUE RT_RUNTIME_SHARE NO_HRTICK"),
            ("/sys/kernel/rcu_normal", "0"),
            ("/sys/kernel/rcu_expedited", "0"),
            ("/sys/kernel/sched_ext/state", "enabled"),
            ("/sys/kernel/mm/ksm/run", "1"),
            ("/sys/kernel/mm/transparent_hugepage/enabled", "[always] madvise never"),
            ("/sys/kernel/mm/hugepages/hugepages-1048576kB/nr_hugepages", "0"),
            ("/sys/module/pcie_aspm/parameters/policy", "[default] performance powersave powersupersave"),
            ("/sys/module/haltpoll/parameters/guest_halt_poll_ns", "0"),
            ("/sys/module/kvm/parameters/kvmclock_periodic_sync", "Y"),
            ("/sys/module/kvm/parameters/halt_poll_ns", "200000"),
            ("/sys/module/kvm/parameters/nx_huge_pages", "Y"),
            ("/sys/module/kvm/parameters/nx_huge_pages_recovery_ratio", "60"),
            ("/sys/module/kvm_intel/parameters/ple_gap", "128"),
            ("/proc/cpuinfo", "flags : tsc constant_tsc nonstop_tsc"),
            ("/proc/swaps", "Filename Type Size Used Priority\n/dev/sda2 partition 1000 0 -2"),
            ("/proc/sys/kernel/sched_rt_runtime_us", "950000"),
            ("/proc/sys/kernel/sched_rt_period_us", "1000000"),
            ("/proc/sys/kernel/timer_migration", "1"),
            ("/proc/sys/kernel/nmi_watchdog", "1"),
            ("/proc/sys/kernel/soft_watchdog", "1"),
            ("/proc/sys/kernel/watchdog", "1"),
            ("/proc/sys/kernel/watchdog_thresh", "10"),
            ("/proc/sys/kernel/watchdog_cpumask", "0-3"),
            ("/proc/sys/kernel/hung_task_panic", "1"),
            ("/proc/sys/kernel/hung_task_timeout_secs", "120"),
            ("/proc/sys/kernel/panic_on_rcu_stall", "1"),
            ("/proc/sys/kernel/numa_balancing", "1"),
            ("/proc/sys/kernel/sched_schedstats", "1"),
            ("/proc/sys/kernel/sched_autogroup_enabled", "1"),
            ("/proc/sys/kernel/sched_util_clamp_min_rt_default", "0"),
            ("/proc/sys/vm/stat_interval", "1"),
            ("/proc/sys/vm/swappiness", "60"),
            ("/proc/sys/vm/overcommit_memory", "1"),
            ("/proc/sys/vm/dirty_background_ratio", "10"),
            ("/proc/sys/vm/dirty_ratio", "20"),
            ("/proc/sys/vm/dirty_background_bytes", "0"),
            ("/proc/sys/vm/dirty_bytes", "0"),
            ("/proc/sys/vm/zone_reclaim_mode", "1"),
            ("/proc/sys/vm/compaction_proactiveness", "20"),
            ("/proc/sys/vm/compact_unevictable_allowed", "1"),
            ("/proc/self/mounts", "cgroup2 /sys/fs/cgroup cgroup2 rw 0 0"),
            ("/sys/fs/cgroup/cgroup.procs", ""),
            ("/proc/irq/24/disk0/x", ""),
            ("/proc/irq/24/smp_affinity_list", "0-3"),
            ("/proc/irq/24/effective_affinity_list", "3"),
            ("/proc/irq/default_smp_affinity", "f"),
            ("/etc/default/irqbalance", "IRQBALANCE_BANNED_CPULIST=0"),
            ("/etc/systemd/system/x.target.wants/fwupd-refresh.timer", ""),
            ("/etc/systemd/system.conf", "CPUAffinity=0-3"),
            ("/usr/lib/systemd/system/fwupd.service", ""),
            ("/usr/lib/systemd/system/fwupd-refresh.timer", ""),
            ("/usr/lib/systemd/system/stalld.service", ""),
            ("/sys/bus/pci/devices/0000:01:00.0/class", "0x020000"),
            ("/sys/bus/pci/devices/0000:01:00.0/link/l1_aspm", "1"),
            ("/dev/cpu_dma_latency", "\0\u{14}\u{50}\u{77}"),
        ];
        let mut files: BTreeMap<String, String> =
            fixed.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect();
        let mut put = |path: String, text: &str| files.insert(path, text.to_owned());
        put("/proc/sys/kernel/osrelease".to_owned(), release);
        put("/proc/sys/kernel/version".to_owned(), version);
        let config = "CONFIG_HIGH_RES_TIMERS=y\nCONFIG_RT_GROUP_SCHED=y\nCONFIG_AUDIT=y\nCONFIG_IRQ_FORCED_THREADING=y\n\
                      CONFIG_EFI=y\n# CONFIG_EFI_DISABLE_RUNTIME is not set";
        put(format!("/boot/config-{release}"), config);
        for cpu in 0..4 {
            let dir = format!("/sys/devices/system/cpu/cpu{cpu}");
            put(format!("{dir}/topology/thread_siblings_list"), if cpu < 2 { "0-1" } else { "2-3" });
            put(format!("{dir}/cpufreq/scaling_driver"), "intel_pstate");
            put(format!("{dir}/cpufreq/scaling_governor"), "schedutil");
            put(format!("{dir}/cpufreq/energy_performance_preference"), "balance_power");
            put(format!("{dir}/power/pm_qos_resume_latency_us"), "0");
            put(format!("{dir}/power/energy_perf_bias"), "6");
            for (state, name, latency) in [(0, "POLL", "0"), (1, "C1", "2"), (2, "C10", "890")] {
                put(format!("{dir}/cpuidle/state{state}/name"), name);
                put(format!("{dir}/cpuidle/state{state}/latency"), latency);
                put(format!("{dir}/cpuidle/state{state}/disable"), "0");
            }
            for server in ["fair_server", "ext_server"] {
                let dir = format!("/sys/kernel/debug/sched/{server}/cpu{cpu}");
                put(format!("{dir}/runtime"), "50000000");
                put(format!("{dir}/period"), "1000000000");
            }
        }
        let task = |pid, tid, name, kernel, policy: &str, cpus: &str| Task {
            pid,
            tid,
            name,
            kernel,
            policy: policy.to_owned(),
            cpus: list(cpus),
        };
        let threads = vec![
            task(1, 1, "systemd", false, "other 0", "0-3"),
            task(2, 2, "kthreadd", true, "other 0", "0-3"),
            task(12, 12, "ksoftirqd/2", true, "other 0", "2"),
            task(13, 13, "ktimers/2", true, "fifo 1", "2"),
            task(14, 14, "rcuc/2", true, "fifo 1", "2"),
            task(15, 15, "rcuop/0", true, "other 0", "0-3"),
            task(70, 70, "irqbalance", false, "other 0", "0-3"),
            task(71, 71, "fwupd", false, "other 0", "0-3"),
            task(72, 72, "auditd", false, "other 0", "0-3"),
            task(73, 73, "qemu-kvm", false, "other 0", "0-3"),
            task(73, 74, "CPU 0/KVM", false, "fifo 1", "2"),
            task(73, 75, "IO iothread1", false, "other 0", "0-3"),
        ];
        let cmdline = vec!["quiet".to_owned(), "highres=off".to_owned()];
        Machine { files, threads, cmdline }
    }

    fn tree(&self) -> FsRoot {
        let mut files: Vec<(String, String)> =
            self.files.iter().map(|(path, text)| (path.clone(), format!("{text}\n"))).collect();
        files.push(("/proc/cmdline".to_owned(), self.cmdline.join(" ")));
        for (path, text) in &mut files {
            if path == "/dev/cpu_dma_latency" || path.ends_with("fwupd.service") {
                text.pop();
            }
        }
        for task in &self.threads {
            let dir = format!("/proc/{}/task/{}", task.pid, task.tid);
            let (policy, priority) = match task.policy.split_once(' ') {
                Some(("fifo", priority)) => (1, priority),
                _ => (0, "0"),
            };
            let flags = if task.kernel { 2_129_984 } else { 4_194_560 };
            let stat = format!(
                "{} ({}) S 1 1 1 0 -1 {flags} 0 0 0 0 0 0 0 0 20 0 1 0 3 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 17 0 {priority} {policy}",
                task.tid, task.name
            );
            files.push((format!("{dir}/stat"), stat));
            files.push((format!("{dir}/status"), format!("Cpus_allowed_list:\t{}\n", task.cpus)));
        }
        let files: Vec<(&str, &str)> =
            files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
        FsRoot::memory(&files)
    }

    pub(crate) fn snapshot(&self) -> Snapshot {
        Snapshot::read(&self.tree())
    }

    /// Makes wishes as a plan and a reboot would, and what the kernel makes of them.
    pub(crate) fn granted(&self, desired: &DesiredState) -> Machine {
        let mut machine = self.clone();
        for setting in &desired.settings {
            machine.grant(setting);
        }
        machine
    }

    fn grant(&mut self, setting: &DesiredSetting) {
        let value = setting.value.as_deref();
        match &setting.selector {
            Selector::Tunable { path } => {
                let value = value.expect("a knob has a value");
                if let Some((file, name)) =
                    path.rsplit_once('/').filter(|(file, _)| file.ends_with("/features"))
                {
                    let now = self.files.get_mut(file).expect("all features");
                    let set = |word: &str| {
                        if word.trim_start_matches("NO_") == name { value } else { word }.to_owned()
                    };
                    *now = now.split(' ').map(set).collect::<Vec<_>>().join(" ");
                    return;
                }
                let paths: Vec<String> =
                    self.files.keys().filter(|own| matches(path, own)).cloned().collect();
                assert!(setting.optional || !paths.is_empty(), "this machine has no {path}");
                for path in paths {
                    let now = self.files.get_mut(&path).expect("a file");
                    let text = tunable::written(&path, value);
                    *now = if now.contains('[') { chosen(now, &text) } else { text };
                }
                // The kernel's switch for both detectors.
                if path == "/proc/sys/kernel/watchdog" {
                    for name in ["nmi_watchdog", "soft_watchdog"] {
                        self.files.insert(format!("/proc/sys/kernel/{name}"), value.to_owned());
                    }
                }
            }
            Selector::Parameter { name } => {
                self.cmdline.retain(|own| own.split('=').next() != Some(name));
                let Some(value) = value else { return };
                self.cmdline.push(if value.is_empty() { name.clone() } else { format!("{name}={value}") });
                self.boot(name, value);
            }
            Selector::Irqs => {
                let cpus = value.expect("CPUs");
                self.files.insert("/proc/irq/24/smp_affinity_list".to_owned(), cpus.to_owned());
                self.files.insert("/proc/irq/24/effective_affinity_list".to_owned(), cpus.to_owned());
                let mask = tunable::mask(&list(cpus));
                self.files.insert("/proc/irq/default_smp_affinity".to_owned(), mask);
            }
            Selector::ThreadPolicy { threads } => {
                let policy = value.expect("a policy").to_owned();
                self.threads
                    .iter_mut()
                    .filter(|task| meant(threads, task))
                    .for_each(|task| task.policy = policy.clone());
            }
            Selector::ThreadCpus { threads } | Selector::ThreadPlacement { threads } => {
                let wished = list(value.expect("CPUs"));
                for task in self.threads.iter_mut().filter(|task| meant(threads, task)) {
                    let kept: CpuSet = task.cpus.iter().filter(|&cpu| wished.contains(cpu)).collect();
                    task.cpus = if kept.is_empty() { wished.clone() } else { kept };
                }
            }
            Selector::UnitActive { unit } => match (value, unit.strip_suffix(".service")) {
                (Some("inactive"), Some(name)) => self.threads.retain(|task| task.name != name),
                (Some("active"), Some("stalld")) => self.threads.push(Task {
                    pid: 90,
                    tid: 90,
                    name: "stalld",
                    kernel: false,
                    policy: "other 0".to_owned(),
                    cpus: list("0-1"),
                }),
                _ => {}
            },
            Selector::UnitEnabled { unit } => {
                let wants = format!("/etc/systemd/system/x.target.wants/{unit}");
                if matches!(value, Some("disabled" | "masked")) {
                    self.files.remove(&wants);
                }
                if value == Some("masked") {
                    self.files.insert(format!("/etc/systemd/system/{unit}"), "/dev/null".to_owned());
                }
            }
            Selector::Variable { file, section, name } => {
                let line = format!("{name}={}", value.expect("a value"));
                let section = section.as_ref().map(|section| format!("[{section}]\n")).unwrap_or_default();
                if !setting.optional || self.files.contains_key(file) {
                    self.files.insert(file.clone(), format!("{section}{line}"));
                }
            }
            Selector::Partition { group } => {
                let (kind, cpus) = value.and_then(|value| value.split_once(' ')).expect("a kind and CPUs");
                let dir = format!("/sys/fs/cgroup/{group}");
                self.files.insert(format!("{dir}/cpuset.cpus.partition"), kind.to_owned());
                self.files.insert(format!("{dir}/cpuset.cpus.effective"), cpus.to_owned());
            }
            Selector::CpuDmaLatency => {
                let us: u8 = value.expect("us").parse().expect("a small number");
                let text = char::from(us.min(127)).to_string() + "\0\0\0";
                self.files.insert("/dev/cpu_dma_latency".to_owned(), text);
            }
        }
    }

    /// What the kernel shows of a parameter once it was booted with it.
    fn boot(&mut self, name: &str, value: &str) {
        let mut show = |path: &str, text: &str| self.files.insert(path.to_owned(), text.to_owned());
        match name {
            "isolcpus" => {
                let cpus = value.strip_prefix("managed_irq,domain,").expect("its flags");
                show("/sys/devices/system/cpu/isolated", cpus);
            }
            "nohz_full" => {
                show("/sys/devices/system/cpu/nohz_full", value);
            }
            "clocksource" => {
                show("/sys/devices/system/clocksource/clocksource0/current_clocksource", value);
            }
            "nosmt" => {
                show("/sys/devices/system/cpu/smt/active", "0");
            }
            "mitigations" => {
                show("/sys/devices/system/cpu/vulnerabilities/meltdown", "Vulnerable");
            }
            "kvm.kvmclock_periodic_sync" => {
                show("/sys/module/kvm/parameters/kvmclock_periodic_sync", "N");
            }
            "kvm_intel.ple_gap" => {
                show("/sys/module/kvm_intel/parameters/ple_gap", value);
            }
            "hugepages" => {
                show("/sys/kernel/mm/hugepages/hugepages-1048576kB/nr_hugepages", value);
            }
            "cpuidle_haltpoll.force" => {
                show("/sys/devices/system/cpu/cpuidle/current_driver", "haltpoll");
            }
            "rcu_nocbs" => {
                for (tid, name) in [(16, "rcuop/2"), (17, "rcuop/3")] {
                    let (kernel, policy, cpus) = (true, "other 0".to_owned(), list("0-3"));
                    self.threads.push(Task { pid: tid, tid, name, kernel, policy, cpus });
                }
            }
            _ => {}
        }
    }
}

fn chosen(choices: &str, choice: &str) -> String {
    let bare = choices.replace(['[', ']'], "");
    assert!(bare.split(' ').any(|own| own == choice), "{choice} is none of {choices}");
    bare.split(' ')
        .map(|own| if own == choice { format!("[{own}]") } else { own.to_owned() })
        .collect::<Vec<_>>()
        .join(" ")
}

/// Whether a path is of a pattern with `*`, which stands for no slash.
fn matches(pattern: &str, path: &str) -> bool {
    let parts = (pattern.split('/').count(), path.split('/').count());
    parts.0 == parts.1 && pattern.split('/').zip(path.split('/')).all(|(glob, name)| is_glob(glob, name))
}

fn is_glob(glob: &str, name: &str) -> bool {
    match glob.split_once('*') {
        None => glob == name,
        Some((before, after)) => name.strip_prefix(before).is_some_and(|rest| {
            (0..=rest.len()).filter(|&at| rest.is_char_boundary(at)).any(|at| is_glob(after, &rest[at..]))
        }),
    }
}

fn meant(threads: &ThreadSelector, task: &Task) -> bool {
    let name = if task.kernel { format!("[{}]", task.name) } else { task.name.to_owned() };
    let is = |pattern: &Pattern| match pattern {
        Pattern::Glob(glob) => is_glob(glob, &name),
        Pattern::Regex(_) => panic!("no built-in profile has regular expressions"),
    };
    is(&threads.named) && !threads.except.iter().any(is)
}
