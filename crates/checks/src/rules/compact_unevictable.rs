//! May locked pages be moved?

use crate::rule::page;
use crate::{CheckOptions, Fix, Profile, Rule, RuleOutcome, RuleResult};
use whylate_base::Severity;
use whylate_host::Snapshot;

pub(super) const RULE: Rule = Rule {
    code: "compact-unevictable",
    title: "Compaction does not move locked memory",
    severity: Severity::Warning,
    profiles: Profile::ALL,
    sources: &[
        "Documentation/admin-guide/sysctl/vm.rst",
        "https://git.kernel.org/linus/5bbe3547aa3b (mm: allow compaction of unevictable pages)",
    ],
    page: page!("compact-unevictable"),
    check,
};

fn check(host: &Snapshot, _options: &CheckOptions) -> RuleResult {
    let setting = &host.memory.vm.compact_unevictable_allowed;
    match setting.if_present()? {
        None => Ok(RuleOutcome::pass("The kernel does not compact memory").shows(setting)),
        Some(0) => Ok(RuleOutcome::pass("Compaction does not move locked memory").shows(setting)),
        Some(_) => {
            let answer = RuleOutcome::fail(
                "Compaction may move locked memory",
                "mlock(2) keeps a page in memory, but not at the same physical address: a thread that touches the \
                 page during a move faults and waits. PREEMPT_RT kernels do not allow this by default.",
            )
            .shows(setting)
            .fix(
                Fix::runtime("sysctl vm.compact_unevictable_allowed=0")
                    .boot("vm.compact_unevictable_allowed = 0 in /etc/sysctl.d")
                    .risk("with much locked memory, large contiguous blocks of free memory become rare"),
            );
            Ok(answer)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;

    const SETTING: &str = "/proc/sys/vm/compact_unevictable_allowed";

    #[test]
    fn cases() {
        table(
            &RULE,
            &[
                case("allowed", &[&[(SETTING, "1\n")]]).fails("may move"),
                case("for audio", &[&[(SETTING, "1\n")]])
                    .profile(Profile::Audio)
                    .fails_as(Severity::Info, "may move"),
                case("as PREEMPT_RT has it", &[&[(SETTING, "0\n")]]).passes("does not move"),
                case("not built in", &[&[("/proc/version", "")]]).passes("does not compact"),
                case("malformed", &[&[(SETTING, "x\n")]]).cannot_tell("a number"),
                case("hidden", &[&[]]).cannot_tell("/proc"),
            ],
        );
    }
}
