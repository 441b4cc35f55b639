//! Does irqbalance move interrupts to real-time CPUs?

use super::shared::cpus::{NO_CPUS_CHOSEN, real_time, without};
use super::shared::threads::with_those_of_kernel;
use crate::rule::page;
use crate::{CannotTell, CheckOptions, Fix, Profile, Rule, RuleOutcome, RuleResult};
use whylate_base::{Cpu, CpuSet, Severity};
use whylate_host::Snapshot;

pub(super) const RULE: Rule = Rule {
    code: "irqbalance",
    title: "irqbalance leaves out the real-time CPUs",
    severity: Severity::Warning,
    profiles: Profile::ISOLATING,
    sources: &["irqbalance(1)", "https://github.com/Irqbalance/irqbalance (cputree.c)"],
    page: page!("irqbalance"),
    check,
};

fn check(host: &Snapshot, options: &CheckOptions) -> RuleResult {
    let threads = with_those_of_kernel(host)?;
    let Some(balancer) = threads.iter().find(|thread| thread.comm == "irqbalance") else {
        return Ok(RuleOutcome::pass("irqbalance does not run").shows_as("/proc/PID/comm", "no irqbalance"));
    };
    let Some(cpus) = real_time(host, options)? else {
        return Ok(RuleOutcome::not_applicable(NO_CPUS_CHOSEN));
    };
    let mut configured = None;
    for file in &host.irqs.balancer {
        if let Some(variables) = file.if_present()? {
            configured = configured.or(Some((file, variables)));
        }
    }
    let list =
        configured.and_then(|(file, variables)| Some((file, variables.get("IRQBALANCE_BANNED_CPULIST")?)));
    let mask =
        configured.and_then(|(file, variables)| Some((file, variables.get("IRQBALANCE_BANNED_CPUS")?)));
    // A mask takes precedence over a list; without both it leaves out the CPUs that the kernel isolates.
    let (banned, path, shown) = match (mask, list) {
        (Some((file, mask)), _) => {
            let banned = of_mask(mask).ok_or_else(|| {
                CannotTell::because(&file.path, format!("IRQBALANCE_BANNED_CPUS={mask} is not a CPU mask"))
            })?;
            (banned, file.path.clone(), format!("IRQBALANCE_BANNED_CPUS={mask}"))
        }
        (None, Some((file, list))) => {
            let banned: Result<CpuSet, _> = list.parse();
            let banned = banned.map_err(|error| CannotTell::because(&file.path, error.to_string()))?;
            (banned, file.path.clone(), format!("IRQBALANCE_BANNED_CPULIST={list}"))
        }
        (None, None) => {
            let nohz_full = host.cpus.nohz_full.if_present()?.cloned().unwrap_or_default();
            let banned = host.cpus.isolated.need()?.iter().chain(nohz_full.iter()).collect();
            let path = configured.map_or(host.irqs.balancer.first(), |(file, _)| Some(file));
            let path = path.map_or("/etc/default/irqbalance", |file| &file.path).to_owned();
            (banned, path, "no IRQBALANCE_BANNED_CPULIST".to_owned())
        }
    };
    let open = without(&cpus, &banned);
    let place = format!("/proc/{}/comm", balancer.pid);
    if open.is_empty() {
        return Ok(RuleOutcome::pass(format!("irqbalance runs, and leaves out CPUs {cpus}"))
            .shows_as(place, "irqbalance")
            .shows_as(path, shown)
            .shows(&host.cpus.isolated));
    }
    Ok(RuleOutcome::fail(
        format!("irqbalance runs, and may move interrupts to CPUs {open}"),
        "Every 10 s it checks the load and moves interrupts, including interrupts placed by hand.",
    )
    .shows_as(place, "irqbalance")
    .shows_as(path, shown)
    .shows(&host.cpus.isolated)
    .fix(
        Fix::runtime("systemctl stop irqbalance")
            .boot(format!(
                "IRQBALANCE_BANNED_CPULIST={cpus} in /etc/default/irqbalance or /etc/sysconfig/irqbalance"
            ))
            .risk("without irqbalance all interrupts of a device may stay on one CPU"),
    ))
}

