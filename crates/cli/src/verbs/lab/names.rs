//! Names among the files that come back from a guest.

/// The recording.
pub(super) const TRACE: &str = "trace.dat";
/// The program's standard output.
pub(super) const STDOUT: &str = "stdout.txt";
/// The program's standard error.
pub(super) const STDERR: &str = "stderr.txt";
/// The console.
pub(super) const CONSOLE: &str = "console.txt";
/// The program's exit code.
pub(super) const EXIT_CODE: &str = "exit-code";
