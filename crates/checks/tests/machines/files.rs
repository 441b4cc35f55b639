//! A machine made of files: what all of them have, and what a test adds.

use std::collections::BTreeMap;
use whylate_host::FsRoot;

/// Files by path.
#[derive(Default)]
pub(crate) struct Files {
    files: BTreeMap<String, String>,
    cpus: u32,
    /// Number and actions, for /proc/interrupts.
    irqs: BTreeMap<u32, Vec<String>>,
}

/// A thread of [`Files::thread`].
pub(crate) struct Thread<'a> {
    pub(crate) tid: u32,
    pub(crate) comm: &'a str,
    /// The number of its policy (sched(7)): 0 other, 1 FIFO, 2 RR.
    pub(crate) policy: u32,
    pub(crate) priority: u32,
    pub(crate) cpus: &'a str,
    pub(crate) kernel: bool,
}

/// What a login has without any configuration (proc_pid_limits(5)).
const LIMITS: &str = "\
Limit                     Soft Limit           Hard Limit           Units
Max cpu time              unlimited            unlimited            seconds
Max locked memory         8388608              8388608              bytes
Max nice priority         0                    0
Max realtime priority     0                    0
Max realtime timeout      unlimited            unlimited            us
";

impl Files {
    /// A kernel by `uname -r` and `uname -v`, and what every Linux has.
    pub(crate) fn kernel(release: &str, version: &str, config: &str) -> Files {
        let mut files = Files::default();
        files
            .set("/proc/sys/kernel/osrelease", release)
            .set("/proc/sys/kernel/version", version)
            .set("/proc/sys/kernel/tainted", "0")
            .set("/proc/sys/kernel/sched_rt_runtime_us", "950000")
            .set("/proc/sys/kernel/sched_rt_period_us", "1000000")
            .set("/proc/sys/kernel/sched_rr_timeslice_ms", "100")
            .set("/proc/sys/kernel/sched_autogroup_enabled", "1")
            .set("/proc/sys/kernel/sched_schedstats", "0")
            .set("/proc/sys/kernel/timer_migration", "1")
            .set("/proc/sys/kernel/nmi_watchdog", "0")
            .set("/proc/sys/kernel/soft_watchdog", "1")
            .set("/proc/sys/kernel/watchdog", "1")
            .set("/proc/sys/kernel/watchdog_thresh", "10")
            .set("/proc/sys/kernel/hung_task_timeout_secs", "120")
            .set("/proc/sys/kernel/perf_cpu_time_max_percent", "25")
            .set("/proc/sys/kernel/printk", "4\t4\t1\t7")
            .set("/proc/sys/vm/swappiness", "60")
            .set("/proc/sys/vm/overcommit_memory", "0")
            .set("/proc/sys/vm/stat_interval", "1")
            .set("/proc/sys/vm/zone_reclaim_mode", "0")
            .set("/proc/sys/vm/compaction_proactiveness", "20")
            .set("/proc/sys/vm/compact_unevictable_allowed", "1")
            .set("/proc/sys/vm/dirty_ratio", "20")
            .set("/proc/sys/vm/dirty_bytes", "0")
            .set("/proc/sys/vm/dirty_background_bytes", "0")
            .set("/proc/sys/vm/dirty_expire_centisecs", "3000")
            .set("/proc/sys/vm/dirty_background_ratio", "10")
            .set("/proc/sys/vm/dirty_writeback_centisecs", "500")
            .set("/proc/sys/vm/min_free_kbytes", "67584")
            .set("/proc/sys/vm/nr_hugepages", "0")
            .set("/proc/swaps", "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority")
            .set("/proc/modules", "nf_tables 376832 0 - Live 0x0000000000000000")
            .set("/proc/stat", "cpu  1180 0 2300 980000 120 0 14 0 0 0")
            .set("/proc/self/cgroup", "0::/user.slice/user-0.slice/session-1.scope")
            .set("/proc/self/mounts", "cgroup2 /sys/fs/cgroup cgroup2 rw,nsdelegate 0 0")
            .set("/proc/self/limits", LIMITS)
            // root's capabilities
            .set("/proc/self/status", "Name:\twhylate\nCapEff:\t000001ffffffffff")
            .set("/sys/kernel/tracing/current_tracer", "nop")
            .set("/sys/kernel/tracing/tracing_on", "1")
            .set("/sys/kernel/tracing/events/enable", "0")
            .set("/sys/fs/cgroup/cgroup.controllers", "cpuset cpu io memory pids")
            .set("/proc/1/cgroup", "0::/init.scope")
            .set("/proc/1/comm", "systemd")
            .set(&format!("/boot/config-{release}"), config)
            .set(&format!("/boot/vmlinuz-{release}"), "")
            .set("/sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never")
            .set("/sys/kernel/mm/transparent_hugepage/defrag", "always defer defer+madvise [madvise] never")
            .set("/sys/kernel/mm/transparent_hugepage/khugepaged/defrag", "1")
            .set("/sys/kernel/mm/ksm/run", "0")
            .set("/sys/kernel/rcu_normal", "0")
            .set("/sys/kernel/rcu_expedited", "0")
            .set("/sys/kernel/kexec_crash_loaded", "0")
            .set("/etc/security/limits.conf", "# nothing")
            .set("/etc/passwd", "root:x:0:0:root:/root:/bin/sh\nann:x:1000:1000::/:/bin/sh")
            .set("/etc/group", "root:x:0:\naudio:x:29:\nann:x:1000:")
            .set("/etc/systemd/system.conf", "[Manager]")
            .set("/etc/systemd/system/multi-user.target.wants/cron.service", "")
            .set("/usr/lib/systemd/system/cron.service", "[Service]\nType=simple")
            .set("/etc/pam.d/login", "session required pam_limits.so");
        files.thread(&Thread { tid: 1, comm: "systemd", policy: 0, priority: 0, cpus: "0", kernel: false });
        files.thread(&Thread { tid: 2, comm: "kthreadd", policy: 0, priority: 0, cpus: "0", kernel: true });
        files
    }

