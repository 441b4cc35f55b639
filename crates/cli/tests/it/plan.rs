//! `whylate plan`: of captured machines, and of this one.

use crate::support::run::whylate;
use serde_json::Value;
use std::path::{Path, PathBuf};
use whylate_testing::TestRoot;

/// A captured machine with two CPUs; nothing is isolated there.
fn snapshot() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../checks/tests/fixtures/7.2-rt.snapshot")
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

fn names(plan: &Value) -> Vec<&str> {
    let changes = plan["changes"].as_array().expect("changes");
    changes.iter().filter_map(|change| change["name"].as_str()).collect()
}

#[test]
fn every_format_is_of_the_same_plan_each_time() {
    let file = snapshot();
    let root = file.to_str().expect("UTF-8");
    let run = |format: &str| whylate(["plan", "--root", root, "--isolated", "1", "--format", format]);
    let first = run("json");
    assert_eq!(first.code, Some(1), "{first:#?}");
    assert_eq!(run("json").stdout, first.stdout);
    let plan = json(&first.stdout);
    assert_eq!(plan["schema"], "whylate.plan/1");
    assert!(names(&plan).contains(&"kernel.timer_migration"), "{:?}", names(&plan));
    assert_eq!(plan["totals"]["changes"], names(&plan).len());
    for format in ["text", "markdown"] {
        let other = run(format);
        assert_eq!(other.code, Some(1));
        assert!(other.stdout.contains("kernel.timer_migration") && other.stdout.contains("timer-migration"));
    }
    let dir = tempfile::tempdir().expect("a directory");
    let at = |name: &str| dir.path().join(name).to_str().expect("UTF-8").to_owned();
    let written = whylate(["plan", "--root", root, "--isolated", "1", "-o", &at("plan.json")]);
    assert_eq!(written.code, Some(1));
    assert_eq!(std::fs::read_to_string(at("plan.json")).expect("written"), first.stdout);
    assert_eq!(whylate(["plan", "--root", root, "--isolated", "1", "-o", &at("plan.doc")]).code, Some(2));
}

#[test]
fn after_a_check_only_what_mends_it_is_planned() {
    let file = snapshot();
    let root = file.to_str().expect("UTF-8");
    let dir = tempfile::tempdir().expect("a directory");
    let check = dir.path().join("check.json");
    let only = "timer-migration,irq-affinity,smi";
    let checked = whylate(["check", "--root", root, "--cpus", "1", "--only", only, "--json"]);
    std::fs::write(&check, &checked.stdout).expect("written");
    let failed = |code: &str| {
        let answers = json(&checked.stdout)["answers"].as_array().cloned().expect("answers");
        answers.iter().any(|answer| answer["code"] == code && answer["status"] == "fail")
    };
    assert!(failed("irq-affinity"), "{checked:#?}");
    let run = whylate(["plan", "--root", root, "--from", check.to_str().expect("UTF-8"), "--json"]);
    let plan = json(&run.stdout);
    let rules: Vec<&str> = plan["changes"]
        .as_array()
        .expect("changes")
        .iter()
        .filter_map(|change| change["reasons"]["rule"].as_str())
        .collect();
    assert!(rules.contains(&"irq-affinity"), "{rules:?}");
    assert!(!rules.iter().any(|rule| matches!(*rule, "swappiness" | "ksm" | "cpu-isolation")), "{rules:?}");
    assert_eq!(names(&plan).contains(&"kernel.timer_migration"), failed("timer-migration"));
    let isolated = plan["wishes"]["variables"].as_array().expect("variables");
    assert!(
        isolated.iter().any(|variable| variable == &serde_json::json!(["isolated", "1"])),
        "{isolated:?}"
    );
}

#[test]
fn the_exit_code_is_the_answer() {
    let dir = tempfile::tempdir().expect("a directory");
    let write = |path: &str, text: &str| {
        let path = dir.path().join(path);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("made");
        std::fs::write(&path, text).expect("written");
        path.to_str().expect("UTF-8").to_owned()
    };
    let profile =
        write("one.toml", "summary = \"One\"\n[sysctl]\n\"vm.swappiness\" = { value = 10, why = \"x\" }\n");
    let root = dir.path().join("root").to_str().expect("UTF-8").to_owned();
    let code = || whylate(["plan", "--root", &root, "--profile", &profile]).code;
    write("root/etc/hostname", "x\n");
    assert_eq!(code(), Some(3), "nothing is known of it");
    write("root/proc/sys/vm/swappiness", "60\n");
    assert_eq!(code(), Some(1));
    write("root/proc/sys/vm/swappiness", "10\n");
    assert_eq!(code(), Some(0));
    assert_eq!(whylate(["plan", "--root", "/no/such/place", "--isolated", "1"]).code, Some(2));
}

