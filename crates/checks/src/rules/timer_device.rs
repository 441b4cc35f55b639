//! Which device raises timer interrupts?

use super::shared::hardware::{Ground, ground};
use crate::rule::page;
use crate::{CannotTell, CheckOptions, Fix, Profile, Rule, RuleOutcome, RuleResult};
use whylate_base::{Action, ParameterAction, Severity};
use whylate_host::Snapshot;

pub(super) const RULE: Rule = Rule {
    code: "timer-device",
    title: "Timer interrupts come from a precise per-CPU timer",
    severity: Severity::Info,
    profiles: Profile::ALL,
    sources: &[
        "Documentation/timers/highres.rst",
        "arch/x86/kernel/apic/apic.c (apic_validate_deadline_timer)",
    ],
    page: page!("timer-device"),
    check,
};

/// Per-CPU timers with an absolute expiry time; by prefix (`arch_sys_timer`).
const OWN: [&str; 7] =
    ["lapic-deadline", "arch_", "riscv_timer", "decrementer", "Hyper-V", "xen", "comparator"];
/// Timers that all CPUs share.
const SHARED: [&str; 4] = ["hpet", "pit", "acpi_pm", "rtc"];
/// The kernel message when it does not use the deadline mode.
const ERRATUM: &str = "TSC_DEADLINE disabled due to Errata";

fn check(host: &Snapshot, _options: &CheckOptions) -> RuleResult {
    let device = &host.clocks.event_device;
    let name = device.need()?;
    if OWN.iter().any(|own| name.starts_with(own)) {
        return Ok(RuleOutcome::pass(format!("Timer interrupts come from `{name}`")).shows(device));
    }
    if SHARED.iter().any(|shared| name.starts_with(shared)) {
        return Ok(RuleOutcome::fail(
            format!("Timer interrupts come from `{name}`"),
            "It is one device outside the CPUs: programming it takes microseconds and a lock, its interrupt goes to \
             one CPU, and that CPU notifies the others.",
        )
        .graded(Severity::Warning)
        .shows(device)
        .fix(
            Fix::reboot("remove nolapic, noapictimer or the like from the command line; update the firmware").by_hand("which of the parameters is there for a reason is to be found out")
                .risk("these may be there because the local timer of this machine fails"),
        ));
    }
    if name != "lapic" {
        return Err(CannotTell::because(&device.path, format!("the precision of `{name}` is not known")));
    }
    if let Some(line) = host.dmesg.find(ERRATUM) {
        return Ok(RuleOutcome::fail(
            "The kernel does not use the CPU's deadline timer, because of a microcode erratum",
            "The local APIC's counter is coarser, takes a relative time for each interrupt, and stops in deep idle \
             states of some CPUs. The kernel avoids the deadline timer because it may fail to fire with this \
             microcode.",
        )
        .graded(Severity::Warning)
        .shows(device)
        .shows_as(&host.dmesg.lines.path, line)
        .fix(
            Fix::reboot("install the microcode that the message names (intel-microcode, microcode_ctl), or newer \
                         firmware").by_hand("it is about the hardware or its firmware")
                .risk("none known"),
        ));
    }
    let cmdline = &host.kernel.cmdline;
    if cmdline.need()?.all("lapic").any(|value| value == "notscdeadline") {
        return Ok(RuleOutcome::fail(
            "The command line disables the CPU's deadline timer",
            "The local APIC's counter is coarser, and takes a relative time for each interrupt.",
        )
        .shows(device)
        .shows_as(&cmdline.path, "lapic=notscdeadline")
        .fix(
            Fix::reboot("remove lapic=notscdeadline from the command line")
                .action(Action::KernelParameter {
                    set: vec![ParameterAction { parameter: "lapic".to_owned(), value: None }],
                })
                .risk("the parameter may be there for a reason"),
        ));
    }
    if host.cpus.flags().need()?.has("tsc_deadline_timer") {
        return Ok(RuleOutcome::fail(
            "The CPU has a deadline timer, but the kernel does not use it",
            "The local APIC's counter is coarser, and takes a relative time for each interrupt.",
        )
        .shows(device)
        .shows_as(&host.cpus.info.path, "tsc_deadline_timer is among the flags")
        .fix(
            Fix::reboot("check the boot messages for `TSC deadline` and `APIC`")
                .by_hand("it is a look at the boot messages, which changes nothing")
                .risk("none"),
        ));
    }
    // When the kernel disables the deadline timer it also clears the flag: only its message shows the reason.
    let intel = host.cpus.info.need()?.contains("GenuineIntel");
    if intel && !host.dmesg.is_complete() && matches!(ground(host)?, Ground::Metal(_)) {
        let why = "the boot messages are gone: whether an erratum is the reason is not known";
        return Err(CannotTell::because(&host.dmesg.lines.path, why));
    }
    Ok(RuleOutcome::pass("Timer interrupts come from `lapic`: this CPU has no deadline timer").shows(device))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;

    const DEVICE: &str = "/sys/devices/system/clockevents/clockevent0/current_device";
    const LAPIC: &Files = &[(DEVICE, "lapic\n"), ("/proc/cmdline", "quiet\n")];
    const AMD: (&str, &str) = ("/proc/cpuinfo", "vendor_id : AuthenticAMD\nflags : fpu tsc\n");
    const INTEL: (&str, &str) = ("/proc/cpuinfo", "vendor_id : GenuineIntel\nflags : fpu tsc\n");
    const FLAG: (&str, &str) = ("/proc/cpuinfo", "vendor_id : GenuineIntel\nflags : tsc_deadline_timer\n");
    const BOOT: (&str, &str) = ("/dev/kmsg", "6,0,0,-;Linux version 6.1\n");
    const MESSAGE: (&str, &str) = (
        "/dev/kmsg",
        "3,1,0,-;[Firmware Bug]: TSC_DEADLINE disabled due to Errata; please update microcode to version: 0xb2 (or later)\n",
    );

    #[test]
    fn cases() {
        table(
            &RULE,
            &[
                case("deadline", &[&[(DEVICE, "lapic-deadline\n")]]).passes("lapic-deadline"),
                case("arm", &[&[(DEVICE, "arch_sys_timer\n")]]).passes("arch_sys_timer"),
                case("hpet", &[&[(DEVICE, "hpet\n")]]).fails_as(Severity::Warning, "`hpet`"),
                case("an erratum", &[LAPIC, &[INTEL, MESSAGE]]).fails_as(Severity::Warning, "erratum"),
                case("told to", &[LAPIC, &[FLAG, ("/proc/cmdline", "lapic=notscdeadline")]])
                    .fails("command line"),
                case("not used", &[LAPIC, &[FLAG]]).fails("does not use it"),
                case("AMD", &[LAPIC, &[AMD]]).passes("no deadline timer"),
                case("an old Intel", &[LAPIC, &[INTEL, BOOT]]).passes("no deadline timer"),
                case("messages are gone", &[LAPIC, &[INTEL]]).cannot_tell("messages"),
                case("unknown", &[&[(DEVICE, "mct_tick0\n")]]).cannot_tell("mct_tick0"),
                case("hidden", &[&[]]).cannot_tell("/sys"),
            ],
        );
    }
}
