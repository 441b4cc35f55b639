//! Settings that the kernel will refuse, as far as its own files show that: a file without a write bit, a choice that it
//! does not offer, a number outside of its range, ASPM that the firmware controls. What cannot be known is not predicted.

mod ranges;

use super::context::PlanContext;
use crate::{Setting, aspm};
use whylate_host::{BracketedChoice, FromText};
use whylate_profiles::tunable;

const CPUS: &str = "/sys/devices/system/cpu/";

/// Why the kernel will refuse a change: the error, what it means, and what shows it. `None`: nothing shows that.
pub(super) fn refusal(setting: &Setting, then: Option<&str>, context: &PlanContext<'_>) -> Option<String> {
    let (Setting::Tunable { path }, Some(then)) = (setting, then) else { return None };
    let rules = [read_only, firmware, choice, listed, smt];
    let found = rules.iter().find_map(|rule| rule(path, then, context));
    found.or_else(|| ranges::outside(path, then).map(|why| format!("EINVAL: {why}")))
}

/// For root the kernel makes no exception: such a file has no way to be set (fs/kernfs/file.c, fs/proc/proc_sysctl.c).
fn read_only(path: &str, _then: &str, context: &PlanContext<'_>) -> Option<String> {
    let file = tunable::feature(path).map_or(path, |(file, _)| file);
    let mode = context.tree.mode(file);
    let mode = mode.known().copied().filter(|mode| mode & 0o222 == 0)?;
    Some(format!("EACCES: the kernel allows no program to write this file (mode {mode:04o})"))
}

fn firmware(path: &str, _then: &str, context: &PlanContext<'_>) -> Option<String> {
    let shown = (path == aspm::POLICY).then(|| aspm::not_changeable(context.tree, &context.host.dmesg))?;
    shown.map(|shown| format!("EPERM: {shown}"))
}

/// Of a choice (`always [madvise] never`) the kernel takes the words that it shows.
fn choice(path: &str, then: &str, context: &PlanContext<'_>) -> Option<String> {
    // Others are found by loading a module: I/O schedulers, triggers of LEDs.
    if !path.starts_with("/sys/") || path.ends_with("/queue/scheduler") || path.ends_with("/trigger") {
        return None;
    }
    let text = context.tree.text(path);
    let text = text.known().filter(|text| text.contains('['))?;
    let choice = BracketedChoice::from_text(text)?;
    // Some take the number of a choice, too.
    let is_word = then.starts_with(|c: char| c.is_ascii_alphabetic());
    let is_offered = choice.options.iter().any(|option| option == then);
    (is_word && !is_offered).then(|| format!("EINVAL: it takes {}", choice.options.join(", ")))
}

/// Choices that another file lists.
fn listed(path: &str, then: &str, context: &PlanContext<'_>) -> Option<String> {
    let (directory, name) = path.rsplit_once('/')?;
    let (list, why) = match name {
        // Other drivers load the module of a governor that is not listed.
        "scaling_governor" if has_own_governors(directory, context) => {
            ("scaling_available_governors", "EINVAL")
        }
        "energy_performance_preference" => ("energy_performance_available_preferences", "EINVAL"),
        // It takes any name, and keeps what it has (kernel/time/clocksource.c).
        "current_clocksource" => {
            ("available_clocksource", "the kernel accepts the name and keeps its clocksource")
        }
        _ => return None,
    };
    let offered = context.tree.text(&format!("{directory}/{list}"));
    let offered: Vec<&str> = offered.known()?.split_ascii_whitespace().collect();
    let is_word = then.starts_with(|c: char| c.is_ascii_alphabetic());
    let is_offered = offered.contains(&then);
    (is_word && !offered.is_empty() && !is_offered)
        .then(|| format!("{why}: {list} has {}", offered.join(", ")))
}

/// Drivers that choose frequencies themselves have two governors and no others.
fn has_own_governors(directory: &str, context: &PlanContext<'_>) -> bool {
    let driver = context.tree.value::<String>(&format!("{directory}/scaling_driver"));
    driver.known().is_some_and(|driver| matches!(driver.as_str(), "intel_pstate" | "amd-pstate-epp"))
}