#[test]
fn wrong_options_are_reported() {
    let dir = tempfile::tempdir().expect("a directory");
    let other = dir.path().join("other.json");
    std::fs::write(&other, "{}").expect("written");
    let other = other.to_str().expect("UTF-8");
    for (arguments, words) in [
        (&["--profile", "nobody"][..], "nobody"),
        (&["--tuned", "no-such-profile"], "no-such-profile"),
        (&["--profile", "a", "--tuned", "b"], "cannot be used with"),
        (&["--isolated", "x"], "CPU list"),
        (&["--set", "x"], "isolated=2-3"),
        (&["--allow", "no-housekeeping-cpu"], "possible values"),
        (&["--from", other], "whylate check --json"),
        (&["--from", "/no/such/file"], "/no/such/file"),
        (&["--root", "/no/such/place"], "/no/such/place"),
        (&["-o", "a.html"], ".txt, .json, .md"),
        (&[], "--isolated LIST"),
        (&["--isolated", "0", "--set", "isolated=1"], "pass one of them"),
    ] {
        let run = whylate(["plan"].iter().chain(arguments));
        assert_eq!(run.code, Some(2), "{run:#?}");
        assert!(run.stderr.contains(words), "{words}: {run:#?}");
    }
}

#[test]
fn profiles_are_listed() {
    let run = whylate(["plan", "--list"]);
    assert_eq!(run.code, Some(0), "{run:#?}");
    for name in ["realtime", "cpu-partitioning", "audio"] {
        assert!(run.stdout.lines().any(|line| line.split(' ').next() == Some(name)), "{name}: {run:#?}");
    }
}

#[test]
fn that_a_machine_was_captured_is_reported_once() {
    let file = snapshot();
    let run = whylate(["plan", "--root", file.to_str().expect("UTF-8"), "--isolated", "1", "--json"]);
    let left = json(&run.stdout)["left_alone"].as_array().cloned().expect("a list");
    let whys: Vec<&str> = left.iter().filter_map(|left| left["why"].as_str()).collect();
    assert_eq!(left[0]["what"], "captured machine");
    assert!(whys.iter().any(|why| why.ends_with("it was not collected")), "{whys:?}");
    assert!(!whys.iter().any(|why| why.contains("capture with")), "{whys:?}");
}

/// A snapshot takes the kernel's files that built-in profiles set, those that no check looks at as well.
#[test]
fn of_a_captured_machine_a_built_in_profile_knows_the_kernel_s_files() {
    let dir = tempfile::tempdir().expect("a directory");
    let file = dir.path().join("here");
    let file = file.to_str().expect("UTF-8");
    assert_eq!(whylate(["snapshot", "-o", file]).code, Some(0));
    for profile in ["audio", "robotics", "realtime-virtual-host"] {
        let run = whylate(["plan", "--root", file, "--profile", profile, "--isolated", "0", "--json"]);
        let run = if run.code == Some(2) {
            whylate(["plan", "--root", file, "--profile", profile, "--json"])
        } else {
            run
        };
        let left = json(&run.stdout)["left_alone"].as_array().cloned().expect("a list");
        let unknown = left.iter().filter(|left| {
            let text = |key: &str| left[key].as_str().unwrap_or_default();
            let kernels = ["/proc/sys/", "/sys/"].iter().any(|root| text("what").starts_with(root));
            kernels && text("why").contains("not collected")
        });
        assert_eq!(unknown.collect::<Vec<_>>(), Vec::<&Value>::new(), "{profile}");
    }
}

#[test]
fn without_kernel_parameters_all_else_is_planned() {
    let file = snapshot();
    let root = file.to_str().expect("UTF-8");
    let run = whylate(["plan", "--root", root, "--isolated", "1", "--skip-kernel-parameters", "--json"]);
    let plan = json(&run.stdout);
    let changes = names(&plan);
    assert!(changes.contains(&"kernel.timer_migration"), "{changes:?}");
    assert!(!changes.iter().any(|name| name.contains("isolcpus")), "{changes:?}");
    assert!(run.stdout.contains("--skip-kernel-parameters was given"), "{run:#?}");
}

/// As a user without access to another user's configuration, which HOME still names.
#[test]
fn profiles_in_an_unreadable_directory_are_reported_and_skipped() {
    let dir = tempfile::tempdir().expect("a directory");
    // Root may look anywhere; a name that leads in a circle is closed to every user.
    let home = dir.path().join("home");
    std::os::unix::fs::symlink(&home, &home).expect("a link");
    let run = std::process::Command::new(env!("CARGO_BIN_EXE_whylate"))
        .args(["plan", "--profile", "audio", "--json"])
        .env("HOME", &home)
        .env_remove("XDG_CONFIG_HOME")
        .output()
        .expect("it runs");
    let text = String::from_utf8_lossy(&run.stdout);
    assert!(matches!(run.status.code(), Some(0 | 1 | 3)), "{run:?}");
    assert!(text.contains("cannot tell whether there is such a profile"), "{text}");
}

