//! `whylate simulate` on the task sets of the documentation, on recordings, and on wrong input.

use crate::support::run::whylate;
use serde_json::Value;
use std::path::Path;

fn example(name: &str) -> String {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../simulate/examples");
    examples.join(name).display().to_string()
}

#[test]
fn the_kernel_decides_what_delays_story_a() {
    for (kernel, cause) in [("6.1", "rt-throttled"), ("6.12", "fair-server")] {
        let run = whylate(["simulate", &example("story-a.toml"), "--kernel", kernel, "-d", "2s", "--json"]);
        assert_eq!(run.code, Some(1), "{run:#?}");
        let document: Value = serde_json::from_str(&run.stdout).expect("JSON");
        assert_eq!(document["schema"], "whylate.simulate/1");
        assert_eq!(document["model"]["kernel"], kernel);
        let victim = &document["tasks"][0];
        let (worst, bound) = (victim["response_ns"]["max"].as_i64(), victim["bound_ns"].as_i64());
        assert!(worst > Some(40_000_000) && worst <= bound, "{victim:#}");
        assert!(victim["causes"][cause].as_i64() > Some(40_000_000), "{victim:#}");
    }
}

#[test]
fn every_format_is_written() {
    for format in ["text", "json", "html", "markdown", "svg"] {
        let run = whylate(["simulate", &example("story-c.toml"), "-d", "2s", "--format", format]);
        assert_eq!(run.code, Some(1), "{format}: {run:#?}");
        assert!(run.stdout.contains("coarse-clock-throttled"), "{format}");
    }
}

#[test]
fn what_cannot_be_simulated_is_named() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("tasks.toml");
    for (text, named) in [
        ("[[task]]\nname = \"a\"\nperiod = \"10\"\nrun = \"1ms\"\n", "task `a`: period"),
        ("[[task]]\nname = \"a\"\nruntime = \"5ms\"\nperiod = \"5ms\"\nrun = \"1ms\"\n", "EBUSY"),
        ("nonsense", "TOML parse error"),
    ] {
        std::fs::write(&file, text).expect("written");
        let run = whylate(["simulate", &file.display().to_string()]);
        assert_eq!((run.code, run.stdout.as_str()), (Some(2), ""), "{run:#?}");
        assert!(run.stderr.contains(named), "{run:#?}");
    }
    let absent = directory.path().join("absent.toml").display().to_string();
    let run = whylate(["simulate", &absent]);
    assert_eq!(run.code, Some(2));
    assert!(run.stderr.contains("cannot read the task set"), "{run:#?}");
}

fn fixture(name: &str) -> String {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    fixtures.join(format!("{name}.dat")).display().to_string()
}

fn replayed(args: &[&str]) -> Value {
    let run = whylate(args.iter().copied().chain(["--json"]));
    assert!(matches!(run.code, Some(0 | 1)), "{args:?}: {run:#?}");
    let document: Value = serde_json::from_str(&run.stdout).expect("JSON");
    document["replay"].clone()
}

fn max(replay: &Value, thread: &str, when: &str) -> i64 {
    let threads = replay["threads"].as_array().expect("threads");
    let found = threads.iter().find(|found| found["name"] == thread).expect(thread);
    found[when]["max"].as_i64().expect(when)
}

#[test]
fn a_replay_without_a_change_gives_the_recording_back() {
    for (name, most_us, share) in [
        ("6.1-nothing", 1, 0.01),
        ("6.1-higher", 1, 0.01),
        ("6.1-equal", 1, 0.01),
        ("6.1-deadline", 1, 0.01),
        ("6.1-inversion", 1, 0.01),
        ("6.1-lock-chain", 25, 0.01),
        ("6.1-pi", 15, 0.01),
        ("6.1-page-fault", 1, 0.01),
        ("6.1-relative-sleep", 1, 0.01),
        ("6.1-throttle", 1, 0.01),
        ("7.2-fair-server", 1, 0.08),
        ("7.2-rt-higher", 1, 0.1),
    ] {
        let replay = replayed(&["simulate", &fixture(name)]);
        let error = &replay["error"];
        assert!(error["jobs"].as_u64() >= Some(150), "{name}: {error}");
        assert!(error["p90_ns"].as_i64() <= Some(most_us * 1000), "{name}: {error}");
        assert!(error["worst_share"].as_f64().expect("a share").abs() <= share, "{name}: {error}");
    }
}

