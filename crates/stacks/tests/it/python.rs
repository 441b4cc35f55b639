//! The lines of a program in Python, by each interpreter that is installed.

use crate::program::{line, sources};
use std::collections::{HashMap, HashSet};
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use whylate_base::Tid;
use whylate_events::{Frame, SampleKind, Stacks};
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

/// How often the program sleeps in each place.
const ROUNDS: usize = 20;

#[test]
fn each_call_from_python_has_its_line() {
    let functions = [
        "sleep",
        "log",
        "Loop.step",
        "Loop.__enter__",
        "Loop.__exit__",
        "numbers",
        "nap",
        "main",
        "main.<locals>.<lambda>",
    ];
    let marked = |function: &str, name| (function.to_owned(), line("calls.py", name).expect("marked"));
    let places = functions.map(|name| marked(name, name));
    let places: HashSet<(String, u32)> =
        places.into_iter().chain(["wrapped", "mapped"].map(|name| marked("main", name))).collect();
    let mut known = 0;
    for interpreter in interpreters() {
        let version = Command::new(&interpreter).arg("--version").output().expect("it runs").stdout;
        let version = String::from_utf8(version).expect("a version");
        let is_known =
            ["Python 3.11.", "Python 3.12.", "Python 3.13."].iter().any(|one| version.starts_with(one));
        let Some(stacks) = sample(&interpreter).filter(|_| is_known) else { continue };
        known += 1;
        let switches: Vec<_> =
            stacks.samples.iter().filter(|sample| sample.kind == SampleKind::SwitchOut).collect();
        if switches.is_empty() {
            return skip(Need::Root, "switches are in the kernel, which needs privileges");
        }
        let sleeps =
            |frame: Frame<'_>| frame.function().is_some_and(|function| function.contains("nanosleep"));
        let mut seen: HashMap<(String, u32), usize> = HashMap::new();
        for sample in switches.iter().filter(|sample| stacks.frames(sample.stack).any(sleeps)) {
            let frame = stacks.own_frame(sample.stack).expect("a frame");
            let place = (frame.function().unwrap_or_default().to_owned(), frame.line().unwrap_or(0));
            *seen.entry(place).or_default() += 1;
        }
        for (place, count) in &seen {
            // Also a thread that loses its CPU within the call is switched out; of a call at another one's line there were two.
            let is_right = places.contains(place) && *count <= ROUNDS + ROUNDS / 2;
            // Where an earlier call left another line of the same function, it is the function alone.
            let is_function = place.1 == 0 && places.iter().any(|(function, _)| *function == place.0);
            assert!(is_right || is_function, "{interpreter:?}: {place:?} in {seen:?}");
        }
        let with_line = seen.iter().filter(|(place, count)| place.1 > 0 && **count >= ROUNDS / 2).count();
        assert!(with_line + 2 >= places.len(), "{interpreter:?}: {seen:?} {:?}", stacks.notes);
    }
    if known == 0 {
        skip(Need::Program, "Python 3.11, 3.12 or 3.13");
    }
}
