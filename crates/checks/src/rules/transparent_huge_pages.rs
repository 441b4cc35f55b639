//! Does the kernel make huge pages for programs that did not request them?

use crate::rule::page;
use crate::{CannotTell, CheckOptions, Fix, Profile, Rule, RuleOutcome, RuleResult};
use whylate_base::Severity;
use whylate_host::Snapshot;

pub(super) const RULE: Rule = Rule {
    code: "transparent-huge-pages",
    title: "Transparent huge pages are not used unless requested",
    severity: Severity::Warning,
    profiles: Profile::ALL,
    sources: &[
        "Documentation/admin-guide/mm/transhuge.rst",
        "mm/Kconfig (TRANSPARENT_HUGEPAGE depends on !PREEMPT_RT)",
    ],
    page: page!("transparent-huge-pages"),
    check,
};

fn check(host: &Snapshot, _options: &CheckOptions) -> RuleResult {
    let memory = &host.memory;
    let Some(enabled) = memory.thp_enabled.if_present()? else {
        return Ok(RuleOutcome::pass("The kernel does not support transparent huge pages")
            .shows(&memory.thp_enabled));
    };
    match enabled.chosen.as_str() {
        "never" => return Ok(RuleOutcome::pass("Transparent huge pages are off").shows(&memory.thp_enabled)),
        "madvise" => {
            return Ok(RuleOutcome::pass("Huge pages are only used for programs that request them")
                .shows(&memory.thp_enabled));
        }
        "always" => {}
        other => {
            let why = format!("`{other}` is not a documented value");
            return Err(CannotTell::because(&memory.thp_enabled.path, why));
        }
    }
    Ok(RuleOutcome::fail(
        "Transparent huge pages are on for every program",
        "khugepaged copies 512 pages of a running program into a huge page and removes the mapping meanwhile: a \
         thread that touches that memory waits, even if it is locked. A page fault clears 2 MiB at once, and with \
         defrag first moves other pages out of the way.",
    )
    .shows(&memory.thp_enabled)
    .shows(&memory.thp_defrag)
    .shows(&memory.khugepaged_defrag)
    .fix(
        Fix::runtime(format!("echo madvise > {}", memory.thp_enabled.path))
            .boot("transparent_hugepage=madvise (or never) on the kernel command line")
            .risk("programs with much memory may miss the TLB more often; reserve huge pages for them"),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;

    const ENABLED: &str = "/sys/kernel/mm/transparent_hugepage/enabled";

    #[test]
    fn cases() {
        table(
            &RULE,
            &[
                case("always", &[&[(ENABLED, "[always] madvise never\n")]]).fails("every program"),
                case("madvise", &[&[(ENABLED, "always [madvise] never\n")]]).passes("request"),
                case("never", &[&[(ENABLED, "always madvise [never]\n")]]).passes("are off"),
                case("PREEMPT_RT has none", &[TWO_CPUS]).passes("does not support"),
                case("unheard of", &[&[(ENABLED, "[inherit] x\n")]]).cannot_tell("inherit"),
                case("malformed", &[&[(ENABLED, "always\n")]]).cannot_tell("brackets"),
                case("hidden", &[&[]]).cannot_tell("/sys"),
            ],
        );
    }
}
