//! Is memory promised that is not there?

use crate::rule::page;
use crate::{CannotTell, CheckOptions, Fix, Profile, Rule, RuleOutcome, RuleResult};
use whylate_base::Severity;
use whylate_host::Snapshot;

pub(super) const RULE: Rule = Rule {
    code: "overcommit",
    title: "Memory overcommit is limited",
    severity: Severity::Info,
    profiles: Profile::ALL,
    sources: &["proc_sys_vm(5)", "Documentation/mm/overcommit-accounting.rst"],
    page: page!("overcommit"),
    check,
};

fn check(host: &Snapshot, _options: &CheckOptions) -> RuleResult {
    let mode = &host.memory.vm.overcommit_memory;
    match *mode.need()? {
        0 => Ok(RuleOutcome::pass("Obvious overcommits of memory are refused").shows(mode)),
        2 => Ok(RuleOutcome::pass("Memory commitments are limited").shows(mode)),
        1 => Ok(RuleOutcome::fail(
            "Memory overcommit is unlimited",
            "An allocation never fails. If the memory is not available when it is used, all CPUs search for pages to \
             reclaim, and a process is killed, possibly the real-time one.",
        )
        .shows(mode)
        .fix(
            Fix::runtime("sysctl vm.overcommit_memory=0")
                .boot("vm.overcommit_memory = 0 in /etc/sysctl.d")
                .risk("programs that reserve far more than they use (some databases) may fail to start"),
        )),
        other => Err(CannotTell::because(&mode.path, format!("{other} is not a documented value"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;

    const MODE: &str = "/proc/sys/vm/overcommit_memory";

    #[test]
    fn cases() {
        table(
            &RULE,
            &[
                case("usual", &[&[(MODE, "0\n")]]).passes("Obvious"),
                case("strict", &[&[(MODE, "2\n")]]).passes("limited"),
                case("always", &[&[(MODE, "1\n")]]).fails("unlimited"),
                case("unheard of", &[&[(MODE, "3\n")]]).cannot_tell("documented"),
                case("hidden", &[&[]]).cannot_tell("/proc"),
            ],
        );
    }
}
