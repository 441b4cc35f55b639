//! Programs of every shape: position-independent, static, C++, a library, deleted while it runs.

use crate::program::{Waiting, compile, line, named};
use std::fs;
use std::path::Path;
use whylate_events::{ModuleKind, StackId};

/// The program's own frames of `wait.c`, innermost first.
fn expected_of_c() -> Vec<String> {
    ["take", "wait_for_input", "control_loop", "main"]
        .iter()
        .map(|name| format!("{name} wait.c:{}", line("wait.c", name).expect("marked")))
        .collect()
}

/// Whether the stack has the frames, one after the other.
fn has(stack: &[String], frames: &[String]) -> bool {
    stack.windows(frames.len()).any(|window| window == frames)
}

fn shape(options: &[&str]) {
    let directory = tempfile::tempdir().expect("a directory");
    let program = directory.path().join("wait");
    let Some(waiting) = compile("wait.c", options, &program).and_then(|()| Waiting::start(&program)) else {
        return;
    };
    let (stacks, files) = waiting.recorded();
    let (stack, stacks) = named(stacks, &files, &[]);
    assert!(has(&stack, &expected_of_c()), "{stack:#?} {:?}", stacks.notes);
    let main = stack.iter().position(|frame| frame.starts_with("main ")).expect("main");
    assert!(stack.len() > main + 1, "the callers of main as well: {stack:#?}");
    let own = stacks.modules.iter().find(|module| Path::new(&module.path) == program).expect("its module");
    assert_eq!((own.kind, own.build_id.is_some()), (ModuleKind::Program, true));
    assert!(!stacks.notes.iter().any(|note| note.contains("wait")), "{:?}", stacks.notes);
}

#[test]
fn a_position_independent_program_is_unwound_and_named() {
    shape(&["-fPIE", "-pie"]);
}

#[test]
fn a_program_at_a_fixed_address_is_unwound_and_named() {
    shape(&["-fno-pie", "-no-pie"]);
}

#[test]
fn a_static_program_is_unwound_and_named() {
    shape(&["-static"]);
}

#[test]
fn a_static_position_independent_program_is_unwound_and_named() {
    shape(&["-static-pie", "-fPIE"]);
}

#[test]
fn methods_templates_and_lambdas_have_their_demangled_names() {
    let directory = tempfile::tempdir().expect("a directory");
    let program = directory.path().join("queue");
    let Some(waiting) = compile("queue.cpp", &[], &program).and_then(|()| Waiting::start(&program)) else {
        return;
    };
    let (stacks, files) = waiting.recorded();
    let (stack, stacks) = named(stacks, &files, &[]);
    let lines = ["push", "step", "run", "main"].map(|name| (name, line("queue.cpp", name).expect("marked")));
    let found: Vec<_> = stack.iter().filter(|frame| frame.contains("queue.cpp")).collect();
    assert_eq!(found.len(), lines.len(), "{stack:#?} {:?}", stacks.notes);
    for (frame, (_, line)) in found.iter().zip(lines) {
        assert!(frame.ends_with(&format!("queue.cpp:{line}")), "{stack:#?}");
    }
    assert!(stacks.frames(StackId(0)).count() > lines.len());
}

#[test]
fn a_short_name_of_c_is_no_type_of_cpp() {
    let directory = tempfile::tempdir().expect("a directory");
    let program = directory.path().join("wait");
    let options = ["-Dwait_for_input=rt", "-Dcontrol_loop=i"];
    let Some(waiting) = compile("wait.c", &options, &program).and_then(|()| Waiting::start(&program)) else {
        return;
    };
    let (stacks, files) = waiting.recorded();
    let (stack, _) = named(stacks, &files, &[]);
    let lines = ["wait_for_input", "control_loop"].map(|name| line("wait.c", name).expect("marked"));
    let expected = [format!("rt wait.c:{}", lines[0]), format!("i wait.c:{}", lines[1])];
    assert!(has(&stack, &expected), "{stack:#?}");
}

#[test]
fn a_program_that_was_deleted_is_still_read() {
    let directory = tempfile::tempdir().expect("a directory");
    let program = directory.path().join("wait");
    let Some(waiting) = compile("wait.c", &[], &program).and_then(|()| Waiting::start(&program)) else {
        return;
    };
    fs::remove_file(&program).expect("it is there");
    let (stacks, files) = waiting.recorded();
    drop(waiting);
    let (stack, stacks) = named(stacks, &files, &[]);
    assert!(has(&stack, &expected_of_c()), "{stack:#?} {:?}", stacks.notes);
    assert!(stacks.modules.iter().any(|module| Path::new(&module.path) == program), "{:?}", stacks.modules);
}

#[test]
fn a_library_of_the_program_is_the_programs_own() {
    let directory = tempfile::tempdir().expect("a directory");
    let library = directory.path().join("libwait.so");
    let program = directory.path().join("program");
    let flags = ["-shared", "-fPIC", "-Dmain=main_of_library"];
    let main = directory.path().join("main.c");
    fs::write(&main, "int main_of_library(int, char **);\nint main(int c, char **v) { return main_of_library(c, v) + 1; }\n")
        .expect("writable");
    let link = format!("-Wl,-rpath,{}", directory.path().display());
    let made = compile("wait.c", &flags, &library).and_then(|()| {
        let (main, library) = (main.to_string_lossy().into_owned(), library.to_string_lossy().into_owned());
        // Absolute, so that it is not looked for among the sources.
        compile(&main, &[&library, &link], &program)
    });
    let Some(waiting) = made.and_then(|()| Waiting::start(&program)) else { return };
    let (stacks, files) = waiting.recorded();
    let (stack, stacks) = named(stacks, &files, &[]);
    let own = stacks.own_frame(StackId(0)).expect("a frame");
    assert_eq!((own.function(), own.line()), (Some("take"), line("wait.c", "take")), "{stack:#?}");
    assert!(own.module.is_some_and(|module| Path::new(&module.path) == library), "{:?}", stacks.modules);
    let main = stack.iter().position(|frame| frame == "main main.c:2");
    assert!(main.is_some_and(|at| at > 3), "{stack:#?}");
}