/// A hexadecimal mask, with or without commas.
fn of_mask(mask: &str) -> Option<CpuSet> {
    let digits: String = mask.trim_start_matches("0x").chars().filter(|&c| c != ',').collect();
    if digits.is_empty() || digits.len() > 2048 {
        return None;
    }
    let mut cpus = CpuSet::new();
    for (at, digit) in digits.chars().rev().enumerate() {
        let bits = digit.to_digit(16)?;
        (0..4).filter(|bit| bits >> bit & 1 == 1).for_each(|bit| cpus.insert(Cpu(at as u32 * 4 + bit)));
    }
    Some(cpus)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;

    const KTHREADD: &Files = thread!(kernel 2 "kthreadd", other 0, "0-1");
    const NONE_ISOLATED: &Files = &[("/sys/devices/system/cpu/isolated", "\n"), ("/etc/hostname", "h")];
    const RUNS: &Files = thread!(program 71 "irqbalance", other 0, "0-1");
    const FILE: &str = "/etc/default/irqbalance";
    const ISOLATED: (&str, &str) = ("/sys/devices/system/cpu/isolated", "1\n");

    #[test]
    fn cases() {
        table(
            &RULE,
            &[
                case("not running", &[TWO_CPUS, KTHREADD, NONE_ISOLATED]).cpus("1").passes("does not run"),
                case("running", &[TWO_CPUS, KTHREADD, NONE_ISOLATED, RUNS]).cpus("1").fails("to CPUs 1"),
                case("isolated by the kernel", &[TWO_CPUS, KTHREADD, NONE_ISOLATED, RUNS, &[ISOLATED]])
                    .passes("leaves out"),
                case(
                    "told a list",
                    &[TWO_CPUS, KTHREADD, NONE_ISOLATED, RUNS, &[(FILE, "IRQBALANCE_BANNED_CPULIST=1\n")]],
                )
                .cpus("1")
                .passes("leaves out"),
                case(
                    "told a mask",
                    &[
                        TWO_CPUS,
                        KTHREADD,
                        NONE_ISOLATED,
                        RUNS,
                        &[(FILE, "IRQBALANCE_BANNED_CPUS=00000000,00000002\n")],
                    ],
                )
                .cpus("1")
                .passes("leaves out"),
                case(
                    "told another",
                    &[
                        TWO_CPUS,
                        KTHREADD,
                        NONE_ISOLATED,
                        RUNS,
                        &[ISOLATED, (FILE, "IRQBALANCE_BANNED_CPULIST=0\n")],
                    ],
                )
                .fails("to CPUs 1"),
                case(
                    "told both",
                    &[
                        TWO_CPUS,
                        KTHREADD,
                        NONE_ISOLATED,
                        RUNS,
                        &[(FILE, "IRQBALANCE_BANNED_CPULIST=1\nIRQBALANCE_BANNED_CPUS=1\n")],
                    ],
                )
                .cpus("1")
                .fails("to CPUs 1"),
                case(
                    "nonsense",
                    &[TWO_CPUS, KTHREADD, NONE_ISOLATED, RUNS, &[(FILE, "IRQBALANCE_BANNED_CPUS=all\n")]],
                )
                .cpus("1")
                .cannot_tell("not a CPU mask"),
                case("no CPU chosen", &[TWO_CPUS, KTHREADD, NONE_ISOLATED, RUNS]).cannot_tell("mounts"),
                case("a container", &[TWO_CPUS, RUNS]).cpus("1").cannot_tell("/proc"),
                case("hidden", &[&[]]).cpus("1").cannot_tell("/proc"),
            ],
        );
    }

    #[test]
    fn masks() {
        let list = |mask| of_mask(mask).map(|cpus| cpus.to_string());
        assert_eq!(list("fc").as_deref(), Some("2-7"));
        assert_eq!(list("1,00000000").as_deref(), Some("32"));
        assert_eq!((list(""), list("x")), (None, None));
    }
}
