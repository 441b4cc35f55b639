//! The peers: their sources, fetched where they are not given, and how they are called.

use super::set::RandomSet;
use super::text::{for_demand_test, for_script};
use anyhow::{Context, Result, bail};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use whylate_base::Ns;

/// A peer: no package index has it, so its source is taken.
pub(super) struct Peer {
    pub(super) name: &'static str,
    address: &'static str,
    /// The version that was compared.
    commit: &'static str,
}

pub(super) const PYCPA: Peer =
    Peer { name: "pyCPA", address: "https://github.com/IDA-TUBS/pycpa", commit: "824e794" };
pub(super) const SCHEDCAT: Peer =
    Peer { name: "SchedCAT", address: "https://github.com/brandenburg/schedcat", commit: "86211bc" };

const SCRIPT: &str = include_str!("peer.py");
const DEMAND_TEST: &str = include_str!("qpa.cpp");

impl Peer {
    /// Its source: the given one, or else one below the build directory; or why there is none.
    pub(super) fn source(&self, given: Option<&Path>, place: &Path) -> Result<PathBuf, String> {
        if let Some(given) = given {
            return match given.is_dir() {
                true => Ok(given.to_path_buf()),
                false => Err(format!("{} is not a directory", given.display())),
            };
        }
        let source = place.join(self.name.to_lowercase());
        let git = |arguments: &[&str]| {
            let ran = Command::new("git").arg("-C").arg(place).args(arguments).stdin(Stdio::null()).status();
            ran.is_ok_and(|status| status.success())
        };
        let there = source.to_string_lossy().into_owned();
        let cloned = source.join(".git").is_dir() || git(&["clone", "--quiet", self.address, &there]);
        match cloned && git(&["-C", &there, "checkout", "--quiet", "--detach", self.commit]) {
            true => Ok(source),
            false => Err(format!(
                "git cannot clone {} at {}: is there a network? --{} DIR takes a checkout",
                self.address,
                self.commit,
                self.name.to_lowercase()
            )),
        }
    }

    /// As it stands in the table.
    pub(super) fn version(&self) -> String {
        format!("{} {}", self.name, self.commit)
    }
}

/// Runs the script, which calls one of the peers, on task sets: the longest response of each task.
pub(super) fn responses(
    peer: &Peer,
    source: &Path,
    place: &Path,
    sets: &[RandomSet],
) -> Result<Vec<Vec<Option<Ns>>>> {
    let script = place.join("peer.py");
    fs::write(&script, SCRIPT).with_context(|| format!("cannot write {}", script.display()))?;
    let mut command = Command::new("python3");
    command.arg("-B").arg(&script).arg(peer.name.to_lowercase()).arg(source);
    let lines = run(command, sets.iter().map(|set| for_script(set).to_string()))?;
    let read = |line: &String| -> Result<Vec<Option<Ns>>> {
        let numbers: Vec<Option<i64>> =
            serde_json::from_str(line).with_context(|| format!("{} answered `{line}`", peer.name))?;
        Ok(numbers.into_iter().map(|number| number.map(Ns)).collect())
    };
    lines.iter().map(read).collect()
}

/// Builds SchedCAT's test of EDF; or why it does not build.
pub(super) fn demand_test(source: &Path, place: &Path) -> Result<PathBuf, String> {
    let (program, main) = (place.join("qpa"), place.join("qpa.cpp"));
    fs::write(&main, DEMAND_TEST).map_err(|error| format!("cannot write {}: {error}", main.display()))?;
    let native = source.join("native");
    let mut compiler = Command::new("g++");
    compiler
        .args(["-std=gnu++14", "-O2"])
        .arg("-I")
        .arg(native.join("include"))
        .arg("-o")
        .arg(&program)
        .arg(&main);
    compiler
        .args(["src/edf/qpa.cpp", "src/tasks.cpp"].map(|file| native.join(file)))
        .args(["-lgmpxx", "-lgmp"]);
    match compiler.status() {
        Ok(status) if status.success() => Ok(program),
        _ => Err("its C++ part does not build: apt-get install g++ libgmp-dev, as root".to_owned()),
    }
}

/// The largest cost of each set's last task with which all deadlines are met.
pub(super) fn largest_costs(program: &Path, sets: &[RandomSet]) -> Result<Vec<Ns>> {
    let lines = run(Command::new(program), sets.iter().map(for_demand_test))?;
    let read =
        |line: &String| line.parse().map(Ns).with_context(|| format!("the EDF test answered `{line}`"));
    lines.iter().map(read).collect()
}

/// The lines that a program answers to lines, one each.
fn run(mut command: Command, input: impl Iterator<Item = String>) -> Result<Vec<String>> {
    let input: Vec<String> = input.map(|line| line + "\n").collect();
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .with_context(|| format!("cannot run {}", command.get_program().display()))?;
    let mut pipe = child.stdin.take().context("the peer has no standard input")?;
    let text = input.concat();
    // From a thread of its own: the answers may fill their pipe before all questions are written.
    let writer = std::thread::spawn(move || pipe.write_all(text.as_bytes()));
    let output = child.wait_with_output().context("the peer cannot be waited for")?;
    let _ = writer.join();
    let lines: Vec<String> =
        String::from_utf8_lossy(&output.stdout).lines().map(|line| line.trim().to_owned()).collect();
    if !output.status.success() || lines.len() != input.len() {
        bail!(
            "{} ended with {} after {} of {} task sets: see above",
            command.get_program().display(),
            output.status,
            lines.len(),
            input.len()
        );
    }
    Ok(lines)
}
