//! Which checks look at a setting: so a change has its reasons, and a failed check finds the settings that mend it.

use crate::Setting;
use whylate_base::glob;
use whylate_profiles::{Pattern, Reasons, Selector};

/// A pattern for tunables' paths, and the rules that look at them.
type Links = &'static [(&'static str, &'static [&'static str])];

const KNOBS: Links = &[
    ("/proc/sys/kernel/sched_rt_runtime_us", &["rt-throttling", "throttling-off-no-net"]),
    ("/proc/sys/kernel/sched_rt_period_us", &["rt-throttling"]),
    ("/sys/kernel/debug/sched/fair_server/cpu*", &["fair-server", "throttling-off-no-net"]),
    ("/sys/kernel/debug/sched/ext_server/cpu*", &["ext-server"]),
    ("/sys/kernel/debug/sched*features/RT_RUNTIME_SHARE", &["rt-runtime-share"]),
    ("/proc/sys/kernel/sched_rr_timeslice_ms", &["rr-timeslice"]),
    ("/proc/sys/kernel/sched_util_clamp_min_rt_default", &["rt-uclamp"]),
    ("/proc/sys/kernel/sched_autogroup_enabled", &["autogroup"]),
    ("/proc/sys/kernel/sched_schedstats", &["schedstats"]),
    ("/proc/sys/kernel/timer_migration", &["timer-migration"]),
    ("/proc/sys/kernel/nmi_watchdog", &["nmi-watchdog"]),
    ("/proc/sys/kernel/soft_watchdog", &["soft-watchdog"]),
    ("/proc/sys/kernel/watchdog", &["soft-watchdog", "nmi-watchdog"]),
    ("/proc/sys/kernel/watchdog_cpumask", &["soft-watchdog", "nmi-watchdog"]),
    ("/proc/sys/kernel/hung_task_panic", &["watchdog-panic"]),
    ("/proc/sys/kernel/hung_task_timeout_secs", &["watchdog-panic"]),
    ("/proc/sys/kernel/panic_on_rcu_stall", &["watchdog-panic"]),
    ("/proc/sys/kernel/numa_balancing", &["numa-balancing"]),
    ("/sys/devices/virtual/workqueue/*cpumask", &["workqueue-cpus"]),
    ("/sys/bus/workqueue/devices/*cpumask", &["workqueue-cpus"]),
    ("/sys/devices/system/cpu/cpu*/cpufreq/scaling_governor", &["governor"]),
    ("/sys/devices/system/cpu/cpufreq/*/scaling_governor", &["governor"]),
    ("/sys/devices/system/cpu/*/cpufreq/scaling_m*_freq", &["frequency-limits"]),
    ("/sys/devices/system/cpu/cpufreq/*/scaling_m*_freq", &["frequency-limits"]),
    ("/sys/devices/system/cpu/*energy_performance_preference", &["energy-preference"]),
    ("/sys/devices/system/cpu/intel_pstate/no_turbo", &["turbo"]),
    ("/sys/devices/system/cpu/cpufreq/boost", &["turbo"]),
    ("/sys/devices/system/cpu/cpu*/cpuidle/state*", &["c-states"]),
    ("/sys/devices/system/cpu/cpu*/power/pm_qos_resume_latency_us", &["c-states"]),
    ("/sys/devices/system/cpu/smt/control", &["smt"]),
    ("/sys/devices/system/machinecheck/*/check_interval", &["machine-check-polling"]),
    ("/sys/devices/system/machinecheck/*/ignore_ce", &["machine-check-polling"]),
    ("/sys/devices/system/clocksource/*/current_clocksource", &["clocksource"]),
    ("/proc/irq/*affinity*", &["irq-affinity"]),
    ("/proc/sys/vm/swappiness", &["swappiness"]),
    ("/proc/sys/vm/overcommit_memory", &["overcommit"]),
    ("/sys/kernel/mm/transparent_hugepage/*", &["transparent-huge-pages"]),
    ("/sys/kernel/mm/ksm/run", &["ksm"]),
    ("/proc/sys/vm/compaction_proactiveness", &["compaction"]),
    ("/proc/sys/vm/compact_unevictable_allowed", &["compact-unevictable"]),
    ("/proc/sys/vm/zone_reclaim_mode", &["zone-reclaim"]),
    ("/proc/sys/vm/dirty_*", &["dirty-writeback"]),
    ("/proc/sys/vm/stat_interval", &["vm-stat-interval"]),
    ("/sys/module/pcie_aspm/parameters/policy", &["pcie-aspm"]),
    ("/sys/module/kvm*/parameters/nx_huge_pages*", &["kvm-nx-huge-pages"]),
    ("/sys/module/kvm*/parameters/halt_poll_ns", &["kvm-exits"]),
    ("/sys/module/kvm*/parameters/*", &["kvm-exits"]),
    ("/sys/kernel/rcu_expedited", &["rcu-expedited"]),
    ("/sys/kernel/rcu_normal", &["rcu-expedited"]),
];

