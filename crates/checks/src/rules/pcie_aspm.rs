//! Do PCIe links sleep?

use super::shared::hardware::{Ground, ground};
use crate::rule::page;
use crate::{CannotTell, CheckOptions, Fix, Profile, Rule, RuleOutcome, RuleResult};
use whylate_base::Severity;
use whylate_host::{KernelVersion, Snapshot};

pub(super) const RULE: Rule = Rule {
    code: "pcie-aspm",
    title: "PCIe links do not enter power-saving states",
    severity: Severity::Info,
    profiles: Profile::ALL,
    sources: &[
        "Documentation/core-api/real-time/hardware.rst",
        "Documentation/ABI/testing/sysfs-bus-pci",
        "drivers/pci/pcie/aspm.c",
    ],
    page: page!("pcie-aspm"),
    check,
};

/// Since then /sys shows the states of each link.
const PER_LINK: KernelVersion = KernelVersion::new(5, 5);
/// The number of devices to list.
const NAMED: usize = 8;

fn check(host: &Snapshot, _options: &CheckOptions) -> RuleResult {
    let policy = &host.platform.aspm_policy;
    let Some(devices) = host.platform.pci.if_present()? else {
        return Ok(RuleOutcome::not_applicable("There is no PCI bus"));
    };
    let Some(chosen) = policy.if_present()?.map(|policy| policy.chosen.as_str()) else {
        let why = "the kernel does not manage links: the firmware's setting remains, and is not visible";
        return Err(CannotTell::because(&policy.path, why));
    };
    if chosen == "performance" {
        return Ok(RuleOutcome::pass("The policy keeps PCIe links active").shows(policy));
    }
    let mut asleep = Vec::new();
    for device in devices {
        let states = device.link_states.if_present()?.into_iter().flatten();
        let mut on = Vec::new();
        for (name, state) in states {
            if *state.need()? {
                on.push(name.trim_end_matches("_aspm"));
            }
        }
        if !on.is_empty() {
            asleep.push((device, on.join(" ")));
        }
    }
    if asleep.is_empty() {
        let cmdline = host.kernel.cmdline.need()?;
        if cmdline.get("pcie_aspm") == Some("off") || host.dmesg.find("doesn't support PCIe ASPM").is_some() {
            // (drivers/pci/pci-acpi.c)
            let why = "the kernel leaves links to the firmware, whose setting is not visible";
            return Err(CannotTell::because(&host.kernel.cmdline.path, why));
        }
        if host.kernel.numbers()? < PER_LINK {
            let why = format!(
                "with the policy `{chosen}`, kernels before 5.5 do not show which links may enter \
                         power-saving states"
            );
            return Err(CannotTell::because(&policy.path, why));
        }
        // Guests have no links of their own; on a physical machine a missing state has a reason.
        let shown =
            devices.iter().any(|device| device.link_states.known().is_some_and(|states| !states.is_empty()));
        if !shown && !host.dmesg.is_complete() && matches!(ground(host)?, Ground::Metal(_)) {
            let why = "no link shows its states, and the kernel messages with the reason are gone";
            return Err(CannotTell::because(&host.dmesg.lines.path, why));
        }
        return Ok(RuleOutcome::pass(format!(
            "None of {} PCI devices has a link that may enter a power-saving state",
            devices.len()
        ))
        .shows(policy));
    }
    let urgent = asleep.iter().any(|(device, _)| {
        // Network; audio and High Definition Audio.
        device
            .class
            .known()
            .is_some_and(|class| ["0x02", "0x0401", "0x0403"].iter().any(|kind| class.starts_with(kind)))
    });
    let answer = RuleOutcome::fail(
        format!("The links of {} PCIe devices may enter power-saving states", asleep.len()),
        "A link in a power-saving state must wake up before the device can be accessed or can raise an interrupt: by \
         the classes of the specification up to 4 us and more for L0s, up to 64 us and more for L1.",
    )
    .shows(policy);
    let answer = asleep.iter().take(NAMED).fold(answer, |answer, (device, states)| {
        let driver = device.driver.known().map_or("no driver", String::as_str);
        answer
            .shows_as(format!("/sys/bus/pci/devices/{}/link", device.address), format!("{driver}: {states}"))
    });
    let answer = answer.fix(
        Fix::runtime(format!("echo performance > {}", policy.path))
            .boot("pcie_aspm.policy=performance on the kernel command line; ASPM off in the firmware")
            .risk("more power; if the firmware controls ASPM, the policy cannot be changed"),
    );
    Ok(if urgent { answer.graded(Severity::Warning) } else { answer })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;

    const POLICY: &str = "/sys/module/pcie_aspm/parameters/policy";
    const USUAL: (&str, &str) = (POLICY, "[default] performance powersave powersupersave\n");
    const PERFORMANCE: (&str, &str) = (POLICY, "default [performance] powersave powersupersave\n");
    const CMDLINE: (&str, &str) = ("/proc/cmdline", "quiet\n");
    const DISK: (&str, &str) = ("/sys/bus/pci/devices/0000:01:00.0/class", "0x010802\n");
    const CARD: (&str, &str) = ("/sys/bus/pci/devices/0000:01:00.0/class", "0x020000\n");
    const L1: (&str, &str) = ("/sys/bus/pci/devices/0000:01:00.0/link/l1_aspm", "1\n");
    const NONE: (&str, &str) = ("/sys/bus/pci/devices/0000:01:00.0/link/l1_aspm", "0\n");
    const OLD: (&str, &str) = ("/proc/sys/kernel/osrelease", "5.4.0\n");
    const GUEST: (&str, &str) = ("/proc/cpuinfo", "flags : hypervisor\n");
    const METAL: (&str, &str) = ("/proc/cpuinfo", "flags : fpu\n");
    const BOOT: (&str, &str) = ("/dev/kmsg", "6,0,0,-;Linux version 6.12\n");
    const FADT: (&str, &str) = (
        "/dev/kmsg",
        "6,0,0,-;Linux version 6.12\n6,9,9,-;ACPI FADT declares the system doesn't support PCIe ASPM, so disable it\n",
    );

    #[test]
    fn cases() {
        table(
            &RULE,
            &[
                case("a disk's", &[KERNEL_6_12, &[USUAL, CMDLINE, DISK, L1]]).fails("1 PCIe devices"),
                case("a network card's", &[KERNEL_6_12, &[USUAL, CMDLINE, CARD, L1]])
                    .fails_as(Severity::Warning, "L1"),
                case("awake", &[KERNEL_6_12, &[USUAL, CMDLINE, DISK, NONE]]).passes("None of 1"),
                case("a guest has no links", &[KERNEL_6_12, &[USUAL, CMDLINE, DISK, GUEST]])
                    .passes("None of 1"),
                case("no links, and no reason", &[KERNEL_6_12, &[USUAL, CMDLINE, DISK, METAL]])
                    .cannot_tell("messages"),
                case("no links that sleep", &[KERNEL_6_12, &[USUAL, CMDLINE, DISK, METAL, BOOT]])
                    .passes("None of 1"),
                case("the firmware forbids it", &[KERNEL_6_12, &[USUAL, CMDLINE, DISK, METAL, FADT]])
                    .cannot_tell("firmware"),
                case("performance", &[&[PERFORMANCE, DISK]]).passes("policy"),
                case(
                    "left to the firmware",
                    &[KERNEL_6_12, &[USUAL, DISK, ("/proc/cmdline", "pcie_aspm=off")]],
                )
                .cannot_tell("firmware"),
                case("before 5.5", &[&[USUAL, CMDLINE, DISK, OLD]]).cannot_tell("5.5"),
                case("not built in", &[&[DISK]]).cannot_tell("firmware"),
                case("no bus", &[TWO_CPUS]).does_not_apply("no PCI"),
                case("hidden", &[&[]]).cannot_tell("/sys"),
            ],
        );
    }
}
