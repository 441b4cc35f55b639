//! Does the soft lockup detector preempt real-time threads?

use super::shared::common;
use crate::rule::page;
use crate::{CheckOptions, Fix, Profile, Rule, RuleOutcome, RuleResult};
use whylate_base::Severity;
use whylate_host::Snapshot;

pub(super) const RULE: Rule = Rule {
    code: "soft-watchdog",
    title: "The soft lockup detector does not run on the real-time CPUs",
    severity: Severity::Warning,
    profiles: Profile::HARD,
    sources: &[
        "Documentation/admin-guide/lockup-watchdogs.rst",
        "kernel/watchdog.c",
        "Documentation/core-api/real-time/kernel-configuration.rst",
    ],
    page: page!("soft-watchdog"),
    check,
};

fn check(host: &Snapshot, options: &CheckOptions) -> RuleResult {
    let watchdogs = &host.sched.watchdogs;
    let own = &watchdogs.soft_watchdog;
    match own.if_present()? {
        None => return Ok(RuleOutcome::not_applicable("This kernel has no soft lockup detector").shows(own)),
        // The hard detector uses the same timer, which wakes the stopper for either detector (kernel/watchdog.c).
        Some(false) if watchdogs.nmi_watchdog.if_present()? != Some(&true) => {
            return Ok(RuleOutcome::pass("The lockup detectors are off")
                .shows(own)
                .shows(&watchdogs.nmi_watchdog));
        }
        Some(_) => {}
    }
    let watched = &watchdogs.watchdog_cpumask;
    let cpus = options.cpus(host)?;
    let shared = common(watched.need()?, &cpus);
    if shared.is_empty() {
        return Ok(RuleOutcome::pass(format!("The lockup detectors do not watch CPUs {cpus}")).shows(watched));
    }
    // Two fifths of the threshold; 0 switches both detectors off.
    let threshold = watchdogs.watchdog_thresh.need()?;
    if *threshold == 0 {
        return Ok(RuleOutcome::pass("The lockup detectors have no threshold, and are off")
            .shows(&watchdogs.watchdog_thresh));
    }
    Ok(RuleOutcome::fail(
        format!("The lockup detectors' timer interrupts CPUs {shared} every {} s", seconds(*threshold * 2)),
        "It is a timer interrupt on each CPU, even on PREEMPT_RT; since 4.19 it wakes the CPU's stopper thread, \
         which preempts even FIFO 99.",
    )
    .shows(own)
    .shows(&watchdogs.nmi_watchdog)
    .shows(watched)
    .shows(&watchdogs.watchdog_thresh)
    .fix(
        Fix::runtime("sysctl -w kernel.watchdog=0")
            .boot("nowatchdog on the kernel command line: both detectors share the timer")
            .risk("the kernel no longer reports a thread that hangs in the kernel: use a hardware watchdog"),
    )
    .fix(
        Fix::runtime("sysctl -w kernel.watchdog_cpumask=OTHER-CPUS").by_hand("which CPUs are the other ones is for the user to choose")
            .boot("kernel.watchdog_cpumask in /etc/sysctl.d/; CPUs of nohz_full= are excluded by default")
            .risk("the same risk, for the real-time CPUs only"),
    ))
}

/// Fifths of a second.
fn seconds(fifths: u64) -> String {
    format!("{}.{}", fifths / 5, fifths % 5 * 2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;

    const ON: &Files = &[
        ("/proc/sys/kernel/soft_watchdog", "1\n"),
        ("/proc/sys/kernel/watchdog_cpumask", "0-1\n"),
        ("/proc/sys/kernel/watchdog_thresh", "10\n"),
    ];

    #[test]
    fn cases() {
        table(
            &RULE,
            &[
                case("on", &[TWO_CPUS, ON]).fails("every 4.0 s"),
                case("a shorter threshold", &[TWO_CPUS, ON, &[("/proc/sys/kernel/watchdog_thresh", "9\n")]])
                    .fails("every 3.6 s"),
                case("no threshold", &[TWO_CPUS, ON, &[("/proc/sys/kernel/watchdog_thresh", "0\n")]])
                    .passes("off"),
                case("elsewhere", &[TWO_CPUS, ON, &[("/proc/sys/kernel/watchdog_cpumask", "0\n")]])
                    .cpus("1")
                    .passes("do not watch"),
                case("off", &[TWO_CPUS, &[("/proc/sys/kernel/soft_watchdog", "0\n")]]).passes("off"),
                case(
                    "off, and the hard one on",
                    &[
                        TWO_CPUS,
                        ON,
                        &[
                            ("/proc/sys/kernel/soft_watchdog", "0\n"),
                            ("/proc/sys/kernel/nmi_watchdog", "1\n"),
                        ],
                    ],
                )
                .fails("every 4.0 s"),
                case("none", &[TWO_CPUS, &[("/proc/stat", "")]]).does_not_apply("no soft"),
                case("hidden", &[TWO_CPUS]).cannot_tell("/proc"),
            ],
        );
    }
}
