//! Do the settings that isolate CPUs fit each other?

use super::shared::common;
use super::shared::cpus::{isolated, of_parameter, without};
use crate::rule::page;
use crate::{CheckOptions, Fix, Profile, Rule, RuleOutcome, RuleResult};
use whylate_base::Severity;
use whylate_host::Snapshot;

pub(super) const RULE: Rule = Rule {
    code: "isolation-settings",
    title: "The CPU isolation settings match each other",
    severity: Severity::Warning,
    profiles: Profile::ISOLATING,
    sources: &[
        "Documentation/admin-guide/kernel-parameters.rst",
        "Documentation/timers/no_hz.rst",
        "kernel/sched/isolation.c",
    ],
    page: page!("isolation-settings"),
    check,
};

/// Parameters that name CPUs.
const PARAMETERS: [&str; 4] = ["isolcpus", "nohz_full", "rcu_nocbs", "irqaffinity"];
/// Flags before the CPUs in `isolcpus=`.
const FLAGS: [&str; 3] = ["nohz", "domain", "managed_irq"];

fn check(host: &Snapshot, _options: &CheckOptions) -> RuleResult {
    let cmdline = host.kernel.cmdline.need()?;
    let path = &host.kernel.cmdline.path;
    let possible = host.cpus.possible.need()?;
    let given: Vec<&str> = PARAMETERS.into_iter().filter(|name| cmdline.has(name)).collect();
    if given.is_empty() {
        return Ok(RuleOutcome::not_applicable("No CPU is isolated on the kernel command line"));
    }
    let nohz_full = host.cpus.nohz_full.if_present()?;
    let mut wrong: Vec<String> = Vec::new();
    for name in &given {
        // Without a list rcu_nocbs only prepares for offloading.
        let value = cmdline.get(name).filter(|value| !value.is_empty());
        let Some(value) = value else { continue };
        let list = cpus_of(name, value);
        match of_parameter(&list, possible) {
            None => wrong.push(format!("{name}={value} is not a CPU list, and the kernel ignores it")),
            Some(cpus) if cpus.is_empty() => {
                wrong.push(format!("no CPU in {name}={value} exists on this machine"))
            }
            Some(_) => {}
        }
    }
    if let Some(value) = cmdline.get("isolcpus")
        && flags(value).next().is_some()
        && !flags(value).any(|flag| flag == "domain")
    {
        wrong.push(format!(
            "isolcpus={value} does not isolate from the scheduler: the flag `domain` is missing"
        ));
    }
    match nohz_full {
        Some(full) if !full.is_empty() => {
            let open = without(full, &isolated(host)?);
            if !open.is_empty() {
                wrong.push(format!(
                    "CPUs {open} are nohz_full but not isolated: a second task brings the tick back"
                ));
            }
        }
        _ if cmdline.has("nohz_full") => {
            wrong.push(
                "nohz_full= is given, but no CPU is nohz_full: the kernel lacks CONFIG_NO_HZ_FULL, or refused"
                    .to_owned(),
            );
        }
        _ => {}
    }
    if let Some(irqs) = cmdline.get("irqaffinity").and_then(|list| of_parameter(list, possible)) {
        let shared = common(&irqs, host.cpus.isolated.need()?);
        if !shared.is_empty() {
            wrong.push(format!("irqaffinity= routes interrupts to CPUs {shared}, which are isolated"));
        }
    }
    let shown = |answer: RuleOutcome| {
        given.iter().fold(answer, |answer, name| answer.shows_as(path, cmdline.show(name)))
    };
    let Some(first) = wrong.first() else {
        return Ok(shown(RuleOutcome::pass("The CPU isolation settings match")).shows(&host.cpus.isolated));
    };
    let what = match wrong.len() {
        1 => first.clone(),
        more => format!("{first}; and {} more", more - 1),
    };
    let why = "The CPUs are not isolated, or only partly; this goes unnoticed until a task is late.";
    let answer = shown(RuleOutcome::fail(what, why)).shows(&host.cpus.isolated).shows(&host.cpus.nohz_full);
    let answer = wrong.iter().skip(1).fold(answer, |answer, also| answer.shows_as("also", also.clone()));
    Ok(answer.fix(
        Fix::reboot(
            "name the same CPUs in all: isolcpus=managed_irq,domain,LIST nohz_full=LIST rcu_nocbs=LIST \
             irqaffinity=OTHERS",
        )
        .by_hand("which CPUs are the real-time ones is for the user to choose")
        .risk("the kernel refuses a list that leaves no other CPU, or the machine becomes slow"),
    ))
}

/// The flags of `isolcpus=`.
fn flags(value: &str) -> impl Iterator<Item = &str> {
    value.split(',').filter(|word| FLAGS.contains(word))
}

/// The list in a parameter's value, without flags.
fn cpus_of(name: &str, value: &str) -> String {
    let words = value.split(',').filter(|word| name != "isolcpus" || !FLAGS.contains(word));
    words.collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;

    const FOUR: &Files =
        &[("/sys/devices/system/cpu/possible", "0-3\n"), ("/sys/devices/system/cpu/online", "0-3\n")];
    const V2: &Files = &[
        ("/proc/self/mounts", "cgroup2 /sys/fs/cgroup cgroup2 rw 0 0\n"),
        ("/sys/fs/cgroup/cgroup.procs", ""),
    ];
    const ISOLATED: &Files =
        &[("/sys/devices/system/cpu/isolated", "2-3\n"), ("/sys/devices/system/cpu/nohz_full", "2-3\n")];
    const NONE: &Files =
        &[("/sys/devices/system/cpu/isolated", "\n"), ("/sys/devices/system/cpu/nohz_full", "(null)\n")];
    const HALF: &Files =
        &[("/sys/devices/system/cpu/isolated", "3\n"), ("/sys/devices/system/cpu/nohz_full", "2-3\n")];

    fn given(cmdline: &'static str, state: &'static Files) -> Case {
        // The table of files has to live as long as the case.
        let file: &'static Files = Box::leak(Box::new([("/proc/cmdline", cmdline)]));
        case(cmdline, &[FOUR, V2, state, file])
    }

    #[test]
    fn cases() {
        table(
            &RULE,
            &[
                given(
                    "isolcpus=managed_irq,domain,2-3 nohz_full=2-3 rcu_nocbs=2-3 irqaffinity=0-1",
                    ISOLATED,
                )
                .passes("match"),
                given("isolcpus=2-N nohz_full=2-3 rcu_nocbs", ISOLATED).passes("match"),
                given("quiet", NONE).does_not_apply("No CPU"),
                given("isolcpus=2-3 irqaffinity=0-2", ISOLATED).fails("CPUs 2, which are isolated"),
                given("isolcpus=managed_irq,2-3", NONE).fails("`domain` is missing"),
                given("isolcpus=3 nohz_full=2-3", HALF).fails("CPUs 2 are nohz_full but not isolated"),
                given("nohz_full=2-3", NONE).fails("CONFIG_NO_HZ_FULL"),
                given("isolcpus=8-9", NONE).fails("no CPU in"),
                given("isolcpus=two", NONE).fails("not a CPU list"),
                case("no command line", &[FOUR]).cannot_tell("/proc"),
                case("no CPUs", &[&[("/proc/cmdline", "isolcpus=1")]]).cannot_tell("possible"),
            ],
        );
    }
}
