//! Does the speed depend on what other cores do?

use crate::rule::page;
use crate::{CheckOptions, Fix, Profile, Rule, RuleOutcome, RuleResult};
use whylate_base::Severity;
use whylate_host::Snapshot;

pub(super) const RULE: Rule = Rule {
    code: "turbo",
    title: "Turbo frequencies are off",
    severity: Severity::Info,
    profiles: Profile::ISOLATING,
    sources: &["Documentation/admin-guide/pm/intel_pstate.rst", "Documentation/admin-guide/pm/cpufreq.rst"],
    page: page!("turbo"),
    check,
};

fn check(host: &Snapshot, _options: &CheckOptions) -> RuleResult {
    let (no_turbo, boost) = (&host.cpus.no_turbo, &host.cpus.boost);
    let (reading, on, value) = match (no_turbo.if_present()?, boost.if_present()?) {
        (Some(&off), _) => (no_turbo, !off, "1"),
        (None, Some(&on)) => (boost, on, "0"),
        (None, None) => {
            return Ok(RuleOutcome::not_applicable("No frequency driver here supports turbo frequencies"));
        }
    };
    if !on {
        return Ok(RuleOutcome::pass("Turbo frequencies are off").shows(reading));
    }
    let answer = RuleOutcome::fail(
        "Turbo frequencies are on",
        "Above its nominal frequency, the speed of a core depends on how many other cores are busy, on their \
         instructions and on the temperature. The time for the same work then depends on the other cores.",
    );
    Ok(answer.shows(reading).fix(
        Fix::runtime(format!("echo {value} > {}", reading.path))
            .boot("the same command from a systemd unit at boot, or in the firmware")
            .risk("the typical speed falls: useful only if the time must be constant, not short"),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;
    use whylate_host::Why;

    const NO_TURBO: &str = "/sys/devices/system/cpu/intel_pstate/no_turbo";
    const BOOST: &str = "/sys/devices/system/cpu/cpufreq/boost";

    #[test]
    fn cases() {
        table(
            &RULE,
            &[
                case("off", &[&[(NO_TURBO, "1\n")]]).passes("off"),
                case("on", &[&[(NO_TURBO, "0\n")]]).fails("on"),
                case("AMD, off", &[&[(BOOST, "0\n")]]).passes("off"),
                case("AMD, on", &[&[(BOOST, "1\n")]]).fails("on"),
                case("no driver", &[TWO_CPUS]).does_not_apply("No frequency driver"),
                case("malformed", &[&[(BOOST, "?")]]).cannot_tell("boost"),
                case("hidden", &[&[]]).cannot_tell("/sys"),
            ],
        );
    }

    #[test]
    fn what_is_denied_is_no_answer() {
        let tree = whylate_host::FsRoot::memory(&[(BOOST, "1\n")]).refused(NO_TURBO, Why::Denied);
        assert!(check(&Snapshot::read(&tree), &CheckOptions::of(Profile::Realtime)).is_err());
    }
}