#[test]
fn this_machine_is_planned_for_and_left_as_it_is() {
    let read = || std::fs::read_to_string("/proc/sys/vm/swappiness");
    let before = read().ok();
    let run = whylate(["plan", "--profile", "audio", "--json"]);
    assert!(matches!(run.code, Some(0 | 1 | 3)), "{run:#?}");
    assert_eq!(json(&run.stdout)["schema"], "whylate.plan/1");
    assert_eq!(read().ok(), before);
}

#[test]
fn two_sides_are_compared() {
    let file = snapshot();
    let root = file.to_str().expect("UTF-8");
    let base = ["plan", "--root", root, "--isolated", "1"];
    let run = |more: &[&str]| whylate(base.iter().chain(more));
    let differ = run(&["--profile", "cpu-partitioning", "--against", "realtime", "--json"]);
    assert_eq!(differ.code, Some(1), "{differ:#?}");
    let document = json(&differ.stdout);
    assert_eq!(document["schema"], "whylate.plan-compare/1");
    let settings = document["settings"].as_array().expect("a list");
    let nohz = settings.iter().find(|row| row["name"] == "kernel parameter nohz_full").expect("it is there");
    assert_eq!((&nohz["agreement"], &nohz["b"]["state"]), (&"different".into(), &"not-set".into()));
    assert_eq!(nohz["a"]["values"], serde_json::json!(["1"]));
    let same = run(&["--against", "realtime"]);
    assert_eq!(same.code, Some(0), "{same:#?}");
    assert!(same.stdout.contains("no difference") && same.stdout.contains("--all"), "{same:#?}");
    let other = run(&["--against", "realtime", "--against-set", "wake-up=50"]);
    assert_eq!(other.code, Some(1), "{other:#?}");
    let machine = whylate(["plan", "--profile", root, "--against", root, "--root", root]);
    assert_eq!(machine.code.map(|code| code == 1), Some(false), "{machine:#?}");
    let dir = tempfile::tempdir().expect("a directory");
    let page = dir.path().join("a.html").to_str().expect("UTF-8").to_owned();
    assert_eq!(run(&["--against", "audio", "-o", &page]).code, Some(1));
    assert!(std::fs::read_to_string(page).expect("written").contains("<details"));
}

#[test]
fn wrong_sides_are_reported() {
    let dir = tempfile::tempdir().expect("a directory");
    let junk = dir.path().join("junk.tar");
    std::fs::write(&junk, "no archive").expect("written");
    let junk = junk.to_str().expect("UTF-8");
    let empty = dir.path().to_str().expect("UTF-8");
    for (arguments, words) in [
        (&["--against", "nobody"][..], "neither a profile nor a file"),
        (&["--against", junk], junk),
        (&["--against", empty], "is not a capture of a machine"),
        (&["--against", "/no/such/place"], "no such file"),
        (&["--against", "audio", "--list"], "cannot be used with"),
        (&["--against", "audio", "--skip-kernel-parameters"], "cannot be used with"),
        (&["--against", "audio", "--set", "colour=red"], "neither realtime nor audio"),
        (&["--against", "audio", "--against-set", "colour=red"], "audio has no variable"),
        (&["--all"], "--against"),
        (&["--format", "html"], "a plan has no format html"),
    ] {
        let run = whylate(["plan", "--isolated", "1"].iter().chain(arguments));
        assert_eq!(run.code, Some(2), "{run:#?}");
        assert!(run.stderr.contains(words), "{words}: {run:#?}");
    }
}

/// What `explain` finds in a recording of this test suite, in a file.
fn explained(recording: &str, directory: &Path) -> String {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(recording);
    let into = directory.join("explain.json").to_str().expect("UTF-8").to_owned();
    let run = whylate(["explain", file.to_str().expect("UTF-8"), "-o", &into]);
    assert!(run.code.is_some_and(|code| code < 2), "{run:#?}");
    into
}

/// A machine with two CPUs on which the hog of the recordings runs, placed on CPU 0 on purpose.
fn machine_with_hog() -> TestRoot {
    let stat = |pid: i32, name: &str, priority: u32, policy: u32| {
        format!(
            "{pid} ({name}) S 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 7{pid} 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 {priority} \
             {policy} 0\n"
        )
    };
    TestRoot::new(&[
        ("/proc/1/task/1/stat", &stat(1, "init", 0, 0)),
        ("/proc/1/task/1/status", "Cpus_allowed_list:\t0-1\n"),
        ("/proc/7/task/7/stat", &stat(7, "hog", 1, 1)),
        ("/proc/7/task/7/status", "Cpus_allowed_list:\t0\n"),
        ("/proc/sys/kernel/sched_rt_runtime_us", "950000\n"),
        ("/sys/devices/system/cpu/online", "0-1\n"),
        ("/sys/devices/system/cpu/present", "0-1\n"),
    ])
}

