//! Does KVM take huge pages of guests apart?

use crate::rule::page;
use crate::{Answer, Ask, CannotTell, Fix, Profile, Rule, Verdict};
use whylate_base::Severity;
use whylate_host::Snapshot;

pub(super) const RULE: Rule = Rule {
    code: "kvm-nx-huge-pages",
    title: "KVM does not take huge pages of guests apart again and again",
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

fn check(host: &Snapshot, _ask: &Ask) -> Verdict {
    let unread = |name: &str| CannotTell::because(format!("/sys/module/{name}"), "it was not read");
    let parameter = |name: &str| host.kernel.parameters.get(name).ok_or_else(|| unread(name));
    let (split, ratio) = (parameter("kvm/nx_huge_pages")?, parameter("kvm/nx_huge_pages_recovery_ratio")?);
    let Some(value) = split.if_present()? else {
        return Ok(Answer::not_applicable("The module kvm is not loaded, or is not that of x86"));
    };
    if value != "Y" {
        return Ok(Answer::pass("Huge pages of guests stay whole").shows(split));
    }
    if ratio.need()? == "0" {
        return Ok(Answer::pass("Huge pages are taken apart where a guest runs code in them, and stay so")
            .shows(split)
            .shows(ratio));
    }
    Ok(Answer::fail(
        "A thread puts huge pages of guests together again, which are then taken apart anew",
        "Against an erratum (iTLB multihit) memory in which a guest runs code is mapped by small pages. The thread \
         kvm-nx-lpage-recovery removes such mappings from time to time: the guest stops, and faults when it goes on. \
         PREEMPT_RT kernels have a ratio of 0 for that reason.",
    )
    .shows(split)
    .shows(ratio)
    .fix(
        Fix::runtime(format!("echo 0 > {}", ratio.path))
            .boot("options kvm nx_huge_pages_recovery_ratio=0 in /etc/modprobe.d")
            .risk("what was once taken apart stays so: a little slower"),
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
                case("as it comes", &[&[(SPLIT, "Y\n"), (RATIO, "60\n")]]).fails("anew"),
                case("PREEMPT_RT", &[&[(SPLIT, "Y\n"), (RATIO, "0\n")]]).passes("stay so"),
                case("not concerned", &[&[(SPLIT, "N\n"), (RATIO, "60\n")]]).passes("whole"),
                case("never", &[&[(SPLIT, "never\n")]]).passes("whole"),
                case("the ratio is hidden", &[&[(SPLIT, "Y\n")]]).cannot_tell("recovery_ratio"),
                case("no KVM", &[TWO_CPUS]).does_not_apply("not loaded"),
                case("hidden", &[&[]]).cannot_tell("/sys"),
            ],
        );
    }
}
