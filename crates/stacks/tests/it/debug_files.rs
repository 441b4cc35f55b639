//! Programs whose debug information is in separate files, is missing, or is of another build.

use crate::program::{Waiting, compile, line, named, run};
use std::fs;
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;
use whylate_events::Stacks;
use whylate_stacks::ModuleFiles;
use whylate_testing::{Need, has_program, skip};

/// A program without its debug information, waiting, and the file that has it.
struct Stripped {
    directory: TempDir,
    waiting: Waiting,
}

const PROGRAM: &str = "wait";
const DEBUG_FILE: &str = "separate.debug";

impl Stripped {
    /// Compiles the program; `link` writes the debug file's name into it.
    #[track_caller]
    fn new(link: bool, options: &[&str]) -> Option<Stripped> {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path();
        let program = path.join(PROGRAM);
        compile("wait.c", options, &program)?;
        run("objcopy", &["--only-keep-debug", PROGRAM, DEBUG_FILE], path)?;
        run("strip", &[PROGRAM], path)?;
        if link {
            run("objcopy", &[&format!("--add-gnu-debuglink={DEBUG_FILE}"), PROGRAM], path)?;
        }
        let waiting = Waiting::start(&program)?;
        Some(Stripped { directory, waiting })
    }

    fn path(&self) -> &Path {
        self.directory.path()
    }

    fn build_id(&self) -> String {
        let (stacks, _) = self.waiting.recorded();
        let program = stacks.modules.iter().find(|module| module.name() == PROGRAM).expect("its module");
        program.build_id.clone().unwrap_or_default()
    }

    /// Moves the debug file to where its build id leads, below `directory`.
    fn install(&self, directory: &Path) {
        let id = self.build_id();
        let (first, rest) = id.split_at(2);
        let place = directory.join(".build-id").join(first);
        fs::create_dir_all(&place).expect("a directory");
        fs::rename(self.path().join(DEBUG_FILE), place.join(format!("{rest}.debug")))
            .expect("the debug file");
    }
}

/// The innermost frame of `wait.c`, and the notes about the program.
fn own(stacks: Stacks, files: &ModuleFiles, directories: &[&Path]) -> (Option<String>, Vec<String>) {
    let (stack, stacks) = named(stacks, files, directories);
    let notes = stacks.notes.into_iter().filter(|note| note.contains(PROGRAM)).collect();
    (stack.into_iter().find(|frame| frame.contains("wait.c")), notes)
}

fn expected() -> Option<String> {
    Some(format!("take wait.c:{}", line("wait.c", "take").expect("marked")))
}

#[test]
fn a_debug_link_leads_to_the_debug_file_beside_the_program() {
    let Some(stripped) = Stripped::new(true, &[]) else { return };
    let (stacks, files) = stripped.waiting.recorded();
    assert_eq!(own(stacks, &files, &[]), (expected(), Vec::new()));
}

#[test]
fn a_debug_link_without_build_ids_is_held_against_its_checksum() {
    let Some(stripped) = Stripped::new(true, &["-Wl,--build-id=none"]) else { return };
    let (stacks, files) = stripped.waiting.recorded();
    assert_eq!(own(stacks.clone(), &files, &[]).0, expected());
    let debug_file = stripped.path().join(DEBUG_FILE);
    let mut bytes = fs::read(&debug_file).expect("the debug file");
    bytes.push(0);
    fs::write(&debug_file, bytes).expect("writable");
    let (line, notes) = own(stacks, &files, &[]);
    assert_eq!(line, None);
    assert!(notes.iter().any(|note| note.contains("of another build")), "{notes:?}");
}

#[test]
fn a_build_id_leads_to_the_debug_file_in_the_users_directory() {
    let Some(stripped) = Stripped::new(false, &[]) else { return };
    let directory = tempfile::tempdir().expect("a directory");
    stripped.install(directory.path());
    let (stacks, files) = stripped.waiting.recorded();
    let (line, notes) = own(stacks.clone(), &files, &[]);
    assert_eq!(line, None);
    let id = format!("(build id {})", stripped.build_id());
    let is_hint = |note: &String| note.contains(&id) && note.contains("--symbols DIR");
    assert!(notes.iter().any(is_hint), "{notes:?}");
    assert_eq!(own(stacks, &files, &[directory.path()]), (expected(), Vec::new()));
}

#[test]
fn a_recording_is_symbolised_again_where_there_are_debug_files() {
    let directory = tempfile::tempdir().expect("a directory");
    let program = directory.path().join(PROGRAM);
    let path = directory.path();
    let waiting = compile("wait.c", &[], &program)
        .and_then(|()| run("objcopy", &["--only-keep-debug", PROGRAM, DEBUG_FILE], path))
        .and_then(|()| run("objcopy", &["--strip-debug", PROGRAM], path))
        .and_then(|()| Waiting::start(&program));
    let Some(waiting) = waiting else { return };
    let (stacks, files) = waiting.recorded();
    // Its own symbol table has the functions.
    let (before, stacks) = named(stacks, &files, &[]);
    assert!(before.iter().any(|frame| frame.starts_with("wait_for_input")), "{before:?}");
    assert!(stacks.notes.iter().any(|note| note.starts_with("no line numbers for ")), "{:?}", stacks.notes);
    // The user has the debug file under the program's name.
    let elsewhere = tempfile::tempdir().expect("a directory");
    fs::copy(path.join(DEBUG_FILE), elsewhere.path().join("wait.debug")).expect("the debug file");
    assert_eq!(own(stacks, &ModuleFiles::default(), &[elsewhere.path()]), (expected(), Vec::new()));
}

