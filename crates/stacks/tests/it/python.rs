//! The lines of a program in Python, by each interpreter that is installed.

use crate::program::{line, sources};
use std::collections::HashSet;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use whylate_base::Tid;
use whylate_events::{ModuleKind, SampleKind, Stacks};
use whylate_stacks::{SamplerOptions, StackSampler};
use whylate_testing::{Need, skip};

/// The interpreters themselves: `python3` may be a script of a version manager.
fn interpreters() -> HashSet<PathBuf> {
    let executable = |name: &str| {
        let output = Command::new(name).args(["-c", "import sys; print(sys.executable)"]).output().ok()?;
        let path = String::from_utf8(output.stdout).ok().filter(|_| output.status.success())?;
        fs::canonicalize(path.trim()).ok()
    };
    ["python3", "/usr/bin/python3", "python3.11", "python3.12", "python3.13"]
        .into_iter()
        .filter_map(executable)
        .collect()
}

/// Samples the program from its first byte of input until it has done its work; its memory can be read until all is looked at.
fn sample(interpreter: &Path) -> Option<Stacks> {
    let sampler = StackSampler::start(SamplerOptions::default()).ok()?;
    let mut child = Command::new(interpreter)
        .args(["-S", "-E", "-B"])
        .arg(sources().join("calls.py"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    sampler.follow(Tid(child.id() as i32)).expect("a child");
    let mut input = child.stdin.take().expect("a pipe");
    input.write_all(b"x").expect("it waits");
    let mut done = String::new();
    BufReader::new(child.stdout.take().expect("a pipe")).read_line(&mut done).expect("a line");
    assert_eq!(done, "done\n");
    let stacks = sampler.finish();
    drop(input);
    assert!(child.wait().expect("it runs").success());
    Some(stacks)
}

#[test]
fn each_call_from_python_has_its_line() {
    let functions = [
        "sleep",
        "Loop.step",
        "Loop.__enter__",
        "Loop.__exit__",
        "numbers",
        "main.<locals>.<lambda>",
        "main",
    ];
    let lines = functions.map(|name| (name.to_owned(), line("calls.py", name).expect("marked")));
    let mut known = 0;
    for interpreter in interpreters() {
        let version = Command::new(&interpreter).arg("--version").output().expect("it runs").stdout;
        let version = String::from_utf8(version).expect("a version");
        let is_known =
            ["Python 3.11.", "Python 3.12.", "Python 3.13."].iter().any(|one| version.starts_with(one));
        let Some(stacks) = sample(&interpreter).filter(|_| is_known) else { continue };
        known += 1;
        let sleeps: Vec<_> =
            stacks.samples.iter().filter(|sample| sample.kind == SampleKind::SwitchOut).collect();
        if sleeps.is_empty() {
            return skip(Need::Root, "switches are in the kernel, which needs privileges");
        }
        let mut seen = HashSet::new();
        for sample in sleeps {
            let frame = stacks.own_frame(sample.stack).filter(|frame| frame.kind() == ModuleKind::Jit);
            let Some(frame) = frame.filter(|frame| frame.file_name() == Some("calls.py")) else { continue };
            if let (Some(function), Some(line)) = (frame.function(), frame.line()) {
                seen.insert((function.to_owned(), line));
            }
        }
        for place in &lines {
            assert!(seen.contains(place), "{version}: {place:?} is missing in {seen:?}: {:?}", stacks.notes);
        }
        let others = ["begin", "wrapped", "end"].map(|name| line("calls.py", name).expect("marked"));
        let is_right =
            |place: &(String, u32)| lines.contains(place) || place.0 == "main" && others.contains(&place.1);
        assert!(seen.iter().all(is_right), "{version}: {seen:?}");
    }
    if known == 0 {
        skip(Need::Program, "Python 3.11, 3.12 or 3.13");
    }
}
