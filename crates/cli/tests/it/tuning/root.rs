//! The root of a made-up machine in a directory, and runs of the program on it.

use crate::support::run::{Run, command, whylate};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use tempfile::TempDir;

const PROFILE: &str = r#"
summary = "a profile of a test"

[variables]
isolated = "2-3"

[sysctl]
"vm.swappiness" = 10
"vm.stat_interval" = 10

[irqs]
cpus = "0-1"

[kernel-parameters]
nohz_full = "2-3"
skew_tick = 1
"#;

pub(super) const CMDLINE: &str = "/boot/firmware/cmdline.txt";
/// A directory of this name keeps it from being replaced.
pub(super) const BLOCK: &str = "/boot/firmware/.cmdline.txt.whylate-part";

/// A board that boots by a file with its command line, so that no command is needed.
pub(super) struct Root {
    pub(super) directory: TempDir,
    pub(super) profile: PathBuf,
}

impl Root {
    pub(super) fn new() -> Root {
        // Every record waits for the disk, where there is one.
        let memory = Path::new("/dev/shm");
        let directory = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() };
        let directory = directory.expect("a directory");
        let profile = directory.path().join("profile.toml");
        fs::write(&profile, PROFILE).expect("a profile");
        let root = Root { directory, profile };
        for (path, text, mode) in [
            ("/proc/sys/kernel/random/boot_id", "b0\n", 0o444),
            ("/proc/cmdline", "root=/dev/mmcblk0p2 quiet\n", 0o444),
            ("/proc/sys/vm/swappiness", "60\n", 0o644),
            ("/proc/sys/vm/stat_interval", "1\n", 0o644),
            ("/proc/irq/default_smp_affinity", "0000000f\n", 0o644),
            ("/sys/devices/system/cpu/online", "0-3\n", 0o444),
            ("/sys/devices/system/cpu/present", "0-3\n", 0o444),
            ("/sys/devices/system/cpu/possible", "0-3\n", 0o444),
            ("/etc/sysctl.d/10-own.conf", "vm.swappiness = 60\n", 0o640),
            ("/boot/firmware/config.txt", "[all]\n", 0o755),
            (CMDLINE, "console=serial0,115200 root=/dev/mmcblk0p2 quiet", 0o755),
        ] {
            let path = root.path(path);
            fs::create_dir_all(path.parent().expect("a directory above")).expect("directories");
            fs::write(&path, text).expect("a file");
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).expect("its mode");
        }
        root
    }

    /// One whose command line cannot be replaced: what is to be written first is called so.
    pub(super) fn blocked() -> Root {
        let root = Root::new();
        fs::create_dir(root.path(BLOCK)).expect("a directory");
        root
    }

    pub(super) fn path(&self, path: &str) -> PathBuf {
        self.directory.path().join("root").join(path.trim_start_matches('/'))
    }

    pub(super) fn text(&self, path: &str) -> String {
        fs::read_to_string(self.path(path)).expect("a file")
    }

    /// The arguments of a run on it.
    pub(super) fn arguments(&self, words: &[&str]) -> Vec<String> {
        let mut all: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
        all.extend(["--root".to_owned(), self.path("/").display().to_string()]);
        all
    }

    pub(super) fn run(&self, words: &[&str]) -> Run {
        whylate(self.arguments(words))
    }

    /// Killed before its `at`-th change; how it ended.
    pub(super) fn run_killed(&self, at: u64, words: &[&str]) -> ExitStatus {
        let mut command = command();
        command.args(self.arguments(words)).stdout(Stdio::null()).stderr(Stdio::null());
        whylate_sys::kill_at_change(&mut command, at).expect("it can be traced")
    }

    pub(super) fn apply(&self, more: &[&str]) -> Run {
        self.run(&[&self.apply_words()[..], more].concat())
    }

    pub(super) fn apply_words(&self) -> [&str; 4] {
        ["apply", "--yes", "--profile", self.profile.to_str().expect("UTF-8")]
    }

    /// Every file but the journals: kind, mode, owner, bytes; of the kernel's files the value.
    pub(super) fn everything(&self) -> BTreeMap<String, String> {
        let mut all = BTreeMap::new();
        let kernel = [self.path("/proc"), self.path("/sys")];
        walk(&self.path("/"), &kernel, &mut all);
        all
    }
}

fn walk(directory: &Path, kernel: &[PathBuf], all: &mut BTreeMap<String, String>) {
    for entry in fs::read_dir(directory).expect("a directory") {
        let path = entry.expect("an entry").path();
        if path.ends_with("var") {
            continue;
        }
        let metadata = fs::symlink_metadata(&path).expect("it is there");
        let content = match metadata.is_dir() {
            true => {
                walk(&path, kernel, all);
                String::new()
            }
            false if kernel.iter().any(|root| path.starts_with(root)) => {
                fs::read_to_string(&path).expect("a file").trim_end().to_owned()
            }
            false => format!("{:?}", fs::read(&path).expect("a file")),
        };
        let owner = format!("{:o} {}:{}", metadata.mode(), metadata.uid(), metadata.gid());
        all.insert(path.display().to_string(), format!("{owner} {content}"));
    }
}

pub(super) fn json(run: &Run) -> Value {
    serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{error}: {run:#?}"))
}

/// How the applies stand, first to last.
pub(super) fn standings(root: &Root) -> Vec<String> {
    let history = json(&root.run(&["history", "--json"]));
    assert_eq!(history["schema"], "whylate.history/1");
    let applies = history["applies"].as_array().expect("a list").clone();
    applies.iter().map(|apply| apply["standing"].as_str().expect("a word").to_owned()).collect()
}
