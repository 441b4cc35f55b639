//! Do devices share an interrupt?

use crate::rule::page;
use crate::{CannotTell, CheckOptions, Fix, Profile, Rule, RuleOutcome, RuleResult};
use whylate_base::Severity;
use whylate_host::{IrqRow, Snapshot};

pub(super) const RULE: Rule = Rule {
    code: "shared-irqs",
    title: "No two devices share an interrupt",
    severity: Severity::Info,
    profiles: Profile::ALL,
    sources: &["proc_interrupts(5)", "Documentation/PCI/msi-howto.rst"],
    page: page!("shared-irqs"),
    check,
};

fn check(host: &Snapshot, _options: &CheckOptions) -> RuleResult {
    let rows = host.irqs.rows.need()?;
    let numbered: Vec<&IrqRow> = rows.iter().filter(|row| row.name.parse::<u32>().is_ok()).collect();
    let shared: Vec<&IrqRow> = numbered.iter().copied().filter(|row| row.what.contains(", ")).collect();
    if numbered.is_empty() {
        return Err(CannotTell::because(&host.irqs.rows.path, "there is no numbered interrupt"));
    }
    let path = &host.irqs.rows.path;
    let Some(first) = shared.first() else {
        return Ok(RuleOutcome::pass(format!("None of {} interrupts is shared", numbered.len()))
            .shows_as(path, format!("{} rows, none with a comma", numbered.len())));
    };
    let answer = RuleOutcome::fail(
        format!("{} interrupts are shared, such as {}: {}", shared.len(), first.name, first.what),
        "When one of the devices raises the interrupt, the handlers of all devices run, one after the other; a slow \
         one delays the others. On legacy lines no handler knows which device raised it.",
    );
    let answer = shared.iter().take(8).fold(answer, |answer, row| {
        answer.shows_as(path, format!("{}: {}, {} times", row.name, row.what, row.total()))
    });
    Ok(answer.fix(
        Fix::reboot(
            "use MSI (remove pci=nomsi), another slot, or unload the driver of the device that is not needed",
        )
        .by_hand("it is about the hardware or its firmware")
        .risk("some old devices do not support MSI, or fail with it"),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;

    const ALONE: &str =
        "      CPU0\n 8: 1 IO-APIC 8-edge rtc0\n24: 5 PCI-MSI 1-edge eth0\nLOC: 7 Local timer interrupts\n";
    const TWO: &str = "      CPU0\n16: 9 IO-APIC 16-fasteoi i801_smbus, ehci_hcd:usb1\n";

    #[test]
    fn cases() {
        table(
            &RULE,
            &[
                case("alone", &[&[("/proc/interrupts", ALONE)]]).passes("2 interrupts"),
                case("shared", &[&[("/proc/interrupts", TWO)]]).fails("ehci_hcd"),
                case("none", &[&[("/proc/interrupts", "      CPU0\nLOC: 7 Local\n")]])
                    .cannot_tell("no numbered"),
                case("malformed", &[&[("/proc/interrupts", "")]]).cannot_tell("header"),
                case("hidden", &[&[]]).cannot_tell("/proc"),
            ],
        );
    }
}
