//! A control group whose CPUs the scheduler balances on their own, or not at all
//! (Documentation/admin-guide/cgroup-v2.rst, "Cpuset Interface Files").
//!
//! The controller is switched on in every group above, then the group is made, then it gets its CPUs, and last the
//! kind of partition. The kernel takes any kind, and shows `invalid` and why when it is read back: then the step failed.

use super::error::{StepsError, refused};
use super::step::step;
use crate::{ApplyStep, Change, System, Target, TargetState};
use whylate_base::CpuSet;

const TOP: &str = "/sys/fs/cgroup";

pub(super) fn steps(name: &str, change: &Change, system: &dyn System) -> Result<Vec<ApplyStep>, StepsError> {
    let names: Vec<&str> = name.split('/').filter(|name| !name.is_empty()).collect();
    if names.is_empty() || names.iter().any(|name| matches!(*name, "." | "..")) {
        return Err(refused(change, "this is not the name of a cgroup"));
    }
    let own = format!("{TOP}/{}", names.join("/"));
    let set = |directory: &str, file: &str, value: &str| {
        let target = Target::Tunable { path: format!("{directory}/{file}") };
        step(target, TargetState::Value(value.to_owned()), change)
    };
    let Some(then) = &change.then else {
        return Ok(vec![set(&own, "cpuset.cpus.partition", "member")]);
    };
    let (kind, cpus) = then.split_once(' ').unwrap_or((then, ""));
    let cpus: CpuSet = cpus.parse().map_err(|error| refused(change, format!("{error}")))?;
    if !matches!(kind, "isolated" | "root") || cpus.is_empty() {
        return Err(refused(change, format!("`{then}` is not a partition such as `isolated 2-3`")));
    }
    let group = |path: &str| Target::Group { path: path.to_owned() };
    let make = |path: &str| step(group(path), TargetState::Directory { mode: 0o755, uid: 0, gid: 0 }, change);
    if system.read(&group(&own)).is_err_and(|error| error.gone) {
        // This one step reports that.
        return Ok(vec![make(&own)]);
    }
    let mut steps = Vec::new();
    let mut directory = TOP.to_owned();
    for name in names {
        // Of its controllers the system shows this one alone.
        steps.push(set(&directory, "cgroup.subtree_control", "cpuset"));
        directory = format!("{directory}/{name}");
        if system.read(&group(&directory)) == Ok(TargetState::Absent) {
            steps.push(make(&directory));
        }
    }
    steps.push(set(&own, "cpuset.cpus", &cpus.to_string()));
    steps.push(set(&own, "cpuset.cpus.partition", kind));
    Ok(steps)
}
