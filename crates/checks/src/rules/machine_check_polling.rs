//! Are real-time CPUs interrupted to look for memory errors?

use crate::rule::page;
use crate::{Answer, Ask, Fix, Profile, Rule, Verdict};
use whylate_base::Severity;
use whylate_host::Snapshot;

pub(super) const RULE: Rule = Rule {
    code: "machine-check-polling",
    title: "CPUs are not polled for machine checks",
    severity: Severity::Info,
    profiles: Profile::ISOLATING,
    sources: &[
        "Documentation/arch/x86/x86_64/machinecheck.rst",
        "Documentation/admin-guide/kernel-parameters.rst",
        "arch/x86/kernel/cpu/mce/core.c",
    ],
    page: page!("machine-check-polling"),
    check,
};

fn check(host: &Snapshot, _ask: &Ask) -> Verdict {
    let (interval, ignored) = (&host.cpus.check_interval, &host.cpus.ignore_ce);
    let Some(every) = interval.if_present()? else {
        return Ok(Answer::not_applicable(
            "No machine checks are polled for here: x86 alone does, and not every guest",
        ));
    };
    if ignored.if_present()? == Some(&true) {
        return Ok(Answer::pass("Corrected machine checks are ignored").shows(ignored));
    }
    if every == "0" {
        return Ok(Answer::pass("Machine checks are not polled for").shows(interval));
    }
    Ok(Answer::fail(
        "Every CPU is polled for machine checks",
        "A timer on each CPU, isolated or not, reads all banks of its machine-check registers from interrupt context, \
         every 5 minutes by default, and more often once it found something. It counts in /proc/interrupts as MCP.",
    )
    .shows(interval)
    .fix(
        Fix::runtime("echo 1 > /sys/devices/system/machinecheck/machinecheck0/ignore_ce")
            .boot("mce=ignore_ce on the kernel command line")
            .risk("corrected memory errors go unnoticed, which announce that memory is about to fail"),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;

    const INTERVAL: &str = "/sys/devices/system/machinecheck/machinecheck0/check_interval";
    const IGNORE: &str = "/sys/devices/system/machinecheck/machinecheck0/ignore_ce";

    #[test]
    fn cases() {
        table(
            &RULE,
            &[
                case("usual", &[&[(INTERVAL, "300\n"), (IGNORE, "0\n")]]).fails("polled"),
                case("older kernels write hexadecimal", &[&[(INTERVAL, "12c\n")]]).fails("polled"),
                case("ignored", &[&[(INTERVAL, "300\n"), (IGNORE, "1\n")]]).passes("ignored"),
                case("not polled for", &[&[(INTERVAL, "0\n"), (IGNORE, "0\n")]]).passes("not polled"),
                case("a guest", &[TWO_CPUS]).does_not_apply("x86 alone"),
                case("malformed", &[&[(INTERVAL, "300\n"), (IGNORE, "?\n")]]).cannot_tell("ignore_ce"),
                case("hidden", &[&[]]).cannot_tell("/sys"),
            ],
        );
    }
}
