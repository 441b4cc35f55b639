//! Does the kernel merge equal pages?

use crate::rule::page;
use crate::{CheckOptions, Fix, Profile, Rule, RuleOutcome, RuleResult};
use whylate_base::Severity;
use whylate_host::Snapshot;

pub(super) const RULE: Rule = Rule {
    code: "ksm",
    title: "KSM does not merge identical pages",
    severity: Severity::Warning,
    profiles: Profile::ALL,
    sources: &["Documentation/admin-guide/mm/ksm.rst"],
    page: page!("ksm"),
    check,
};

fn check(host: &Snapshot, _options: &CheckOptions) -> RuleResult {
    let run = &host.memory.ksm_run;
    match run.if_present()? {
        None => Ok(RuleOutcome::pass("The kernel does not support KSM").shows(run)),
        Some(1) => Ok(RuleOutcome::fail(
            "ksmd merges identical pages",
            "It reads the memory of virtual machines and of other programs that allow it, which costs CPU time and \
             cache space. A thread that writes to a merged page faults, and waits for the copy; real-time guests as \
             well.",
        )
        .shows(run)
        .fix(
            Fix::runtime(format!("echo 2 > {}", run.path))
                .boot("disable ksm.service and ksmtuned.service")
                .risk("memory use grows by the amount that was merged"),
        )),
        Some(_) => Ok(RuleOutcome::pass("ksmd does not run").shows(run)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;

    const RUN: &str = "/sys/kernel/mm/ksm/run";

    #[test]
    fn cases() {
        table(
            &RULE,
            &[
                case("runs", &[&[(RUN, "1\n")]]).fails("ksmd"),
                case("stopped", &[&[(RUN, "0\n")]]).passes("does not run"),
                case("unmerged", &[&[(RUN, "2\n")]]).passes("does not run"),
                case("not built in", &[TWO_CPUS]).passes("does not support"),
                case("malformed", &[&[(RUN, "yes\n")]]).cannot_tell("a number"),
                case("hidden", &[&[]]).cannot_tell("/sys"),
            ],
        );
    }
}
