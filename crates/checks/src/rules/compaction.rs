//! Does the kernel move pages in the background?

use crate::rule::page;
use crate::{CheckOptions, Fix, Profile, Rule, RuleOutcome, RuleResult};
use whylate_base::Severity;
use whylate_host::Snapshot;

pub(super) const RULE: Rule = Rule {
    code: "compaction",
    title: "Proactive compaction is off",
    severity: Severity::Info,
    profiles: Profile::ALL,
    sources: &["Documentation/admin-guide/sysctl/vm.rst", "mm/compaction.c"],
    page: page!("compaction"),
    check,
};

fn check(host: &Snapshot, _options: &CheckOptions) -> RuleResult {
    let setting = &host.memory.vm.compaction_proactiveness;
    match setting.if_present()? {
        None => Ok(RuleOutcome::pass("The kernel does not compact memory proactively").shows(setting)),
        Some(0) => Ok(RuleOutcome::pass("Memory is not compacted proactively").shows(setting)),
        Some(level) => Ok(RuleOutcome::fail(
            format!("Memory is compacted proactively, with a proactiveness of {level}"),
            "Twice a second kcompactd checks whether memory is fragmented, and if so moves pages of any program. A \
             thread that touches such a page waits until the move is complete. The kernel documentation warns of \
             latency spikes.",
        )
        .shows(setting)
        .fix(
            Fix::runtime("sysctl vm.compaction_proactiveness=0")
                .boot("vm.compaction_proactiveness = 0 in /etc/sysctl.d")
                .risk("huge pages are available less often later: reserve them at boot"),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;

    const SETTING: &str = "/proc/sys/vm/compaction_proactiveness";

    #[test]
    fn cases() {
        table(
            &RULE,
            &[
                case("usual", &[&[(SETTING, "20\n")]]).fails("of 20"),
                case("off", &[&[(SETTING, "0\n")]]).passes("not compacted"),
                case("before 5.9", &[&[("/proc/version", "")]]).passes("does not compact"),
                case("malformed", &[&[(SETTING, "x\n")]]).cannot_tell("a number"),
                case("hidden", &[&[]]).cannot_tell("/proc"),
            ],
        );
    }
}
