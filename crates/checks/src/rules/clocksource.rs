//! Is time read from a counter of the CPU?

use crate::rule::page;
use crate::{CannotTell, CheckOptions, Fix, Profile, Rule, RuleOutcome, RuleResult};
use whylate_base::Severity;
use whylate_host::Snapshot;

pub(super) const RULE: Rule = Rule {
    code: "clocksource",
    title: "The clock source is a CPU counter",
    severity: Severity::Warning,
    profiles: Profile::ALL,
    sources: &["vdso(7)", "Documentation/timers/timekeeping.rst", "arch/x86/kernel/tsc.c"],
    page: page!("clocksource"),
    check,
};

/// Read without a system call.
const QUICK: [&str; 8] = [
    "tsc",
    "arch_sys_counter",
    "kvm-clock",
    "hyperv_clocksource_tsc_page",
    "timebase",
    "riscv_clocksource",
    "tod",
    "stimer",
];
/// Device clocks, with the cost of a reading.
const SLOW: [(&str, &str); 5] = [
    (
        "hpet",
        "about 1.2 us a reading, against 60 ns with the TSC (10 million readings: 12.3 s against 0.6 s)",
    ),
    (
        "acpi_pm",
        "about 2.5 us a reading, against 60 ns with the TSC (10 million readings: 24.5 s against 0.6 s)",
    ),
    ("pit", "each reading is slow port I/O, with a lock shared by all CPUs"),
    ("jiffies", "the time does not change between two ticks, for 1 to 10 ms"),
    ("refined-jiffies", "the time does not change between two ticks, for 1 to 10 ms"),
];

fn check(host: &Snapshot, _options: &CheckOptions) -> RuleResult {
    let clocks = &host.clocks.source;
    let current = clocks.current.need()?;
    if QUICK.contains(&current.as_str()) {
        return Ok(RuleOutcome::pass(format!("Time is read from `{current}`")).shows(&clocks.current));
    }
    let Some((_, cost)) = SLOW.iter().find(|(name, _)| name == current) else {
        return Err(CannotTell::because(
            &clocks.current.path,
            format!("the cost of reading `{current}` is not known: try clock_gettime in a loop"),
        ));
    };
    let reason = ["Marking TSC unstable", "Marking clocksource 'tsc' as unstable", "TSC halts in idle"]
        .into_iter()
        .find_map(|message| host.dmesg.find(message));
    let reason_given = match reason {
        Some(reason) => format!(" The kernel rejected the TSC: \"{reason}\"."),
        None => String::new(),
    };
    let mut answer = RuleOutcome::fail(
        format!("Time is read from the device `{current}`"),
        format!(
            "{cost}; each reading is also a system call, and timers are programmed from it.{reason_given}"
        ),
    )
    .shows(&clocks.current)
    .shows(&clocks.available);
    if let Some(reason) = reason {
        answer = answer.shows_as(&host.dmesg.lines.path, reason);
    }
    let there = clocks.available.known().is_some_and(|available| available.has("tsc"));
    if there {
        let path = &clocks.current.path;
        answer = answer.fix(
            Fix::runtime(format!("echo tsc > {path}"))
                .boot("clocksource=tsc on the kernel command line")
                .risk("if the TSC really drifts between CPUs, time jumps when a thread moves"),
        );
    }
    Ok(answer.fix(
        Fix::reboot("tsc=reliable on the kernel command line, after a firmware update")
            .risk("the kernel then no longer checks the TSC: if it drifts, so does the time"),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;

    const CURRENT: &str = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
    const AVAILABLE: &str = "/sys/devices/system/clocksource/clocksource0/available_clocksource";

    #[test]
    fn cases() {
        let dmesg = ("/dev/kmsg", "4,9,1,-;tsc: Marking TSC unstable due to clocksource watchdog\n");
        table(
            &RULE,
            &[
                case("tsc", &[&[(CURRENT, "tsc\n")]]).passes("`tsc`"),
                case("arm", &[&[(CURRENT, "arch_sys_counter\n")]]).passes("arch_sys_counter"),
                case("hpet", &[&[(CURRENT, "hpet\n"), (AVAILABLE, "tsc hpet\n")]]).fails("1.2 us"),
                case("acpi_pm, with the reason", &[&[(CURRENT, "acpi_pm\n"), dmesg]])
                    .fails("clocksource watchdog"),
                case("something else", &[&[(CURRENT, "mct-frc\n")]]).cannot_tell("mct-frc"),
                case("hidden", &[&[]]).cannot_tell("/sys"),
            ],
        );
    }
}
