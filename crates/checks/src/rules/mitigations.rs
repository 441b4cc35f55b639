//! What do workarounds for flaws of the CPU cost on each way into the kernel?

use crate::rule::page;
use crate::{CannotTell, CheckOptions, Fix, Profile, Rule, RuleOutcome, RuleResult};
use whylate_base::Severity;
use whylate_host::Snapshot;

pub(super) const RULE: Rule = Rule {
    code: "mitigations",
    title: "No CPU vulnerability mitigation makes system calls much longer",
    severity: Severity::Info,
    profiles: Profile::ALL,
    sources: &[
        "Documentation/admin-guide/hw-vuln/index.rst",
        "Documentation/arch/x86/pti.rst",
        "Documentation/ABI/testing/sysfs-devices-system-cpu",
    ],
    page: page!("mitigations"),
    check,
};

/// Text of the kernel for mitigations that act at each entry or exit, and their effect.
const COSTLY: [(&str, &str); 5] = [
    ("Mitigation: PTI", "switches page tables on each kernel entry and exit"),
    ("Clear CPU buffers", "flushes buffers on each kernel exit"),
    ("Clear Register File", "flushes buffers on each kernel exit"),
    ("Mitigation: IBRS", "writes a model-specific register on each kernel entry and exit"),
    ("untrained return thunk", "retrains return prediction on each kernel entry"),
];

fn check(host: &Snapshot, _options: &CheckOptions) -> RuleResult {
    let all = &host.cpus.vulnerabilities;
    let Some(list) = all.if_present()? else {
        return Ok(RuleOutcome::not_applicable("This kernel does not list CPU vulnerabilities"));
    };
    let mut found = Vec::new();
    for (name, state) in list {
        let status = state.need()?;
        if let Some((_, does)) = COSTLY.iter().find(|(words, _)| status.contains(words)) {
            found.push((name, state, does));
        }
    }
    if list.is_empty() {
        return Err(CannotTell::because(&all.path, "it is empty"));
    }
    let Some((first, _, does)) = found.first() else {
        return Ok(RuleOutcome::pass("No such mitigation is active")
            .shows_as(&all.path, format!("{} known vulnerabilities", list.len())));
    };
    let what = match found.len() {
        1 => format!("The mitigation for {first} {does}"),
        more => format!("{more} mitigations act on each kernel entry or exit: the one for {first} {does}"),
    };
    let answer = RuleOutcome::fail(
        what,
        "Every system call, interrupt and page fault takes longer, by about the same amount each time: it adds to \
         the latency, but not to its variation.",
    );
    let answer = found.iter().fold(answer, |answer, (_, state, _)| answer.shows(*state));
    Ok(answer.fix(
        Fix::reboot("mitigations=off on the kernel command line, if no untrusted code ever runs there")
            .risk("programs, guests and web pages may then read data of others: passwords, keys"),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;

    const MELTDOWN: &str = "/sys/devices/system/cpu/vulnerabilities/meltdown";
    const MDS: &str = "/sys/devices/system/cpu/vulnerabilities/mds";
    const SPECTRE: &str = "/sys/devices/system/cpu/vulnerabilities/spectre_v2";

    #[test]
    fn cases() {
        table(
            &RULE,
            &[
                case(
                    "a new CPU",
                    &[&[
                        (MELTDOWN, "Not affected\n"),
                        (SPECTRE, "Mitigation: Enhanced / Automatic IBRS; IBPB: conditional\n"),
                    ]],
                )
                .passes("No such"),
                case(
                    "an old one",
                    &[&[
                        (MELTDOWN, "Mitigation: PTI\n"),
                        (MDS, "Mitigation: Clear CPU buffers; SMT vulnerable\n"),
                    ]],
                )
                .fails("2 mitigations"),
                case("IBRS", &[&[(SPECTRE, "Mitigation: IBRS; IBPB: conditional\n")]]).fails("spectre_v2"),
                case("switched off", &[&[(MELTDOWN, "Vulnerable\n")]]).passes("No such"),
                case("not listed", &[TWO_CPUS]).does_not_apply("does not list"),
                case("hidden", &[&[]]).cannot_tell("/sys"),
            ],
        );
    }
}
