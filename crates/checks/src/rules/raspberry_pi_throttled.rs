//! Does a Raspberry Pi have enough power?

use crate::rule::page;
use crate::{CannotTell, CheckOptions, Fix, Profile, Rule, RuleOutcome, RuleResult};
use whylate_base::Severity;
use whylate_host::Snapshot;

pub(super) const RULE: Rule = Rule {
    code: "raspberry-pi-throttled",
    title: "The Raspberry Pi has enough power and is not too hot",
    severity: Severity::Warning,
    profiles: Profile::ALL,
    sources: &[
        "https://www.raspberrypi.com/documentation/computers/os.html (vcgencmd get_throttled)",
        "drivers/hwmon/raspberrypi-hwmon.c",
    ],
    page: page!("raspberry-pi-throttled"),
    check,
};

/// What the bits mean; sixteen bits higher: since boot.
const BITS: [&str; 4] = ["under-voltage", "frequency capped", "throttled", "soft temperature limit"];

fn check(host: &Snapshot, _options: &CheckOptions) -> RuleResult {
    let model = &host.platform.model;
    match model.if_present()? {
        Some(model) if model.starts_with("Raspberry Pi") => {}
        _ => return Ok(RuleOutcome::not_applicable("This is not a Raspberry Pi")),
    }
    let reading = &host.platform.pi_throttled;
    let bits = match reading.known() {
        Some(text) => {
            let digits = text.trim().trim_start_matches("0x");
            Some(u32::from_str_radix(digits, 16).map_err(|_| {
                CannotTell::because(&reading.path, format!("`{text}` is not a hexadecimal number"))
            })?)
        }
        None => None,
    };
    if bits == Some(0) {
        return Ok(RuleOutcome::pass("No power or temperature problem since boot")
            .shows(reading)
            .shows(model));
    }
    let message =
        ["ndervoltage detected", "nder-voltage detected"].into_iter().find_map(|part| host.dmesg.find(part));
    let sensor = &host.platform.pi_undervoltage;
    let is_low_now = bits.is_none() && sensor.known() == Some(&true);
    let (what, path, value) = match (bits, message) {
        _ if is_low_now => {
            ("The supply voltage is too low now".to_owned(), sensor.path.clone(), "1".to_owned())
        }
        (Some(bits), _) => {
            let set = |shift: usize| {
                let on = BITS.iter().enumerate().filter(move |(bit, _)| bits >> (bit + shift) & 1 == 1);
                on.map(|(_, name)| *name).collect::<Vec<_>>().join(", ")
            };
            let what = match (set(0), set(16)) {
                (now, _) if !now.is_empty() => format!("The firmware slows this machine down now: {now}"),
                (_, then) => format!("The firmware slowed this machine down since boot: {then}"),
            };
            (what, reading.path.clone(), format!("{bits:#x}"))
        }
        (None, Some(line)) => {
            ("The supply voltage was too low".to_owned(), host.dmesg.lines.path.clone(), line.to_owned())
        }
        (None, None) => {
            let why = match sensor.known() {
                Some(_) => {
                    "the sensor rpi_volt shows the last two seconds only: run `vcgencmd get_throttled`"
                }
                None => "only the vendor's kernel shows it in a file: run `vcgencmd get_throttled`",
            };
            return Err(CannotTell::because(&reading.path, why));
        }
    };
    Ok(RuleOutcome::fail(
        what,
        "The firmware lowers the ARM frequency while the voltage is below 4.63 V or the chip is too hot, independent \
         of the governor.",
    )
    .shows_as(path, value)
    .shows(model)
    .fix(
        Fix::reboot("a supply and a cable that hold 5 V under load; a heat sink or fan").by_hand("it is about the hardware or its firmware")
            .risk("force_turbo=1 in config.txt fixes the frequency, but does not help against under-voltage and heat"),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;

    const PI: (&str, &str) = ("/proc/device-tree/model", "Raspberry Pi 4 Model B Rev 1.4\0");
    const TOLD: &str = "/sys/devices/platform/soc/soc:firmware/get_throttled";

    const SENSOR: (&str, &str) = ("/sys/class/hwmon/hwmon1/name", "rpi_volt\n");
    const ALARM: &str = "/sys/class/hwmon/hwmon1/in0_lcrit_alarm";

    #[test]
    fn cases() {
        let message = ("/dev/kmsg", "4,9,1,-;hwmon hwmon1: Undervoltage detected!\n");
        table(
            &RULE,
            &[
                case("fine", &[&[PI, (TOLD, "0\n")]]).passes("No power"),
                case("since boot", &[&[PI, (TOLD, "50000\n")]]).fails("since boot: under-voltage, throttled"),
                case("now", &[&[PI, (TOLD, "0x50005\n")]]).fails("now: under-voltage, throttled"),
                case("by a message", &[&[PI, message]]).fails("too low"),
                case("silence", &[&[PI]]).cannot_tell("vcgencmd"),
                case("the sensor, low", &[&[PI, SENSOR, (ALARM, "1\n")]]).fails("too low now"),
                case("the sensor, not low now", &[&[PI, SENSOR, (ALARM, "0\n")]])
                    .cannot_tell("last two seconds"),
                case("the firmware knows more", &[&[PI, SENSOR, (ALARM, "1\n"), (TOLD, "50000\n")]])
                    .fails("since boot"),
                case("malformed", &[&[PI, (TOLD, "x\n")]]).cannot_tell("hexadecimal"),
                case("another machine", &[&[("/proc/device-tree/model", "Toradex\0")]])
                    .does_not_apply("not a Raspberry"),
                case("x86", &[&[("/proc/version", "")]]).does_not_apply("not a Raspberry"),
                case("hidden", &[&[]]).cannot_tell("/proc"),
            ],
        );
    }
}
