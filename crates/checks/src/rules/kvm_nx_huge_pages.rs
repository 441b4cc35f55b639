//! Does KVM take huge pages of guests apart?

use crate::rule::page;
use crate::{CannotTell, CheckOptions, Fix, Profile, Rule, RuleOutcome, RuleResult};
use whylate_base::Severity;
use whylate_host::Snapshot;

pub(super) const RULE: Rule = Rule {
    code: "kvm-nx-huge-pages",
    title: "KVM does not repeatedly split guest huge pages",
    severity: Severity::Warning,
    profiles: &[Profile::RealtimeVirtualHost],
    sources: &[
        "Documentation/admin-guide/hw-vuln/multihit.rst",
        "Documentation/admin-guide/kernel-parameters.rst (kvm.nx_huge_pages)",
        "arch/x86/kvm/mmu/mmu.c",
    ],
    page: page!("kvm-nx-huge-pages"),
    check,
};

fn check(host: &Snapshot, _options: &CheckOptions) -> RuleResult {
    let unread = |name: &str| CannotTell::because(format!("/sys/module/{name}"), "not read");
    let parameter = |name: &str| host.kernel.parameters.get(name).ok_or_else(|| unread(name));
    let (split, ratio) = (parameter("kvm/nx_huge_pages")?, parameter("kvm/nx_huge_pages_recovery_ratio")?);
    let Some(value) = split.if_present()? else {
        return Ok(RuleOutcome::not_applicable("The module kvm is not loaded, or not for x86"));
    };
    if value != "Y" {
        return Ok(RuleOutcome::pass("Guest huge pages are not split").shows(split));
    }
    if ratio.need()? == "0" {
        return Ok(RuleOutcome::pass(
            "Guest huge pages are split where the guest executes code, and stay split",
        )
        .shows(split)
        .shows(ratio));
    }
    Ok(RuleOutcome::fail(
        "A thread restores split guest huge pages, which are then split again",
        "Because of an erratum (iTLB multihit), KVM maps memory in which a guest executes code with small pages. The \
         thread kvm-nx-lpage-recovery periodically removes such mappings: the guest stops, and faults when it \
         continues. PREEMPT_RT kernels have a ratio of 0 for that reason.",
    )
    .shows(split)
    .shows(ratio)
    .fix(
        Fix::runtime(format!("echo 0 > {}", ratio.path))
            .boot("options kvm nx_huge_pages_recovery_ratio=0 in /etc/modprobe.d")
            .risk("split pages stay split: slightly slower"),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;

    const SPLIT: &str = "/sys/module/kvm/parameters/nx_huge_pages";
    const RATIO: &str = "/sys/module/kvm/parameters/nx_huge_pages_recovery_ratio";

    #[test]
    fn cases() {
        table(
            &RULE,
            &[
                case("as it comes", &[&[(SPLIT, "Y\n"), (RATIO, "60\n")]]).fails("split again"),
                case("PREEMPT_RT", &[&[(SPLIT, "Y\n"), (RATIO, "0\n")]]).passes("stay split"),
                case("not concerned", &[&[(SPLIT, "N\n"), (RATIO, "60\n")]]).passes("not split"),
                case("never", &[&[(SPLIT, "never\n")]]).passes("not split"),
                case("the ratio is hidden", &[&[(SPLIT, "Y\n")]]).cannot_tell("recovery_ratio"),
                case("no KVM", &[TWO_CPUS]).does_not_apply("not loaded"),
                case("hidden", &[&[]]).cannot_tell("/sys"),
            ],
        );
    }
}
