//! Is the kernel built as its own guide for real-time builds advises? Options that rules of their own look at in
//! operation (governor, tick, lockup detectors, locks, firmware) are left to those.

use crate::rule::page;
use crate::{CheckOptions, Fix, Profile, Rule, RuleOutcome, RuleResult};
use whylate_base::Severity;
use whylate_host::{Config, Snapshot};

pub(super) const RULE: Rule = Rule {
    code: "kernel-options",
    title: "The kernel is built as its real-time guide advises",
    severity: Severity::Info,
    profiles: Profile::HARD,
    sources: &["Documentation/core-api/real-time/kernel-configuration.rst", "kernel/trace/Kconfig"],
    page: page!("kernel-options"),
    check,
};

/// An option: whether the guide expects it, its severity there, and the reason.
struct Advice {
    option: &'static str,
    expected: bool,
    severity: &'static str,
    why: &'static str,
}

const ADVICE: [Advice; 7] = [
    Advice {
        option: "CPU_FREQ",
        expected: true,
        severity: "high",
        why: "without it the boot loader's frequency remains",
    },
    Advice {
        option: "CPU_FREQ_GOV_ONDEMAND",
        expected: false,
        severity: "medium",
        why: "any privileged program may switch to it, and the frequency then follows the load",
    },
    Advice {
        option: "CPU_FREQ_GOV_CONSERVATIVE",
        expected: false,
        severity: "medium",
        why: "any privileged program may switch to it, and the frequency then follows the load",
    },
    Advice {
        option: "CPU_FREQ_GOV_SCHEDUTIL",
        expected: false,
        severity: "medium",
        why: "any privileged program may switch to it, and the frequency then follows the load",
    },
    Advice {
        option: "CPU_IDLE",
        expected: true,
        severity: "info",
        why: "without it a CPU never cools down; limit the depth instead",
    },
    Advice {
        option: "DRM",
        expected: false,
        severity: "info",
        why: "graphics share memory bandwidth and cache with the CPUs",
    },
    Advice {
        option: "TRACING",
        expected: true,
        severity: "info",
        why: "without it the cause of a late task cannot be found",
    },
];

fn check(host: &Snapshot, _options: &CheckOptions) -> RuleResult {
    let config = host.kernel.config.need()?;
    let path = &host.kernel.config.path;
    let off: Vec<&Advice> =
        ADVICE.iter().filter(|advice| is_set(config, advice.option) != advice.expected).collect();
    let Some(first) = off.iter().find(|advice| advice.severity == "high").or(off.first()) else {
        return Ok(RuleOutcome::pass("The kernel is built as its real-time guide advises")
            .shows_as(path, config.line("CPU_FREQ")));
    };
    let what = match off.len() {
        1 => format!("The kernel differs from its real-time guide: {}", config.line(first.option)),
        more => format!(
            "The kernel differs from its real-time guide on {more} options, such as {}",
            config.line(first.option)
        ),
    };
    let answer = RuleOutcome::fail(
        what,
        "A general-purpose kernel has options that a real-time machine does not need. Other rules check the settings \
         in use; this rule shows the build options.",
    );
    let answer = off.iter().fold(answer, |answer, advice| {
        answer.shows_as(
            path,
            format!("{} (severity {}): {}", config.line(advice.option), advice.severity, advice.why),
        )
    });
    Ok(answer.fix(
        Fix::reboot("if you build the kernel yourself: build it as its kernel-configuration.rst advises").by_hand("another kernel is to be installed or built")
            .risk("you must keep your own kernel up to date; many of these settings can also be changed at runtime"),
    ))
}

/// Built in, or as a module.
fn is_set(config: &Config, option: &str) -> bool {
    matches!(config.get(option), Some("y" | "m"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;

    const GOOD: &str = "CONFIG_CPU_FREQ=y\nCONFIG_CPU_IDLE=y\nCONFIG_TRACING=y\n";
    const CONFIG: &str = "/boot/config-6.1.0-28-amd64";

    #[test]
    fn cases() {
        table(
            &RULE,
            &[
                case("as advised", &[KERNEL_6_1, &[(CONFIG, GOOD)]]).passes("advises"),
                case("no frequencies", &[KERNEL_6_1, &[(CONFIG, "CONFIG_TRACING=y\nCONFIG_DRM=m\n")]])
                    .fails("3 options, such as CONFIG_CPU_FREQ is not set"),
                case(
                    "graphics",
                    &[
                        KERNEL_6_1,
                        &[(CONFIG, "CONFIG_CPU_FREQ=y\nCONFIG_CPU_IDLE=y\nCONFIG_TRACING=y\nCONFIG_DRM=m\n")],
                    ],
                )
                .fails("CONFIG_DRM=m"),
                case("unknown build", &[KERNEL_6_1]).cannot_tell("config"),
            ],
        );
    }
}
