//! Does the memory change its frequency while programs use it?

use crate::rule::page;
use crate::survey::survey;
use crate::{CheckOptions, Fix, Profile, Rule, RuleOutcome, RuleResult};
use whylate_base::Severity;
use whylate_host::{FrequencyDevice, Snapshot};

pub(super) const RULE: Rule = Rule {
    code: "memory-frequency",
    title: "The frequency of the memory is fixed",
    severity: Severity::Warning,
    profiles: Profile::ALL,
    sources: &[
        "drivers/devfreq/imx8m-ddrc.c",
        "drivers/devfreq/rk3399_dmc.c",
        "drivers/memory/tegra (the external memory controller, EMC)",
        "Documentation/ABI/testing/sysfs-class-devfreq",
    ],
    page: page!("memory-frequency"),
    check,
};

/// Parts of the names of memory controllers: `3d400000.memory-controller`, `dmc`, `17000000.emc`.
const MEMORY: [&str; 4] = ["memory-controller", "ddr", "dmc", "emc"];
/// Governors that keep a frequency, until a program sets another.
const FIXED: [&str; 3] = ["performance", "powersave", "userspace"];

fn check(host: &Snapshot, _options: &CheckOptions) -> RuleResult {
    let devices = &host.platform.frequency_devices;
    let is_memory = |device: &&FrequencyDevice| MEMORY.iter().any(|part| device.name.contains(part));
    let memory: Vec<&FrequencyDevice> = match devices.if_present()? {
        None => Vec::new(),
        Some(devices) => devices.iter().filter(is_memory).collect(),
    };
    if memory.is_empty() {
        return Ok(RuleOutcome::not_applicable("The kernel does not change the frequency of the memory"));
    }
    // One step is as good as a fixed one.
    let varies = |device: &&&FrequencyDevice| match (device.min.known(), device.max.known()) {
        (Some(min), Some(max)) => min != max,
        _ => true,
    };
    let Some(first) = memory.iter().find(varies) else {
        let pass = RuleOutcome::pass("The memory has one frequency");
        return Ok(memory
            .iter()
            .take(4)
            .fold(pass, |pass, device| pass.shows(&device.min).shows(&device.max)));
    };
    let governors = memory.iter().filter(varies).map(|device| &device.governor);
    let survey =
        survey("the governors of the memory", governors, |governor| FIXED.contains(&governor.as_str()))?;
    let Some(wrong) = survey.wrong.first() else {
        let pass = RuleOutcome::pass("The governor of the memory keeps its frequency");
        return Ok(survey.fine.iter().take(4).fold(pass, |pass, own| pass.shows(own)));
    };
    let directory = wrong.path.trim_end_matches("/governor");
    Ok(RuleOutcome::fail(
        format!("The governor `{}` changes the frequency of the memory", wrong.need()?),
        "While the controller changes its frequency, no CPU reaches the memory; on i.MX 8M the secure firmware changes it, \
         and holds the CPUs meanwhile. It also makes the same work take longer at times.",
    )
    .shows(wrong)
    .shows(&first.min)
    .shows(&first.max)
    .fix(
        Fix::runtime(format!("echo performance > {directory}/governor"))
            .boot("the same command from a systemd unit at boot: the setting is not persistent")
            .risk("more power and heat"),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;

    const AT: &str = "/sys/class/devfreq/3d400000.memory-controller";
    const GOVERNOR: &str = "/sys/class/devfreq/3d400000.memory-controller/governor";
    const RANGE: &Files = &[
        ("/sys/class/devfreq/3d400000.memory-controller/min_freq", "25000000\n"),
        ("/sys/class/devfreq/3d400000.memory-controller/max_freq", "800000000\n"),
    ];
    const ONE: &Files = &[
        ("/sys/class/devfreq/3d400000.memory-controller/min_freq", "800000000\n"),
        ("/sys/class/devfreq/3d400000.memory-controller/max_freq", "800000000\n"),
    ];

    #[test]
    fn cases() {
        assert!(GOVERNOR.starts_with(AT));
        table(
            &RULE,
            &[
                case("on demand", &[RANGE, &[(GOVERNOR, "simple_ondemand\n")]]).fails("`simple_ondemand`"),
                case("fixed", &[RANGE, &[(GOVERNOR, "performance\n")]]).passes("keeps"),
                case("one frequency", &[ONE, &[(GOVERNOR, "simple_ondemand\n")]]).passes("one frequency"),
                case(
                    "the graphics only",
                    &[&[("/sys/class/devfreq/ff9a0000.gpu/governor", "simple_ondemand\n")]],
                )
                .does_not_apply("does not change"),
                case("another machine", &[&[("/sys/class/net/lo/ifindex", "1\n")]])
                    .does_not_apply("does not change"),
                case("no governor to read", &[RANGE]).cannot_tell("governor"),
                case("hidden", &[&[]]).cannot_tell("/sys"),
            ],
        );
    }
}
