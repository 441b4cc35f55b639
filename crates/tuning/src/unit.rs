//! Units of systemd by their names and files: systemd is not asked.

use whylate_host::{FsRoot, Unread, Why};

/// While a unit is active systemd keeps a link `invocation:UNIT` (src/core/unit.c, since 236): so also of one whose
/// processes have ended (`RemainAfterExit=`).
const ACTIVE: &str = "/run/systemd/units";

/// The control group of services: of one hierarchy, or of systemd's own beside others.
const SLICES: [&str; 2] = ["/sys/fs/cgroup/system.slice", "/sys/fs/cgroup/systemd/system.slice"];

/// Whether it is active: of services alone, as of a timer or a target neither place is reliable.
pub(crate) fn runs(unit: &str, tree: &FsRoot) -> Result<bool, Unread> {
    let link = format!("invocation:{unit}");
    if tree.list(ACTIVE).known().is_some_and(|names| names.contains(&link)) {
        return Ok(true);
    }
    has_processes(unit, tree)
}

/// A service's processes are in its control group (systemd.slice(5)).
fn has_processes(unit: &str, tree: &FsRoot) -> Result<bool, Unread> {
    let mut first = None;
    for slice in SLICES {
        let names = match tree.list(slice).need() {
            Ok(names) => names.clone(),
            Err(unread) => {
                first.get_or_insert(unread);
                continue;
            }
        };
        if !names.iter().any(|name| name == unit) {
            return Ok(false);
        }
        // Its processes may be in groups below its own, for which the file `cgroup.events` speaks in version 2.
        let at = |file: &str| tree.text(&format!("{slice}/{unit}/{file}"));
        return match at("cgroup.events").need() {
            Ok(events) => Ok(events.lines().any(|line| line == "populated 1")),
            Err(Unread { why: Why::Missing | Why::NotCollected, .. }) => {
                at("cgroup.procs").need().map(|pids| !pids.trim().is_empty())
            }
            Err(unread) => Err(unread),
        };
    }
    Err(first.unwrap_or(Unread { path: SLICES[0].to_owned(), why: Why::Missing }))
}
