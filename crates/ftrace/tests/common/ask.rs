//! What trace-cmd reports of a file.

use std::path::Path;
use std::process::Command;

/// What `trace-cmd report` prints, or `None` where it is not installed.
pub(crate) fn trace_cmd_report(path: &Path, options: &[&str]) -> Option<String> {
    let run = || Command::new("trace-cmd").arg("report").args(options).arg("-i").arg(path).output();
    let mut last: Option<String> = None;
    // It was once seen to print less of a file on a busy machine than at any other time: what it
    // prints twice in a row is its answer.
    for _ in 0..5 {
        match run() {
            Ok(output) if output.status.success() => {
                let text = String::from_utf8_lossy(&output.stdout).into_owned();
                if last.as_ref() == Some(&text) {
                    return last;
                }
                last = Some(text);
            }
            Ok(output) => println!("{}: trace-cmd ended with {}", path.display(), output.status),
            Err(error) => {
                whylate_testing::skip(whylate_testing::Need::Program, format_args!("trace-cmd: {error}"));
                return None;
            }
        }
    }
    panic!("{}: trace-cmd report does not print the same twice", path.display());
}