    /// A file; a line break is put at its end.
    pub(crate) fn set(&mut self, path: &str, text: &str) -> &mut Files {
        let end = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
        self.files.insert(path.to_owned(), format!("{text}{end}"));
        self
    }

    /// A file of exactly these bytes.
    pub(crate) fn set_bytes(&mut self, path: &str, text: &str) -> &mut Files {
        self.files.insert(path.to_owned(), text.to_owned());
        self
    }

    /// Several files in a directory.
    pub(crate) fn set_in(&mut self, dir: &str, files: &[(&str, &str)]) -> &mut Files {
        for (name, text) in files {
            self.set(&format!("{dir}/{name}"), text);
        }
        self
    }

    /// Takes away what is below a directory.
    pub(crate) fn without(&mut self, dir: &str) -> &mut Files {
        self.files.retain(|path, _| !path.starts_with(&format!("{dir}/")) && path != dir);
        self
    }

    /// CPUs 0 to `count` - 1 without SMT, in one package.
    pub(crate) fn cpus(&mut self, count: u32) -> &mut Files {
        self.cpus_wired(count, |cpu| (0, cpu, cpu.to_string()))
    }

    /// CPUs 0 to `count` - 1; `wiring` gives package, core and siblings.
    pub(crate) fn cpus_wired(
        &mut self,
        count: u32,
        wiring: impl Fn(u32) -> (u32, u32, String),
    ) -> &mut Files {
        const DIR: &str = "/sys/devices/system/cpu";
        let all = format!("0-{}", count - 1);
        self.cpus = count;
        for file in ["online", "present", "possible"] {
            self.set(&format!("{DIR}/{file}"), &all);
        }
        let mask = format!("{:x}", (1u128 << (count - 1) << 1).wrapping_sub(1));
        self.set(&format!("{DIR}/isolated"), "\n")
            .set("/proc/sys/kernel/watchdog_cpumask", &all)
            .set("/sys/devices/virtual/workqueue/cpumask", &grouped(&mask))
            .set("/sys/devices/system/clockevents/broadcast/current_device", "");
        for cpu in 0..count {
            let (package, core, siblings) = wiring(cpu);
            let dir = format!("{DIR}/cpu{cpu}");
            self.set_in(
                &dir,
                &[
                    ("topology/physical_package_id", &package.to_string()),
                    ("topology/core_id", &core.to_string()),
                    ("topology/thread_siblings_list", &siblings),
                    ("power/pm_qos_resume_latency_us", "0"),
                ],
            );
            let (own, first) = (cpu.to_string(), 1000 + cpu * 10);
            for (nth, (name, policy, priority)) in
                [("cpuhp", 0, 0), ("migration", 1, 99), ("ksoftirqd", 0, 0)].into_iter().enumerate()
            {
                let (tid, comm) = (first + nth as u32, format!("{name}/{cpu}"));
                self.thread(&Thread { tid, comm: &comm, policy, priority, cpus: &own, kernel: true });
            }
            self.set(
                &format!("/sys/devices/system/clockevents/clockevent{cpu}/current_device"),
                "lapic-deadline",
            );
        }
        self
    }

    /// What PREEMPT_RT has on each CPU: timers and RCU callbacks in threads.
    pub(crate) fn realtime_threads(&mut self) -> &mut Files {
        for cpu in 0..self.cpus {
            for (nth, name) in ["ktimers", "rcuc"].into_iter().enumerate() {
                let (tid, comm, own) =
                    (1005 + cpu * 10 + nth as u32, format!("{name}/{cpu}"), cpu.to_string());
                self.thread(&Thread { tid, comm: &comm, policy: 1, priority: 1, cpus: &own, kernel: true });
            }
        }
        self
    }

    /// What rcu_nocbs= makes of a CPU's RCU callbacks: a thread that runs elsewhere.
    pub(crate) fn rcu_offloaded(
        &mut self,
        cpus: std::ops::RangeInclusive<u32>,
        elsewhere: &str,
    ) -> &mut Files {
        for cpu in cpus {
            let (tid, comm) = (1008 + cpu * 10, format!("rcuop/{cpu}"));
            self.thread(&Thread { tid, comm: &comm, policy: 0, priority: 0, cpus: elsewhere, kernel: true });
        }
        self
    }

