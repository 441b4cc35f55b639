//! Does RCU interrupt all CPUs to hurry?

use crate::rule::page;
use crate::{CheckOptions, Fix, Profile, Rule, RuleOutcome, RuleResult};
use whylate_base::Severity;
use whylate_host::Snapshot;

pub(super) const RULE: Rule = Rule {
    code: "rcu-expedited",
    title: "RCU does not interrupt other CPUs for expedited grace periods",
    severity: Severity::Info,
    profiles: Profile::ISOLATING,
    sources: &[
        "Documentation/admin-guide/kernel-parameters.rst",
        "Documentation/RCU/Design/Expedited-Grace-Periods/Expedited-Grace-Periods.rst",
        "kernel/rcu/update.c",
    ],
    page: page!("rcu-expedited"),
    check,
};

fn check(host: &Snapshot, _options: &CheckOptions) -> RuleResult {
    let (normal, expedited) = (&host.kernel.rcu_normal, &host.kernel.rcu_expedited);
    // Where both are set the first one wins.
    match normal.if_present()? {
        None => {
            return Ok(RuleOutcome::not_applicable("RCU of this kernel has no expedited grace periods")
                .shows(normal));
        }
        Some(true) => return Ok(RuleOutcome::pass("RCU uses normal grace periods").shows(normal)),
        Some(false) => {}
    }
    let always = *expedited.need()?;
    let what = match always {
        true => "RCU interrupts all busy CPUs for every grace period",
        false => "RCU interrupts all busy CPUs for each expedited grace period",
    };
    let answer = RuleOutcome::fail(
        what,
        "An expedited grace period sends an interrupt to every CPU that is neither idle nor in user space under \
         nohz_full. Changes of network, modules, cgroups and the like request one. PREEMPT_RT kernels do not \
         expedite after boot.",
    )
    .shows(normal)
    .shows(expedited);
    let answer = if always { answer.graded(Severity::Warning) } else { answer };
    Ok(answer.fix(
        Fix::runtime(format!("echo 1 > {}", normal.path))
            .boot("rcupdate.rcu_normal_after_boot=1 on the kernel command line")
            .risk("operations that request expedited grace periods take longer, such as the setup of many network \
                   namespaces"),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;

    #[test]
    fn cases() {
        const NORMAL: &str = "/sys/kernel/rcu_normal";
        const EXPEDITED: &str = "/sys/kernel/rcu_expedited";
        table(
            &RULE,
            &[
                case("normal", &[&[(NORMAL, "1\n"), (EXPEDITED, "1\n")]]).passes("normal grace"),
                case("as built", &[&[(NORMAL, "0\n"), (EXPEDITED, "0\n")]]).fails("each expedited"),
                case("always", &[&[(NORMAL, "0\n"), (EXPEDITED, "1\n")]])
                    .fails_as(Severity::Warning, "for every grace period"),
                case("one CPU's RCU", &[&[("/sys/kernel/uevent_seqnum", "1\n")]])
                    .does_not_apply("no expedited"),
                case("hidden", &[&[]]).cannot_tell("/sys"),
            ],
        );
    }
}
