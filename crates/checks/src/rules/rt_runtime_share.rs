//! May a CPU borrow real-time runtime from others?

use super::shared::{Throttle, throttle};
use crate::rule::page;
use crate::{CannotTell, CheckOptions, Fix, Profile, Rule, RuleOutcome, RuleResult};
use whylate_base::Severity;
use whylate_host::Snapshot;

pub(super) const RULE: Rule = Rule {
    code: "rt-runtime-share",
    title: "RT throttling acts on each CPU separately",
    severity: Severity::Info,
    profiles: Profile::ISOLATING,
    sources: &["kernel/sched/features.h", "kernel/sched/rt.c"],
    page: page!("rt-runtime-share"),
    check,
};

fn check(host: &Snapshot, _options: &CheckOptions) -> RuleResult {
    let runtime = &host.sched.rt_runtime_us;
    let throttled = throttle(host)? != Throttle::None && *runtime.need()? >= 0;
    if !throttled {
        return Ok(RuleOutcome::not_applicable("This kernel has no RT throttling").shows(runtime));
    }
    let features = &host.sched.features;
    let words = features.need()?;
    let borrows = words.has("RT_RUNTIME_SHARE");
    if !borrows && !words.has("NO_RT_RUNTIME_SHARE") {
        return Err(CannotTell::because(&features.path, "RT_RUNTIME_SHARE is not listed"));
    }
    let shown = if borrows { "RT_RUNTIME_SHARE" } else { "NO_RT_RUNTIME_SHARE" };
    if !borrows {
        return Ok(
            RuleOutcome::pass("RT throttling acts on each CPU separately").shows_as(&features.path, shown)
        );
    }
    Ok(RuleOutcome::fail(
        "A CPU may borrow real-time runtime from others",
        "The kernel then stops the real-time threads of a CPU not at kernel.sched_rt_runtime_us, but when the other \
         CPUs have no runtime left to lend: a looping thread may keep its CPU forever, and under load on all CPUs \
         all real-time threads stop at once. Kernels from 5.10 on leave it off for that reason.",
    )
    .shows_as(&features.path, shown)
    .shows(runtime)
    .fix(
        Fix::runtime(format!("echo NO_RT_RUNTIME_SHARE > {}", features.path))
            .boot("the same command from a systemd unit at boot")
            .risk("a real-time thread that uses more than its share is then stopped"),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;

    const FEATURES: &str = "/sys/kernel/debug/sched/features";
    const OLD: &Files = &[("/proc/sys/kernel/osrelease", "4.19.0\n")];
    const LIMIT: &Files = &[("/proc/sys/kernel/sched_rt_runtime_us", "950000\n")];
    const NONE: &Files = &[("/proc/sys/kernel/sched_rt_runtime_us", "-1\n")];

    #[test]
    fn cases() {
        table(
            &RULE,
            &[
                case("as built", &[KERNEL_6_1, LIMIT, &[(FEATURES, "TTWU_QUEUE NO_RT_RUNTIME_SHARE\n")]])
                    .passes("separately"),
                case("switched on", &[KERNEL_6_1, LIMIT, &[(FEATURES, "TTWU_QUEUE RT_RUNTIME_SHARE\n")]])
                    .fails("borrow"),
                case(
                    "before 5.10",
                    &[OLD, LIMIT, &[("/sys/kernel/debug/sched_features", "RT_RUNTIME_SHARE\n")]],
                )
                .fails("borrow"),
                case("not listed", &[KERNEL_6_1, LIMIT, &[(FEATURES, "TTWU_QUEUE\n")]])
                    .cannot_tell("not listed"),
                case("no throttling", &[KERNEL_6_1, NONE]).does_not_apply("no RT throttling"),
                case("debugfs is not mounted", &[KERNEL_6_1, LIMIT]).cannot_tell("/sys"),
                case("hidden", &[&[]]).cannot_tell("/proc"),
            ],
        );
    }
}
