//! Do control groups refuse real-time policies?

use super::shared::rt_groups;
use crate::rule::page;
use crate::{CheckOptions, Fix, Profile, Rule, RuleOutcome, RuleResult};
use whylate_base::{Action, Severity};
use whylate_host::{CgroupVersion, Snapshot};

pub(super) const RULE: Rule = Rule {
    code: "rt-group-sched",
    title: "Control groups do not refuse real-time policies",
    severity: Severity::Warning,
    profiles: Profile::ALL,
    sources: &["Documentation/scheduler/sched-rt-group.rst", "Documentation/admin-guide/cgroup-v2.rst"],
    page: page!("rt-group-sched"),
    check,
};

fn check(host: &Snapshot, _options: &CheckOptions) -> RuleResult {
    let config = &host.kernel.config;
    let line = config.need()?.line("RT_GROUP_SCHED");
    if !rt_groups(host)? {
        return Ok(RuleOutcome::pass("Control groups do not schedule real-time threads")
            .shows_as(&config.path, line));
    }
    let fix =
        Fix::reboot("boot a kernel without CONFIG_RT_GROUP_SCHED, or, from 6.16, with rt_group_sched=0")
            .action(Action::parameters("rt_group_sched=0"))
            .risk("containers that rely on a real-time share lose the limit");
    if *host.cgroups.version.need()? == CgroupVersion::V2 {
        return Ok(RuleOutcome::fail(
            "RT_GROUP_SCHED is on, with cgroup v2",
            "The controller `cpu` can only be enabled while every real-time thread is in the root group: depending \
             on the order, services get EPERM for SCHED_FIFO, or quotas cannot be set.",
        )
        .shows_as(&config.path, line)
        .fix(fix));
    }
    let groups = host.cgroups.groups.need()?;
    let mut empty = Vec::new();
    for group in groups {
        // A group of another controller has no such file.
        if let Some(0) = group.rt_runtime_us.if_present()? {
            empty.push(group);
        }
    }
    if empty.is_empty() && host.cgroups.truncated {
        return Err(crate::CannotTell::because("/sys/fs/cgroup", "there are more groups than whylate reads"));
    }
    let Some(first) = empty.first() else {
        return Ok(
            RuleOutcome::pass("Every control group has real-time runtime").shows_as(&config.path, line)
        );
    };
    let answer = RuleOutcome::fail(
        format!("{} control groups have no real-time runtime, such as {}", empty.len(), first.path()),
        "In such a group sched_setscheduler(2) fails with EPERM for SCHED_FIFO and SCHED_RR, even for root. Many \
         programs then continue as SCHED_OTHER without a message.",
    )
    .shows_as(&config.path, line);
    let answer = empty.iter().take(8).fold(answer, |answer, group| answer.shows(&group.rt_runtime_us));
    Ok(answer
        .fix(
            Fix::runtime(format!("echo 400000 > {}, of its parents first", first.rt_runtime_us.path)).by_hand("the groups above it are to be given as much first, and how much is for the user to decide")
                .boot("the same command from a systemd unit at boot")
                .risk("the sum of the runtimes of a parent's groups may not exceed the parent's"),
        )
        .fix(fix))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;

    const ON: &Files =
        &[("/boot/config-6.1.0-28-amd64", "CONFIG_RT_GROUP_SCHED=y\n"), ("/proc/cmdline", "quiet\n")];
    const NEW: &Files = &[("/boot/config-7.2.0-1-rt-amd64", "CONFIG_RT_GROUP_SCHED=y\n")];
    const LATER: &Files = &[(
        "/boot/config-6.1.0-28-amd64",
        "CONFIG_RT_GROUP_SCHED=y\nCONFIG_RT_GROUP_SCHED_DEFAULT_DISABLED=y\n",
    )];
    const V1: &Files = &[("/proc/self/mounts", "cgroup /sys/fs/cgroup/cpu cgroup rw,cpu 0 0\n")];
    const V2: &Files = &[
        ("/proc/self/mounts", "cgroup2 /sys/fs/cgroup cgroup2 rw 0 0\n"),
        ("/sys/fs/cgroup/cgroup.procs", ""),
    ];
    const RUNTIME: &str = "/sys/fs/cgroup/cpu/user/cpu.rt_runtime_us";

    #[test]
    fn cases() {
        table(
            &RULE,
            &[
                case("not built in", &[KERNEL_6_1, &[("/boot/config-6.1.0-28-amd64", "CONFIG_SMP=y\n")]])
                    .passes("not"),
                case("v1, nothing given", &[KERNEL_6_1, ON, V1, &[(RUNTIME, "0\n")]])
                    .fails("/sys/fs/cgroup/cpu/user"),
                case("v1, something given", &[KERNEL_6_1, ON, V1, &[(RUNTIME, "950000\n")]]).passes("Every"),
                case("v2", &[KERNEL_6_1, ON, V2]).fails("root group"),
                case("switched off", &[KERNEL_7_2_RT, NEW, V2, &[("/proc/cmdline", "rt_group_sched=0")]])
                    .passes("not"),
                case("no number", &[KERNEL_7_2_RT, NEW, V2, &[("/proc/cmdline", "rt_group_sched=off")]])
                    .fails("v2"),
                case("before 6.16", &[KERNEL_6_1, ON, V2, &[("/proc/cmdline", "rt_group_sched=0")]])
                    .fails("v2"),
                case("off unless asked for", &[KERNEL_6_1, ON, V2, LATER]).passes("not"),
                case("on as asked for", &[KERNEL_6_1, LATER, V2, &[("/proc/cmdline", "rt_group_sched=1")]])
                    .fails("v2"),
                case("no groups to see", &[KERNEL_6_1, ON]).cannot_tell("mounts"),
                case("unknown build", &[KERNEL_6_1]).cannot_tell("config"),
            ],
        );
    }
}