#[test]
fn a_change_is_predicted() {
    let ms = 1_000_000;
    for (name, change, least, most) in [
        ("6.1-throttle", ["--set", "throttling=off"], 0, ms),
        ("6.1-throttle", ["--remove", "hog"], 0, ms),
        ("6.1-throttle", ["--set", "kernel=6.12"], 0, ms),
        ("7.2-fair-server", ["--set", "kernel=6.1"], 30 * ms, 70 * ms),
        ("7.2-fair-server", ["--set", "fair-server=off"], 0, ms),
        ("6.1-higher", ["--remove", "rogue-high"], 0, ms),
        ("6.1-higher", ["--set", "rogue-high.priority=40"], 0, ms),
        ("6.1-higher", ["--set", "victim.priority=60"], 0, ms),
        ("6.1-higher", ["--scale", "rogue-high=2"], 5 * ms, 7 * ms),
        ("6.1-inversion", ["--remove", "middle-hog"], ms, 8 * ms),
    ] {
        let replay = replayed(&["simulate", &fixture(name), "-t", "victim", change[0], change[1]]);
        let after = max(&replay, "victim", "predicted_ns");
        assert!(max(&replay, "victim", "replayed_ns") > 2 * ms, "{name}");
        assert!((least..most).contains(&after), "{name} {change:?}: {after}");
        assert_eq!(replay["changes"][0], change.join(" "));
    }
}

#[test]
fn a_replay_is_written_in_every_format_and_judged_by_the_deadline() {
    let higher = fixture("6.1-higher");
    for format in ["text", "json", "html", "markdown"] {
        let run = whylate(["simulate", &higher, "-t", "victim", "--deadline", "1ms", "--format", format]);
        assert_eq!(run.code, Some(1), "{format}: {run:#?}");
        assert!(run.stdout.contains("simulated-deadline-missed"), "{format}");
    }
    let run = whylate(["simulate", &higher, "-t", "victim", "--deadline", "1ms", "--remove", "rogue-high"]);
    assert_eq!(run.code, Some(0), "{run:#?}");
    assert!(run.stdout.starts_with("replay without a change: "), "{run:#?}");
    assert!(run.stdout.contains("victim: worst 2.8"), "{run:#?}");
}

#[test]
fn a_mean_model_runs_longer_than_its_recording_and_names_its_error_first() {
    let file = fixture("6.1-page-fault");
    let run = whylate(["simulate", &file, "-t", "victim", "--mean", "-d", "20s", "--seed", "2"]);
    assert!(run.stdout.starts_with("mean model without a change: median response "), "{run:#?}");
    assert!(run.stdout.contains("seed 2"), "{run:#?}");
    let document = replayed(&["simulate", &file, "-t", "victim", "--mean", "-d", "20s"]);
    let error = &document["mean"]["error"];
    assert!(error["p50_share"].as_f64().is_some_and(|share| share.abs() < 0.05), "{document:#}");
    let thread = &document["threads"][0];
    let (seen, drawn) = (thread["recorded_ns"]["jobs"].as_i64(), thread["predicted_ns"]["jobs"].as_i64());
    assert!(drawn > seen.map(|jobs| 5 * jobs), "{document:#}");
    let refused = whylate(["simulate", &file, "--seed", "2"]);
    assert!(refused.code == Some(2) && refused.stderr.contains("--mean"), "{refused:#?}");
}

#[test]
fn a_change_that_cannot_be_made_is_refused() {
    let higher = fixture("6.1-higher");
    for (args, named) in [
        (["--remove", "nosuch"], "it has victim"),
        (["--set", "victim.cpus=1"], "1 CPU"),
        (["--task", "nosuch"], "no thread `nosuch`"),
        (["--seed", "1"], "for task sets"),
        (["--set", "victim.colour=red"], "`colour` cannot be set"),
    ] {
        let run = whylate(["simulate", &higher, args[0], args[1]]);
        assert_eq!((run.code, run.stdout.as_str()), (Some(2), ""), "{run:#?}");
        assert!(run.stderr.contains(named), "{run:#?}");
    }
    let run = whylate(["simulate", &example("story-a.toml"), "--remove", "hog"]);
    assert_eq!(run.code, Some(2));
    assert!(run.stderr.contains("are for recordings"), "{run:#?}");
}

