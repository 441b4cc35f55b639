//! The control group in which the program is started: one of a name, or a partition with CPUs of its own.

use super::error::RunError;
use super::journal::RunJournal;
use super::refusal::Refusal;
use super::request::RunRequest;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use whylate_base::CpuSet;
use whylate_tuning::{Target, TargetError};

/// A group that the program joins.
pub(super) struct Group {
    path: PathBuf,
}

impl Group {
    /// Moves the calling process into it.
    pub(super) fn join(&self) -> Result<(), RunError> {
        let procs = self.path.join("cgroup.procs");
        // 0 is the process that writes (Documentation/admin-guide/cgroup-v2.rst).
        fs::write(&procs, "0").map_err(|error| {
            RunError::Input(format!("cannot move the program into {}: {error}", self.path.display()))
        })
    }

    /// As it is shown.
    pub(super) fn name(&self) -> String {
        self.path.display().to_string()
    }
}

/// Finds or makes the group of a request; what is made is removed by the journal.
pub(super) fn prepare(request: &RunRequest, journal: &mut RunJournal) -> Result<Option<Group>, RunError> {
    let failed = |error: TargetError| RunError::Input(error.to_string());
    match (&request.cgroup, &request.isolated) {
        (Some(name), _) => {
            let mut path = hierarchy()?;
            for part in name.trim_matches('/').split('/') {
                path.push(part);
                journal.make_group(&path).map_err(failed)?;
            }
            Ok(Some(Group { path }))
        }
        (None, Some(cpus)) => partition(cpus, journal).map(Some),
        (None, None) => Ok(None),
    }
}

/// The mount point of cgroup v2, or of the v1 controller `cpu` where v1 has it.
fn hierarchy() -> Result<PathBuf, RunError> {
    mount("cgroup", "cpu").or_else(|| mount("cgroup2", "")).ok_or_else(|| {
        RunError::Input("no control groups are mounted: mount -t cgroup2 none /sys/fs/cgroup".to_owned())
    })
}

/// Where a hierarchy is mounted; of v1 the one with a controller.
fn mount(kind: &str, controller: &str) -> Option<PathBuf> {
    let mounts = fs::read_to_string("/proc/self/mounts").ok()?;
    mounts.lines().find_map(|line| {
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        let [_, at, of, options, ..] = words[..] else { return None };
        let has = controller.is_empty() || options.split(',').any(|option| option == controller);
        (of == kind && has).then(|| PathBuf::from(at))
    })
}

fn refusal(cpus: &CpuSet, gate: &'static str, why: &str, evidence: Vec<String>, fix: &str) -> Box<Refusal> {
    Box::new(Refusal {
        what: format!("isolated CPUs {cpus}"),
        errno: None,
        gate,
        why: why.to_owned(),
        evidence,
        fix: vec![fix.to_owned()],
    })
}

/// The root of the hierarchy in which partitions can be made.
pub(super) fn partitions(cpus: &CpuSet) -> Result<PathBuf, Box<Refusal>> {
    const BOOT: &str = "boot with systemd.unified_cgroup_hierarchy=1 and without cgroup v1, or isolate the CPUs with the kernel \
                        parameter isolcpus=";
    let Some(root) = mount("cgroup2", "") else {
        return Err(refusal(cpus, "cgroup-v1", "a partition needs cgroup v2", Vec::new(), BOOT));
    };
    let controllers = fs::read_to_string(root.join("cgroup.controllers")).unwrap_or_default();
    if !controllers.split_ascii_whitespace().any(|name| name == "cpuset") {
        let evidence = vec![format!("{}/cgroup.controllers = {}", root.display(), controllers.trim())];
        let why = "a partition needs the controller cpuset in cgroup v2, and it is not there: cgroup v1 has it, or it is disabled";
        return Err(refusal(cpus, "cgroup-v1", why, evidence, BOOT));
    }
    Ok(root)
}

/// A cpuset partition: the scheduler balances no other thread onto its CPUs.
fn partition(cpus: &CpuSet, journal: &mut RunJournal) -> Result<Group, RunError> {
    let root = partitions(cpus)?;
    let failed = |error: TargetError| RunError::Input(error.to_string());
    let subtree = root.join("cgroup.subtree_control").to_string_lossy().into_owned();
    journal.set(Target::Tunable { path: subtree }, "cpuset").map_err(failed)?;
    let path = root.join(format!("whylate-run-{}", std::process::id()));
    journal.make_group(&path).map_err(failed)?;
    let write = |file: &str, value: &str| {
        let file = path.join(file);
        fs::write(&file, value).map_err(|error: io::Error| {
            RunError::Input(format!("cannot write {value} to {}: {error}", file.display()))
        })
    };
    write("cpuset.cpus", &cpus.to_string())?;
    write("cpuset.cpus.partition", "isolated")?;
    let became = fs::read_to_string(path.join("cpuset.cpus.partition")).unwrap_or_default();
    match became.trim() {
        "isolated" => Ok(Group { path }),
        invalid => {
            let evidence = vec![format!("{} = {invalid}", path.join("cpuset.cpus.partition").display())];
            let fix = "choose CPUs that no other group uses alone, and leave one to the rest of the machine";
            Err(refusal(cpus, "partition", "the kernel cannot give these CPUs to a partition", evidence, fix)
                .into())
        }
    }
}

/// Whether a name is one of a group below the root.
pub fn is_group_name(name: &str) -> bool {
    let trimmed = name.trim_matches('/');
    !trimmed.is_empty()
        && Path::new(trimmed).components().all(|part| matches!(part, std::path::Component::Normal(_)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_groups_stay_below_the_root() {
        for (name, is_one) in
            [("rt", true), ("/rt/app", true), ("", false), ("/", false), ("../x", false), ("a/../b", false)]
        {
            assert_eq!(is_group_name(name), is_one, "{name}");
        }
    }
}
