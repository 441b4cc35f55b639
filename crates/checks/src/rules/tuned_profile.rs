//! Does TuneD tune for another purpose?

use super::shared::threads::with_those_of_kernel;
use crate::rule::page;
use crate::{CannotTell, CheckOptions, Fix, Profile, Rule, RuleOutcome, RuleResult};
use whylate_base::Severity;
use whylate_host::Snapshot;

pub(super) const RULE: Rule = Rule {
    code: "tuned-profile",
    title: "An active TuneD profile is made for real-time work",
    severity: Severity::Warning,
    profiles: Profile::ALL,
    sources: &["tuned(8)", "tuned-adm(8)", "tuned-profiles(7)"],
    page: page!("tuned-profile"),
    check,
};

/// Its profiles for real-time work.
const FITTING: [&str; 5] = [
    "realtime",
    "realtime-virtual-host",
    "realtime-virtual-guest",
    "cpu-partitioning",
    "cpu-partitioning-powersave",
];
/// Its low-latency profiles without CPU isolation.
const CLOSE: [&str; 3] = ["network-latency", "latency-performance", "hpc-compute"];
/// Its profiles for other purposes.
const OTHERS: [&str; 15] = [
    "accelerator-performance",
    "aws",
    "balanced",
    "balanced-battery",
    "desktop",
    "desktop-powersave",
    "intel-sst",
    "laptop-ac-powersave",
    "laptop-battery-powersave",
    "network-throughput",
    "powersave",
    "server-powersave",
    "throughput-performance",
    "virtual-guest",
    "virtual-host",
];

fn check(host: &Snapshot, options: &CheckOptions) -> RuleResult {
    let threads = with_those_of_kernel(host)?;
    let Some(tuned) = threads.iter().find(|thread| thread.comm == "tuned" && !thread.kernel) else {
        return Ok(RuleOutcome::not_applicable("TuneD does not run"));
    };
    let active = &host.systemd.tuned_profile;
    let names: Vec<&str> = active.need()?.split_ascii_whitespace().collect();
    // Of several profiles the last one takes precedence.
    let Some(&last) = names.last() else {
        return Ok(RuleOutcome::pass("TuneD applies no profile").shows(active));
    };
    let fits = FITTING.contains(&last);
    let close = CLOSE.contains(&last) && matches!(options.profile, Profile::Audio | Profile::Robotics);
    if fits || close {
        return Ok(RuleOutcome::pass(format!("TuneD applies `{last}`")).shows(active));
    }
    if !CLOSE.contains(&last) && !OTHERS.contains(&last) {
        return Err(CannotTell::because(
            &active.path,
            format!("the settings of the profile `{last}` are not known: tuned-adm verify"),
        ));
    }
    let wanted = match options.profile {
        Profile::Audio | Profile::Robotics => "latency-performance",
        other => other.name(),
    };
    let answer = RuleOutcome::fail(
        format!("TuneD applies `{last}`"),
        "It sets governor, sysctls and power saving for another purpose at each start, and reverts manual changes to \
         the settings of the profile.",
    );
    let answer = match CLOSE.contains(&last) {
        true => answer.graded(Severity::Info),
        false => answer,
    };
    Ok(answer.shows(active).shows_as(format!("/proc/{}", tuned.pid), "tuned").fix(
        Fix::runtime(format!(
            "tuned-adm profile {wanted}, after setting isolated_cores in /etc/tuned/{wanted}-variables.conf"
        ))
        .by_hand("TuneD applies its own profiles; `whylate plan --tuned` plans one of them")
        .risk("it also changes the kernel command line, and takes effect in full only after a reboot"),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;

    const INIT: &Files = thread!(kernel 2 "kthreadd", other 0, "0-1");
    const TUNED: &Files = thread!(program 9 "tuned", other 0, "0-1");
    const ACTIVE: &str = "/etc/tuned/active_profile";

    #[test]
    fn cases() {
        table(
            &RULE,
            &[
                case("does not run", &[INIT, &[(ACTIVE, "balanced\n")]]).does_not_apply("does not run"),
                case("realtime", &[INIT, TUNED, &[(ACTIVE, "realtime\n")]]).passes("`realtime`"),
                case("balanced", &[INIT, TUNED, &[(ACTIVE, "balanced\n")]]).fails("`balanced`"),
                case("close", &[INIT, TUNED, &[(ACTIVE, "network-latency\n")]])
                    .fails_as(Severity::Info, "network-latency"),
                case("close enough", &[INIT, TUNED, &[(ACTIVE, "network-latency\n")]])
                    .profile(Profile::Audio)
                    .passes("network"),
                case("merged", &[INIT, TUNED, &[(ACTIVE, "realtime powersave\n")]]).fails("`powersave`"),
                case("one's own", &[INIT, TUNED, &[(ACTIVE, "openshift-node-x\n")]])
                    .cannot_tell("openshift-node-x"),
                case("none", &[INIT, TUNED, &[(ACTIVE, "\n")]]).passes("no profile"),
                case("not readable", &[INIT, TUNED]).cannot_tell("/etc"),
                case("a container", &[thread!(program 5 "app", other 0, "0")]).cannot_tell("container"),
            ],
        );
    }
}