#[test]
fn the_simulated_schedule_is_exported_and_explained_as_a_recording() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = |name: &str| directory.path().join(name).display().to_string();
    let story = example("story-a.toml");
    let dat = file("a.dat");
    let run = whylate(["simulate", &story, "--kernel", "6.1", "-d", "2s", "--export", &dat]);
    assert_eq!(run.code, Some(1), "{run:#?}");
    assert!(run.stderr.contains("simulated events"), "{run:#?}");
    let explained = whylate(["explain", &dat, "-t", "victim", "--json"]);
    let document: Value = serde_json::from_str(&explained.stdout).expect("JSON");
    assert_eq!(document["activations"][0]["verdict"]["cause"], "rt-throttled", "{explained:#?}");
    let higher = fixture("6.1-higher");
    for name in ["b.perfetto-trace", "b.txt", "b.jsonl"] {
        let run = whylate(["simulate", &higher, "--remove", "rogue-high", "--export", &file(name)]);
        assert_eq!(run.code, Some(0), "{run:#?}");
        assert!(std::fs::metadata(file(name)).is_ok_and(|written| written.len() > 10_000), "{name}");
    }
    let run = whylate(["simulate", &story, "--export", &file("a.png")]);
    assert_eq!((run.code, run.stdout.as_str()), (Some(2), ""), "{run:#?}");
}

#[test]
fn the_worst_case_is_never_below_what_was_seen() {
    for (name, thread) in [
        ("6.1-higher", "victim"),
        ("6.1-softirq", "victim"),
        ("6.1-pi", "victim"),
        ("6.1-page-fault", "victim"),
        ("7.2-rt-higher", "victim"),
    ] {
        let run = whylate(["simulate", &fixture(name), "-t", thread, "--worst-case", "--json"]);
        let document: Value = serde_json::from_str(&run.stdout).expect("JSON");
        let worst = &document["worst_cases"][0];
        let (seen, bound) = (worst["seen_ns"].as_i64(), worst["bound_ns"].as_i64());
        assert!(seen > Some(0), "{name}: {worst:#}");
        assert_eq!(run.code == Some(3), bound.is_none(), "{name}: {run:#?}");
        if bound.is_some() {
            assert!(bound >= seen, "{name}: {worst:#}");
            assert!(worst["contributors"].as_array().is_some_and(|parts| !parts.is_empty()), "{name}");
        }
    }
}

#[test]
fn a_worst_case_is_written_as_a_program() {
    let directory = tempfile::tempdir().expect("a directory");
    let into = directory.path().join("worst").display().to_string();
    let run =
        whylate(["simulate", &fixture("6.1-higher"), "-t", "victim", "--worst-case", "--provoke", &into]);
    assert!(matches!(run.code, Some(0 | 1)), "{run:#?}");
    assert!(run.stdout.contains("Worst case of victim") && run.stdout.contains("fix first"), "{run:#?}");
    let program = std::fs::read_to_string(directory.path().join("worst/provoke.c")).expect("a program");
    assert!(program.contains("\"victim\"") && !program.contains('@'), "{program}");
    assert!(directory.path().join("worst/README.md").is_file());
    let compiled = std::process::Command::new("cc")
        .args(["-O1", "-Wall", "-Werror", "-pthread", "-o", "provoke", "provoke.c"])
        .current_dir(directory.path().join("worst"))
        .output();
    match compiled {
        Ok(output) => assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr)),
        Err(error) => whylate_testing::skip(whylate_testing::Need::Program, format!("cc: {error}")),
    }
}

