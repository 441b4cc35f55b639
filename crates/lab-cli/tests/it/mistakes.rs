//! `whylate-lab mistakes`: programs whose mistake is a state of the process, and does not depend on the time it takes.

use crate::support::{command, ended};
use whylate_testing::{Need, skip};

#[test]
fn mistakes_take_place_and_their_clean_twins_are_clean() {
    let has = |program: &str| {
        std::env::var_os("PATH")
            .is_some_and(|path| std::env::split_paths(&path).any(|dir| dir.join(program).is_file()))
    };
    if !has("gcc") {
        skip(Need::Program, "no gcc");
        return;
    }
    if !rustix::process::geteuid().is_root() {
        skip(Need::Root, "the programs need SCHED_FIFO and locked memory");
        return;
    }
    let names = ["memory-unlocked.c", "unlock-shared-page.c", "reserve-untouched.c", "priority-99.c"];
    // Side by side: they sleep most of the time.
    let runs: Vec<_> = names
        .into_iter()
        .map(|name| {
            std::thread::spawn(move || {
                ended(command().args(["mistakes", "--truth-only", name]).output().expect("it runs"))
            })
        })
        .collect();
    for (name, run) in names.into_iter().zip(runs) {
        let run = run.join().expect("no panic");
        assert_eq!(run.code, Some(0), "{name}: {run:#?}");
        assert!(run.stderr.contains(&format!("{name} (clean)")), "{run:#?}");
    }
}

#[test]
fn the_list_names_every_program_with_its_code() {
    let run = ended(command().args(["mistakes", "--list"]).output().expect("it runs"));
    assert_eq!(run.code, Some(0), "{run:#?}");
    for part in ["plain-mutex.c", "mutex-without-inheritance", "sleep.py", "std-mutex.rs"] {
        assert!(run.stdout.contains(part), "{part} in {}", run.stdout);
    }
}

#[test]
fn a_program_that_is_not_there_is_refused() {
    let run = ended(command().args(["mistakes", "no-such-program.c"]).output().expect("it runs"));
    run.is_refused(&["no-such-program.c", "--list"]);
}
