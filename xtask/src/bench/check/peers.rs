//! The other checkers: rtcqs, in a Python environment of its own, and TuneD's verification, unpacked beside it.

use crate::tools;
use anyhow::{Context, Result, bail};
use serde_json::Value;
use std::fs;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// Who may read what everybody may, and change nothing (`nobody` of Debian and Fedora alike).
const NOBODY: u32 = 65534;

const TUNED_VERIFY: &str = include_str!("tuned_verify.py");

/// Another checker.
pub(super) struct Peer {
    pub(super) name: String,
    program: PathBuf,
    arguments: Vec<String>,
    /// Not as root: of its own accord it would change the machine.
    is_unprivileged: bool,
    /// What it answered, from its output.
    answers: fn(&Output) -> Result<String>,
}

impl Peer {
    pub(super) fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).stdin(Stdio::null());
        if self.is_unprivileged {
            command.current_dir("/").env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin");
            if rustix::process::geteuid().is_root() {
                command.uid(NOBODY).gid(NOBODY);
            }
        }
        command
    }

    /// What it answered, in its own terms.
    pub(super) fn answers(&self, output: &Output) -> Result<String> {
        (self.answers)(output).with_context(|| {
            let errors = String::from_utf8_lossy(&output.stderr);
            format!("{}: {}", self.name, errors.lines().last().unwrap_or("it said nothing"))
        })
    }
}

/// rtcqs from the Python package index, installed below `directory` and nowhere else.
pub(super) fn rtcqs(directory: &Path) -> Result<Peer> {
    let environment = directory.join("rtcqs");
    let program = environment.join("bin/rtcqs");
    if !program.exists() {
        succeeds("rtcqs", Command::new("python3").args(["-m", "venv"]).arg(&environment))?;
        succeeds("rtcqs", Command::new(environment.join("bin/pip")).args(["install", "--quiet", "rtcqs"]))?;
    }
    let (arguments, is_unprivileged) = (Vec::new(), false);
    Ok(Peer { name: "rtcqs".to_owned(), program, arguments, is_unprivileged, answers: rtcqs_answers })
}

/// How many items it called fine or not, and whether it came to its end.
fn rtcqs_answers(output: &Output) -> Result<String> {
    let (text, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    // In colour, and so told apart from the words in its explanations.
    let count = |word: &str| text.matches(&format!("{word}\u{1b}")).count();
    let (fine, warned) = (count("OK"), count("WARNING"));
    if fine + warned == 0 {
        bail!("it answered nothing");
    }
    let end = match errors.lines().last() {
        Some(last) if errors.contains("Traceback") => format!(", then ended with {last}"),
        _ => String::new(),
    };
    Ok(format!("{fine} OK, {warned} WARNING{end}"))
}

/// TuneD verifies the profile that its daemon applied, and applying one changes the machine. Its own classes can
/// verify one that nobody applied (`tuned_verify.py`): that is what runs here, and as a user who may change nothing.
/// The installed TuneD where there is one, else Debian's, unpacked below `directory` and nowhere else.
pub(super) fn tuned(directory: &Path, isolated: &str) -> Result<Peer> {
    let prefix = match Path::new("/usr/lib/tuned/realtime").exists() {
        true => PathBuf::from("/"),
        false => unpacked_tuned(&directory.join("tuned"))?,
    };
    let python = ["/usr/bin/python3", "python3"].into_iter().find(|python| tools::found(python));
    let python = python.context("TuneD: there is no python3")?;
    let prefix = prefix.to_str().context("TuneD: its directory is no text")?.to_owned();
    Ok(Peer {
        name: format!("TuneD verify realtime, CPU {isolated}"),
        program: PathBuf::from(python),
        arguments: ["-Es", "-c", TUNED_VERIFY, &prefix, "realtime", isolated].map(str::to_owned).to_vec(),
        is_unprivileged: true,
        answers: tuned_answers,
    })
}

fn tuned_answers(output: &Output) -> Result<String> {
    let report: Value = serde_json::from_slice(&output.stdout).context("it gave no JSON")?;
    let count = |name: &str| report[name].as_u64().with_context(|| format!("it does not say what {name}"));
    let unusable = report["unusable"].as_array().map_or(0, Vec::len);
    Ok(format!(
        "{} pass, {} fail, {} skipped, {unusable} plugins unusable; verifying alone {:.0} ms",
        count("passed")?,
        count("failed")?,
        count("skipped")?,
        report["verify_ms"].as_f64().unwrap_or(0.0),
    ))
}

/// The packages' files in a directory; nothing is installed, and none of their scripts runs.
fn unpacked_tuned(directory: &Path) -> Result<PathBuf> {
    let done = directory.join("usr/lib/tuned/realtime");
    if !done.exists() {
        if !tools::found("apt-get") || !tools::found("dpkg-deb") {
            bail!("TuneD is not installed, and without apt-get and dpkg-deb it cannot be had for a while");
        }
        fs::create_dir_all(directory).with_context(|| format!("{} cannot be made", directory.display()))?;
        let packages = ["tuned", "python3-linux-procfs", "python3-pyudev"];
        succeeds(
            "TuneD is not installed",
            Command::new("apt-get").args(["download", "-qq"]).args(packages).current_dir(directory),
        )?;
        for file in fs::read_dir(directory)?.flatten().map(|entry| entry.path()) {
            if file.extension().is_some_and(|extension| extension == "deb") {
                succeeds("TuneD", Command::new("dpkg-deb").arg("-x").arg(&file).arg(directory))?;
            }
        }
    }
    fs::canonicalize(directory).with_context(|| format!("{} is gone", directory.display()))
}

fn succeeds(whose: &str, command: &mut Command) -> Result<()> {
    let program = command.get_program().to_string_lossy().into_owned();
    let status = command
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .with_context(|| format!("{whose}: {program} could not be started"))?;
    match status.success() {
        true => Ok(()),
        false => bail!("{whose}: {command:?} failed: {status}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn output(stdout: &str, stderr: &str) -> Output {
        let status = std::process::ExitStatus::default();
        Output { status, stdout: stdout.into(), stderr: stderr.into() }
    }

    #[test]
    fn answers_are_counted_and_a_crash_is_reported() {
        let text = "\u{1b}[32mOK\u{1b}[0m: it is OK\n\u{1b}[33mWARNING\u{1b}[0m: no\n\u{1b}[32mOK\u{1b}[0m\n";
        assert_eq!(rtcqs_answers(&output(text, "")).ok().as_deref(), Some("2 OK, 1 WARNING"));
        let crash = "Traceback (most recent call last):\nKeyError: 'x'\n";
        assert_eq!(
            rtcqs_answers(&output(text, crash)).ok().as_deref(),
            Some("2 OK, 1 WARNING, then ended with KeyError: 'x'")
        );
        assert!(rtcqs_answers(&output("", crash)).is_err());
    }

    #[test]
    fn what_tuned_verified_is_told_with_what_it_could_not() {
        let report =
            r#"{"passed": 2, "failed": 36, "skipped": 1, "unusable": ["scheduler"], "verify_ms": 11.6}"#;
        let answers = tuned_answers(&output(report, "")).expect("a report");
        assert_eq!(answers, "2 pass, 36 fail, 1 skipped, 1 plugins unusable; verifying alone 12 ms");
        assert!(tuned_answers(&output("", "Permission denied")).is_err());
    }
}