#[test]
fn fixes_that_findings_advise_are_planned_and_the_others_listed() {
    let directory = tempfile::tempdir().expect("a directory");
    let from = explained("6.1-throttle.dat", directory.path());
    let document = json(&std::fs::read_to_string(&from).expect("written"));
    let fixes = document["findings"][0]["fixes"].as_array().expect("fixes");
    let texts: Vec<&Value> = fixes.iter().map(|fix| &fix["text"]).collect();
    assert_eq!(texts, document["findings"][0]["fix"].as_array().expect("fix").iter().collect::<Vec<_>>());
    assert_eq!(
        (&fixes[0]["action"]["kind"], &fixes[0]["action"]["set"][0]["thread"]),
        (&"thread".into(), &"hog".into())
    );
    let machine = machine_with_hog();
    let root = machine.directory().to_str().expect("UTF-8");
    let run = whylate(["plan", "--from", &from, "--root", root, "--json"]);
    assert_eq!(run.code, Some(1), "{run:#?}");
    let plan = json(&run.stdout);
    // It was placed there on purpose, and a fix that names it moves it all the same.
    assert_eq!(names(&plan), ["CPUs of hog (7)"], "{run:#?}");
    assert_eq!((&plan["changes"][0]["now"], &plan["changes"][0]["then"]), (&"0".into(), &"1".into()));
    let skipped = plan["left_alone"].to_string() + &plan["wishes"]["left_out"].to_string();
    assert!(skipped.contains("fix 3: sysctl") && skipped.contains("--fix 3 plans it instead"), "{skipped}");
    let text = whylate(["plan", "--from", &from, "--root", root]);
    assert!(
        text.stdout.contains("an alternative to fix 1") && text.stdout.contains("rt-throttled"),
        "{text:#?}"
    );
    for (fix, name) in [("2", "policy of hog (7)"), ("3", "kernel.sched_rt_runtime_us")] {
        let other = whylate(["plan", "--from", &from, "--fix", fix, "--root", root, "--json"]);
        assert_eq!(names(&json(&other.stdout)), [name], "{other:#?}");
    }
}

#[test]
fn a_fix_is_applied_and_undone_exactly() {
    let directory = tempfile::tempdir().expect("a directory");
    let from = explained("6.1-throttle.dat", directory.path());
    let machine = machine_with_hog();
    let before = machine.text("/proc/sys/kernel/sched_rt_runtime_us");
    let root = machine.directory().to_str().expect("UTF-8");
    let allow = ["--allow", "throttling-off-no-net"];
    let run = whylate(["apply", "--from", &from, "--fix", "3", "--yes", "--root", root].iter().chain(&allow));
    assert_eq!(run.code, Some(0), "{run:#?}");
    assert_eq!(machine.text("/proc/sys/kernel/sched_rt_runtime_us").as_deref().map(str::trim), Some("-1"));
    let run = whylate(["rollback", "--root", root]);
    assert_eq!(run.code, Some(0), "{run:#?}");
    assert_eq!(machine.text("/proc/sys/kernel/sched_rt_runtime_us"), before);
}

#[test]
fn documents_without_such_a_fix_are_refused() {
    let directory = tempfile::tempdir().expect("a directory");
    let from = explained("6.1-own-work.dat", directory.path());
    let throttled_dir = tempfile::tempdir().expect("a directory");
    let throttled = explained("6.1-throttle.dat", throttled_dir.path());
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../report/tests/fixtures");
    let fixture = |name: &str| fixtures.join(name).to_str().expect("UTF-8").to_owned();
    let (old, other) = (fixture("doctor-1-first.json"), fixture("plan-1-first.json"));
    let machine = machine_with_hog();
    let root = machine.directory().to_str().expect("UTF-8");
    for (arguments, words) in [
        (&["--from", &from][..], "no setting makes it: the program of the late thread is to be changed"),
        (&["--from", &old], "was written before fixes had settings"),
        (&["--from", &other], "has the schema whylate.plan/1, and one of whylate.explain/1"),
        (&["--from", &throttled, "--fix", "99"], "has no fix 99: its fixes are 1 to"),
        (&["--from", &from, "--fix", "1"], "cannot be made: no setting makes it"),
        (&["--from", &from, "--isolated", "1"], "names its own settings"),
        (&["--fix", "1"], "--from"),
        (&["--from", &from, "--fix", "x"], "invalid digit"),
    ] {
        let run = whylate(["plan", "--root", root].iter().chain(arguments));
        assert_eq!(run.code, Some(2), "{arguments:?}: {run:#?}");
        assert!(run.stderr.contains(words), "{arguments:?}: {run:#?}");
    }
}