#[test]
fn another_machine_names_a_recording_by_build_ids() {
    let Some(stripped) = Stripped::new(false, &[]) else { return };
    let directory = tempfile::tempdir().expect("a directory");
    stripped.install(directory.path());
    let (stacks, _) = stripped.waiting.recorded();
    fs::remove_file(stripped.path().join(PROGRAM)).expect("the program");
    let (line, notes) = own(stacks, &ModuleFiles::default(), &[directory.path()]);
    assert_eq!((line, notes), (expected(), Vec::new()));
}

#[test]
fn another_machine_takes_a_file_at_the_same_path_only_with_the_same_build_id() {
    let directory = tempfile::tempdir().expect("a directory");
    let program = directory.path().join(PROGRAM);
    let Some(waiting) = compile("wait.c", &[], &program).and_then(|()| Waiting::start(&program)) else {
        return;
    };
    let (stacks, _) = waiting.recorded();
    drop(waiting);
    assert_eq!(own(stacks.clone(), &ModuleFiles::default(), &[]), (expected(), Vec::new()));
    // Another build of the same source, with other addresses; given by the user as well.
    compile("wait.c", &["-O0", "-DOTHER"], &program).expect("it was compiled before");
    for directories in [&[][..], &[directory.path()]] {
        let (line, notes) = own(stacks.clone(), &ModuleFiles::default(), directories);
        assert_eq!(line, None);
        let refused = notes.iter().any(|note| note.contains("of another build"));
        assert_eq!(refused, !directories.is_empty(), "{notes:?}");
    }
}

#[test]
fn a_program_with_symbols_but_without_lines_has_its_functions() {
    let directory = tempfile::tempdir().expect("a directory");
    let program = directory.path().join(PROGRAM);
    let Some(waiting) = compile("wait.c", &["-g0"], &program).and_then(|()| Waiting::start(&program)) else {
        return;
    };
    let (stacks, files) = waiting.recorded();
    let (stack, stacks) = named(stacks, &files, &[]);
    // Compilers add to the name where they specialise a function: `wait_for_input.constprop.0`.
    let calls = |pair: &[String]| pair[0].starts_with("wait_for_input") && pair[1] == "control_loop";
    assert!(stack.windows(2).any(calls), "{stack:?}");
    let notes: Vec<_> = stacks.notes.iter().filter(|note| note.contains(PROGRAM)).collect();
    assert!(notes.iter().all(|note| note.contains("compile with -g")) && notes.len() == 1, "{notes:?}");
}

#[test]
fn debug_information_compressed_with_zstandard_is_read() {
    let directory = tempfile::tempdir().expect("a directory");
    let program = directory.path().join(PROGRAM);
    let Some(()) = compile("wait.c", &[], &program) else { return };
    let compress = ["--compress-debug-sections=zstd", PROGRAM];
    if !has_program("objcopy") {
        return;
    }
    let packed =
        Command::new("objcopy").args(compress).current_dir(directory.path()).output().expect("it runs");
    if !packed.status.success() {
        return skip(Need::Program, String::from_utf8_lossy(&packed.stderr));
    }
    let Some(waiting) = Waiting::start(&program) else { return };
    let (stacks, files) = waiting.recorded();
    assert_eq!(own(stacks, &files, &[]), (expected(), Vec::new()));
}

#[test]
fn a_stripped_program_has_the_functions_of_its_small_symbol_table() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path();
    let program = path.join(PROGRAM);
    // As Fedora's find-debuginfo does: all but the symbol table is taken out of the debug file, and this is compressed.
    let waiting = compile("wait.c", &[], &program)
        .and_then(|()| run("objcopy", &["--only-keep-debug", PROGRAM, DEBUG_FILE], path))
        .and_then(|()| run("strip", &["--strip-debug", "--remove-section=.comment", DEBUG_FILE], path))
        .and_then(|()| run("xz", &[DEBUG_FILE], path))
        .and_then(|()| run("strip", &[PROGRAM], path))
        .and_then(|()| run("objcopy", &["--add-section", ".gnu_debugdata=separate.debug.xz", PROGRAM], path))
        .and_then(|()| Waiting::start(&program));
    let Some(waiting) = waiting else { return };
    let (stacks, files) = waiting.recorded();
    let (stack, stacks) = named(stacks, &files, &[]);
    let calls = |pair: &[String]| pair[0].starts_with("wait_for_input") && pair[1] == "control_loop";
    assert!(stack.windows(2).any(calls), "{stack:?} {:?}", stacks.notes);
}
