//! The settings that a fix's command or lasting setting names, where it is written as a shell takes it.
//!
//! A text that has a placeholder (`OTHER-CPUS`, `N`, `LIST`) or more to do than that is none: its rule names the settings, or
//! the reason why there are none.

use whylate_base::{Action, ParameterAction, TunableAction, UnitAction};

/// What follows kernel parameters in a lasting setting.
const ON_COMMAND_LINE: &str = " on the kernel command line";
/// What follows one that is to be removed.
const FROM_COMMAND_LINE: &str = " from the kernel command line";

/// The settings of a command that takes effect at once: `sysctl -w NAME=VALUE ...`, `echo VALUE > FILE`, `systemctl stop UNIT`
/// and the like; `None`: it is no such command.
pub(crate) fn of_command(text: &str) -> Option<Action> {
    if let Some(rest) = text.strip_prefix("sysctl ") {
        let words = rest.strip_prefix("-w ").unwrap_or(rest).split_ascii_whitespace();
        let set = words.map(sysctl).collect::<Option<Vec<_>>>()?;
        return (!set.is_empty()).then_some(Action::Tunable { set });
    }
    if let Some((value, path)) = text.strip_prefix("echo ").and_then(|rest| rest.split_once(" > ")) {
        let plain = is_plain(value) && is_file(path);
        return plain.then(|| Action::tunable(path, value));
    }
    let rest = text.strip_prefix("systemctl ")?;
    let mut words = rest.split_ascii_whitespace();
    let verb = words.next()?;
    let words: Vec<&str> = words.collect();
    let is_now = words.contains(&"--now");
    let (runs, at_boot) = match (verb, is_now) {
        ("stop", false) => (Some(false), None),
        ("start", false) => (Some(true), None),
        ("mask", true) => (Some(false), Some("masked")),
        ("disable", true) => (Some(false), Some("disabled")),
        ("enable", true) => (Some(true), Some("enabled")),
        _ => return None,
    };
    let units: Vec<&str> = words.into_iter().filter(|&word| word != "--now").collect();
    let is_unit = |unit: &&str| is_plain(unit) && !unit.contains(',');
    let set: Vec<UnitAction> = units
        .iter()
        .map(|unit| UnitAction {
            unit: Some(if unit.contains('.') { (*unit).to_owned() } else { format!("{unit}.service") }),
            runs,
            at_boot: at_boot.map(str::to_owned),
            ..UnitAction::default()
        })
        .collect();
    (!set.is_empty() && units.iter().all(is_unit)).then_some(Action::Unit { set })
}

/// The settings of a lasting setting: `PARAMETERS on the kernel command line`, `remove PARAMETER from the kernel command line`;
/// `None`: it is none of these.
pub(crate) fn of_lasting(text: &str) -> Option<Action> {
    if let Some((line, _)) = text.split_once(ON_COMMAND_LINE) {
        let all_plain = line.split_ascii_whitespace().all(is_parameter);
        return (!line.is_empty() && all_plain).then(|| Action::parameters(line));
    }
    let name = text.strip_prefix("remove ")?.split_once(FROM_COMMAND_LINE)?.0;
    let parameter = name.split_once('=').map_or(name, |(name, _)| name);
    is_parameter(name).then(|| Action::KernelParameter {
        set: vec![ParameterAction { parameter: parameter.to_owned(), value: None }],
    })
}

fn sysctl(word: &str) -> Option<TunableAction> {
    let (name, value) = word.split_once('=')?;
    let is_name = name.contains('.') && name.chars().all(|c| c.is_ascii_alphanumeric() || "._-".contains(c));
    (is_name && is_plain(value) && !value.ends_with([';', ','])).then(|| TunableAction::sysctl(name, value))
}

/// A file that exists as it is written.
fn is_file(path: &str) -> bool {
    (path.starts_with("/proc/") || path.starts_with("/sys/"))
        && path.split('/').all(|part| part.is_empty() || is_plain(part))
        && !path.contains([' ', ',', ';', '$', '['])
        && !path.contains("cpuN")
}

/// `nohz_full=2-3`, `nosmt`: a word of the kernel's command line.
fn is_parameter(word: &str) -> bool {
    let (name, value) = word.split_once('=').unwrap_or((word, "1"));
    // `with`, `in` and other words of a sentence have no underscore and no value, but neither has `nosmt`.
    let known = word.contains('=') || ["nosmt", "threadirqs", "noautogroup", "nowatchdog"].contains(&word);
    let is_name = name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || "._-".contains(c));
    known && is_name && !value.is_empty() && is_plain(value)
}

/// A value, and no placeholder: those are in capitals, as `LIST`, `N` and `OTHER-CPUS` are. A feature of the scheduler is in
/// capitals as well, with an underscore.
fn is_plain(value: &str) -> bool {
    let capitals = !value.is_empty()
        && !value.contains('_')
        && value.chars().any(|c| c.is_ascii_uppercase())
        && value.chars().all(|c| c.is_ascii_uppercase() || c == '-');
    !value.is_empty() && !capitals && !value.contains([' ', '\'', '$', ';'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_that_a_shell_takes() {
        for (text, expected) in [
            ("sysctl -w kernel.watchdog=0", "tunable"),
            ("sysctl vm.dirty_background_ratio=3 vm.dirty_ratio=10", "tunable"),
            ("sysctl -w kernel.watchdog_cpumask=OTHER-CPUS", ""),
            ("sysctl -w kernel.sched_rt_runtime_us=950000; before 5.10 another one as well", ""),
            ("echo tsc > /sys/devices/system/clocksource/clocksource0/current_clocksource", "tunable"),
            ("echo NO_RT_RUNTIME_SHARE > /sys/kernel/debug/sched/features", "tunable"),
            ("echo N > /sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages", ""),
            ("echo 0 > /sys/kernel/debug/sched/fair_server/cpu0/runtime, for each of these CPUs", ""),
            ("echo 10 > /sys/devices/system/cpu/cpuN/power/pm_qos_resume_latency_us", ""),
            ("echo 'x - nice -11' > /etc/security/limits.d/99-x-nice.conf, and log in again", ""),
            ("systemctl mask --now fwupd.service fwupd-refresh.timer", "unit"),
            ("systemctl stop irqbalance", "unit"),
            ("systemctl stop stalld, or echo 0 to the runtimes of the fair server", ""),
            ("swapoff -a", ""),
        ] {
            assert_eq!(of_command(text).map_or("", |action| action.kind()), expected, "{text}");
        }
        for (text, expected) in [
            ("skew_tick=1 on the kernel command line", Some(1)),
            ("intel_idle.max_cstate=1 processor.max_cstate=1 on the kernel command line, or more", Some(2)),
            ("threadirqs on the kernel command line", Some(1)),
            ("remove highres=off from the kernel command line", Some(1)),
            ("remove ftrace= and trace_event= from the kernel command line", None),
            ("irqaffinity=OTHER-CPUS on the kernel command line", None),
            ("rcutree.kthread_prio= on the kernel command line; more", None),
            ("the rule in /etc/audit/rules.d/", None),
        ] {
            let count = of_lasting(text).map(|action| match action {
                Action::KernelParameter { set } => set.len(),
                other => panic!("{other:?}"),
            });
            assert_eq!(count, expected, "{text}");
        }
    }
}
