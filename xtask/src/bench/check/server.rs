//! A large machine that is made up: the files that `whylate check` reads of it, in a directory.

use anyhow::{Context, Result};
use std::fs;
use std::path::Path;

/// Threads per CPU; most of a large machine's are the kernel's, some for each CPU.
const THREADS_PER_CPU: u32 = 8;

/// Makes it, unless it is there.
pub(super) fn make(root: &Path, cpus: u32, irqs: u32) -> Result<()> {
    // Written last, so that a directory that was left unfinished is made anew.
    let done = root.join("complete");
    if done.exists() {
        return Ok(());
    }
    let files = Files { root };
    files.kernel(cpus)?;
    (0..cpus).try_for_each(|cpu| files.cpu(cpu, cpus))?;
    (24..24 + irqs).try_for_each(|irq| files.irq(irq, cpus))?;
    (1..=cpus * THREADS_PER_CPU).try_for_each(|tid| files.thread(tid, cpus))?;
    files.set("complete", "")
}

struct Files<'a> {
    root: &'a Path,
}

impl Files<'_> {
    fn set(&self, path: &str, text: &str) -> Result<()> {
        let path = self.root.join(path);
        let directory = path.parent().context("a file is in a directory")?;
        fs::create_dir_all(directory)
            .and_then(|()| fs::write(&path, format!("{text}\n")))
            .with_context(|| format!("{} cannot be written", path.display()))
    }

    fn all(&self, directory: &str, files: &[(&str, &str)]) -> Result<()> {
        files.iter().try_for_each(|(name, text)| self.set(&format!("{directory}/{name}"), text))
    }

    fn kernel(&self, cpus: u32) -> Result<()> {
        let all = format!("0-{}", cpus - 1);
        self.all(
            "proc",
            &[
                ("sys/kernel/osrelease", "7.2.0-1-rt-amd64"),
                ("sys/kernel/version", "#1 SMP PREEMPT_RT Debian 7.2.1-1"),
                ("sys/kernel/sched_rt_runtime_us", "-1"),
                ("sys/kernel/sched_rt_period_us", "1000000"),
                ("cmdline", "root=/dev/md0 nohz_full=8-63 isolcpus=8-63"),
                ("cpuinfo", "processor\t: 0\nflags\t\t: fpu tsc"),
                ("irq/default_smp_affinity", "ff"),
            ],
        )?;
        self.all(
            "sys/devices/system/cpu",
            &[
                ("online", &all),
                ("present", &all),
                ("possible", &all),
                ("isolated", "8-63"),
                ("smt/active", "1"),
            ],
        )?;
        self.all(
            "sys/devices/system/clocksource/clocksource0",
            &[("current_clocksource", "tsc"), ("available_clocksource", "tsc hpet")],
        )?;
        self.set("boot/config-7.2.0-1-rt-amd64", "CONFIG_PREEMPT_RT=y\nCONFIG_NO_HZ_FULL=y")
    }

    fn cpu(&self, cpu: u32, cpus: u32) -> Result<()> {
        let half = (cpus / 2).max(1);
        let siblings = format!("{},{}", cpu % half, cpu % half + half);
        let directory = format!("sys/devices/system/cpu/cpu{cpu}");
        self.all(
            &directory,
            &[
                ("topology/physical_package_id", &(cpu % half / 64).to_string()),
                ("topology/core_id", &(cpu % half).to_string()),
                ("topology/thread_siblings_list", &siblings),
                ("cpufreq/scaling_driver", "intel_pstate"),
                ("cpufreq/scaling_governor", "performance"),
                ("cpufreq/scaling_min_freq", "2000000"),
                ("cpufreq/scaling_max_freq", "2000000"),
                ("power/pm_qos_resume_latency_us", "0"),
            ],
        )?;
        for (state, (name, latency)) in
            [("POLL", "0"), ("C1", "1"), ("C1E", "10"), ("C6", "190")].into_iter().enumerate()
        {
            let state = format!("{directory}/cpuidle/state{state}");
            self.all(&state, &[("name", name), ("latency", latency), ("disable", "0")])?;
        }
        for (index, (kind, level)) in
            [("Data", "1"), ("Instruction", "1"), ("Unified", "2"), ("Unified", "3")].into_iter().enumerate()
        {
            let cache = format!("{directory}/cache/index{index}");
            self.all(
                &cache,
                &[("type", kind), ("level", level), ("size", "2048K"), ("shared_cpu_list", &siblings)],
            )?;
        }
        let server = format!("sys/kernel/debug/sched/fair_server/cpu{cpu}");
        self.all(&server, &[("runtime", "50000000"), ("period", "1000000000")])
    }

    fn irq(&self, irq: u32, cpus: u32) -> Result<()> {
        let cpu = (irq % cpus).to_string();
        let directory = format!("proc/irq/{irq}");
        let action = format!("nvme{}q{}/none", irq / 64, irq % 64);
        self.all(&directory, &[("smp_affinity_list", &cpu), ("effective_affinity_list", &cpu), (&action, "")])
    }

    /// The fields of proc_pid_stat(5) that count: 9 flags, 39 the CPU, 40 the priority, 41 the policy.
    fn thread(&self, tid: u32, cpus: u32) -> Result<()> {
        let cpu = tid % cpus;
        let directory = format!("proc/{tid}/task/{tid}");
        let zeros = |count: usize| vec!["0"; count].join(" ");
        let stat =
            format!("{tid} (worker/{cpu}) S 2 {} 2129984 {} {cpu} 1 1 {}", zeros(4), zeros(29), zeros(11));
        self.all(
            &directory,
            &[("stat", &stat), ("status", &format!("Name:\tworker\nCpus_allowed_list:\t{cpu}"))],
        )
    }
}
