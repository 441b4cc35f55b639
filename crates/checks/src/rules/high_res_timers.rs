//! Do timers expire when they are due, or at the next tick?

use crate::rule::page;
use crate::{CheckOptions, Fix, Profile, Rule, RuleOutcome, RuleResult};
use whylate_base::Severity;
use whylate_host::Snapshot;

pub(super) const RULE: Rule = Rule {
    code: "high-res-timers",
    title: "Timers expire when they are due, not at the next tick",
    severity: Severity::Error,
    profiles: Profile::ALL,
    sources: &[
        "time(7)",
        "Documentation/timers/highres.rst",
        "Documentation/admin-guide/kernel-parameters.rst",
    ],
    page: page!("high-res-timers"),
    check,
};

fn check(host: &Snapshot, _options: &CheckOptions) -> RuleResult {
    let config = host.kernel.config.need()?;
    let cmdline = host.kernel.cmdline.need()?;
    let built = config.has("HIGH_RES_TIMERS");
    // As kstrtobool, which reads at most two characters.
    let off = cmdline.get("highres").is_some_and(|value| {
        let word = value.to_ascii_lowercase();
        word.starts_with(['0', 'n', 'f']) || word.starts_with("of")
    });
    let (config_path, cmdline_path) = (&host.kernel.config.path, &host.kernel.cmdline.path);
    let with = |answer: RuleOutcome| {
        answer
            .shows_as(config_path, config.line("HIGH_RES_TIMERS"))
            .shows_as(cmdline_path, cmdline.show("highres"))
    };
    if built && !off {
        return Ok(with(RuleOutcome::pass("High-resolution timers are on")));
    }
    let tick = config.get("HZ").and_then(|hz| hz.parse::<u64>().ok()).filter(|&hz| hz > 0);
    let late = tick.map_or("one tick".to_owned(), |hz| format!("{} ms", 1000 / hz));
    let what = if off {
        "High-resolution timers are switched off"
    } else {
        "The kernel has no high-resolution timers"
    };
    let answer = with(RuleOutcome::fail(
        what,
        format!("Every sleep and timer ends at a tick: up to {late} late, each time, at any priority."),
    ))
    .shows_as(config_path, config.line("HZ"));
    Ok(answer.fix(match built {
        true => Fix::reboot("remove highres=off from the kernel command line").risk("none"),
        false => Fix::reboot("boot a kernel with CONFIG_HIGH_RES_TIMERS")
            .by_hand("another kernel is to be installed or built")
            .risk("none"),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;

    const ON: &Files = &[("/boot/config-6.1.0-28-amd64", "CONFIG_HIGH_RES_TIMERS=y\nCONFIG_HZ=250\n")];
    const NONE: &Files = &[("/boot/config-6.1.0-28-amd64", "CONFIG_HZ=100\n")];
    const QUIET: &Files = &[("/proc/cmdline", "quiet")];

    #[test]
    fn cases() {
        table(
            &RULE,
            &[
                case("on", &[KERNEL_6_1, ON, QUIET]).passes("are on"),
                case("off", &[KERNEL_6_1, ON, &[("/proc/cmdline", "highres=off")]]).fails("4 ms"),
                case("off in another word", &[KERNEL_6_1, ON, &[("/proc/cmdline", "highres=n")]])
                    .fails("4 ms"),
                case("not built in", &[KERNEL_6_1, NONE, QUIET]).fails("10 ms"),
                case("no command line", &[KERNEL_6_1, ON]).cannot_tell("/proc"),
                case("unknown build", &[KERNEL_6_1, QUIET]).cannot_tell("config"),
            ],
        );
    }
}