const PARAMETERS: Links = &[
    ("isolcpus", &["cpu-isolation", "isolation-settings", "managed-irqs"]),
    ("nohz_full", &["nohz-full", "isolation-settings"]),
    ("nohz", &["nohz-full"]),
    ("rcu_nocbs", &["rcu-offload", "isolation-settings"]),
    ("irqaffinity", &["irq-affinity", "isolation-settings"]),
    ("skew_tick", &["skew-tick"]),
    ("threadirqs", &["threadirqs"]),
    ("nosoftlockup", &["soft-watchdog"]),
    ("nowatchdog", &["soft-watchdog", "nmi-watchdog"]),
    ("nmi_watchdog", &["nmi-watchdog"]),
    ("mitigations", &["mitigations"]),
    ("idle", &["idle-poll", "c-states"]),
    ("processor.max_cstate", &["c-states"]),
    ("intel_idle.max_cstate", &["c-states"]),
    ("nosmt", &["smt"]),
    ("audit", &["audit"]),
    ("mce", &["machine-check-polling"]),
    ("transparent_hugepage", &["transparent-huge-pages"]),
    ("tsc", &["clocksource-watchdog", "clocksource"]),
    ("clocksource", &["clocksource"]),
    ("efi", &["efi-runtime"]),
    ("pcie_aspm", &["pcie-aspm"]),
    ("numa_balancing", &["numa-balancing"]),
    ("rcupdate.rcu_normal_after_boot", &["rcu-expedited"]),
    ("rcupdate.rcu_expedited", &["rcu-expedited"]),
    ("rcutree.kthread_prio", &["kernel-threads"]),
    ("rt_group_sched", &["rt-group-sched"]),
];

const UNITS: Links = &[
    ("irqbalance.service", &["irqbalance"]),
    ("stalld.service", &["stalld", "throttling-off-no-net"]),
    ("tuned.service", &["tuned-profile"]),
    ("fwupd*", &["fwupd"]),
    ("ksm*.service", &["ksm"]),
    ("rtkit-daemon.service", &["rtkit"]),
    ("auditd.service", &["audit"]),
];

const VARIABLES: Links =
    &[("IRQBALANCE_BANNED_CPU*", &["irqbalance"]), ("CPUAffinity", &["systemd-affinity", "unbound-threads"])];

/// By the kernel threads that a pattern is for.
const POLICIES: Links = &[
    ("[ksoftirqd*", &["softirq-threads"]),
    ("[ktimers*", &["softirq-threads"]),
    ("[irq/*", &["irq-threads"]),
    ("[*", &["kernel-threads"]),
    ("*", &["rogue-rt-threads"]),
];

fn linked(links: Links, name: &str) -> &'static [&'static str] {
    let found = links.iter().find(|(pattern, _)| glob(pattern, name));
    found.map(|(_, rules)| *rules).unwrap_or_default()
}

/// The rules that look at what a desired setting is about, the closest one first.
pub(super) fn rules_of(selector: &Selector) -> &'static [&'static str] {
    match selector {
        Selector::Tunable { path } => linked(KNOBS, path),
        // A regular expression has no beginning to recognise it by.
        Selector::ThreadPolicy { threads } => match &threads.named {
            Pattern::Glob(name) => linked(POLICIES, name),
            Pattern::Regex(_) => linked(POLICIES, "[any]"),
        },
        Selector::ThreadCpus { .. } | Selector::ThreadPlacement { .. } => {
            &["unbound-threads", "housekeeping"]
        }
        Selector::Irqs => &["irq-affinity"],
        Selector::Parameter { name } => linked(PARAMETERS, &name.replace('-', "_")),
        Selector::UnitActive { unit } | Selector::UnitEnabled { unit } => linked(UNITS, unit),
        Selector::Variable { name, .. } => linked(VARIABLES, name),
        Selector::Partition { .. } => &["cpuset-partition", "cpu-isolation"],
        Selector::CpuDmaLatency => &["c-states"],
    }
}