#[test]
fn what_has_no_worst_case_is_named() {
    let run = whylate(["simulate", &fixture("6.1-higher"), "-t", "nosuch", "--worst-case"]);
    assert_eq!(run.code, Some(2), "{run:#?}");
    assert!(run.stderr.contains("no thread `nosuch`"), "{run:#?}");
    let run = whylate(["simulate", &fixture("6.1-higher"), "-t", "kworker*", "--worst-case"]);
    assert_eq!(run.code, Some(3), "{run:#?}");
    assert!(run.stdout.contains("SCHED_OTHER threads take turns"), "{run:#?}");
    let run = whylate(["simulate", &example("story-a.toml"), "-t", "ctl", "--worst-case"]);
    assert_eq!(run.code, Some(2), "{run:#?}");
    assert!(run.stderr.contains("--worst-case"), "{run:#?}");
}

#[test]
fn a_sweep_finds_the_bad_phase_in_every_format() {
    let story = example("story-c.toml");
    let phases = "victim.offset=0..4ms/250us";
    for format in ["text", "json", "html", "markdown", "svg"] {
        let run = whylate(["simulate", &story, "-d", "3s", "--sweep", phases, "--format", format]);
        assert_eq!(run.code, Some(1), "{format}: {run:#?}");
        assert!(format == "svg" || run.stdout.contains("3750us"), "{format}");
    }
    let run = whylate(["simulate", &story, "-d", "3s", "--sweep", phases, "--json"]);
    let document: Value = serde_json::from_str(&run.stdout).expect("JSON");
    let sweep = &document["sweep"];
    assert_eq!(
        (sweep["missing_deadlines"].as_u64(), sweep["worst"].as_u64()),
        (Some(1), Some(15)),
        "{sweep:#}"
    );
    assert_eq!(sweep["combinations"].as_array().map(Vec::len), Some(16));
    let good = whylate(["simulate", &story, "-d", "3s", "--sweep", "victim.offset=0..3500us/250us"]);
    assert_eq!(good.code, Some(0), "{good:#?}");
    assert!(good.stdout.contains("no deadline is missed in 15 combinations"), "{good:#?}");
}

/// Story A's task set on a machine without a limit for real-time threads: nobody is throttled.
#[test]
fn the_machine_of_a_task_set_is_that_of_a_snapshot() {
    let root = tempfile::tempdir().expect("temporary directory");
    for (path, text) in [
        ("proc/sys/kernel/osrelease", "6.1.0-18-rt-amd64\n"),
        ("proc/sys/kernel/sched_rt_runtime_us", "-1\n"),
        ("proc/sys/kernel/sched_rt_period_us", "1000000\n"),
        ("sys/devices/system/cpu/online", "0-3\n"),
        ("boot/config-6.1.0-18-rt-amd64", "CONFIG_HZ=100\nCONFIG_PREEMPT_RT=y\n"),
    ] {
        let path = root.path().join(path);
        std::fs::create_dir_all(path.parent().expect("a directory")).expect("made");
        std::fs::write(path, text).expect("written");
    }
    let root = root.path().display().to_string();
    let story = example("story-a.toml");
    let throttled = whylate(["simulate", &story, "-d", "3s", "--json"]);
    assert_eq!(throttled.code, Some(1), "{throttled:#?}");
    let run = whylate(["simulate", &story, "-d", "3s", "--json", "--snapshot", &root]);
    let document: Value = serde_json::from_str(&run.stdout).expect("JSON");
    let model = &document["model"];
    assert_eq!((model["kernel"].as_str(), model["cpus"].as_u64()), (Some("6.1"), Some(4)));
    assert_eq!(model["preempt_rt"].as_bool(), Some(true));
    assert!(!run.stdout.contains("rt-throttled"), "{run:#?}");
    // What the command line says comes first.
    let run = whylate(["simulate", &story, "-d", "1s", "--json", "--snapshot", &root, "--cpus", "2"]);
    let document: Value = serde_json::from_str(&run.stdout).expect("JSON");
    assert_eq!(document["model"]["cpus"].as_u64(), Some(2));
    for (path, words) in
        [("/nowhere", "/nowhere"), (env!("CARGO_MANIFEST_DIR"), "not a capture of a machine")]
    {
        let run = whylate(["simulate", &story, "--snapshot", path]);
        assert_eq!(run.code, Some(2), "{run:#?}");
        assert!(run.stderr.contains(words), "{run:#?}");
    }
}