/// (`__store_smt_control()`, kernel/cpu.c)
fn smt(path: &str, _then: &str, context: &PlanContext<'_>) -> Option<String> {
    if path.strip_prefix(CPUS) != Some("smt/control") {
        return None;
    }
    match context.host.cpus.smt_control.known()?.as_str() {
        "notsupported" | "notimplemented" => Some("ENODEV: these CPUs have no SMT".to_owned()),
        "forceoff" => Some("EPERM: SMT was switched off until the next boot (forceoff)".to_owned()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use whylate_host::{FsRoot, Snapshot};

    const CPU0: &str = "/sys/devices/system/cpu/cpu0/cpufreq";
    const POLICIES: &str = "[default] performance powersave powersupersave\n";
    const OSC: &str = "6,1,5,-;acpi PNP0A08:00: _OSC: platform retains control of PCIe features (AE_ERROR)\n";

    fn predicted(files: &[(&str, &str)], path: &str, then: &str) -> Option<String> {
        let tree = FsRoot::memory(files);
        let host = Snapshot::read(&tree);
        let setting = Setting::Tunable { path: path.to_owned() };
        refusal(&setting, Some(then), &PlanContext::new(&tree, &host))
    }

    #[test]
    fn choices_that_are_not_offered() {
        let enabled = "/sys/kernel/mm/transparent_hugepage/enabled";
        let huge = &[(enabled, "[always] never\n")][..];
        assert_eq!(predicted(huge, enabled, "madvise").as_deref(), Some("EINVAL: it takes always, never"));
        assert_eq!(predicted(huge, enabled, "never"), None);
        let queue = "/sys/block/sda/queue/scheduler";
        assert_eq!(predicted(&[(queue, "[none] mq-deadline\n")], queue, "kyber"), None, "it loads a module");
        // A sysctl shows no choices: its brackets are its own.
        let pattern = "/proc/sys/kernel/core_pattern";
        assert_eq!(predicted(&[(pattern, "[core] x\n")], pattern, "core"), None);
    }

    #[test]
    fn governors_by_their_driver() {
        let file = |name: &str| format!("{CPU0}/{name}");
        let (governor, driver, list) =
            (file("scaling_governor"), file("scaling_driver"), file("scaling_available_governors"));
        let of = |name: &str, wanted: &str| {
            let files =
                [(governor.as_str(), "powersave\n"), (&list, "performance powersave\n"), (&driver, name)];
            predicted(&files, &governor, wanted)
        };
        assert!(of("intel_pstate\n", "schedutil").is_some_and(|why| why.starts_with("EINVAL")));
        assert_eq!(of("intel_pstate\n", "performance"), None);
        assert_eq!(of("acpi-cpufreq\n", "schedutil"), None, "it loads a module");
    }

    #[test]
    fn other_reasons() {
        let smt = format!("{CPUS}smt/control");
        for (files, path, then, expected) in [
            (vec![(aspm::POLICY, POLICIES), ("/dev/kmsg", OSC)], aspm::POLICY, "performance", Some("EPERM")),
            (vec![(aspm::POLICY, POLICIES)], aspm::POLICY, "performance", None),
            (vec![(smt.as_str(), "notsupported\n")], smt.as_str(), "off", Some("ENODEV")),
            (vec![(smt.as_str(), "on\n")], smt.as_str(), "off", None),
            (vec![], "/proc/sys/vm/swappiness", "300", Some("EINVAL: it takes 0 to 200")),
            (vec![], "/proc/sys/vm/swappiness", "10", None),
        ] {
            let why = predicted(&files, path, then);
            match expected {
                Some(expected) => {
                    assert!(why.as_deref().is_some_and(|why| why.starts_with(expected)), "{why:?}")
                }
                None => assert_eq!(why, None, "{path} {then}"),
            }
        }
    }
}
