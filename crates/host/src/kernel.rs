//! The running kernel: release, configuration, command line, modules; and the kernels that could run instead.

mod cmdline;
mod config;
mod installed;
mod preemption;
mod rt_groups;
mod version;

use crate::text::Words;
use crate::{BracketedChoice, FsRoot, Reading, Unread, Why};
pub use cmdline::Cmdline;
pub use config::Config;
pub use installed::Installed;
pub use rt_groups::rt_group_sched;
use std::collections::BTreeMap;
pub use version::{KernelVersion, Preempt};

/// Module parameters that matter to latency, as `module/parameter`.
const PARAMETERS: [&str; 23] = [
    "cpuidle_haltpoll/force",
    "haltpoll/guest_halt_poll_ns",
    "intel_idle/max_cstate",
    "kernel/crash_kexec_post_notifiers",
    "kvm/halt_poll_ns",
    "kvm/kvmclock_periodic_sync",
    "kvm/lapic_timer_advance",
    "kvm/lapic_timer_advance_ns",
    "kvm/nx_huge_pages",
    "kvm/nx_huge_pages_recovery_ratio",
    "kvm_amd/pause_filter_count",
    "kvm_intel/ple_gap",
    "kvm_intel/preemption_timer",
    "pcie_aspm/policy",
    "processor/max_cstate",
    "rcupdate/rcu_expedited",
    "rcupdate/rcu_normal_after_boot",
    "rcutree/kthread_prio",
    "rcutree/use_softirq",
    "snd_hda_intel/power_save",
    "usbcore/autosuspend",
    "workqueue/cpu_intensive_thresh_us",
    "workqueue/power_efficient",
];

/// The running kernel.
#[derive(Clone, Debug, PartialEq)]
pub struct Kernel {
    /// `uname -r`, such as `6.12.0-1-rt-amd64`.
    pub release: Reading<String>,
    /// `uname -v`, such as `#1 SMP PREEMPT_RT Debian 6.12.0-1`.
    pub version: Reading<String>,
    /// The configuration it was built with.
    pub config: Reading<Config>,
    /// The command line it was booted with.
    pub cmdline: Reading<Cmdline>,
    /// Bits of Documentation/admin-guide/tainted-kernels.rst.
    pub tainted: Reading<u64>,
    /// Lockdown: `none`, `integrity` or `confidentiality` (kernel_lockdown(7)).
    pub lockdown: Reading<BracketedChoice>,
    /// The modules that are loaded.
    pub modules: Reading<Words>,
    /// The loaded modules that taint the kernel, each with its letters (`OE`), of `/proc/modules`.
    pub module_taints: Reading<Vec<(String, String)>>,
    /// Parameters of modules by `module/parameter`; those that no module here has are `Missing`.
    pub parameters: BTreeMap<&'static str, Reading<String>>,
    /// `/sys/kernel/realtime`: only trees with the RT patches have it, so its absence proves nothing.
    pub realtime_flag: Reading<bool>,
    /// The preemption model of a PREEMPT_DYNAMIC kernel, from debugfs (since 5.12).
    pub preempt: Reading<BracketedChoice>,
    /// The kernels in /boot.
    pub installed: Reading<Vec<Installed>>,
    /// Whether a kernel for crash dumps is loaded.
    pub crash_loaded: Reading<bool>,
    /// `/sys/kernel/rcu_normal`.
    pub rcu_normal: Reading<bool>,
    /// `/sys/kernel/rcu_expedited`.
    pub rcu_expedited: Reading<bool>,
}

impl Kernel {
    pub(crate) fn read(tree: &FsRoot) -> Kernel {
        let (release, version) = names(tree);
        let parameters = PARAMETERS.map(|name| {
            let (module, parameter) = name.split_once('/').expect("module/parameter");
            (name, tree.text(&format!("/sys/module/{module}/parameters/{parameter}")).parsed())
        });
        let config = config::read(tree, &release);
        Kernel {
            installed: installed::read(tree, &release, &config),
            cmdline: tree.value("/proc/cmdline"),
            tainted: tree.value("/proc/sys/kernel/tainted"),
            lockdown: tree.value("/sys/kernel/security/lockdown"),
            modules: modules(tree),
            module_taints: module_taints(tree),
            parameters: parameters.into_iter().collect(),
            realtime_flag: tree.value("/sys/kernel/realtime"),
            preempt: tree.value("/sys/kernel/debug/sched/preempt"),
            crash_loaded: tree.value("/sys/kernel/kexec_crash_loaded"),
            rcu_normal: tree.value("/sys/kernel/rcu_normal"),
            rcu_expedited: tree.value("/sys/kernel/rcu_expedited"),
            config,
            release,
            version,
        }
    }

    /// The version's numbers.
    ///
    /// # Errors
    /// If the release could not be read.
    pub fn numbers(&self) -> Result<KernelVersion, Unread> {
        KernelVersion::of_release(&self.release)
    }
}

/// `uname -r` and `uname -v`; captured trees often have only /proc/version, which holds both.
fn names(tree: &FsRoot) -> (Reading<String>, Reading<String>) {
    let release = tree.value::<String>("/proc/sys/kernel/osrelease");
    let version = tree.value::<String>("/proc/sys/kernel/version");
    if release.known().is_some() && version.known().is_some() {
        return (release, version);
    }
    let both = tree.value::<String>("/proc/version");
    let malformed = || Why::Malformed { expected: "Linux version RELEASE (...) #VERSION".to_owned() };
    let from_both = |part: fn(&str) -> Option<&str>| {
        both.and_then(|text| part(text).map(str::to_owned).ok_or_else(malformed))
    };
    let or = |own: Reading<String>, other: Reading<String>| match other.known() {
        Some(_) if own.known().is_none() => other,
        _ => own,
    };
    let first = from_both(|text| text.split_ascii_whitespace().nth(2));
    let last = from_both(|text| text.rfind(" #").and_then(|at| text.get(at + 1..)));
    (or(release, first), or(version, last))
}

/// The last word of a line, `(OE)`; `+` and `-` in it are a module's coming and going.
fn module_taints(tree: &FsRoot) -> Reading<Vec<(String, String)>> {
    tree.text("/proc/modules").and_then(|text| Ok(parse_module_taints(text)))
}

/// Names and taints of the modules in `/proc/modules` that have a taint.
pub fn parse_module_taints(text: &str) -> Vec<(String, String)> {
    let taint = |line: &str| {
        let (name, last) = (line.split_ascii_whitespace().next()?, line.split_ascii_whitespace().last()?);
        let letters = last.strip_prefix('(')?.strip_suffix(')')?.chars().filter(char::is_ascii_uppercase);
        Some((name.to_owned(), letters.collect::<String>())).filter(|(_, letters)| !letters.is_empty())
    };
    text.lines().filter_map(taint).collect()
}

fn modules(tree: &FsRoot) -> Reading<Words> {
    tree.text("/proc/modules").and_then(|text| {
        let names = text.lines().filter_map(|line| line.split_ascii_whitespace().next());
        Ok(Words(names.map(str::to_owned).collect()))
    })
}