#[test]
fn a_proposal_is_a_run_with_its_changes_and_a_profile_that_plan_takes() {
    let directory = tempfile::tempdir().expect("temporary directory");
    let profile = directory.path().join("p.toml").display().to_string();
    let higher = fixture("6.1-higher");
    let base = ["simulate", higher.as_str(), "-t", "victim", "--deadline", "2ms"];
    let run = whylate([&base[..], &["--propose", "--json", "--write-profile", &profile]].concat());
    let document: Value = serde_json::from_str(&run.stdout).expect("JSON");
    let proposal = &document["proposal"];
    assert_eq!((proposal["outcome"].as_str(), proposal["held_by"].as_str()), (Some("found"), Some("run")));
    let before = proposal["tasks"][0]["before"].clone();
    assert!(before["misses"].as_u64() > Some(0), "{proposal:#}");
    // The same changes by hand show the same.
    let change = proposal["changes"][0].as_str().expect("a change").to_owned();
    let by_hand = whylate([&base[..], &["--json", "--set", &change]].concat());
    let by_hand: Value = serde_json::from_str(&by_hand.stdout).expect("JSON");
    assert_eq!(document["tasks"], by_hand["tasks"]);
    for format in ["text", "html", "markdown"] {
        let run = whylate([&base[..], &["--propose", "--format", format]].concat());
        assert!(run.stdout.contains(&change), "{format}: {run:#?}");
    }
    let plan = whylate(["plan", "--profile", &profile]);
    assert!(plan.stderr.is_empty() && plan.stdout.contains("threads victim"), "{plan:#?}");
    let none = whylate([
        "simulate",
        &higher,
        "-t",
        "victim",
        "--deadline",
        "1us",
        "--propose",
        "--write-profile",
        &profile,
    ]);
    assert_eq!(none.code, Some(3), "{none:#?}");
    assert!(none.stderr.contains("is not written: nothing was found"), "{none:#?}");
    let without = whylate(["simulate", &higher, "-t", "victim", "--propose"]);
    assert_eq!(without.code, Some(2), "{without:#?}");
    assert!(without.stderr.contains("--deadline"), "{without:#?}");
}

#[test]
fn a_combination_of_a_sweep_is_what_set_shows() {
    let higher = fixture("6.1-higher");
    let run =
        whylate(["simulate", &higher, "-t", "victim", "--sweep", "rogue-high.priority=40..60/20", "--json"]);
    let document: Value = serde_json::from_str(&run.stdout).expect("JSON");
    assert!(document["replay"]["error"]["jobs"].as_u64() > Some(100));
    for combination in document["sweep"]["combinations"].as_array().expect("combinations") {
        let value = combination["values"][0].as_str().expect("a value");
        let set = format!("rogue-high.priority={value}");
        let replay = replayed(&["simulate", &higher, "-t", "victim", "--set", &set]);
        let worst = combination["outcome"]["threads"][0]["max_ns"].as_i64();
        assert_eq!(worst, Some(max(&replay, "victim", "predicted_ns")), "{set}");
    }
    let story = example("story-c.toml");
    let run = whylate(["simulate", &story, "-d", "1s", "--set", "victim.offset=0", "--json"]);
    let document: Value = serde_json::from_str(&run.stdout).expect("JSON");
    assert_eq!(document["tasks"][0]["response_ns"]["max"], 400_000, "{run:#?}");
}

#[test]
fn a_sweep_that_cannot_be_made_is_refused() {
    let (higher, story) = (fixture("6.1-higher"), example("story-c.toml"));
    for (input, option, named) in [
        (&higher, "nosuch.priority=1..3", "no thread `nosuch`; it has victim"),
        (&higher, "victim.priority=5..1", "is empty"),
        (&higher, "victim.offset=0..1s/1us", "more than 10000 values"),
        (&story, "victim.cpus=1..3", "the machine has 1 CPU"),
        (&story, "nosuch.priority=1..3", "no task `nosuch`; it has victim"),
    ] {
        let run = whylate(["simulate", input, "--sweep", option]);
        assert_eq!((run.code, run.stdout.as_str()), (Some(2), ""), "{run:#?}");
        assert!(run.stderr.contains(named), "{run:#?}");
    }
}
