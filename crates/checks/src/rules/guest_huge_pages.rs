//! Has the host huge pages for its guests?

use crate::rule::page;
use crate::survey::survey;
use crate::{CheckOptions, Fix, Profile, Rule, RuleOutcome, RuleResult};
use whylate_base::Severity;
use whylate_host::Snapshot;

pub(super) const RULE: Rule = Rule {
    code: "guest-huge-pages",
    title: "Huge pages are reserved for guests",
    severity: Severity::Info,
    profiles: &[Profile::RealtimeVirtualHost],
    sources: &["Documentation/admin-guide/mm/hugetlbpage.rst"],
    page: page!("guest-huge-pages"),
    check,
};

fn check(host: &Snapshot, _options: &CheckOptions) -> RuleResult {
    let pages = &host.memory.huge_pages;
    let Some(sizes) = pages.if_present()? else {
        return Ok(RuleOutcome::not_applicable("The kernel does not support reserved huge pages"));
    };
    let survey = survey(&pages.path, sizes.iter().map(|size| &size.reserved), |&reserved| reserved == 0)?;
    if let Some(first) = survey.wrong.first() {
        return Ok(survey
            .wrong
            .iter()
            .skip(1)
            .fold(RuleOutcome::pass("Huge pages are reserved").shows(first), |answer, own| {
                answer.shows(own)
            }));
    }
    let answer = RuleOutcome::fail(
        "No huge pages are reserved",
        "The host may swap, move or merge guest memory in small pages, and each address translation takes more \
         steps, because guest and host both have page tables.",
    );
    let answer = survey.fine.iter().take(4).fold(answer, |answer, own| answer.shows(own));
    Ok(answer.fix(
        Fix::runtime("echo N > /sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages").by_hand("how many huge pages there are to be follows from the memory of the guests")
            .boot("hugepagesz=1G hugepages=N on the kernel command line, and hugepages with locked memory in the guest's definition")
            .risk("reserved memory is not available for anything else"),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;

    const SMALL: &str = "/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages";
    const LARGE: &str = "/sys/kernel/mm/hugepages/hugepages-1048576kB/nr_hugepages";

    #[test]
    fn cases() {
        table(
            &RULE,
            &[
                case("none", &[&[(SMALL, "0\n"), (LARGE, "0\n")]]).fails("No huge pages"),
                case("large ones", &[&[(SMALL, "0\n"), (LARGE, "8\n")]]).passes("reserved"),
                case("not built in", &[TWO_CPUS]).does_not_apply("does not support"),
                case("malformed", &[&[(SMALL, "0\n"), (LARGE, "x\n")]]).cannot_tell("a number"),
                case("hidden", &[&[]]).cannot_tell("/sys"),
            ],
        );
    }
}
