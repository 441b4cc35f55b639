//! Kernel parameters: what the next boot will have, what the running kernel was given, and which ones it knows.

use super::context::PlanContext;
use super::expansion::{Expanded, Found};
use crate::Setting;
use whylate_bootloader as bootloader;
use whylate_host::{KernelVersion, Snapshot};

pub(super) fn expand(name: &str, value: Option<&str>, context: &PlanContext<'_>) -> Expanded {
    let setting = Setting::Parameter { name: name.to_owned() };
    let then = value.map(str::to_owned);
    let cmdline = match &context.boot.cmdline {
        Ok(cmdline) => cmdline,
        Err(why) => {
            let running = context.host.kernel.cmdline.known();
            let what = match &then {
                Some(value) if !value.is_empty() => format!("{setting}={value}"),
                Some(_) => setting.to_string(),
                None if running.is_some_and(|cmdline| bootloader::value(cmdline, name, None).is_none()) => {
                    let note = Some("the running kernel was booted without it".to_owned());
                    return Expanded::found(vec![Found { setting, now: None, then, note }]);
                }
                None => format!("{setting} (to be removed)"),
            };
            return Expanded::hidden(what, why);
        }
    };
    let now = bootloader::value(cmdline, name, value);
    let running = context.host.kernel.cmdline.known();
    let note =
        running.and_then(|running| differs(name, now.as_deref(), bootloader::value(running, name, value)));
    Expanded::found(vec![Found { setting, now, then, note }])
}

/// Whether the running kernel was booted otherwise than the next one will be.
fn differs(name: &str, next: Option<&str>, running: Option<String>) -> Option<String> {
    if running.as_deref() == next {
        return None;
    }
    Some(match running.as_deref() {
        Some("") => "the running kernel was booted with it".to_owned(),
        Some(value) => format!("the running kernel was booted with {name}={value}"),
        None => "the running kernel was booted without it".to_owned(),
    })
}

/// What a kernel must have for a parameter to mean anything to it.
struct Needs {
    name: &'static str,
    /// One of these options of its configuration.
    options: &'static [&'static str],
    /// Since when there is such a parameter.
    since: Option<KernelVersion>,
}

