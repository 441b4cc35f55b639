//! Do the buses of an i.MX change their frequency?

use crate::rule::page;
use crate::{CannotTell, CheckOptions, Fix, Profile, Rule, RuleOutcome, RuleResult};
use whylate_base::Severity;
use whylate_host::Snapshot;

pub(super) const RULE: Rule = Rule {
    code: "imx-bus-frequency",
    title: "The buses and the memory of the i.MX keep their frequency",
    severity: Severity::Warning,
    profiles: Profile::ALL,
    sources: &[
        "i.MX 6Solo/6DualLite Linux Reference Manual, chapter 21: Dynamic Bus Frequency Driver",
        "Documentation/devicetree/bindings/arm/imx/busfreq-imx6.txt of NXP's kernel",
        "drivers/soc/imx/busfreq-imx8mq.c of NXP's kernel",
    ],
    page: page!("imx-bus-frequency"),
    check,
};

fn check(host: &Snapshot, _options: &CheckOptions) -> RuleResult {
    if host.platform.model.if_present()?.is_none() {
        return Ok(RuleOutcome::not_applicable("This machine has no device tree, which an i.MX has"));
    }
    let reading = &host.platform.imx_bus;
    let Some(state) = reading.if_present()? else {
        return Ok(RuleOutcome::not_applicable(
            "No driver of NXP's kernel changes the frequency of the buses",
        ));
    };
    // `Bus frequency scaling is enabled`
    if state.ends_with("disabled") {
        return Ok(RuleOutcome::pass("The buses and the memory keep their highest frequency").shows(reading));
    }
    if !state.ends_with("enabled") {
        return Err(CannotTell::because(&reading.path, format!("`{state}` is neither enabled nor disabled")));
    }
    Ok(RuleOutcome::fail(
        "The kernel lowers the frequency of the buses and the memory when no driver needs more",
        "The memory falls to 24 MHz on i.MX 6, and no CPU reaches it while its frequency changes: the kernel holds the other CPUs \
         meanwhile, on i.MX 8M by the secure firmware. No event shows it.",
    )
    .shows(reading)
    .fix(
        Fix::runtime(format!("echo 0 > {}", reading.path))
            .boot("the same command from a systemd unit at boot: the setting is not persistent")
            .risk("more power and heat"),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;

    const AT: &str = "/sys/bus/platform/drivers/imx_busfreq/busfreq/enable";

    const MODEL: (&str, &str) =
        ("/proc/device-tree/model", "Freescale i.MX6 Quad SABRE Smart Device Board\0");

    #[test]
    fn cases() {
        table(
            &RULE,
            &[
                case("on", &[&[MODEL, (AT, "Bus frequency scaling is enabled\n")]])
                    .fails("lowers the frequency"),
                case("off", &[&[MODEL, (AT, "Bus frequency scaling is disabled\n")]]).passes("highest"),
                case(
                    "i.MX 6",
                    &[&[
                        MODEL,
                        (
                            "/sys/bus/platform/drivers/imx6_busfreq/busfreq.16/enable",
                            "Bus frequency scaling is enabled\n",
                        ),
                    ]],
                )
                .fails("lowers the frequency"),
                case("another word", &[&[MODEL, (AT, "perhaps\n")]]).cannot_tell("neither"),
                case("another board", &[&[MODEL, ("/sys/bus/platform/drivers/serial8250/uevent", "")]])
                    .does_not_apply("No driver"),
                case("x86", &[&[("/proc/version", "")]]).does_not_apply("no device tree"),
                case("hidden", &[&[]]).cannot_tell("/proc"),
                case("no sysfs", &[&[MODEL]]).cannot_tell("/sys"),
            ],
        );
    }
}
