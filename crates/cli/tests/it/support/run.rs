//! Runs the program and keeps its output.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use whylate_testing::Need;

/// A run that has ended.
#[derive(Debug)]
pub(crate) struct Run {
    /// The exit code; none when a signal ended it.
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// A process that is killed when the test ends, however it ends.
pub(crate) struct Killed(pub(crate) Child);

impl Drop for Killed {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The program, with nothing on standard input.
pub(crate) fn command() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_whylate"));
    command.stdin(Stdio::null());
    command
}

/// Copies a program that is to be executed. Another process does it: a descriptor that is open for writing here would be in
/// each child that other tests start meanwhile, and what is open for writing is not executed (ETXTBSY).
pub(crate) fn copy_program(from: &str, to: &Path) {
    let status = Command::new("cp").arg(from).arg(to).stdin(Stdio::null()).status().expect("cp starts");
    assert!(status.success(), "cp {from} {}: {status}", to.display());
}

/// Runs the program to its end.
pub(crate) fn whylate<A: AsRef<OsStr>>(arguments: impl IntoIterator<Item = A>) -> Run {
    ended(command().args(arguments).output().expect("the program starts"))
}

/// A run's output; whatever it was given, it did not panic.
pub(crate) fn ended(output: Output) -> Run {
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("the program writes UTF-8");
    let run = Run { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) };
    assert!(!run.stderr.contains("panicked") && !run.stdout.contains("panicked"), "{run:#?}");
    run
}

/// The program, run by a user without any rights; none, reported as a skip, where the
/// machine does not allow it.
pub(crate) fn as_nobody() -> Option<Command> {
    let nobody = || {
        let mut command = Command::new("setpriv");
        command.args(["--reuid=65534", "--regid=65534", "--clear-groups", env!("CARGO_BIN_EXE_whylate")]);
        command.stdin(Stdio::null());
        command
    };
    match nobody().arg("--version").output() {
        Ok(output) if output.status.success() => return Some(nobody()),
        Ok(output) => {
            let errors = String::from_utf8_lossy(&output.stderr);
            whylate_testing::skip(Need::Root, format_args!("setpriv: {errors}"));
        }
        Err(e) => whylate_testing::skip(Need::Program, format_args!("setpriv: {e}")),
    }
    None
}

/// A file that is shipped with these tests.
pub(crate) fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}
