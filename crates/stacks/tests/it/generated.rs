//! Code that programs make at run time, called in the ways of Python's trampolines; the code is x86_64's.

use crate::program::{compile, line};
use crate::sampled::{place, sample};
use std::fs;
use whylate_events::{ModuleKind, SampleKind, StackId};

/// Code that calls its first argument.
fn generated(code: &str) {
    let directory = tempfile::tempdir().expect("a directory");
    let program = directory.path().join("generated");
    let Some((stacks, pid)) = compile("generated.c", &[], &program).and_then(|()| sample(&program, &[code]))
    else {
        return;
    };
    fs::remove_file(format!("/tmp/perf-{pid}.map")).expect("its perf map");
    let line = |name| format!("{name}:{}", line("generated.c", name).expect("marked"));
    let computing: Vec<StackId> = stacks
        .samples
        .iter()
        .filter(|sample| sample.kind == SampleKind::CpuClock)
        .map(|sample| sample.stack)
        .filter(|&stack| stacks.frames(stack).next().is_some_and(|frame| frame.function() == Some("compute")))
        .collect();
    assert!(!computing.is_empty(), "{:?} {:?}", stacks.samples, stacks.notes);
    for stack in computing {
        let frames: Vec<String> = stacks.frames(stack).skip(1).take(2).map(|frame| place(&frame)).collect();
        assert_eq!(frames, ["control_loop:0".to_owned(), line("main")]);
        // What calls generated code directly is its runtime.
        let own = stacks.own_frame(stack).expect("a frame");
        assert_eq!((own.kind(), own.function()), (ModuleKind::Jit, Some("control_loop")));
        assert_eq!(own.location.and_then(|location| location.file.as_deref()), Some("/srv/control.py"));
    }
}

/// `push %rbp; mov %rsp,%rbp; call *%rdi; pop %rbp; ret`
#[test]
fn generated_code_with_a_frame_pointer_has_its_name_and_its_caller() {
    generated("554889e5ffd75dc3");
}

/// `sub $8,%rsp; call *%rdi; add $8,%rsp; ret`
#[test]
fn generated_code_without_a_frame_pointer_has_its_name_and_its_caller() {
    generated("4883ec08ffd74883c408c3");
}
