//! Does the kernel merge equal pages?

use crate::rule::page;
use crate::{Answer, Ask, Fix, Profile, Rule, Verdict};
use whylate_base::Severity;
use whylate_host::Snapshot;

pub(super) const RULE: Rule = Rule {
    code: "ksm",
    title: "Equal pages are not merged",
    severity: Severity::Warning,
    profiles: Profile::ALL,
    sources: &["Documentation/admin-guide/mm/ksm.rst"],
    page: page!("ksm"),
    check,
};

fn check(host: &Snapshot, _ask: &Ask) -> Verdict {
    let run = &host.memory.ksm_run;
    match run.if_present()? {
        None => Ok(Answer::pass("The kernel cannot merge pages").shows(run)),
        Some(1) => Ok(Answer::fail(
            "ksmd merges equal pages",
            "It reads the memory of virtual machines and of other programs that allow it, which costs time and caches. \
             Whoever writes to a merged page faults, and waits until it is copied; so do real-time guests.",
        )
        .shows(run)
        .fix(
            Fix::runtime(format!("echo 2 > {}", run.path))
                .boot("disable ksm.service and ksmtuned.service")
                .risk("memory use grows by what was merged"),
        )),
        Some(_) => Ok(Answer::pass("ksmd does not run").shows(run)),
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
                case("not built in", &[TWO_CPUS]).passes("cannot"),
                case("malformed", &[&[(RUN, "yes\n")]]).cannot_tell("a number"),
                case("hidden", &[&[]]).cannot_tell("/sys"),
            ],
        );
    }
}
