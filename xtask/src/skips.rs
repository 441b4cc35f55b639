//! The tests that report that they could not run, and whether this machine lets them.

use crate::root;
use rustix::mount::{FsMountFlags, FsOpenFlags, MountAttrFlags, fsconfig_create, fsmount, fsopen};
use std::fs;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};
use whylate_testing::{Need, Skip};

/// The file to which the tests of one run append.
pub(crate) struct Skips {
    path: PathBuf,
}

/// What this machine has of what tests need.
pub(crate) struct Machine {
    pub(crate) root: bool,
    pub(crate) tracefs: bool,
    /// Debian's programs are there, or can be installed.
    pub(crate) programs: bool,
}

impl Skips {
    /// An empty file below the build directory.
    pub(crate) fn new(root: &Path) -> Skips {
        let path = root::target(root).join(format!("skipped-tests-{}", std::process::id()));
        // What cannot be removed was never written.
        let _ = fs::remove_file(&path);
        Skips { path }
    }

    /// The value for [`whylate_testing::SKIPS`].
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// What was reported; the file goes.
    pub(crate) fn take(&self) -> Vec<Skip> {
        let text = fs::read_to_string(&self.path).unwrap_or_default();
        let _ = fs::remove_file(&self.path);
        Skip::all(&text)
    }
}

impl Machine {
    /// This one; `programs` is what installing them came to.
    pub(crate) fn this(programs: bool) -> Machine {
        let root = has_capabilities();
        Machine { root, tracefs: root && has_tracefs(), programs }
    }

    /// Whether a test that needs this can run here.
    fn has(&self, need: &str) -> bool {
        [(Need::Root, self.root), (Need::Tracefs, self.tracefs), (Need::Program, self.programs)]
            .iter()
            .any(|(known, has)| known.word() == need && *has)
    }

    /// The reports of tests that could have run.
    pub(crate) fn avoidable<'s>(&self, skips: &'s [Skip]) -> Vec<&'s Skip> {
        skips.iter().filter(|skip| self.has(&skip.need)).collect()
    }
}

/// How many tests did not run at all, rather than in part.
pub(crate) fn whole(skips: &[Skip]) -> usize {
    let mut names: Vec<&str> =
        skips.iter().filter(|skip| !in_part(skip)).map(|skip| skip.name.as_str()).collect();
    names.dedup();
    names.len()
}

fn in_part(skip: &Skip) -> bool {
    skip.reason.starts_with("in part")
}

/// Root with what a container often takes away: CAP_SYS_ADMIN, CAP_SYS_NICE and CAP_IPC_LOCK (capabilities(7)).
fn has_capabilities() -> bool {
    const WANTED: u64 = 1 << 21 | 1 << 23 | 1 << 14;
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let effective = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    let effective = effective.and_then(|digits| u64::from_str_radix(digits.trim(), 16).ok()).unwrap_or(0);
    rustix::process::geteuid().is_root() && effective & WANTED == WANTED
}

/// Whether an instance can be made: lockdown and containers show the directory and refuse that. Where tracefs is mounted
/// nowhere, tests mount it for themselves, as whylate does.
fn has_tracefs() -> bool {
    let mounted = ["/sys/kernel/tracing", "/sys/kernel/debug/tracing"].map(PathBuf::from);
    mounted.iter().any(|root| makes_instance(root))
        || own_tracefs().is_ok_and(|own| makes_instance(&own.root))
}

fn makes_instance(root: &Path) -> bool {
    let instance = root.join(format!("instances/xtask-{}", std::process::id()));
    fs::create_dir(&instance).and_then(|()| fs::remove_dir(&instance)).is_ok()
}

/// A mount that no other process sees, until it is dropped.
struct OwnTracefs {
    root: PathBuf,
    _mount: OwnedFd,
}

fn own_tracefs() -> rustix::io::Result<OwnTracefs> {
    let context = fsopen("tracefs", FsOpenFlags::FSOPEN_CLOEXEC)?;
    fsconfig_create(context.as_fd())?;
    let mount = fsmount(context.as_fd(), FsMountFlags::FSMOUNT_CLOEXEC, MountAttrFlags::empty())?;
    Ok(OwnTracefs { root: PathBuf::from(format!("/proc/self/fd/{}", mount.as_raw_fd())), _mount: mount })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn skip(name: &str, need: Need, reason: &str) -> Skip {
        Skip { name: name.to_owned(), need: need.word().to_owned(), reason: reason.to_owned() }
    }

    #[test]
    fn only_what_the_machine_has_is_avoidable() {
        let skips = Need::ALL.map(|need| skip("a", need, "x"));
        let count = |root, tracefs, programs| Machine { root, tracefs, programs }.avoidable(&skips).len();
        assert_eq!(
            (count(false, false, false), count(true, false, false), count(true, true, true)),
            (0, 1, 3)
        );
    }

    #[test]
    fn a_test_counts_once_and_one_that_ran_in_part_not_at_all() {
        let skips = [
            skip("a", Need::Root, "x"),
            skip("a", Need::Root, "y"),
            skip("b", Need::Machine, "in part: x"),
            skip("c", Need::Program, "x"),
        ];
        assert_eq!(whole(&skips), 2);
    }
}
