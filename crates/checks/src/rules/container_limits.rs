//! In a container: does it leave real-time threads what they need?

use super::shared::common;
use super::shared::threads::with_those_of_kernel;
use crate::rule::page;
use crate::{CannotTell, CheckOptions, Fix, Profile, Rule, RuleOutcome, RuleResult};
use whylate_base::Severity;
use whylate_host::{Cgroup, Snapshot};

pub(super) const RULE: Rule = Rule {
    code: "container-limits",
    title: "No container limit restricts CPU time or CPUs",
    severity: Severity::Warning,
    profiles: Profile::ALL,
    sources: &[
        "Documentation/admin-guide/cgroup-v2.rst",
        "Documentation/scheduler/sched-bwc.rst",
        "cgroups(7)",
    ],
    page: page!("container-limits"),
    check,
};

fn check(host: &Snapshot, options: &CheckOptions) -> RuleResult {
    if !is_container(host)? {
        return Ok(RuleOutcome::not_applicable("This is not a container"));
    }
    // Inside, the mount point is the container's own group.
    let groups = host.cgroups.groups.need()?;
    let outer: Vec<&Cgroup> = groups
        .iter()
        .filter(|group| !groups.iter().any(|other| is_parent(other.path(), group.path())))
        .collect();
    if outer.is_empty() {
        return Err(CannotTell::because("/sys/fs/cgroup", "no control group is visible here"));
    }
    let mut found: Vec<(String, String)> = Vec::new();
    let mut known = 0;
    for group in outer {
        if let Some(most) = group.cpu_max.if_present()? {
            known += 1;
            if !most.starts_with("max") {
                found.push((group.cpu_max.path.clone(), most.clone()));
            }
        }
        if let Some(&quota) = group.cfs_quota_us.if_present()? {
            known += 1;
            if quota >= 0 {
                found.push((group.cfs_quota_us.path.clone(), quota.to_string()));
            }
        }
        if let (Some(chosen), Some(own)) = (&options.cpus, group.cpus_effective.if_present()?)
            && common(chosen, own).len() < chosen.len()
        {
            let path = group.cpus_effective.path.clone();
            found.push((path, format!("{own}, not all of CPUs {chosen}")));
        }
    }
    if known == 0 {
        // The cgroup of a container that shares the host's namespace is not at the mount point.
        return Err(CannotTell::because(
            "/sys/fs/cgroup/cpu.max",
            "the container's own group is not visible here",
        ));
    }
    let Some((path, value)) = found.first() else {
        return Ok(RuleOutcome::pass("The container has no CPU quota").shows_as("/sys/fs/cgroup", "no quota"));
    };
    let answer = RuleOutcome::fail(
        format!("The container is limited: {path} = {value}"),
        "A quota does not stop SCHED_FIFO and SCHED_RR threads, but it stops every SCHED_OTHER thread of the \
         container until the next period, including threads that hold locks: usually for up to 100 ms. \
         sched_setaffinity(2) cannot select a CPU outside the cpuset.",
    );
    let answer = found.iter().fold(answer, |answer, (path, value)| answer.shows_as(path, value));
    Ok(answer.fix(
        Fix::runtime(
            "start it without --cpus, with --cpuset-cpus=LIST; in Kubernetes: whole CPUs, static CPU manager",
        )
        .by_hand("how the container is started is to be changed")
        .risk("the container may then use up these CPUs"),
    ))
}

fn is_parent(parent: &str, child: &str) -> bool {
    child.strip_prefix(parent).is_some_and(|rest| rest.starts_with('/'))
}

fn is_container(host: &Snapshot) -> Result<bool, CannotTell> {
    let signs = &host.platform.container;
    let named = |text: &String| {
        ["docker", "kubepods", "containerd", "lxc", "libpod"].iter().any(|name| text.contains(name))
    };
    let in_group = signs.first_cgroup.known().is_some_and(named);
    if in_group
        || signs.docker.known().is_some()
        || signs.podman.known().is_some()
        || signs.systemd.known().is_some()
    {
        return Ok(true);
    }
    signs.first_cgroup.need()?;
    signs.docker.if_present()?;
    signs.podman.if_present()?;
    signs.systemd.if_present()?;
    // A container without such a sign still hides kernel threads.
    with_those_of_kernel(host)?;
    Ok(false)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;

    const DOCKER: &Files = &[("/.dockerenv", ""), ("/proc/1/cgroup", "0::/\n")];
    const V2: &Files = &[("/proc/self/mounts", "cgroup2 /sys/fs/cgroup cgroup2 ro 0 0\n")];
    const MAX: &str = "/sys/fs/cgroup/cpu.max";

    const HOST: &Files = &[("/proc/1/cgroup", "0::/init.scope\n")];

    #[test]
    fn cases() {
        table(
            &RULE,
            &[
                case("none", &[HOST, thread!(kernel 2 "kthreadd", other 0, "0-1")])
                    .does_not_apply("not a container"),
                case("one without a sign", &[HOST, thread!(program 1 "app", other 0, "0-1")])
                    .cannot_tell("hidden"),
                case("free", &[DOCKER, V2, &[(MAX, "max 100000\n")]]).passes("no CPU quota"),
                case("quota", &[DOCKER, V2, &[(MAX, "50000 100000\n")]]).fails("50000 100000"),
                case(
                    "v1",
                    &[
                        DOCKER,
                        &[
                            ("/proc/self/mounts", "cgroup /cg/cpu cgroup ro,cpu 0 0\n"),
                            ("/cg/cpu/cpu.cfs_quota_us", "50000\n"),
                        ],
                    ],
                )
                .fails("50000"),
                case(
                    "other CPUs",
                    &[
                        DOCKER,
                        V2,
                        &[(MAX, "max 100000\n"), ("/sys/fs/cgroup/cpuset.cpus.effective", "0-1\n")],
                    ],
                )
                .cpus("1-2")
                .fails("not all of CPUs 1-2"),
                case("its group is hidden", &[DOCKER, V2, &[("/sys/fs/cgroup/cpu.stat", "")]])
                    .cannot_tell("not visible"),
                case("no cgroups", &[DOCKER]).cannot_tell("mounts"),
                case("hidden", &[&[]]).cannot_tell("/proc"),
            ],
        );
    }
}
