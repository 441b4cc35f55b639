//! `whylate prove`: what is refused, what a round changes, and what remains of a proof that ends early.

use crate::support::answer::{list, number};
use crate::support::run::{Killed, Run, command, copy_program, ended, whylate};
use crate::support::tracefs::one_at_a_time;
use serde_json::Value;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;
use whylate_testing::{Need, skip};

/// Nothing here takes this long, even on a loaded machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// A process with a name that no other has, which may use two CPUs, and journals of its own.
struct Subject {
    directory: TempDir,
    process: Killed,
    name: String,
}

impl Subject {
    /// `None`: this machine cannot have one.
    fn start(name: &str) -> Option<Subject> {
        if !rustix::process::geteuid().is_root() {
            skip(Need::Root, "to change the CPUs of threads");
            return None;
        }
        let own = fs::read_to_string("/proc/self/status").expect("own status");
        if !allowed(&own).starts_with("0-") {
            skip(Need::Machine, "the CPUs 0 and 1");
            return None;
        }
        let directory = tempfile::tempdir().expect("a directory");
        let program = directory.path().join(name);
        let sleep = ["/usr/bin/sleep", "/bin/sleep"].into_iter().find(|path| Path::new(path).is_file());
        copy_program(sleep.expect("sleep"), &program);
        let process = Command::new(&program).arg("300").stdin(Stdio::null()).spawn().expect("it starts");
        Some(Subject { directory, process: Killed(process), name: name.to_owned() })
    }

    fn cpus(&self) -> String {
        let path = format!("/proc/{}/status", self.process.0.id());
        allowed(&fs::read_to_string(path).expect("its status"))
    }

    /// A proof that gives it CPU 0.
    fn prove(&self, options: &[&str]) -> Command {
        let mut prove = command();
        prove.args(["prove", "--set", &format!("{}.cpus=0", self.name), "--probe", "timer", "--journals"]);
        prove.arg(self.directory.path()).args(options);
        prove.stdin(Stdio::null());
        prove
    }

    fn journals(&self) -> Vec<PathBuf> {
        let directory = self.directory.path().join("var/lib/whylate/tuning");
        let all = fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.path());
        all.map(|path| path.join("journal.jsonl")).filter(|path| path.is_file()).collect()
    }
}

fn allowed(status: &str) -> String {
    let line = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
    line.unwrap_or_default().trim().to_owned()
}

