//! Does the clock by which RT throttling counts advance between ticks?

use super::shared::{Throttle, throttle};
use crate::rule::page;
use crate::{CannotTell, CheckOptions, Fix, Profile, Rule, RuleOutcome, RuleResult};
use whylate_base::Severity;
use whylate_host::{KernelVersion, Snapshot};

pub(super) const RULE: Rule = Rule {
    code: "scheduler-clock",
    title: "RT throttling does not count with a clock that only advances at the tick",
    severity: Severity::Warning,
    profiles: Profile::ALL,
    sources: &["kernel/time/sched_clock.c", "arch/x86/kernel/tsc.c", "kernel/sched/rt.c"],
    page: page!("scheduler-clock"),
    check,
};

/// Clock sources whose counter is the scheduler's clock too.
const COUNTERS: [&str; 7] = [
    "tsc",
    "tsc-early",
    "kvm-clock",
    "hyperv_clocksource_tsc_page",
    "arch_sys_counter",
    "timebase",
    "riscv_clocksource",
];
/// A clock of a coarser resolution is the tick.
const TICK_NS: u64 = 1_000_000;

/// Whether the scheduler's clock advances at the tick only, with what shows it.
fn ticks(host: &Snapshot) -> Result<(bool, String, String), CannotTell> {
    let source = &host.clocks.source;
    let current = source.current.need()?;
    let has = |name: &&str| source.available.known().is_some_and(|available| available.has(name));
    if let Some(counter) = COUNTERS.iter().find(|name| *name == current || has(name)) {
        return Ok((false, source.available.path.clone(), (*counter).to_owned()));
    }
    source.available.need()?;
    let dmesg = &host.dmesg.lines;
    if let Some((line, ns)) =
        dmesg.known().into_iter().flatten().rev().find_map(|line| Some((line, resolution(line)?)))
    {
        return Ok((ns >= TICK_NS, dmesg.path.clone(), line.clone()));
    }
    let flags = host.cpus.flags();
    if let Some(flags) = flags.known() {
        if !flags.has("tsc") {
            return Ok((true, flags_path(host), "`tsc` is not among the flags".to_owned()));
        }
        let is_old = host.kernel.numbers()? < KernelVersion::new(4, 19);
        if is_old && host.kernel.cmdline.need()?.has("notsc") {
            return Ok((true, host.kernel.cmdline.path.clone(), "notsc".to_owned()));
        }
        if let Some(line) = host.dmesg.find("tsc: Detected") {
            return Ok((false, dmesg.path.clone(), line.to_owned()));
        }
    }
    let why = "the kernel's first messages, which describe the scheduler's clock, are not there any more: read them after a boot";
    Err(CannotTell::because(
        &dmesg.path,
        dmesg.need().map_or_else(|unread| unread.why.to_string(), |_| why.to_owned()),
    ))
}

fn flags_path(host: &Snapshot) -> String {
    host.cpus.info.path.clone()
}

/// Of `sched_clock: 32 bits at 100 Hz, resolution 10000000ns, wraps every ...`, in ns.
fn resolution(line: &str) -> Option<u64> {
    let rest = line.strip_prefix("sched_clock: ")?.split_once("resolution ")?.1;
    rest.split_once("ns")?.0.parse().ok()
}

