//! Does code from outside the kernel's tree run in the kernel?

use crate::rule::page;
use crate::{CheckOptions, Fix, Profile, Rule, RuleOutcome, RuleResult};
use whylate_base::Severity;
use whylate_host::Snapshot;

pub(super) const RULE: Rule = Rule {
    code: "out-of-tree-modules",
    title: "No module from outside the kernel's tree has been loaded",
    severity: Severity::Info,
    profiles: Profile::ALL,
    sources: &["Documentation/admin-guide/tainted-kernels.rst", "kernel/module/procfs.c"],
    page: page!("out-of-tree-modules"),
    check,
};

/// Bits of the taint with their letters: proprietary, forced, out of tree, unsigned.
const BITS: [(u32, char); 4] = [(0, 'P'), (1, 'F'), (12, 'O'), (13, 'E')];

fn check(host: &Snapshot, _options: &CheckOptions) -> RuleResult {
    let tainted = &host.kernel.tainted;
    let taint = *tainted.need()?;
    let letters: String =
        BITS.iter().filter(|(bit, _)| taint & (1 << bit) != 0).map(|(_, letter)| letter).collect();
    if letters.is_empty() {
        return Ok(RuleOutcome::pass(
            "No out-of-tree, unsigned, proprietary or forced module was loaded since boot",
        )
        .shows(tainted));
    }
    let modules = host.kernel.module_taints.need()?;
    let named: Vec<&(String, String)> = modules
        .iter()
        .filter(|(_, taint)| taint.contains(|letter| BITS.iter().any(|(_, own)| *own == letter)))
        .collect();
    let what = match named.first() {
        Some((name, taint)) if named.len() == 1 => {
            format!("The module {name} ({taint}) is not from the kernel's tree")
        }
        Some((name, taint)) => {
            format!("{} modules are not from the kernel's tree, such as {name} ({taint})", named.len())
        }
        None => format!(
            "A module from outside the kernel's tree was loaded since boot ({letters}), and is not loaded now"
        ),
    };
    let answer = RuleOutcome::fail(
        what,
        "The kernel's tests do not cover such a module: it may disable interrupts or preemption for as long as it works. \
         O: out of tree, E: unsigned, P: proprietary, F: forced.",
    )
    .shows(tainted);
    let path = &host.kernel.module_taints.path;
    let answer = named
        .iter()
        .take(8)
        .fold(answer, |answer, (name, taint)| answer.shows_as(path, format!("{name} ({taint})")));
    let name = named.first().map_or("NAME", |(name, _)| name);
    Ok(answer.fix(
        Fix::runtime(format!(
            "modprobe -r {name}, then compare two measurements: whylate measure, whylate compare"
        ))
        .by_hand("whether the module is needed is for the user to decide")
        .boot(format!("blacklist {name} in /etc/modprobe.d"))
        .risk("its device or function is then missing"),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;

    const TAINTED: &str = "/proc/sys/kernel/tainted";
    const MODULES: &str = "/proc/modules";

    #[test]
    fn cases() {
        table(
            &RULE,
            &[
                case("clean", &[&[(TAINTED, "0\n")]]).passes("since boot"),
                case("a warning of the kernel's own", &[&[(TAINTED, "512\n")]]).passes("since boot"),
                case(
                    "nvidia",
                    &[&[
                        (TAINTED, "12289\n"),
                        (
                            MODULES,
                            "ext4 1 1 - Live 0x0\nnvidia 9 3 a,b, Live 0x0 (POE)\nloop 1 1 - Live 0x0\n",
                        ),
                    ]],
                )
                .fails("nvidia (POE)"),
                case("gone again", &[&[(TAINTED, "4096\n"), (MODULES, "loop 1 1 - Live 0x0\n")]])
                    .fails("not loaded now"),
                case("modules hidden", &[&[(TAINTED, "4096\n")]]).cannot_tell("modules"),
                case("hidden", &[&[]]).cannot_tell("tainted"),
            ],
        );
    }
}