#[track_caller]
fn wait_for(what: &str, is_so: impl Fn() -> bool) {
    let end = Instant::now() + PATIENCE;
    while !is_so() {
        assert!(Instant::now() < end, "{what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn proof(stdout: &str) -> Value {
    let proof: Value = serde_json::from_str(stdout).unwrap_or_else(|error| panic!("{error}: {stdout}"));
    assert_eq!(proof["schema"], "whylate.prove/1");
    proof
}

fn refused<A: AsRef<OsStr>>(arguments: impl IntoIterator<Item = A>) -> Run {
    let run = whylate(arguments);
    assert_eq!((run.code, run.stdout.as_str()), (Some(2), ""), "{}", run.stderr);
    run
}

#[test]
fn what_cannot_be_proven_is_refused_with_the_reason() {
    let directory = tempfile::tempdir().expect("a directory");
    let journals = directory.path().display().to_string();
    let document = directory.path().join("doctor.json");
    let text = |action: &str| {
        format!(
            r#"{{"schema": "whylate.doctor/1", "threads": [], "notes": [], "findings": [{{"code": "a", "severity": "error",
            "title": "A", "why": "", "fix": ["x"], "fixes": [{{"text": "x", "action": {action}}}]}}]}}"#
        )
    };
    let file = document.display().to_string();
    for (arguments, words) in [
        (&["prove"][..], "which change? give --from FILE.json"),
        (&["prove", "--set", "isolated=1"], "needs --profile"),
        (&["prove", "--set", "x.cpus=one"], "no list of CPUs"),
        (
            &["prove", "--set", "vm.swappiness=1", "--task", "x", "--cpus", "0"],
            "--cpus is an option of a probe",
        ),
        (&["prove", "--set", "no-such-thread-here.cpus=0"], "no thread is called no-such-thread-here"),
        (&["prove", "--set", "kernel.no_such_sysctl=0"], "this kernel has no such file"),
        (&["prove", "--from", "no-such-file.json"], "cannot read no-such-file.json"),
        (&["prove", "--from", &file], "counts from the next boot on"),
        (
            &["prove", "--across-reboots", "--set", "vm.swappiness=1"],
            "no kernel parameter to prove: nothing to change",
        ),
        (&["prove", "--across-reboots", "--from", "-"], "a later boot cannot read standard input again"),
        (&["prove", "--kernel-parameter", "nosmt"], "--across-reboots"),
        (&["prove", "--across-reboots", "--kernel-parameter", "a b"], "write one parameter"),
        (&["prove", "--across-reboots", "--skip-kernel-parameters"], "cannot be used with"),
    ] {
        fs::write(
            &document,
            text(r#"{"kind": "kernel-parameter", "set": [{"parameter": "nosmt", "value": ""}]}"#),
        )
        .expect("a document");
        let run = refused(arguments.iter().copied().chain(["--journals", &journals]));
        // Where the boot loader is unknown, a kernel parameter is no change.
        let is_known = run.stderr.contains(words)
            || (words.contains("next boot") && run.stderr.contains("nothing to change"));
        assert!(is_known, "{arguments:?}: {}", run.stderr);
    }
    fs::write(&document, text(r#"{"kind": "code", "reason": "the program is to be changed"}"#))
        .expect("a document");
    let run = refused(["prove", "--from", &file, "--journals", &journals]);
    assert!(run.stderr.contains("the program is to be changed"), "{}", run.stderr);
    let run = refused(["prove", "--set", "vm.swappiness=1", "--rounds", "7"]);
    assert!(run.stderr.contains("multiple of 4"), "{}", run.stderr);
}

#[test]
fn rounds_take_turns_and_nothing_stays() {
    let _turn = one_at_a_time();
    let Some(subject) = Subject::start("wlprove-rounds") else { return };
    let before = subject.cpus();
    let options = ["--round", "150ms", "--rounds", "8", "--settle", "1ms", "--throughput", "true", "--json"];
    let run = ended(subject.prove(&options).output().expect("whylate starts"));
    assert!(matches!(run.code, Some(0 | 1 | 3)), "{:?}: {}", run.code, run.stderr);
    let proof = proof(&run.stdout);
    let states: Vec<_> =
        list(&proof["rounds"]).iter().map(|round| round["state"].as_str().unwrap_or("")).collect();
    assert_eq!(states, ["before", "after", "after", "before", "before", "after", "after", "before"]);
    let change = &list(&proof["change"])[0];
    assert_eq!((&change["now"], &change["then"]), (&before.as_str().into(), &"0".into()));
    assert!(list(&proof["rounds"]).iter().all(|round| number(&round["samples"]) > 0), "{proof:#}");
    assert_eq!((&proof["kept"], &proof["apply"]), (&false.into(), &Value::Null));
    assert!(list(&proof["side_effects"]).iter().any(|effect| effect["kind"] == "throughput"), "{proof:#}");
    assert_eq!(subject.cpus(), before);
    assert_eq!(subject.journals().len(), 4);
}

#[test]
fn a_signal_rolls_back_and_gives_no_verdict() {
    let _turn = one_at_a_time();
    let Some(subject) = Subject::start("wlprove-signal") else { return };
    let before = subject.cpus();
    let mut prove = subject.prove(&["--round", "300ms", "--settle", "1ms", "--json"]);
    let child = prove.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("whylate starts");
    wait_for("a round with the change", || subject.cpus() == "0");
    let pid = i32::try_from(child.id()).ok().and_then(rustix::process::Pid::from_raw).expect("a process");
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).expect("a signal");
    let run = ended(child.wait_with_output().expect("it ends"));
    assert_eq!(run.code, Some(3), "{}", run.stderr);
    let proof = proof(&run.stdout);
    assert_eq!(proof["verdict"], "refused");
    assert!(
        list(&proof["why"])[0].as_str().is_some_and(|why| why.contains("ended by a signal")),
        "{proof:#}"
    );
    assert_eq!(subject.cpus(), before);
}

#[test]
fn killed_its_change_is_rolled_back() {
    let _turn = one_at_a_time();
    let Some(subject) = Subject::start("wlprove-killed") else { return };
    let before = subject.cpus();
    let mut prove = subject.prove(&["--round", "500ms", "--settle", "1ms"]);
    let mut child = prove.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("whylate starts");
    wait_for("a round with the change", || subject.cpus() == "0");
    child.kill().expect("a signal");
    child.wait().expect("it ends");
    wait_for("the watchdog rolls it back", || subject.cpus() == before);
}

/// As where the watchdog was killed as well: the journal of a round stays as it was written.
#[test]
fn the_next_proof_rolls_back_what_was_left() {
    let _turn = one_at_a_time();
    let Some(subject) = Subject::start("wlprove-left") else { return };
    let before = subject.cpus();
    let mut prove = subject.prove(&["--round", "500ms", "--settle", "1ms"]);
    let mut child = prove.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("whylate starts");
    wait_for("a round with the change", || subject.cpus() == "0");
    for watchdog in children(child.id()) {
        let pid = rustix::process::Pid::from_raw(watchdog).expect("a process");
        rustix::process::kill_process(pid, rustix::process::Signal::KILL).expect("a signal");
    }
    child.kill().expect("a signal");
    child.wait().expect("it ends");
    let is_left = subject.cpus() == "0";
    // It is refused, but what was left is rolled back first.
    let journals = subject.directory.path().display().to_string();
    let run = refused(["prove", "--set", "kernel.no_such_sysctl=0", "--journals", &journals]);
    // The round may have ended just before.
    assert!(!is_left || run.stderr.contains("was killed: its change"), "{}", run.stderr);
    assert_eq!(subject.cpus(), before);
}

fn children(of: u32) -> Vec<i32> {
    let path = format!("/proc/{of}/task/{of}/children");
    let text = fs::read_to_string(path).unwrap_or_default();
    text.split_whitespace().filter_map(|pid| pid.parse().ok()).collect()
}
