//! What do workarounds for flaws of the CPU cost on each way into the kernel?

use crate::rule::page;
use crate::{Answer, Ask, CannotTell, Fix, Profile, Rule, Verdict};
use whylate_base::Severity;
use whylate_host::Snapshot;

pub(super) const RULE: Rule = Rule {
    code: "mitigations",
    title: "No workaround for a flaw of the CPU makes each system call much longer",
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

/// What the kernel says of workarounds that act at each entry or exit, and what they do there.
const COSTLY: [(&str, &str); 5] = [
    ("Mitigation: PTI", "switches page tables on each way in and out"),
    ("Clear CPU buffers", "flushes buffers on each way out"),
    ("Clear Register File", "flushes buffers on each way out"),
    ("Mitigation: IBRS", "writes a model-specific register on each way in and out"),
    ("untrained return thunk", "retrains return prediction on each way in"),
];

fn check(host: &Snapshot, _ask: &Ask) -> Verdict {
    let all = &host.cpus.vulnerabilities;
    let Some(list) = all.if_present()? else {
        return Ok(Answer::not_applicable("This kernel does not list flaws of the CPU"));
    };
    let mut found = Vec::new();
    for (name, state) in list {
        let said = state.need()?;
        if let Some((_, does)) = COSTLY.iter().find(|(words, _)| said.contains(words)) {
            found.push((name, state, does));
        }
    }
    if list.is_empty() {
        return Err(CannotTell::because(&all.path, "it is empty"));
    }
    let Some((first, _, does)) = found.first() else {
        return Ok(Answer::pass("No such workaround is in effect")
            .shows_as(&all.path, format!("{} flaws are known of", list.len())));
    };
    let what = match found.len() {
        1 => format!("The workaround for {first} {does}"),
        more => format!("{more} workarounds act on each way into the kernel or out: that for {first} {does}"),
    };
    let answer = Answer::fail(
        what,
        "Every system call, interrupt and page fault takes longer, each time by about the same: it adds to latency, but \
         does not make it vary.",
    );
    let answer = found.iter().fold(answer, |answer, (_, state, _)| answer.shows(*state));
    Ok(answer.fix(
        Fix::reboot("mitigations=off on the kernel command line, if nobody else's code ever runs there")
            .risk("programs, guests and web pages may then read what belongs to others: passwords, keys"),
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
                .fails("2 workarounds"),
                case("IBRS", &[&[(SPECTRE, "Mitigation: IBRS; IBPB: conditional\n")]]).fails("spectre_v2"),
                case("switched off", &[&[(MELTDOWN, "Vulnerable\n")]]).passes("No such"),
                case("not listed", &[TWO_CPUS]).does_not_apply("does not list"),
                case("hidden", &[&[]]).cannot_tell("/sys"),
            ],
        );
    }
}
