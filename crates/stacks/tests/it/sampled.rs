//! Programs that are sampled while they run.

use crate::program::{compile, line};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use whylate_base::{Ns, Tid};
use whylate_events::{Frame, SampleKind, Stacks};
use whylate_stacks::{ClockPeriod, SamplerError, SamplerOptions, StackSampler};
use whylate_testing::{Need, skip};

/// The programs run too briefly for the interval that a virtual machine has of its own accord.
const EACH_MS: ClockPeriod = ClockPeriod::Exactly(Ns::from_ms(1));

/// Samples a program from its first byte of input to its end; `None` where that is refused.
#[track_caller]
pub(crate) fn sample(program: &Path, arguments: &[&str]) -> Option<(Stacks, u32)> {
    let sampler = match StackSampler::start(SamplerOptions { period: EACH_MS, ..SamplerOptions::default() }) {
        Ok(sampler) => sampler,
        Err(refused @ SamplerError::Refused(_)) => {
            skip(Need::Machine, refused);
            return None;
        }
        Err(error) => panic!("{error}"),
    };
    let mut child = Command::new(program).args(arguments).stdin(Stdio::piped()).spawn().expect("it starts");
    sampler.follow(Tid(child.id() as i32)).expect("a child");
    child.stdin.take().expect("a pipe").write_all(b"x").expect("it waits");
    assert!(child.wait().expect("it runs").success());
    Some((sampler.finish(), child.id()))
}

/// The own frames of the samples of a kind, as `function:line`.
fn own(stacks: &Stacks, is_kind: impl Fn(&SampleKind) -> bool) -> Vec<String> {
    let samples = stacks.samples.iter().filter(|sample| is_kind(&sample.kind));
    samples.filter_map(|sample| stacks.own_frame(sample.stack)).map(|frame| place(&frame)).collect()
}

pub(crate) fn place(frame: &Frame<'_>) -> String {
    format!("{}:{}", frame.function().unwrap_or("?"), frame.line().unwrap_or(0))
}

#[test]
fn faults_work_and_sleeps_have_their_lines() {
    let directory = tempfile::tempdir().expect("a directory");
    let program = directory.path().join("work");
    let Some((stacks, _)) = compile("work.c", &[], &program).and_then(|()| sample(&program, &[])) else {
        return;
    };
    let expected = |function| format!("{function}:{}", line("work.c", function).expect("marked"));
    let faults = own(&stacks, |kind| matches!(kind, SampleKind::MinorFault { .. }));
    assert!(faults.contains(&expected("touch")), "{faults:?} {:?}", stacks.notes);
    let clock = own(&stacks, |kind| *kind == SampleKind::CpuClock);
    let computed = clock.iter().filter(|place| place.starts_with("compute:")).count();
    assert!(computed > 0 && computed * 2 > clock.len(), "{clock:?} {:?}", stacks.notes);
    let switches = own(&stacks, |kind| *kind == SampleKind::SwitchOut);
    if switches.is_empty() {
        return skip(Need::Root, "switches are in the kernel, which needs privileges");
    }
    assert!(switches.contains(&expected("rest")), "{switches:?}");
}

#[test]
fn the_vdso_is_unwound_and_named() {
    let directory = tempfile::tempdir().expect("a directory");
    let program = directory.path().join("clock");
    let Some((stacks, _)) = compile("clock.c", &[], &program).and_then(|()| sample(&program, &[])) else {
        return;
    };
    let line = line("clock.c", "look");
    let mut seen = 0;
    for sample in stacks.samples.iter().filter(|sample| sample.kind == SampleKind::CpuClock) {
        let frames: Vec<Frame<'_>> = stacks.frames(sample.stack).collect();
        let is_vdso = |frame: &Frame<'_>| frame.module.is_some_and(|module| module.path == "[vdso]");
        if !frames.first().is_some_and(is_vdso) {
            continue;
        }
        seen += 1;
        assert!(frames.iter().any(|frame| is_vdso(frame) && frame.function().is_some()), "{frames:?}");
        assert_eq!(stacks.own_frame(sample.stack).and_then(|frame| frame.line()), line, "{frames:?}");
    }
    if seen == 0 {
        skip(Need::Machine, "reading the clock is a system call here");
    }
}

#[test]
fn the_growth_of_a_vector_is_at_the_line_that_pushed() {
    let directory = tempfile::tempdir().expect("a directory");
    let program = directory.path().join("grow");
    let Some((stacks, _)) = compile("grow.cpp", &[], &program).and_then(|()| sample(&program, &[])) else {
        return;
    };
    let expected = format!("plant::Queue::push:{}", line("grow.cpp", "push").expect("marked"));
    let faults = own(&stacks, |kind| matches!(kind, SampleKind::MinorFault { .. }));
    let pushing = faults.iter().filter(|place| place.contains("push")).count();
    let expected = faults.iter().filter(|place| **place == expected).count();
    // The page of the counter in the next line is touched once.
    assert!(expected > 0 && expected + 1 >= pushing, "{faults:?} {:?}", stacks.notes);
}

#[test]
fn a_rust_program_has_its_own_lines_below_those_of_the_standard_library() {
    let directory = tempfile::tempdir().expect("a directory");
    let program = directory.path().join("sort");
    let Some((stacks, _)) = compile("sort.rs", &[], &program).and_then(|()| sample(&program, &[])) else {
        return;
    };
    let lines = ["sort", "closure", "main"].map(|name| line("sort.rs", name).expect("marked"));
    let clock = stacks.samples.iter().filter(|sample| sample.kind == SampleKind::CpuClock);
    let mut sorting = 0;
    for sample in clock {
        let own = stacks.own_frames(sample.stack).filter_map(|frame| frame.line());
        let mut own: Vec<u32> = own.filter(|line| lines.contains(line)).collect();
        // The key's closure is in the same line.
        own.dedup();
        if own.contains(&lines[0]) {
            assert_eq!(own, lines, "each caller's line as well");
            assert_eq!(stacks.own_frame(sample.stack).and_then(|frame| frame.line()), Some(lines[0]));
            sorting += 1;
        }
    }
    assert!(sorting > 0, "{:?} {:?}", own(&stacks, |_| true), stacks.notes);
}
