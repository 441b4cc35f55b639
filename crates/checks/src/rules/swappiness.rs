//! How early is memory swapped out?

use crate::rule::page;
use crate::{CheckOptions, Fix, Profile, Rule, RuleOutcome, RuleResult};
use whylate_base::Severity;
use whylate_host::Snapshot;

pub(super) const RULE: Rule = Rule {
    code: "swappiness",
    title: "Program memory is swapped out only when needed",
    severity: Severity::Info,
    profiles: Profile::ALL,
    sources: &["Documentation/admin-guide/sysctl/vm.rst"],
    page: page!("swappiness"),
    check,
};

/// The value of TuneD's latency profiles.
const MOST: u64 = 10;

fn check(host: &Snapshot, _options: &CheckOptions) -> RuleResult {
    if host.memory.swaps.if_present()?.is_none_or(|areas| areas.is_empty()) {
        return Ok(RuleOutcome::not_applicable("No swap area is in use"));
    }
    let swappiness = &host.memory.vm.swappiness;
    let value = *swappiness.need()?;
    if value <= MOST {
        return Ok(RuleOutcome::pass("Program memory is swapped out only when needed").shows(swappiness));
    }
    Ok(RuleOutcome::fail(
        format!("Program memory is swapped out early: swappiness is {value}"),
        "The kernel swaps out pages of programs that slept for a while in favour of file pages, long before memory \
         runs out.",
    )
    .shows(swappiness)
    .fix(
        Fix::runtime(format!("sysctl vm.swappiness={MOST}"))
            .boot(format!("vm.swappiness = {MOST} in /etc/sysctl.d"))
            .risk("files are read from disk more often"),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;

    const SWAP: (&str, &str) =
        ("/proc/swaps", "Filename Type Size Used Priority\n/dev/sda2 partition 8388604 12 -2\n");
    const SWAPPINESS: &str = "/proc/sys/vm/swappiness";

    #[test]
    fn cases() {
        table(
            &RULE,
            &[
                case("usual", &[&[SWAP, (SWAPPINESS, "60\n")]]).fails("60"),
                case("low", &[&[SWAP, (SWAPPINESS, "10\n")]]).passes("only when needed"),
                case("no area", &[&[("/proc/swaps", "Filename\n"), (SWAPPINESS, "60\n")]])
                    .does_not_apply("No swap"),
                case("unknown", &[&[SWAP]]).cannot_tell("swappiness"),
                case("hidden", &[&[]]).cannot_tell("/proc"),
            ],
        );
    }
}
