//! Lines of recordings, beside those that `trace-cmd report` prints of the same file.

use crate::{all, common, text};
use std::path::Path;
use std::process::Command;
use whylate_ftrace::dat::TraceFile;
use whylate_ftrace::print::{Lines, Mode, Printer};
use whylate_testing::Need;

/// What `trace-cmd report` prints; `None` where it is not installed.
pub(super) fn report(path: &Path, options: &[&str]) -> Option<String> {
    let version = Command::new("trace-cmd").arg("--version").output();
    let version =
        version.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    let number = version.split_once("version ").map_or("", |(_, number)| number);
    if !["2.", "3.0", "3.1", "3.2"].iter().any(|known| number.starts_with(known)) {
        let reason = format!("no trace-cmd before 3.3, whose lines have a column more (`{}`)", number.trim());
        let need = if number.is_empty() { Need::Program } else { Need::Machine };
        whylate_testing::skip(need, reason);
        return None;
    }
    common::ask::trace_cmd_report(path, options)
}

/// Where the two are known to differ, and ours is right: see the module `print`.
fn explained(theirs: &str, ours: &str) -> bool {
    // A negative priority, which trace-cmd reads as unsigned.
    theirs.replace("[4294967295]", "[-1]") == ours
        // States in the letters of kernels before 4.14; libtraceevent 1.8 has the kernel's own.
        || theirs.contains(" sched_switch: ") && old_states(ours) == theirs.replace("[4294967295]", "[-1]")
        // `flags & (a | b)`, which trace-cmd reads as `(flags & a) | b`.
        || theirs.contains(" timer_start: ") && theirs.split(" flags=").next() == ours.split(" flags=").next()
}

/// The line with the states as libtraceevent before 1.8 has them.
fn old_states(line: &str) -> String {
    let Some((before, after)) = line.split_once(" ==> ") else { return line.to_owned() };
    let Some((before, states)) = before.rsplit_once(' ') else { return line.to_owned() };
    let old = |letter| match letter {
        'X' => 'Z',
        'Z' => 'X',
        'P' => 'x',
        'I' => 'W',
        other => other,
    };
    format!("{before} {} ==> {after}", states.chars().map(old).collect::<String>())
}

pub(super) fn compare(name: &str, theirs: &str, ours: &str) -> usize {
    let (mut lines, mut differ) = (0, 0);
    for (theirs, ours) in theirs.lines().zip(ours.lines()) {
        lines += 1;
        if theirs != ours {
            differ += 1;
            assert!(explained(theirs, ours), "{name}, line {lines}:\n{theirs}\n{ours}");
        }
    }
    assert_eq!(theirs.lines().count(), ours.lines().count(), "{name}");
    println!("{name}: {lines} lines, {differ} of them differ where ours is right");
    lines
}

#[test]
fn every_line_is_as_trace_cmd_prints_it() {
    for path in common::recordings() {
        let Some(theirs) = report(&path, &[]) else { return };
        let file = TraceFile::open(&path).expect("a trace.dat");
        let name = path.display().to_string();
        assert!(compare(&name, &theirs, &text(&file, Mode::TraceCmd)) > 1, "{name}");
        // Once more with all columns: the first of the recordings are enough.
        if name.contains("higher") {
            let Some(theirs) = report(&path, &["-l", "-t"]) else { return };
            let printer = Printer::new(&file, Mode::TraceCmd).with_flags().with_nanoseconds();
            compare(&name, &theirs, &all(Lines::with(&file, printer)));
        }
    }
}
