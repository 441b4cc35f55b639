//! Runs the program and keeps its output.

use std::process::{Command, Output, Stdio};

/// A run that has ended.
#[derive(Debug)]
pub(crate) struct Run {
    /// The exit code; none when a signal ended it.
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// The program, with nothing on standard input.
pub(crate) fn command() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_whylate-lab"));
    command.stdin(Stdio::null());
    command
}

/// The output of a run; with whatever arguments, it did not panic.
pub(crate) fn ended(output: Output) -> Run {
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("the program writes UTF-8");
    let run = Run { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) };
    assert!(!run.stderr.contains("panicked") && !run.stdout.contains("panicked"), "{run:#?}");
    run
}

impl Run {
    /// Exit code 2, nothing on standard output, and one message that has all of `words`.
    pub(crate) fn is_refused(&self, words: &[&str]) {
        assert_eq!((self.code, self.stdout.as_str()), (Some(2), ""), "{self:#?}");
        for word in words {
            assert!(self.stderr.contains(word), "`{word}` is not in: {}", self.stderr);
        }
    }
}