const fn needs(name: &'static str, options: &'static [&'static str]) -> Needs {
    Needs { name, options, since: None }
}

const fn since(name: &'static str, version: KernelVersion) -> Needs {
    Needs { name, options: &[], since: Some(version) }
}

/// From Documentation/admin-guide/kernel-parameters.rst and the files where each is parsed.
const NEEDS: &[Needs] = &[
    needs("nohz_full", &["NO_HZ_FULL"]),
    needs("rcu_nocbs", &["RCU_NOCB_CPU"]),
    needs("rcu_nocb_poll", &["RCU_NOCB_CPU"]),
    needs("isolcpus", &["CPU_ISOLATION"]),
    needs("nosoftlockup", &["SOFTLOCKUP_DETECTOR"]),
    needs("nowatchdog", &["LOCKUP_DETECTOR", "SOFTLOCKUP_DETECTOR", "HARDLOCKUP_DETECTOR"]),
    needs("nmi_watchdog", &["HARDLOCKUP_DETECTOR", "HAVE_NMI_WATCHDOG"]),
    needs("skew_tick", &["TICK_ONESHOT", "HIGH_RES_TIMERS"]),
    needs("threadirqs", &["IRQ_FORCED_THREADING"]),
    needs("irqaffinity", &["SMP"]),
    needs("preempt", &["PREEMPT_DYNAMIC"]),
    needs("intel_pstate", &["X86_INTEL_PSTATE"]),
    needs("amd_pstate", &["X86_AMD_PSTATE"]),
    needs("intel_idle.max_cstate", &["INTEL_IDLE"]),
    needs("processor.max_cstate", &["ACPI_PROCESSOR"]),
    needs("audit", &["AUDIT"]),
    needs("mce", &["X86_MCE"]),
    needs("transparent_hugepage", &["TRANSPARENT_HUGEPAGE"]),
    needs("default_hugepagesz", &["HUGETLBFS"]),
    needs("hugepagesz", &["HUGETLBFS"]),
    needs("hugepages", &["HUGETLBFS"]),
    needs("numa_balancing", &["NUMA_BALANCING"]),
    needs("rt_group_sched", &["RT_GROUP_SCHED"]),
    needs("tsc", &["X86"]),
    needs("pcie_aspm", &["PCIEASPM"]),
    needs("cpufreq.default_governor", &["CPU_FREQ"]),
    since("cpufreq.default_governor", KernelVersion::new(5, 9)),
    since("preempt", KernelVersion::new(5, 12)),
    since("rt_group_sched", KernelVersion::new(6, 16)),
    since("mitigations", KernelVersion::new(5, 1)),
];

/// Why this kernel will not know a parameter; `None`: it knows it, as far as can be determined.
pub(super) fn unknown(name: &str, host: &Snapshot) -> Option<String> {
    let own = name.replace('-', "_");
    let of_name = NEEDS.iter().filter(|needs| needs.name.replace('-', "_") == own);
    let config = host.kernel.config.known();
    let version = host.kernel.numbers().ok();
    of_name.into_iter().find_map(|needs| {
        if let (Some(since), Some(version)) = (needs.since, version)
            && version < since
        {
            return Some(format!("this kernel is older than {since}, which introduced it"));
        }
        let lacks = !needs.options.is_empty()
            && config.is_some_and(|config| needs.options.iter().all(|option| config.get(option).is_none()));
        lacks.then(|| {
            let option = needs.options.first().copied().unwrap_or_default();
            format!("this kernel was built without CONFIG_{option}, and ignores it")
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::next_boot::{LOADERS, NextBoot};
    use whylate_host::{FsRoot, Why};

    fn host(config: &str, cmdline: &str) -> Snapshot {
        Snapshot::read(&FsRoot::memory(&[
            ("/proc/sys/kernel/osrelease", "6.1.0-28-amd64\n"),
            ("/proc/cmdline", cmdline),
            ("/boot/config-6.1.0-28-amd64", config),
        ]))
    }

    #[test]
    fn what_a_kernel_ignores() {
        let host = host(
            "CONFIG_SMP=y\nCONFIG_RCU_NOCB_CPU=y\nCONFIG_PREEMPT_DYNAMIC=y\nCONFIG_RT_GROUP_SCHED=y\n",
            "quiet\n",
        );
        for (name, why) in [
            ("nohz_full", Some("CONFIG_NO_HZ_FULL")),
            ("rcu_nocbs", None),
            ("rcu-nocbs", None),
            ("rt_group_sched", Some("6.16")),
            ("preempt", None),
            ("my_driver.option", None),
        ] {
            let planned = unknown(name, &host);
            assert_eq!(planned.is_some(), why.is_some(), "{name}: {planned:?}");
            assert!(why.is_none_or(|why| planned.is_some_and(|planned| planned.contains(why))), "{name}");
        }
        let nothing = Snapshot::read(&FsRoot::memory(&[("/proc/cmdline", "x")]));
        assert_eq!(unknown("nohz_full", &nothing), None, "a configuration that is not known says nothing");
    }

    #[test]
    fn the_next_boot_and_the_running_kernel() {
        let tree = FsRoot::memory(&[]);
        let host = host("CONFIG_SMP=y\n", "isolcpus=1 threadirqs\n");
        let with = |boot: Option<&str>| {
            let line = |text: &str| whylate_host::FromText::from_text(text).expect("a line");
            let cmdline = boot.map(line).ok_or_else(|| "no boot loader".to_owned());
            PlanContext { tree: &tree, host: &host, boot: NextBoot { cmdline, assumed: false } }
        };
        let planned = |name: &str, value: Option<&str>, boot| {
            let expanded = expand(name, value, &with(boot));
            let found = expanded
                .found
                .iter()
                .map(|found| format!("{:?} -> {:?} {:?}", found.now, found.then, found.note));
            found
                .chain(expanded.left.iter().map(|left| format!("{}: {}", left.what, left.why)))
                .collect::<String>()
        };
        assert_eq!(
            planned("isolcpus", Some("2-3"), Some("isolcpus=1\n")),
            r#"Some("1") -> Some("2-3") None"#
        );
        assert_eq!(
            planned("isolcpus", Some("2-3"), Some("isolcpus=2-3\n")),
            r#"Some("2-3") -> Some("2-3") Some("the running kernel was booted with isolcpus=1")"#
        );
        assert_eq!(
            planned("skew_tick", Some("1"), Some("skew_tick=1\n")),
            r#"Some("1") -> Some("1") Some("the running kernel was booted without it")"#
        );
        assert_eq!(
            planned("threadirqs", None, Some("quiet\n")),
            r#"None -> None Some("the running kernel was booted with it")"#
        );
        assert_eq!(planned("isolcpus", Some("2-3"), None), "kernel parameter isolcpus=2-3: no boot loader");
        assert_eq!(
            planned("threadirqs", None, None),
            "kernel parameter threadirqs (to be removed): no boot loader"
        );
        assert_eq!(
            planned("highres", None, None),
            r#"None -> None Some("the running kernel was booted without it")"#
        );
    }

    #[test]
    fn where_the_next_boot_is_not_known() {
        let next = |tree: &FsRoot| NextBoot::read(tree, &host("CONFIG_SMP=y\n", "isolcpus=1\n"));
        let captured = next(&FsRoot::refusing(Why::NotCollected));
        assert!(captured.assumed);
        assert!(captured.cmdline.is_ok_and(|cmdline| cmdline.has("isolcpus")));
        // A directory does not show whether what is not there was collected; an image that is there was.
        let image = FsRoot::memory(&[("/boot/EFI/Linux/a.efi", "")]);
        let image = LOADERS.iter().fold(image, |tree, path| tree.refused(path, Why::NotCollected));
        let unified = next(&image);
        assert!(unified.cmdline.is_err_and(|why| why.contains("unified kernel image")));
        let none = next(&FsRoot::memory(&[("/etc/hostname", "x"), ("/boot/vmlinuz", "")]));
        assert!(none.cmdline.is_err_and(|why| why.contains("boot loader")));
    }
}