    /// Limits of the frequency, the same for every CPU, kHz.
    pub(crate) fn frequencies(&mut self, scaling: (&str, &str), hardware: (&str, &str)) -> &mut Files {
        let cpus = self.cpus;
        self.each_cpu(cpus, "cpufreq/scaling_min_freq", scaling.0)
            .each_cpu(cpus, "cpufreq/scaling_max_freq", scaling.1)
            .each_cpu(cpus, "cpufreq/cpuinfo_min_freq", hardware.0)
            .each_cpu(cpus, "cpufreq/cpuinfo_max_freq", hardware.1)
    }

    /// The same file for every CPU, below `cpuN`.
    pub(crate) fn each_cpu(&mut self, count: u32, file: &str, text: &str) -> &mut Files {
        for cpu in 0..count {
            self.set(&format!("/sys/devices/system/cpu/cpu{cpu}/{file}"), text);
        }
        self
    }

    /// A clock source that is used, and all there are.
    pub(crate) fn clock(&mut self, current: &str, available: &str) -> &mut Files {
        self.set_in(
            "/sys/devices/system/clocksource/clocksource0",
            &[("current_clocksource", current), ("available_clocksource", available)],
        )
    }

    /// An interrupt: its action, where it may go and where it goes.
    pub(crate) fn irq(&mut self, irq: u32, action: &str, affinity: &str, effective: &str) -> &mut Files {
        let dir = format!("/proc/irq/{irq}");
        self.irqs.entry(irq).or_default().push(action.to_owned());
        self.set(&format!("{dir}/{action}/nothing"), "")
            .set(&format!("{dir}/smp_affinity_list"), affinity)
            .set(&format!("{dir}/effective_affinity_list"), effective)
    }

    /// A thread that is a process of its own (proc_pid_stat(5), proc_pid_status(5)).
    pub(crate) fn thread(&mut self, thread: &Thread<'_>) -> &mut Files {
        let Thread { tid, comm, policy, priority, cpus, kernel } = thread;
        let (parent, flags) = if *kernel { (2, 0x0020_8040) } else { (1, 0x0040_0100) };
        // Fields 10 to 39 do not matter here; of those, 18 is the priority the kernel shows, 19 the nice value.
        let mut fields = vec!["0".to_owned(); 52];
        fields[3] = parent.to_string();
        fields[8] = flags.to_string();
        fields[17] = if *priority > 0 { format!("{}", -1 - *priority as i64) } else { "20".to_owned() };
        fields[38] = cpus.split(['-', ',']).next().unwrap_or("0").to_owned();
        fields[39] = priority.to_string();
        fields[40] = policy.to_string();
        let stat = format!("{tid} ({comm}) S {}", fields[3..].join(" "));
        let status = format!("Name:\t{comm}\nCpus_allowed_list:\t{cpus}\nvoluntary_ctxt_switches:\t7");
        let dir = format!("/proc/{tid}/task/{tid}");
        self.set(&format!("{dir}/stat"), &stat)
            .set(&format!("{dir}/status"), &status)
            .set(&format!("/proc/{tid}/cgroup"), "0::/system.slice/x.service")
    }

    /// debugfs with the scheduler's directory, and a fair server on each CPU where there is one.
    pub(crate) fn debugfs(&mut self, fair_server_cpus: u32) -> &mut Files {
        self.set("/sys/kernel/debug/sched/verbose", "N")
            .set("/sys/kernel/debug/sched/features", "PLACE_LAG RUN_TO_PARITY NO_HRTICK TTWU_QUEUE");
        for cpu in 0..fair_server_cpus {
            self.set_in(
                &format!("/sys/kernel/debug/sched/fair_server/cpu{cpu}"),
                &[("runtime", "50000000"), ("period", "1000000000")],
            );
        }
        self
    }

    pub(crate) fn tree(&self) -> FsRoot {
        let interrupts = self.interrupts();
        let mut files: Vec<(&str, &str)> =
            self.files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
        files.push(("/proc/interrupts", &interrupts));
        FsRoot::memory(&files)
    }

    /// /proc/interrupts: a column for each CPU, the chip, the line and its actions (proc_interrupts(5)).
    fn interrupts(&self) -> String {
        let columns = |text: &dyn Fn(u32) -> String| (0..self.cpus.max(1)).map(text).collect::<String>();
        let mut text = format!("    {}\n", columns(&|cpu| format!(" {:>10}", format!("CPU{cpu}"))));
        for (irq, actions) in &self.irqs {
            let counts = columns(&|_| format!(" {:>10}", 1));
            text += &format!("{irq:>4}:{counts}  IR-PCI-MSI-edge  {}\n", actions.join(", "));
        }
        text + &format!(" LOC:{}  Local timer interrupts\n", columns(&|_| format!(" {:>10}", 7)))
    }
}

/// A mask as the kernel prints it, in groups of 32 bits.
fn grouped(mask: &str) -> String {
    let digits: Vec<char> = mask.chars().collect();
    let groups: Vec<String> = digits.rchunks(8).rev().map(|group| group.iter().collect()).collect();
    groups.join(",")
}
