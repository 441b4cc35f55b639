//! Units of systemd, and the few commands of the system that are run.

use super::words::words;
use crate::{TargetError, unit};
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use whylate_host::FsRoot;

/// A command's last words are kept so far.
const MOST_WORDS: usize = 400;
/// `active` or `inactive`, of this machine.
pub(super) fn read(unit: &str, tree: &FsRoot) -> Result<String, TargetError> {
    let cannot = |why: String| TargetError::new("read", format!("state of {unit}"), why);
    if unit.contains('/') || !unit.ends_with(".service") {
        return Err(cannot("whether it runs can be read only for services".to_owned()));
    }
    if !Path::new("/run/systemd/system").is_dir() {
        return Err(cannot("systemd does not run on this machine".to_owned()).gone());
    }
    let runs = unit::runs(unit, tree).map_err(|unread| cannot(unread.to_string()))?;
    Ok(if runs { "active" } else { "inactive" }.to_owned())
}

pub(super) fn set(unit: &str, value: &str, tree: &FsRoot) -> Result<(), TargetError> {
    let verb = match value {
        "active" => "start",
        "inactive" | "failed" => "stop",
        _ => {
            return Err(TargetError::new(
                "set",
                format!("state of {unit}"),
                format!("it cannot be `{value}`"),
            ));
        }
    };
    run(&["systemctl".to_owned(), verb.to_owned(), unit.to_owned()])?;
    let (now, wanted) = (read(unit, tree)?, if verb == "start" { "active" } else { "inactive" });
    match now == wanted {
        true => Ok(()),
        false => {
            let why = format!(
                "`systemctl {verb} {unit}` succeeded, but the unit is {now}: see `systemctl status {unit}`"
            );
            Err(TargetError::new("set", format!("state of {unit}"), why))
        }
    }
}

/// Where a command is.
pub(super) fn find(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let usual = ["/usr/sbin", "/sbin", "/usr/bin", "/bin"].map(PathBuf::from);
    let places = std::env::split_paths(&path).filter(|place| place.is_absolute()).chain(usual);
    let is_program = |file: &PathBuf| {
        file.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
    };
    places.map(|place| place.join(name)).find(is_program)
}

/// Runs a command and waits for it.
pub(super) fn run(command: &[String]) -> Result<(), TargetError> {
    let line = command.join(" ");
    let failed = |why: String| TargetError::new("run", &line, why);
    let (name, arguments) = command.split_first().ok_or_else(|| failed("no command".to_owned()))?;
    let program = find(name).ok_or_else(|| failed("there is no such command".to_owned()))?;
    let mut child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        // Ctrl-C is for us: we stop when the command is done.
        .process_group(0)
        .spawn()
        .map_err(|error| failed(words(&error)))?;
    let mut output = Vec::new();
    if let Some(mut stderr) = child.stderr.take() {
        // Read to its end, or the command would wait for us; a failure leaves us without its words.
        let mut buffer = [0u8; 4096];
        while let Ok(read) = stderr.read(&mut buffer) {
            if read == 0 {
                break;
            }
            output.extend_from_slice(buffer.get(..read).unwrap_or_default());
            let surplus = output.len().saturating_sub(MOST_WORDS);
            output.drain(..surplus);
        }
    }
    let status = child.wait().map_err(|error| failed(words(&error)))?;
    match status.success() {
        true => Ok(()),
        false => {
            let output = String::from_utf8_lossy(&output);
            let last = output.split_whitespace().collect::<Vec<_>>().join(" ");
            Err(failed(if last.is_empty() { status.to_string() } else { format!("{status}: {last}") }))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run_line(line: &str) -> Result<(), TargetError> {
        run(&["sh".to_owned(), "-c".to_owned(), line.to_owned()])
    }

    #[test]
    fn a_command_s_failure_is_told_in_its_own_words() {
        assert_eq!(run_line("true"), Ok(()));
        let error = run_line("echo no such menu >&2; exit 3").expect_err("exit 3").to_string();
        assert!(error.contains("exit status: 3") && error.contains("no such menu"), "{error}");
        let error = run(&["whylate-no-such-command".to_owned()]).expect_err("none").to_string();
        assert!(error.contains("no such command"), "{error}");
    }

    #[test]
    fn much_output_is_no_hindrance() {
        let error =
            run_line("yes x | head -c 300000 >&2; echo the end >&2; false").expect_err("false").to_string();
        assert!(error.len() < 1000 && error.ends_with("the end"), "{error}");
    }
}
