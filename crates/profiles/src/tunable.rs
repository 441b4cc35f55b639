//! The values of the kernel's files: when two of them are the same, and how one is written.

use whylate_base::CpuSet;
use whylate_host::{BracketedChoice, FromText, Mask};

/// The value in a tunable's text: trimmed, one blank between words; of a choice (`always [never]`) the chosen word; of
/// a CPU mask (`ff,ffffffff`) the list, as of a CPU list.
pub fn normal(path: &str, text: &str) -> String {
    let text = text.trim_matches(['\0', '\n', ' ', '\t']);
    if is_mask(path)
        && let Some(Mask(cpus)) = Mask::from_text(text)
    {
        return cpus.to_string();
    }
    if is_list(path)
        && let Ok(cpus) = text.parse::<CpuSet>()
    {
        return cpus.to_string();
    }
    // A sysctl shows no choices, and some hold brackets of their own (kernel.core_pattern).
    if path.starts_with("/sys/")
        && text.contains('[')
        && let Some(BracketedChoice { chosen, .. }) = BracketedChoice::from_text(text)
    {
        return chosen;
    }
    text.split_ascii_whitespace().collect::<Vec<_>>().join(" ")
}

/// A desired value, in the format of the file as it is now: CPUs of a mask are asked for as a list,
/// and `1` is `Y` where the kernel prints that (module parameters).
pub fn asked(path: &str, now: &str, value: &str) -> String {
    if is_mask(path)
        && let Ok(cpus) = value.parse::<CpuSet>()
    {
        return cpus.to_string();
    }
    let value = normal(path, value);
    let flag = path.starts_with("/sys/module/") && matches!(now, "Y" | "N");
    match value.as_str() {
        "1" | "y" if flag => "Y".to_owned(),
        "0" | "n" if flag => "N".to_owned(),
        _ => value,
    }
}

/// How a value that [`normal`] has is written into a tunable.
pub fn written(path: &str, value: &str) -> String {
    match value.parse::<CpuSet>() {
        Ok(cpus) if is_mask(path) => mask(&cpus),
        _ => value.to_owned(),
    }
}

/// A hexadecimal mask: 32 bits to a word, the highest first.
pub fn mask(cpus: &CpuSet) -> String {
    let words = cpus.iter().map(|cpu| cpu.0 / 32 + 1).max().unwrap_or(1);
    let mut bits = vec![0u32; words as usize];
    for cpu in cpus.iter() {
        if let Some(word) = bits.get_mut((cpu.0 / 32) as usize) {
            *word |= 1 << (cpu.0 % 32);
        }
    }
    let words: Vec<String> = bits.iter().rev().map(|word| format!("{word:08x}")).collect();
    words.join(",")
}

/// The scheduler's features are words in one file, and one is switched by writing it alone, or `NO_` before it
/// (`sched_feat_write()`, kernel/sched/debug.c). So each is a tunable of its own, below the path of the file: this is the
/// file and the name, where a path is of one.
pub fn feature(path: &str) -> Option<(&str, &str)> {
    path.rsplit_once('/').filter(|(file, _)| is_features(file))
}

/// Whether a path is the file with all features.
pub fn is_features(path: &str) -> bool {
    matches!(path, "/sys/kernel/debug/sched/features" | "/sys/kernel/debug/sched_features")
}

/// How a feature stands in its file: `NAME` or `NO_NAME`; `None`: this scheduler has no such feature.
pub fn state_of_feature<'a>(features: &'a str, name: &str) -> Option<&'a str> {
    features.split_ascii_whitespace().find(|word| feature_name(word) == name)
}

/// The feature that a word switches on or off.
pub fn feature_name(word: &str) -> &str {
    word.strip_prefix("NO_").unwrap_or(word)
}

/// Whether a path, or a pattern, is of a process's files in /proc. They are no settings of the machine, and some lead to
/// any file: `root`, `cwd`, `fd` (proc_pid_root(5)).
pub fn is_of_process(path: &str) -> bool {
    let first = path.strip_prefix("/proc/").and_then(|rest| rest.split('/').next());
    first.is_some_and(|first| {
        let is_number = !first.is_empty() && first.bytes().all(|byte| byte.is_ascii_digit());
        is_number || matches!(first, "self" | "thread-self") || first.contains('*')
    })
}

fn is_mask(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default();
    matches!(
        name,
        "smp_affinity" | "default_smp_affinity" | "cpumask" | "rps_cpus" | "xps_cpus" | "tracing_cpumask"
    )
}

fn is_list(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default();
    matches!(
        name,
        "smp_affinity_list" | "cpuset.cpus" | "cpuset.cpus.exclusive" | "cpulist" | "watchdog_cpumask"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_the_same_however_they_are_written() {
        for (path, text, value) in [
            ("/proc/sys/kernel/timer_migration", "1\n", "1"),
            ("/sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n", "madvise"),
            ("/proc/sys/net/ipv4/tcp_rmem", "4096\t131072\t6291456\n", "4096 131072 6291456"),
            ("/proc/irq/default_smp_affinity", "f,0000000f\n", "0-3,32-35"),
            ("/sys/devices/virtual/workqueue/cpumask", "00000003\n", "0-1"),
            ("/proc/irq/4/smp_affinity_list", "0,1\n", "0-1"),
            ("/proc/sys/kernel/core_pattern", "|/bin/x [%p] %u", "|/bin/x [%p] %u"),
        ] {
            assert_eq!(normal(path, text), value, "{path}");
        }
    }

    #[test]
    fn what_is_asked_for_is_said_as_the_file_says_it() {
        for (path, now, asked_for, value) in [
            ("/sys/devices/virtual/workqueue/cpumask", "0-3", "0,1", "0-1"),
            ("/sys/devices/virtual/workqueue/cpumask", "0-3", "1", "1"),
            ("/sys/module/kvm/parameters/nx_huge_pages", "Y", "0", "N"),
            ("/sys/module/kvm/parameters/halt_poll_ns", "200000", "0", "0"),
            ("/proc/sys/kernel/timer_migration", "1", " 0\n", "0"),
            ("/proc/sys/net/ipv4/tcp_rmem", "", "1\t2  3", "1 2 3"),
        ] {
            assert_eq!(asked(path, now, asked_for), value, "{path}");
        }
    }

    #[test]
    fn files_of_processes_are_no_settings() {
        for path in [
            "/proc/self/root/etc/shadow",
            "/proc/thread-self/cwd/x",
            "/proc/1/root/x",
            "/proc/*/oom_adj",
            "/proc/s*f",
        ] {
            assert!(is_of_process(path), "{path}");
        }
        for path in [
            "/proc/sys/vm/swappiness",
            "/proc/irq/*/smp_affinity",
            "/proc/sys/net/*/x",
            "/sys/self",
            "/proc/",
        ] {
            assert!(!is_of_process(path), "{path}");
        }
    }

    #[test]
    fn masks_are_written_as_masks() {
        let path = "/proc/irq/default_smp_affinity";
        for (cpus, mask) in [("0-1", "00000003"), ("32", "00000001,00000000"), ("", "00000000")] {
            assert_eq!(written(path, cpus), mask);
            assert_eq!(normal(path, mask), cpus);
        }
        assert_eq!(written("/proc/sys/vm/swappiness", "10"), "10");
    }
}
