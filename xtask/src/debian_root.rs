//! A clean Debian in a directory, made by mmdebstrap from the packages of this machine's own mirror.

use crate::outcome::output_of;
use crate::tools;
use anyhow::{Context, Result};
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The architecture of a root.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Architecture {
    /// As of `uname -m`.
    pub(crate) uname: &'static str,
    /// As of dpkg.
    pub(crate) debian: &'static str,
}

/// A root, which is removed with this.
pub(crate) struct DebianRoot(PathBuf);

impl Drop for DebianRoot {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// What dpkg writes about every run; beside these, the files of its own directory.
const BOOKS: [&str; 3] = ["var/cache", "var/lib/dpkg/triggers", "var/log"];
const DPKG: &str = "var/lib/dpkg";

impl DebianRoot {
    /// Makes one, with more packages than the least.
    ///
    /// # Errors
    /// What this machine lacks.
    pub(crate) fn make(path: &Path, machine: Architecture, packages: &[&str]) -> Result<DebianRoot, String> {
        if !rustix::process::geteuid().is_root() {
            return Err("a root of another system needs root: run it as root".to_owned());
        }
        if !tools::provided("mmdebstrap", "mmdebstrap") {
            return Err("no mmdebstrap: apt-get install mmdebstrap".to_owned());
        }
        if machine.uname != std::env::consts::ARCH {
            emulated(machine)?;
            tools::provided("arch-test", "arch-test");
        }
        let (mirror, suite) = mirror().ok_or("this machine has no apt sources of Debian")?;
        println!("xtask: mmdebstrap {suite} for {}", machine.debian);
        let root = DebianRoot(path.to_path_buf());
        output_of(
            Command::new("mmdebstrap")
                .args(["--variant=minbase", "--quiet", "--architectures", machine.debian])
                .args(packages.iter().map(|package| format!("--include={package}")))
                .arg(&suite)
                .arg(path)
                .arg(&mirror)
                .stdin(Stdio::null()),
        )
        .map_err(|error| format!("{error:#}"))?;
        Ok(root)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// Runs a script in the root, with a network and processes of its own; returns its exit code.
    pub(crate) fn run(&self, script: &str) -> Result<Option<i32>> {
        let status = Command::new("unshare")
            .args(["--mount", "--net", "--pid", "--fork"])
            .arg(format!("--mount-proc={}", self.0.join("proc").display()))
            .arg("chroot")
            .arg(&self.0)
            .args(["/bin/sh", "-c", script])
            .env_clear()
            .env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin")
            .stdin(Stdio::null())
            .status()
            .context("unshare cannot be started")?;
        Ok(status.code())
    }

    /// Every file, with its mode and size, but for what dpkg writes about every run.
    pub(crate) fn files(&self) -> Result<BTreeSet<String>> {
        let mut found = BTreeSet::new();
        let mut open = vec![PathBuf::new()];
        while let Some(directory) = open.pop() {
            let full = self.0.join(&directory);
            let listed = fs::read_dir(&full).with_context(|| format!("cannot list {}", full.display()))?;
            for entry in listed {
                let entry = entry.with_context(|| format!("cannot list {}", full.display()))?;
                let path = directory.join(entry.file_name());
                let about = entry.metadata().with_context(|| format!("cannot look at {}", path.display()))?;
                let is_book = BOOKS.iter().any(|book| path.starts_with(book));
                if is_book || (directory == Path::new(DPKG) && !about.is_dir()) {
                    continue;
                }
                match about.is_dir() {
                    true => found.insert(format!("{} {:o}", path.display(), about.mode())),
                    false => found.insert(format!("{} {:o} {}", path.display(), about.mode(), about.size())),
                };
                if about.is_dir() {
                    open.push(path);
                }
            }
        }
        Ok(found)
    }
}

/// The address and the suite of the first of Debian's sources.
fn mirror() -> Option<(String, String)> {
    let sources = output_of(Command::new("apt-get").args([
        "indextargets",
        "--format",
        "$(REPO_URI) $(CODENAME)",
        "Created-By: Packages",
    ]));
    let release = fs::read_to_string("/etc/os-release").ok()?;
    let codename = release.lines().find_map(|line| line.strip_prefix("VERSION_CODENAME="))?.to_owned();
    let sources = String::from_utf8(sources.ok()?).ok()?;
    let mut sources = sources.lines().filter_map(|line| line.split_once(' '));
    sources
        .find(|(_, suite)| *suite == codename)
        .map(|(address, suite)| (address.to_owned(), suite.to_owned()))
}

/// Whether the kernel starts programs of another machine by qemu-user; it is asked to, where that is allowed.
fn emulated(machine: Architecture) -> Result<(), String> {
    let name = format!("qemu-{}", machine.uname);
    let registered = || Path::new("/proc/sys/fs/binfmt_misc").join(&name).exists();
    if registered() {
        return Ok(());
    }
    tools::provided(&format!("{name}-static"), "qemu-user-static");
    if !Path::new("/proc/sys/fs/binfmt_misc/register").exists() {
        let mut mount = Command::new("mount");
        let _ = output_of(mount.args(["-t", "binfmt_misc", "none", "/proc/sys/fs/binfmt_misc"]));
    }
    // What systemd-binfmt does at boot (binfmt.d(5)).
    if let Ok(line) = fs::read_to_string(format!("/usr/lib/binfmt.d/{name}.conf")) {
        let _ = fs::write("/proc/sys/fs/binfmt_misc/register", line.trim_end());
    }
    match registered() {
        true => Ok(()),
        false => {
            Err(format!("this machine starts no programs of {}: install qemu-user-static", machine.uname))
        }
    }
}
