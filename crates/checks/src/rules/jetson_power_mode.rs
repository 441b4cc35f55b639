//! Does a power mode of a Jetson hold the CPUs down?

use crate::rule::page;
use crate::{CheckOptions, Fix, Profile, Rule, RuleOutcome, RuleResult};
use whylate_base::{CpuSet, Severity};
use whylate_host::Snapshot;

pub(super) const RULE: Rule = Rule {
    code: "jetson-power-mode",
    title: "The Jetson's power mode leaves all CPUs at their full frequency",
    severity: Severity::Info,
    profiles: Profile::ALL,
    sources: &[
        "https://docs.nvidia.com/jetson/archives/r38.2.1/DeveloperGuide/SD/PlatformPowerAndPerformance.html",
        "/etc/nvpmodel.conf of Jetson Linux (its own description of the format)",
    ],
    page: page!("jetson-power-mode"),
    check,
};

fn check(host: &Snapshot, _options: &CheckOptions) -> RuleResult {
    let model = &host.platform.model;
    match model.if_present()? {
        Some(model) if model.contains("Jetson") => {}
        _ => return Ok(RuleOutcome::not_applicable("This is not a Jetson")),
    }
    let (present, online) = (host.cpus.present.need()?, host.cpus.online.need()?);
    let off: CpuSet = present.iter().filter(|&cpu| !online.contains(cpu)).collect();
    let mut capped = None;
    for cpu in host.cpus.each.need()?.iter().filter(|cpu| online.contains(cpu.cpu)) {
        let own = &cpu.cpufreq;
        let (most, hardware) = (own.scaling_max_khz.if_present()?, own.hardware_max_khz.if_present()?);
        if most.zip(hardware).is_some_and(|(most, hardware)| most < hardware) {
            capped = capped.or(Some(own));
        }
    }
    let name = mode_name(host);
    let called = name.as_ref().map_or("of nvpmodel".to_owned(), |name| format!("`{name}`"));
    let mut effects = Vec::new();
    if !off.is_empty() {
        effects.push(format!("CPUs {off} are off"));
    }
    if let Some(own) = capped {
        let mhz = |khz: &u64| khz / 1000;
        let (most, hardware) = (own.scaling_max_khz.need()?, own.hardware_max_khz.need()?);
        effects.push(format!("CPUs may reach only {} of {} MHz", mhz(most), mhz(hardware)));
    }
    if effects.is_empty() {
        let what = format!("The power mode {called} leaves every CPU on, at its full frequency");
        return Ok(RuleOutcome::pass(what).shows(model).shows(&host.cpus.online));
    }
    let answer = RuleOutcome::fail(
        format!("In the power mode {called} {}", effects.join(", and ")),
        "nvpmodel keeps the power budget of the mode: it switches CPUs off and limits the frequencies of CPUs, graphics and \
         memory. The same work takes longer. jetson_clocks then holds the frequencies that the mode allows.",
    )
    .shows(model)
    .shows(&host.cpus.online);
    let answer = match name {
        Some(_) => answer.shows(&host.platform.jetson_mode),
        None => answer,
    };
    let answer =
        capped.map_or(answer.clone(), |own| answer.shows(&own.scaling_max_khz).shows(&own.hardware_max_khz));
    Ok(answer.fix(
        Fix::runtime("nvpmodel -m ID with the mode MAXN of /etc/nvpmodel.conf, then jetson_clocks")
            .by_hand("the numbers of the modes differ from board to board, and some modes take effect after a reboot")
            .boot("nvpmodel remembers the mode; run jetson_clocks from a systemd unit at boot")
            .risk("more power and heat: the power supply and the cooling have to be made for it"),
    ))
}

/// The name of the mode that nvpmodel set last, or else of the one that it sets at boot.
fn mode_name(host: &Snapshot) -> Option<String> {
    let modes = host.platform.jetson_modes.known()?;
    let number = |text: &str| {
        let digits: String = text.chars().take_while(char::is_ascii_digit).collect();
        digits.parse::<u32>().ok()
    };
    let set = host.platform.jetson_mode.known().and_then(|text| number(text.split_once("pmode:")?.1));
    let default = || {
        modes.lines().find_map(|line| number(line.strip_prefix("< PM_CONFIG ")?.split_once("DEFAULT=")?.1))
    };
    let wanted = set.or_else(default)?;
    modes.lines().find_map(|line| {
        let rest = line.strip_prefix("< POWER_MODEL ")?;
        let own = number(rest.split_once("ID=")?.1)?;
        let name = rest.split_once("NAME=")?.1.split_ascii_whitespace().next()?;
        (own == wanted).then(|| name.to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;

    const JETSON: (&str, &str) = ("/proc/device-tree/model", "NVIDIA Jetson Orin Nano Developer Kit\0");
    const CONF: (&str, &str) = (
        "/etc/nvpmodel.conf",
        "# format\n< PARAM TYPE=FILE NAME=CPU_ONLINE >\nCORE_0 /sys/devices/system/cpu/cpu0/online\n\
         < POWER_MODEL ID=0 NAME=15W >\nCPU_ONLINE CORE_0 1\n< POWER_MODEL ID=2 NAME=MAXN_SUPER >\n< PM_CONFIG DEFAULT=0 >\n",
    );
    const SET: (&str, &str) = ("/var/lib/nvpmodel/status", "pmode:0002");
    const ONE_OFF: &Files =
        &[("/sys/devices/system/cpu/online", "0\n"), ("/sys/devices/system/cpu/present", "0-1\n")];
    const MAX: (&str, &str) = ("/sys/devices/system/cpu/cpu0/cpufreq/scaling_max_freq", "1510400\n");
    const HARDWARE: (&str, &str) = ("/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq", "1728000\n");

    #[test]
    fn cases() {
        table(
            &RULE,
            &[
                case("all of it", &[TWO_CPUS, &[JETSON, CONF, SET]]).passes("`MAXN_SUPER`"),
                case("a mode of the boot", &[TWO_CPUS, &[JETSON, CONF, MAX, HARDWARE]])
                    .fails("`15W` CPUs may reach only 1510 of 1728 MHz"),
                case("a CPU off", &[ONE_OFF, &[JETSON, CONF, SET]]).fails("CPUs 1 are off"),
                case("no configuration", &[ONE_OFF, &[JETSON]]).fails("mode of nvpmodel CPUs 1 are off"),
                case("another board", &[TWO_CPUS, &[("/proc/device-tree/model", "Toradex\0"), CONF]])
                    .does_not_apply("not a Jetson"),
                case("x86", &[TWO_CPUS, &[("/proc/version", "")]]).does_not_apply("not a Jetson"),
                case("hidden", &[&[]]).cannot_tell("/proc"),
                case("no CPUs", &[&[JETSON]]).cannot_tell("/sys"),
            ],
        );
    }
}
