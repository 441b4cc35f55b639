//! `whylate apply`, `rollback`, `verify`, `history` and `confirm`, on the root of a made-up machine in a directory: the
//! program itself is killed, refused and run twice.

use crate::support::run::{Run, command, copy_program, ended, whylate};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::Duration;
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

/// A change in the middle of an apply of [`PROFILE`].
const CUT_AT: u64 = 40;

const CMDLINE: &str = "/boot/firmware/cmdline.txt";
/// A directory of this name keeps it from being replaced.
const BLOCK: &str = "/boot/firmware/.cmdline.txt.whylate-part";

/// A board that boots by a file with its command line, so that no command is needed.
struct Root {
    directory: TempDir,
    profile: PathBuf,
}

impl Root {
    fn new() -> Root {
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
    fn blocked() -> Root {
        let root = Root::new();
        fs::create_dir(root.path(BLOCK)).expect("a directory");
        root
    }

    fn path(&self, path: &str) -> PathBuf {
        self.directory.path().join("root").join(path.trim_start_matches('/'))
    }

    fn text(&self, path: &str) -> String {
        fs::read_to_string(self.path(path)).expect("a file")
    }

    /// The arguments of a run on it.
    fn arguments(&self, words: &[&str]) -> Vec<String> {
        let mut all: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
        all.extend(["--root".to_owned(), self.path("/").display().to_string()]);
        all
    }

    fn run(&self, words: &[&str]) -> Run {
        whylate(self.arguments(words))
    }

    /// Killed before its `at`-th change; how it ended.
    fn run_killed(&self, at: u64, words: &[&str]) -> ExitStatus {
        let mut command = command();
        command.args(self.arguments(words)).stdout(Stdio::null()).stderr(Stdio::null());
        whylate_sys::kill_at_change(&mut command, at).expect("it can be traced")
    }

    fn apply(&self, more: &[&str]) -> Run {
        self.run(&[&self.apply_words()[..], more].concat())
    }

    fn apply_words(&self) -> [&str; 4] {
        ["apply", "--yes", "--profile", self.profile.to_str().expect("UTF-8")]
    }

    /// Every file but the journals: kind, mode, owner, bytes; of the kernel's files the value.
    fn everything(&self) -> BTreeMap<String, String> {
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

fn json(run: &Run) -> Value {
    serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{error}: {run:#?}"))
}

/// How the applies stand, first to last.
fn standings(root: &Root) -> Vec<String> {
    let history = json(&root.run(&["history", "--json"]));
    assert_eq!(history["schema"], "whylate.history/1");
    let applies = history["applies"].as_array().expect("a list").clone();
    applies.iter().map(|apply| apply["standing"].as_str().expect("a word").to_owned()).collect()
}

#[test]
fn applied_verified_changed_rolled_back() {
    let root = Root::new();
    let before = root.everything();
    let run = root.apply(&["--json"]);
    assert_eq!(run.code, Some(0), "{run:#?}");
    let document = json(&run);
    assert_eq!(
        (&document["schema"], &document["applies"][0]["standing"]),
        (&"whylate.apply/1".into(), &"applied".into())
    );
    assert_eq!(root.text("/proc/sys/vm/swappiness"), "10\n");
    assert_eq!(root.text("/proc/irq/default_smp_affinity"), "00000003\n");
    let cmdline = root.text(CMDLINE);
    assert!(cmdline.starts_with("console=serial0,115200 root=/dev/mmcblk0p2 quiet"), "{cmdline}");
    assert!(cmdline.contains("nohz_full=2-3") && cmdline.contains("skew_tick=1"), "{cmdline}");

    let run = root.run(&["verify", "--json"]);
    assert_eq!(run.code, Some(0), "{run:#?}");
    let pending = json(&run)["pending"].as_array().expect("a list").len();
    assert_eq!(pending, 2, "they count from the next boot on");
    let again = root.apply(&[]);
    assert!(again.code == Some(0) && again.stderr.contains("nothing to change"), "{again:#?}");

    fs::write(root.path("/proc/sys/vm/swappiness"), "33\n").expect("another program");
    let run = root.run(&["verify"]);
    assert!(run.code == Some(1) && run.stdout.contains("drift: /proc/sys/vm/swappiness"), "{run:#?}");
    let run = root.run(&["rollback"]);
    assert!(run.code == Some(1) && run.stdout.contains("is 33"), "{run:#?}");
    assert_eq!(root.text("/proc/sys/vm/swappiness"), "33\n");
    let run = root.run(&["rollback", "--force"]);
    assert_eq!(run.code, Some(0), "{run:#?}");
    assert_eq!(root.everything(), before);
    assert_eq!(standings(&root), ["rolled-back"]);
    let run = root.run(&["rollback"]);
    assert!(run.code == Some(0) && run.stderr.contains("nothing to roll back"), "{run:#?}");
}

#[test]
fn reports_follow_format_and_output_or_are_refused_first() {
    let root = Root::new();
    let before = root.everything();
    let directory = tempfile::tempdir().expect("a directory");
    let file = |name: &str| directory.path().join(name).to_str().expect("UTF-8").to_owned();
    for verb in ["confirm", "verify", "history", "rollback"] {
        let run = root.run(&[verb, "--format", "html"]);
        assert!(run.code == Some(2) && run.stderr.contains("[possible values: text, json]"), "{run:#?}");
    }
    for name in ["a.html", "without"] {
        let run = root.apply(&["-o", &file(name)]);
        assert!(run.code == Some(2) && run.stderr.contains("use one of .txt, .json"), "{run:#?}");
    }
    assert_eq!(root.everything(), before);

    let saved = |path: &str| fs::read_to_string(path).expect("the report");
    let run = root.apply(&["--format", "json", "-o", &file("apply.txt")]);
    assert_eq!((run.code, json(&run)["schema"].as_str()), (Some(0), Some("whylate.apply/1")), "{run:#?}");
    assert!(saved(&file("apply.txt")).starts_with("apply 1 "), "{}", saved(&file("apply.txt")));
    for verb in ["verify", "history", "rollback"] {
        let path = file(&format!("{verb}.json"));
        let run = root.run(&[verb, "-o", &path]);
        assert_eq!(run.code, Some(0), "{run:#?}");
        let document: Value = serde_json::from_str(&saved(&path)).expect("JSON");
        let schema = if verb == "rollback" { "apply" } else { verb };
        assert_eq!(document["schema"], format!("whylate.{schema}/1"));
        assert!(!run.stdout.starts_with('{'), "{run:#?}");
    }
    let run = root.run(&["rollback"]);
    assert_eq!((run.code, run.stdout.as_str()), (Some(0), ""), "{run:#?}");
}

/// Kills an apply before its first, then each `step`-th system call that changes anything, until one ends by itself:
/// whatever was done, a rollback leaves the machine as before. At how many places it was killed, and how it ended.
fn killed_everywhere(root: fn() -> Root, more: &[&str], step: usize) -> (usize, Option<i32>) {
    for (killed, at) in (1..).step_by(step).enumerate() {
        let root = root();
        let before = root.everything();
        let ended = root.run_killed(at, &[&root.apply_words()[..], more].concat());
        // The undo is killed as well, somewhere in the middle.
        root.run_killed((at / 2).max(1), &["rollback"]);
        let run = root.run(&["rollback"]);
        assert_eq!(run.code, Some(0), "at {at}: {run:#?}");
        assert_eq!(root.everything(), before, "killed at {at}");
        assert!(standings(&root).iter().all(|standing| standing == "rolled-back" || standing == "empty"));
        if ended.code().is_some() {
            return (killed, ended.code());
        }
    }
    unreachable!("an apply ends");
}

#[test]
fn an_apply_killed_at_any_point_is_rolled_back_exactly() {
    let (killed, code) = killed_everywhere(Root::new, &[], 1);
    assert!(killed > 60 && code == Some(0), "killed at {killed} places only");
}

#[test]
fn so_is_one_that_goes_on_after_a_failure_or_undoes_itself() {
    for action in ["continue", "rollback"] {
        let (killed, code) = killed_everywhere(Root::blocked, &["--on-failure", action], 3);
        assert!(killed > 20 && code == Some(2), "{action}: killed at {killed} places only");
    }
}

#[test]
fn what_happens_after_a_failure_is_the_user_s_choice() {
    let root = Root::blocked();
    let before = root.everything();
    let run = root.apply(&["--on-failure", "rollback", "--json"]);
    assert_eq!((run.code, standings(&root)), (Some(2), vec!["rolled-back".to_owned()]), "{run:#?}");
    assert!(run.stderr.contains("cmdline.txt") && run.stderr.contains("it is undone"), "{run:#?}");
    assert_eq!(json(&run)["applies"][0]["action"], "rollback");
    assert_eq!(root.everything(), before);
    let run = root.apply(&["--on-failure", "continue"]);
    assert_eq!((run.code, standings(&root)[1].as_str()), (Some(2), "failed"), "{run:#?}");
    assert_eq!(root.text("/proc/sys/vm/swappiness"), "10\n");
    let run = root.run(&["apply", "--resume", "--on-failure", "rollback"]);
    assert_eq!((run.code, standings(&root)[1].as_str()), (Some(2), "rolled-back"), "{run:#?}");
    assert_eq!(root.everything(), before);
}

/// The plan is not begun where it is known to fail; an optional setting is left out of it.
#[test]
fn a_value_that_the_kernel_will_refuse_is_predicted() {
    let root = Root::new();
    let before = root.everything();
    let profile = fs::read_to_string(&root.profile).expect("a profile");
    let with =
        |entry: &str| profile.replace("\"vm.swappiness\" = 10", &format!("\"vm.swappiness\" = {entry}"));
    fs::write(&root.profile, with("500")).expect("a profile");
    let run = root.apply(&[]);
    assert!(run.code == Some(1) && run.stderr.contains("refused[kernel-refuses]"), "{run:#?}");
    assert!(run.stdout.contains("will refuse it: EINVAL: it takes 0 to 200"), "{run:#?}");
    assert_eq!(root.everything(), before);
    fs::write(&root.profile, with("{ value = 500, optional = true }")).expect("a profile");
    let run = root.apply(&["--json"]);
    assert_eq!(run.code, Some(0), "{run:#?}");
    assert_eq!(root.text("/proc/sys/vm/swappiness"), "60\n");
    assert_eq!(root.text("/proc/sys/vm/stat_interval"), "10\n");
    let again = root.apply(&[]);
    assert!(again.code == Some(0) && again.stderr.contains("except for 1 optional"), "{again:#?}");
    assert_eq!(root.run(&["verify"]).code, Some(0));
}

#[test]
fn a_plan_is_applied_only_where_its_old_values_still_hold() {
    let root = Root::new();
    let plan = root.directory.path().join("plan.json");
    let (plan, profile) = (plan.to_str().expect("UTF-8"), root.profile.to_str().expect("UTF-8"));
    let run = root.run(&["plan", "--profile", profile, "-o", plan]);
    assert_eq!(run.code, Some(1), "{run:#?}");
    fs::write(root.path("/proc/sys/vm/swappiness"), "50\n").expect("another program");
    let before = root.everything();
    let run = root.run(&["apply", plan, "--yes"]);
    assert!(
        run.code == Some(1) && run.stderr.contains("vm.swappiness: planned 60 -> 10; now 50 -> 10"),
        "{run:#?}"
    );
    assert_eq!((root.everything(), standings(&root)), (before, vec![]));
    fs::write(root.path("/proc/sys/vm/swappiness"), "60\n").expect("another program");
    let run = root.run(&["apply", plan]);
    assert!(
        run.code == Some(2) && run.stderr.contains("--yes"),
        "standard input is not a terminal: {run:#?}"
    );
    let run = root.run(&["apply", plan, "--yes"]);
    assert_eq!(run.code, Some(0), "{run:#?}");
    let made = root.everything();
    let run = root.run(&["apply", plan, "--yes"]);
    assert!(run.code == Some(0) && run.stderr.contains("nothing to change"), "it is made already: {run:#?}");
    assert_eq!((root.everything(), standings(&root)), (made, vec!["applied".to_owned()]));
    fs::write(root.path("/x.json"), "{}").expect("a file");
    let run = root.run(&["apply", root.path("/x.json").to_str().expect("UTF-8"), "--yes"]);
    assert!(run.code == Some(2) && run.stderr.contains("is not a plan"), "{run:#?}");
    let run = root.run(&["apply", "--yes"]);
    assert!(run.code == Some(2) && run.stderr.contains("nothing to apply is given"), "{run:#?}");
    // As of `plan`, the profile is realtime unless another one is given.
    let run = root.run(&["apply", "--isolated", "1"]);
    assert!(run.stdout.starts_with("realtime: "), "{run:#?}");
}

#[test]
fn a_partly_applied_plan_is_completed_although_irqbalance_moves_interrupts() {
    let root = Root::new();
    let plan = root.directory.path().join("plan.json");
    let (plan, profile) = (plan.to_str().expect("UTF-8"), root.profile.to_str().expect("UTF-8"));
    let irq = |number: u32| format!("/proc/irq/{number}/smp_affinity_list");
    for (number, cpus) in [(24, "0-3\n"), (25, "1\n")] {
        fs::create_dir_all(root.path(&format!("/proc/irq/{number}/card")))
            .expect("an interrupt with a driver");
        fs::write(root.path(&irq(number)), cpus).expect("its CPUs");
    }
    assert_eq!(root.run(&["plan", "--profile", profile, "-o", plan]).code, Some(1));
    // Both are moved: the one that the plan sets, and the one that was already set.
    fs::write(root.path(&irq(24)), "3\n").expect("its CPUs");
    fs::write(root.path(&irq(25)), "2\n").expect("its CPUs");
    fs::write(root.path("/proc/sys/vm/swappiness"), "10\n").expect("as planned");
    let before = root.everything();
    let run = root.run(&["apply", plan, "--yes"]);
    assert!(run.code == Some(1) && run.stderr.contains("/proc/irq/25"), "another program moved it: {run:#?}");
    assert!(!run.stderr.contains("swappiness"), "{run:#?}");
    fs::create_dir_all(root.path("/proc/70")).expect("a process");
    fs::write(root.path("/proc/70/comm"), "irqbalance\n").expect("its name");
    let run = root.run(&["apply", plan, "--yes"]);
    assert_eq!(run.code, Some(0), "{run:#?}");
    assert_eq!((root.text(&irq(24)).trim(), root.text(&irq(25)).trim()), ("0-1", "0-1"));
    // What the undo puts back is how it was then, not how it was planned.
    assert_eq!(root.run(&["rollback"]).code, Some(0));
    fs::remove_dir_all(root.path("/proc/70")).expect("the process");
    assert_eq!(root.everything(), before);
}

/// No command runs for a directory's root: what GRUB reads is not regenerated there.
#[test]
fn a_boot_menu_that_was_not_regenerated_is_drift() {
    const MENU: &str = "/boot/grub/grub.cfg";
    let root = Root::new();
    for path in ["/boot/firmware/config.txt", CMDLINE] {
        fs::remove_file(root.path(path)).expect("no firmware");
    }
    let put = |path: &str, text: &str| {
        fs::create_dir_all(root.path(path).parent().expect("a directory above")).expect("directories");
        fs::write(root.path(path), text).expect("a file");
    };
    put(MENU, "menuentry 'x' {\n\tlinux /vmlinuz ro quiet\n}\n");
    put("/etc/default/grub", "GRUB_CMDLINE_LINUX_DEFAULT=\"quiet\"\n");
    put("/usr/sbin/update-grub", "");
    assert_eq!(root.apply(&[]).code, Some(0));
    let run = root.run(&["verify"]);
    assert!(run.code == Some(1) && run.stdout.contains("drift: kernel parameter nohz_full"), "{run:#?}");
    assert!(run.stdout.contains("run update-grub") && run.stdout.contains("chroot"), "{run:#?}");
    assert!(!run.stdout.contains("After the next reboot"), "{run:#?}");
    put(MENU, "menuentry 'x' {\n\tlinux /vmlinuz ro quiet nohz_full=2-3 skew_tick=1\n}\n");
    let run = root.run(&["verify"]);
    assert!(run.code == Some(0) && run.stdout.contains("After the next reboot"), "{run:#?}");
}

#[test]
fn an_archive_cannot_be_changed() {
    let root = Root::new();
    let archive = root.directory.path().join("a.snapshot");
    fs::write(&archive, "").expect("a file");
    for verb in ["apply", "verify", "rollback", "history", "confirm"] {
        let run = whylate([verb, "--root", archive.to_str().expect("UTF-8")]);
        assert!(run.code == Some(2) && run.stderr.contains("only a directory"), "{verb}: {run:#?}");
    }
}

#[test]
fn a_plan_of_another_machine_is_reported_and_one_that_is_too_long_is_refused() {
    let root = Root::new();
    let plan = root.directory.path().join("plan.json");
    let (name, profile) = (plan.to_str().expect("UTF-8"), root.profile.to_str().expect("UTF-8"));
    assert_eq!(root.run(&["plan", "--profile", profile, "-o", name]).code, Some(1));
    fs::write(root.path("/sys/devices/system/cpu/online"), "0-7\n").expect("another machine");
    fs::write(root.path("/proc/sys/vm/swappiness"), "50\n").expect("another machine");
    let run = root.run(&["apply", name, "--yes"]);
    assert!(run.code == Some(1) && run.stderr.contains("with the CPUs 0-3, and this is"), "{run:#?}");
    // The difference is reported even where the changes are the same.
    fs::write(root.path("/proc/sys/vm/swappiness"), "60\n").expect("another machine");
    let run = root.run(&["apply", name]);
    assert!(run.code == Some(2) && run.stderr.contains("note: the plan was made for"), "{run:#?}");
    let file = fs::OpenOptions::new().write(true).open(&plan).expect("the plan");
    file.set_len(65 << 20).expect("a sparse file");
    let run = root.run(&["apply", name, "--yes"]);
    assert!(run.code == Some(2) && run.stderr.contains("longer than 64 MiB"), "{run:#?}");
}

#[test]
fn verify_reports_interrupted_applies_drift_of_unchanged_settings_and_new_devices() {
    let root = Root::new();
    fs::write(root.path("/proc/sys/vm/stat_interval"), "10\n").expect("already set");
    let profile = fs::read_to_string(&root.profile).expect("a profile");
    let more = "\n[files]\n\"/sys/class/net/*/threaded\" = 1\n";
    fs::write(&root.profile, profile + more).expect("a profile");
    fs::create_dir_all(root.path("/sys/class/net/eth0")).expect("a directory");
    fs::write(root.path("/sys/class/net/eth0/threaded"), "0\n").expect("a file");
    let cut = root.run_killed(CUT_AT, &root.apply_words());
    assert_eq!(cut.code(), None);
    let run = root.run(&["verify"]);
    assert!(run.code == Some(1) && run.stdout.contains("interrupted"), "{run:#?}");
    assert_eq!(root.run(&["apply", "--resume"]).code, Some(0));
    assert_eq!(root.run(&["verify"]).code, Some(0));
    // A card that came since was never set: that is no drift.
    fs::create_dir_all(root.path("/sys/class/net/eth1")).expect("a directory");
    fs::write(root.path("/sys/class/net/eth1/threaded"), "0\n").expect("a file");
    let run = root.run(&["verify", "--json"]);
    assert_eq!(run.code, Some(0), "{run:#?}");
    let uncovered = json(&run)["uncovered"].clone();
    assert_eq!(uncovered[0]["setting"], "/sys/class/net/eth1/threaded");
    assert_eq!((&uncovered[0]["now"], &uncovered[0]["wished"]), (&"0".into(), &"1".into()));
    // What needed no change and does now is.
    fs::write(root.path("/proc/sys/vm/stat_interval"), "1\n").expect("another program");
    fs::write(root.path("/etc/sysctl.d/20-their.conf"), "vm.stat_interval = 1\n").expect("another program");
    let run = root.run(&["verify"]);
    assert!(run.code == Some(1) && run.stdout.contains("already set before the apply"), "{run:#?}");
    assert!(run.stdout.contains("20-their.conf sets it so"), "{run:#?}");
    assert!(run.stdout.contains("drift: vm.stat_interval"), "{run:#?}");
}

#[test]
fn an_unreadable_boot_loader_can_be_skipped() {
    let root = Root::new();
    fs::write(root.path(CMDLINE), "root=/dev/mmcblk0p2 \"quiet").expect("an open quote");
    let before = root.everything();
    let run = root.apply(&[]);
    assert!(run.code == Some(2) && run.stderr.contains("--skip-kernel-parameters"), "{run:#?}");
    assert_eq!(root.everything(), before);
    let run = root.apply(&["--skip-kernel-parameters"]);
    assert_eq!(run.code, Some(0), "{run:#?}");
    assert_eq!(root.text("/proc/sys/vm/swappiness"), "10\n");
    assert_eq!(root.run(&["rollback"]).code, Some(0));
    assert_eq!(root.everything(), before);
}

#[test]
fn settings_that_end_with_a_reboot_are_reported_before_the_apply() {
    let root = Root::new();
    let run = root.apply(&[]);
    assert!(run.code == Some(0) && run.stderr.contains("end with the next reboot"), "{run:#?}");
    assert!(run.stderr.contains("/proc/irq/default_smp_affinity"), "{run:#?}");
    assert!(!run.stderr.contains("swappiness"), "a file of sysctl.d has it: {run:#?}");
}

#[test]
fn a_failed_step_is_reported_resumed_and_rolled_back() {
    let root = Root::blocked();
    let blocked = root.path(BLOCK);
    let before = root.everything();
    let run = root.apply(&[]);
    assert_eq!(run.code, Some(2), "{run:#?}");
    assert!(
        run.stdout.contains("whylate apply --resume") && run.stdout.contains("whylate rollback"),
        "{run:#?}"
    );
    assert!(run.stdout.contains("cmdline.txt"), "{run:#?}");
    assert_eq!(root.text("/proc/sys/vm/swappiness"), "10\n");
    let again = root.apply(&[]);
    assert!(again.code == Some(2) && again.stderr.contains("--resume"), "{again:#?}");
    fs::remove_dir(&blocked).expect("the directory");
    let run = root.run(&["apply", "--resume"]);
    assert!(run.code == Some(0) && root.text(CMDLINE).contains("nohz_full"), "{run:#?}");
    let run = root.run(&["apply", "--resume"]);
    assert_eq!(run.code, Some(2), "there is nothing to go on with: {run:#?}");
    assert_eq!(root.run(&["rollback"]).code, Some(0));
    fs::create_dir(&blocked).expect("a directory");
    assert_eq!(root.everything(), before);
}

#[test]
fn a_second_change_at_once_is_refused_and_names_the_first() {
    let root = Root::new();
    let tuning = root.path("/var/lib/whylate/tuning");
    fs::create_dir_all(&tuning).expect("a directory");
    let lock = fs::File::create(tuning.join("lock")).expect("a lock");
    fs::write(tuning.join("lock"), "whylate apply, process 4711\n").expect("its holder");
    rustix::fs::flock(&lock, rustix::fs::FlockOperation::LockExclusive).expect("free");
    let before = root.everything();
    for run in [root.apply(&[]), root.run(&["rollback"]), root.run(&["confirm"])] {
        assert!(run.code == Some(2) && run.stderr.contains("process 4711"), "{run:#?}");
    }
    assert_eq!(root.everything(), before);
    assert_eq!(root.run(&["history"]).code, Some(0), "to look is no change");
}

#[test]
fn an_unconfirmed_apply_is_rolled_back_at_the_next_boot() {
    let root = Root::new();
    let before = root.everything();
    assert_eq!(root.apply(&["--revert-after", "1h"]).code, Some(0));
    let run = root.run(&["history"]);
    assert!(run.stdout.contains("unless confirmed"), "{run:#?}");
    // The timer of a later time leaves it alone.
    assert_eq!(root.run(&["rollback", "--unconfirmed", "1"]).code, Some(0));
    assert_eq!(standings(&root), ["applied"]);
    fs::remove_file(root.path("/proc/sys/kernel/random/boot_id")).expect("the old one");
    fs::write(root.path("/proc/sys/kernel/random/boot_id"), "b1\n").expect("another boot");
    fs::write(root.path("/proc/sys/vm/swappiness"), "60\n").expect("another boot");
    fs::write(root.path("/proc/sys/vm/stat_interval"), "1\n").expect("another boot");
    fs::write(root.path("/proc/irq/default_smp_affinity"), "0000000f\n").expect("another boot");
    let run = root.run(&["apply", "--boot"]);
    assert!(run.code == Some(0) && run.stderr.contains("not confirmed"), "{run:#?}");
    assert_eq!(standings(&root), ["rolled-back"]);
    let confirm = root.run(&["confirm"]);
    assert!(confirm.code == Some(1) && confirm.stderr.contains("rolled back"), "{confirm:#?}");
    let ids = |all: BTreeMap<String, String>| all.into_iter().filter(|(path, _)| !path.ends_with("boot_id"));
    assert!(ids(root.everything()).eq(ids(before)));
}

/// The program's file is removed before the apply starts, as an upgrade does.
#[test]
fn the_automatic_undo_comes_from_the_running_image() {
    let root = Root::new();
    let before = root.everything();
    let program = root.directory.path().join("program");
    copy_program(env!("CARGO_BIN_EXE_whylate"), &program);
    let script = "exec 3<\"$0\"; rm \"$0\"; exec /proc/self/fd/3 \"$@\"";
    let words = root.arguments(&[&root.apply_words()[..], &["--revert-after", "1s"]].concat());
    let mut shell = Command::new("sh");
    let run = ended(shell.args(["-c", script]).arg(&program).args(words).output().expect("starts"));
    assert!(run.code == Some(0) && !program.exists(), "{run:#?}");
    assert!(run.stderr.contains("if that process is killed"), "{run:#?}");
    for _ in 0..600 {
        if standings(&root) == ["rolled-back"] {
            break;
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    assert_eq!((standings(&root), root.everything()), (vec!["rolled-back".to_owned()], before));
}

#[test]
fn a_damaged_journal_is_skipped_and_reported() {
    let root = Root::new();
    assert_eq!(root.apply(&[]).code, Some(0));
    assert_eq!(root.run(&["rollback"]).code, Some(0));
    assert_eq!(root.apply(&["--revert-after", "1h"]).code, Some(0));
    let path = root.path("/var/lib/whylate/tuning/1/journal.jsonl");
    let text = fs::read_to_string(&path).expect("a journal");
    // In the line with which the rollback begins: that it was undone is not known any more.
    let (before, rollback) = text.split_at(text.find("\"rollback\"").expect("it was rolled back"));
    fs::write(&path, format!("{before}{}", rollback.replacen("\"rollback\"", "\"rollbaci\"", 1)))
        .expect("a flipped bit");
    let skipped =
        |run: &Run| run.stderr.contains("apply 1 is skipped: ") && run.stderr.contains("checksum is wrong");
    let run = root.run(&["verify"]);
    assert!(run.code == Some(3) && run.stdout.contains("apply 1"), "{run:#?}");
    let run = root.run(&["apply", "--boot"]);
    assert!(run.code == Some(3) && skipped(&run), "{run:#?}");
    let run = root.run(&["confirm"]);
    assert!(run.code == Some(0) && skipped(&run), "{run:#?}");
    let run = root.run(&["confirm"]);
    assert!(run.code == Some(3) && run.stderr.contains("apply 2 was confirmed"), "{run:#?}");
    assert_eq!(root.run(&["rollback"]).code, Some(0));
    // Now the damaged one may be the last in effect.
    let run = root.run(&["rollback"]);
    assert!(run.code == Some(2) && run.stderr.contains("rollback --to N"), "{run:#?}");
}

#[test]
fn the_service_at_boot_waits_for_another_whylate() {
    let root = Root::new();
    assert_eq!(root.apply(&[]).code, Some(0));
    let lock = fs::File::open(root.path("/var/lib/whylate/tuning/lock")).expect("a lock");
    rustix::fs::flock(&lock, rustix::fs::FlockOperation::LockExclusive).expect("free");
    let mut boot = command();
    boot.args(root.arguments(&["apply", "--boot"])).stdout(Stdio::null()).stderr(Stdio::piped());
    let boot = boot.spawn().expect("starts");
    // Whether it has come to the lock by then or not: it ends well only if it waits.
    std::thread::sleep(Duration::from_millis(300));
    drop(lock);
    let run = ended(boot.wait_with_output().expect("ends"));
    assert!(run.code == Some(0) && run.stderr.contains("made in this boot"), "{run:#?}");
}

#[test]
fn a_confirmed_apply_is_reapplied_at_the_next_boot() {
    let root = Root::new();
    assert_eq!(root.apply(&["--revert-after", "1h"]).code, Some(0));
    assert_eq!(root.run(&["confirm"]).code, Some(0));
    let run = root.run(&["confirm", "--json"]);
    assert!(run.code == Some(1) && run.stderr.contains("apply 1 was confirmed"), "{run:#?}");
    assert_eq!(json(&run)["applies"], serde_json::json!([]));
    fs::remove_file(root.path("/proc/sys/kernel/random/boot_id")).expect("the old one");
    fs::write(root.path("/proc/sys/kernel/random/boot_id"), "b1\n").expect("another boot");
    fs::write(root.path("/proc/sys/vm/swappiness"), "70\n").expect("another boot");
    fs::write(root.path("/proc/cmdline"), "quiet nohz_full=2-3 skew_tick=1\n").ok();
    assert_eq!(root.run(&["verify"]).code, Some(1), "nothing was set in this boot");
    let run = root.run(&["apply", "--boot"]);
    assert_eq!(run.code, Some(0), "{run:#?}");
    assert_eq!(root.text("/proc/sys/vm/swappiness"), "10\n");
    let run = root.run(&["apply", "--boot"]);
    assert!(run.code == Some(0) && run.stderr.contains("made in this boot"), "{run:#?}");
    assert_eq!(root.run(&["rollback"]).code, Some(0));
    assert_eq!(root.text("/proc/sys/vm/swappiness"), "70\n", "that boot's own");
}
