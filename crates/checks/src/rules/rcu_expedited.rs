//! Does RCU interrupt all CPUs to hurry?

use crate::rule::page;
use crate::{Answer, Ask, Fix, Profile, Rule, Verdict};
use whylate_base::Severity;
use whylate_host::Snapshot;

pub(super) const RULE: Rule = Rule {
    code: "rcu-expedited",
    title: "RCU does not interrupt other CPUs to hurry",
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

fn check(host: &Snapshot, _ask: &Ask) -> Verdict {
    let (normal, expedited) = (&host.kernel.rcu_normal, &host.kernel.rcu_expedited);
    // Where both are set the first one wins.
    match normal.if_present()? {
        None => return Ok(Answer::not_applicable("This kernel's RCU knows no hurry").shows(normal)),
        Some(true) => return Ok(Answer::pass("RCU does not hurry").shows(normal)),
        Some(false) => {}
    }
    let always = *expedited.need()?;
    let what = match always {
        true => "RCU interrupts all busy CPUs each time somebody waits for it",
        false => "RCU interrupts all busy CPUs where somebody asks it to hurry",
    };
    let answer = Answer::fail(
        what,
        "An expedited grace period sends an interrupt to every CPU that is not idle, and not in a nohz_full program: \
         changes of network, modules, cgroups and the like ask for one. PREEMPT_RT kernels do not, once they are up.",
    )
    .shows(normal)
    .shows(expedited);
    let answer = if always { answer.graded(Severity::Warning) } else { answer };
    Ok(answer.fix(
        Fix::runtime(format!("echo 1 > {}", normal.path))
            .boot("rcupdate.rcu_normal_after_boot=1 on the kernel command line")
            .risk("what asked to hurry takes longer, such as setting up many network name spaces"),
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
                case("normal", &[&[(NORMAL, "1\n"), (EXPEDITED, "1\n")]]).passes("does not hurry"),
                case("as built", &[&[(NORMAL, "0\n"), (EXPEDITED, "0\n")]]).fails("asks it to hurry"),
                case("always", &[&[(NORMAL, "0\n"), (EXPEDITED, "1\n")]])
                    .fails_as(Severity::Warning, "each time"),
                case("one CPU's RCU", &[&[("/sys/kernel/uevent_seqnum", "1\n")]]).does_not_apply("no hurry"),
                case("hidden", &[&[]]).cannot_tell("/sys"),
            ],
        );
    }
}
