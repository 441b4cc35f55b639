//! The files of `mistakes`, part of this program.

use super::Case;
use std::path::Path;
use thiserror::Error;

macro_rules! files {
    ($($name:literal)*) => {
        &[$(($name, include_str!(concat!("../../mistakes/", $name)))),*]
    };
}

/// Name and text of each case, in the order of their names.
#[rustfmt::skip]
const FILES: &[(&str, &str)] = files![
    "audio-callback.c"
    "barrier.c"
    "broadcast.c"
    "can-loop.c"
    "coarse-clock.c"
    "control-loop.py"
    "cpu-clock.c"
    "cpu-limit.c"
    "deadline-wait.c"
    "deep-stack.c"
    "default-stack.c"
    "epoll-period.c"
    "executor.cpp"
    "field-bus.c"
    "find-host.py"
    "flush-stream.cpp"
    "frame-per-cycle.cpp"
    "full-pipe.c"
    "heap-brk-static.c"
    "heap-trim.c"
    "history.cpp"
    "inherited-priority.c"
    "inversion.c"
    "large-malloc.c"
    "library-helper.c"
    "lock-everything.c"
    "lock-file.c"
    "log-to-file.c"
    "log.py"
    "map-file.c"
    "mapped-state.c"
    "memory-unlocked.c"
    "open-file.py"
    "pin-first.c"
    "plain-mutex.c"
    "poll-period.c"
    "print-to-terminal.c"
    "priority-99.c"
    "process-signal.c"
    "read-config.c"
    "reader-writer.c"
    "realtime-sleep.c"
    "realtime-timerfd.c"
    "receive-timeout.c"
    "refused-deadline.c"
    "refused-rtprio.c"
    "relative-sleep-stripped.c"
    "relative-sleep.c"
    "reserve-untouched.c"
    "resolve-name.c"
    "select-period-stripped.c"
    "semaphore-lock.c"
    "shared-mutex.c"
    "sleep-for.cpp"
    "sleep.py"
    "slow-producer.c"
    "small-writes.c"
    "snapshot-by-fork.c"
    "snapshot-child.c"
    "spin-lock.c"
    "std-mutex.cpp"
    "std-mutex.rs"
    "sync-state.c"
    "system-clock.cpp"
    "thread-for-each-job.c"
    "thread-sleep.rs"
    "timed-mutex.cpp"
    "touch-new-page.c"
    "unlock-shared-page.c"
    "untimed-messages.c"
    "vector-growth.cpp"
    "wait-by-clock.c"
    "write-file.rs"
    "yield-for-flag.cpp"
    "yield.c"
];

/// What the cases include or import.
pub(super) const SHARED: &[(&str, &str)] = files!["harness.c" "ring.h" "rt.h" "rt.py"];

/// The reason why a case cannot be used.
#[derive(Debug, Error)]
pub enum MistakeCaseError {
    /// The file cannot be read, or its label is wrong.
    #[error("{path} is not a program with a mistake: {what}")]
    Syntax {
        /// The file.
        path: String,
        /// What is wrong, and what to write.
        what: String,
    },
    /// Neither a built-in case nor a file.
    #[error(
        "`{0}` is neither a program with a mistake nor a file: `whylate-lab mistakes --list` names the programs"
    )]
    Unknown(String),
}

/// Every built-in case.
///
/// # Errors
/// When one of them is invalid, which a test excludes.
pub fn built_in() -> Result<Vec<Case>, MistakeCaseError> {
    FILES.iter().map(|(name, text)| parse(name, &format!("mistakes/{name}"), text)).collect()
}

/// The case of that name, or in that file.
///
/// # Errors
/// When there is none, or it is invalid.
pub fn find(name: &str) -> Result<Case, MistakeCaseError> {
    if let Some((_, text)) = FILES.iter().find(|(known, _)| *known == name) {
        return parse(name, &format!("mistakes/{name}"), text);
    }
    let path = Path::new(name);
    if !path.is_file() {
        return Err(MistakeCaseError::Unknown(name.to_owned()));
    }
    let syntax =
        |error: std::io::Error| MistakeCaseError::Syntax { path: name.to_owned(), what: error.to_string() };
    let text = std::fs::read_to_string(path).map_err(syntax)?;
    let file = path.file_name().map(|file| file.to_string_lossy().into_owned()).unwrap_or_default();
    parse(&file, name, &text)
}

fn parse(name: &str, path: &str, text: &str) -> Result<Case, MistakeCaseError> {
    Case::parse(name, text).map_err(|what| MistakeCaseError::Syntax { path: path.to_owned(), what })
}

#[cfg(test)]
mod tests {
    use super::super::{GROUPS, Language};
    use super::*;

    #[test]
    fn every_file_is_built_in_and_right() {
        let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("mistakes");
        let mut files: Vec<String> = std::fs::read_dir(dir)
            .expect("the directory of programs")
            .filter_map(|entry| entry.ok()?.file_name().to_str().map(str::to_owned))
            .collect();
        files.sort();
        let mut names: Vec<&str> = FILES.iter().chain(SHARED).map(|(name, _)| *name).collect();
        names.sort_unstable();
        assert_eq!(names, files, "read.rs must list the files of mistakes");
        let cases = built_in().expect("every case is valid");
        for (language, least) in
            [(Language::C, 24), (Language::Cpp, 4), (Language::Rust, 2), (Language::Python, 3)]
        {
            let count = cases.iter().filter(|case| case.language == language).count();
            assert!(count >= least, "{count} programs in {}", language.name());
        }
        for (group, codes) in GROUPS {
            assert!(cases.iter().any(|case| codes.contains(&case.code.as_str())), "no program of {group}");
        }
    }

    #[test]
    fn each_program_has_a_clean_twin_in_its_source() {
        let cases = built_in().expect("every case is valid").into_iter();
        for case in cases.filter(|case| !case.code.is_empty()) {
            let twin = match case.language {
                Language::C | Language::Cpp => "#ifdef CLEAN",
                Language::Rust => "cfg!(clean)",
                Language::Python => "CLEAN:",
            };
            let is_there = case.source.contains(twin) || case.source.contains("#ifndef CLEAN");
            assert!(is_there, "{} has no {twin}", case.name);
        }
    }

    #[test]
    fn what_is_neither_a_case_nor_a_file_is_refused() {
        assert!(find("no-such-program.c").expect_err("none").to_string().contains("--list"));
        assert_eq!(find("plain-mutex.c").expect("a case").code, "mutex-without-inheritance");
    }
}