/// The rule that looks at a setting, of several the closest.
fn rule_of(setting: &Setting) -> Option<&'static str> {
    let rules = match setting {
        Setting::Tunable { path } => linked(KNOBS, path),
        Setting::ThreadPolicy { thread } => linked(POLICIES, &thread.name),
        Setting::ThreadCpus { .. } => &["unbound-threads"],
        Setting::Parameter { name } => linked(PARAMETERS, &name.replace('-', "_")),
        Setting::UnitActive { unit } | Setting::UnitEnabled { unit } => linked(UNITS, unit),
        Setting::Variable { name, .. } => linked(VARIABLES, name),
        Setting::Partition { .. } => &["cpuset-partition"],
        Setting::CpuDmaLatency => &["c-states"],
    };
    rules.first().copied()
}

/// The names of kernel parameters that a check reads.
pub(super) fn known_parameters() -> impl Iterator<Item = &'static str> {
    PARAMETERS.iter().map(|(name, _)| *name)
}

/// The reasons of a desired setting; what it lacks is that of the check.
pub(super) fn complete(own: &Reasons, setting: &Setting) -> Reasons {
    with_rule(own, rule_of(setting))
}

/// The same for what a desired setting selects.
pub(super) fn complete_selected(own: &Reasons, selector: &Selector) -> Reasons {
    with_rule(own, rules_of(selector).first().copied())
}

fn with_rule(own: &Reasons, rule: Option<&str>) -> Reasons {
    let mut reasons = own.clone();
    if reasons.rule.is_none() {
        reasons.rule = rule.map(str::to_owned);
    }
    if reasons.why.is_none() {
        let rule = reasons.rule.as_deref().and_then(whylate_checks::explain);
        reasons.why = rule.map(|rule| rule.title.to_owned());
    }
    reasons
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The last part of a tunable's pattern, or the longest word of it: what the page of its rule must speak of.
    fn word(pattern: &str) -> &str {
        let name =
            pattern.rsplit('/').find(|part| part.chars().any(|c| c.is_ascii_alphabetic())).unwrap_or(pattern);
        let name = name.rsplit('.').next().unwrap_or(name).trim_start_matches("no");
        name.split('*').max_by_key(|part| part.len()).unwrap_or(name).trim_matches(['/', '_', '['])
    }

    #[test]
    fn the_first_rule_of_each_link_speaks_of_it() {
        let mut silent = Vec::new();
        for links in [KNOBS, PARAMETERS, UNITS, VARIABLES, POLICIES] {
            for (pattern, rules) in links {
                for code in *rules {
                    assert!(whylate_checks::explain(code).is_some(), "{pattern}: no rule {code}");
                }
                let rule = whylate_checks::explain(rules[0]).expect("a rule");
                let word = match *pattern {
                    // The page speaks of the sysctl that the parameter presets.
                    "nosoftlockup" => "soft_watchdog",
                    pattern => word(pattern.trim_end_matches(".service")),
                };
                if !rule.page.to_lowercase().contains(&word.to_lowercase()) {
                    silent.push(format!("{pattern} ({word}): {}", rules[0]));
                }
            }
        }
        assert_eq!(silent, Vec::<String>::new());
    }

    #[test]
    fn reasons_of_the_wish_come_first() {
        let setting = Setting::Tunable { path: "/proc/sys/kernel/timer_migration".to_owned() };
        let from_check = complete(&Reasons::default(), &setting);
        assert_eq!(from_check.rule.as_deref(), Some("timer-migration"));
        assert_eq!(
            from_check.why.as_deref(),
            Some("Timers of other CPUs do not migrate to the real-time CPUs")
        );
        let own =
            Reasons { why: Some("mine".to_owned()), rule: Some("smt".to_owned()), ..Reasons::default() };
        assert_eq!(complete(&own, &setting), own);
        let none = complete(&Reasons::default(), &Setting::Parameter { name: "quiet".to_owned() });
        assert_eq!(none, Reasons::default());
    }
}