fn check(host: &Snapshot, _options: &CheckOptions) -> RuleResult {
    let (runtime, period) = (&host.sched.rt_runtime_us, &host.sched.rt_period_us);
    let clock = ticks(host);
    if let Ok((false, path, what)) = &clock {
        return Ok(
            RuleOutcome::pass("The scheduler's clock advances between ticks").shows_as(path, what.clone())
        );
    }
    if throttle(host)? == Throttle::None {
        return Ok(RuleOutcome::pass("This kernel has no RT throttling").shows(&host.kernel.release));
    }
    let limit = *runtime.need()?;
    if limit < 0 || limit >= *period.need()? {
        return Ok(RuleOutcome::pass("RT throttling is off").shows(runtime));
    }
    let (_, path, what) = clock?;
    Ok(RuleOutcome::fail(
        "RT throttling counts with a clock that only advances at the tick",
        "A thread that its timer starts shortly before the tick, and that still runs at the tick, is charged whole ticks \
         for microseconds of work: 5 % of the CPU then counts as 100 %, and all real-time threads of the CPU stop for 50 ms \
         of each second. It depends on the phase, so it occurs in one start out of many.",
    )
    .shows_as(path, what)
    .shows(runtime)
    .fix(
        Fix::runtime("sysctl -w kernel.sched_rt_runtime_us=-1")
            .boot("kernel.sched_rt_runtime_us = -1 in /etc/sysctl.d/")
            .risk("a real-time thread that loops then hangs its CPU, kernel threads included: run whylate guard or stalld"),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;

    const CURRENT: &str = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
    const AVAILABLE: &str = "/sys/devices/system/clocksource/clocksource0/available_clocksource";
    const ON: &Files = &[
        ("/proc/sys/kernel/sched_rt_runtime_us", "950000\n"),
        ("/proc/sys/kernel/sched_rt_period_us", "1000000\n"),
    ];
    const OFF: &Files = &[("/proc/sys/kernel/sched_rt_runtime_us", "-1\n")];
    const TIMER: &Files =
        &[(CURRENT, "timer0\n"), (AVAILABLE, "timer0\n"), ("/proc/cpuinfo", "Features : swp\n")];
    const JIFFIES: (&str, &str) =
        ("/dev/kmsg", "6,1,0,-;sched_clock: 32 bits at 100 Hz, resolution 10000000ns, wraps every 9ns\n");
    const FINE: (&str, &str) = (
        "/dev/kmsg",
        "6,1,0,-;sched_clock: 32 bits at 100 Hz, resolution 10000000ns, wraps\n6,2,0,-;sched_clock: 32 bits at 16MHz, resolution 60ns, wraps\n",
    );
    const HPET: &Files = &[(CURRENT, "hpet\n"), (AVAILABLE, "hpet acpi_pm\n")];
    const TSC: &Files = &[("/proc/cpuinfo", "flags : fpu tsc\n")];

    #[test]
    fn cases() {
        table(
            &RULE,
            &[
                case("tsc", &[KERNEL_6_1, ON, &[(CURRENT, "tsc\n"), (AVAILABLE, "tsc hpet\n")]])
                    .passes("between ticks"),
                case("an ARM9", &[KERNEL_6_1, ON, TIMER, &[JIFFIES]]).fails("one start out of many"),
                case("an ARM9 without the throttle", &[KERNEL_6_1, OFF, TIMER, &[JIFFIES]]).passes("off"),
                case("a timer of the board", &[KERNEL_6_1, ON, TIMER, &[FINE]]).passes("between ticks"),
                case("no TSC", &[KERNEL_6_1, ON, HPET, &[("/proc/cpuinfo", "flags : fpu\n")]])
                    .fails("at the tick"),
                case(
                    "an unstable TSC",
                    &[KERNEL_6_1, ON, HPET, TSC, &[("/dev/kmsg", "6,1,0,-;tsc: Detected 2 MHz processor\n")]],
                )
                .passes("between ticks"),
                case(
                    "notsc of old",
                    &[
                        ON,
                        HPET,
                        TSC,
                        &[("/proc/sys/kernel/osrelease", "4.14.0\n"), ("/proc/cmdline", "notsc\n")],
                    ],
                )
                .fails("at the tick"),
                case("messages gone", &[KERNEL_6_1, ON, HPET, TSC, &[("/dev/kmsg", "6,1,0,-;x\n")]])
                    .cannot_tell("after a boot"),
                case("hidden", &[&[]]).cannot_tell("/"),
            ],
        );
    }
}
