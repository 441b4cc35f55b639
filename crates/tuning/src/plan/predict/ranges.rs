//! Ranges that the kernel enforces for numbers. Where kernels differ, the widest is given: a value outside is refused by
//! all of them.

/// A file, or its end after `*`; the least and the greatest number; a word that it takes as well.
type NumberRange = (&'static str, i128, i128, Option<&'static str>);

const INT_MAX: i128 = i32::MAX as i128;

/// From `extra1` and `extra2` of the tables in kernel/, mm/ and fs/, and the `store` functions of the others.
const RANGES: &[NumberRange] = &[
    ("/proc/sys/kernel/hardlockup_panic", 0, 1, None),
    ("/proc/sys/kernel/nmi_watchdog", 0, 1, None),
    ("/proc/sys/kernel/numa_balancing", 0, 4, None),
    ("/proc/sys/kernel/panic_on_rcu_stall", 0, 1, None),
    ("/proc/sys/kernel/perf_cpu_time_max_percent", 0, 100, None),
    ("/proc/sys/kernel/sched_autogroup_enabled", 0, 1, None),
    ("/proc/sys/kernel/sched_rt_period_us", 1, INT_MAX, None),
    ("/proc/sys/kernel/sched_rt_runtime_us", -1, INT_MAX, None),
    ("/proc/sys/kernel/sched_schedstats", 0, 1, None),
    ("/proc/sys/kernel/sched_util_clamp_max", 0, 1024, None),
    ("/proc/sys/kernel/sched_util_clamp_min", 0, 1024, None),
    ("/proc/sys/kernel/sched_util_clamp_min_rt_default", 0, 1024, None),
    ("/proc/sys/kernel/soft_watchdog", 0, 1, None),
    ("/proc/sys/kernel/softlockup_panic", 0, 1, None),
    ("/proc/sys/kernel/timer_migration", 0, 1, None),
    ("/proc/sys/kernel/watchdog", 0, 1, None),
    ("/proc/sys/kernel/watchdog_thresh", 0, 60, None),
    ("/proc/sys/vm/compact_unevictable_allowed", 0, 1, None),
    ("/proc/sys/vm/compaction_proactiveness", 0, 100, None),
    ("/proc/sys/vm/dirty_background_ratio", 0, 100, None),
    ("/proc/sys/vm/dirty_ratio", 0, 100, None),
    ("/proc/sys/vm/overcommit_memory", 0, 2, None),
    ("/proc/sys/vm/panic_on_oom", 0, 2, None),
    ("/proc/sys/vm/swappiness", 0, 200, None),
    ("/sys/kernel/mm/ksm/run", 0, 2, None),
    ("*/power/pm_qos_resume_latency_us", 0, INT_MAX, Some("n/a")),
];

/// Why a value is outside of what a file takes; `None`: it is inside, or the range is unknown.
pub(super) fn outside(path: &str, value: &str) -> Option<String> {
    let is_of = |pattern: &str| match pattern.strip_prefix('*') {
        Some(end) => path.ends_with(end),
        None => path == pattern,
    };
    let &(_, least, greatest, word) = RANGES.iter().find(|(pattern, ..)| is_of(pattern))?;
    if word == Some(value) {
        return None;
    }
    // In other bases and with a unit the kernel decides.
    let digits = value.strip_prefix('-').unwrap_or(value);
    let is_decimal = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    let is_octal = digits.len() > 1 && digits.starts_with('0');
    let number = value.parse::<i128>().ok().filter(|_| is_decimal && !is_octal)?;
    (!(least..=greatest).contains(&number)).then(|| format!("it takes {least} to {greatest}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_every_kernel_refuses_is_outside() {
        for (path, value, refused) in [
            ("/proc/sys/vm/swappiness", "200", false),
            ("/proc/sys/vm/swappiness", "201", true),
            ("/proc/sys/vm/swappiness", "-1", true),
            ("/proc/sys/vm/swappiness", "0x1000", false),
            ("/proc/sys/vm/swappiness", "many", false),
            ("/proc/sys/kernel/sched_rt_runtime_us", "-1", false),
            ("/proc/sys/kernel/sched_rt_runtime_us", "-2", true),
            ("/sys/devices/system/cpu/cpu1/power/pm_qos_resume_latency_us", "n/a", false),
            ("/sys/devices/system/cpu/cpu1/power/pm_qos_resume_latency_us", "-5", true),
            ("/proc/sys/vm/unheard_of", "99999999999999999999", false),
        ] {
            assert_eq!(outside(path, value).is_some(), refused, "{path} {value}");
        }
    }
}
