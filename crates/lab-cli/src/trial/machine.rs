//! One machine under test.

use super::verbs;
use crate::state::{Comparison, MachineState, compare};
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use whylate_lab::disk::{Booted, Guest, Image};
use whylate_lab::job::{GuestStep, Program};
use whylate_lab::{LabError, Store, Visit};

/// A machine under test, with its observations so far.
pub struct Trial<'a> {
    guest: Guest,
    out: PathBuf,
    boots: usize,
    stop: &'a AtomicBool,
    /// Reports each observation as it is made.
    observe: &'a dyn Fn(&Observation),
    /// The observations.
    pub findings: Vec<Observation>,
}

/// The result of one check.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Observation {
    /// In which boot of the machine.
    pub boot: usize,
    /// What was checked.
    pub what: String,
    /// Whether it was right.
    pub right: bool,
    /// The result, in a few words.
    pub came: String,
    /// More lines where it was not right.
    pub details: Vec<String>,
    /// Host time of the boot, in seconds.
    pub seconds: f64,
}

/// A command of a boot, with its right exit codes.
#[derive(Clone, Debug)]
pub(super) struct TrialCommand {
    /// Its purpose, as an observation reports it.
    pub(super) what: String,
    /// For a shell.
    pub(super) command: String,
    /// The exit codes that are right.
    pub(super) right: &'static [i32],
}

impl TrialCommand {
    pub(super) fn new(what: &str, command: String, right: &'static [i32]) -> TrialCommand {
        TrialCommand { what: what.to_owned(), command, right }
    }

    /// The state of the machine.
    pub(super) fn state(name: &str) -> TrialCommand {
        TrialCommand::new(&format!("state taken: {name}"), verbs::state(name), &[0])
    }
}

/// The files of a boot.
#[derive(Debug)]
pub(super) struct BootResults {
    directory: PathBuf,
}

impl<'a> Trial<'a> {
    /// A new machine from that image, with its disk and its results below `out`; `whylate` is the program under
    /// test.
    ///
    /// # Errors
    /// When the image cannot be made, or copied.
    pub fn new(
        image: &Image,
        store: &Store,
        whylate: &Path,
        out: &Path,
        stop: &'a AtomicBool,
        observe: &'a dyn Fn(&Observation),
    ) -> Result<Trial<'a>, LabError> {
        std::fs::create_dir_all(out).map_err(LabError::file("create", out))?;
        let disk = out.join("disk.img");
        image.copy(store, &disk, stop)?;
        let mut guest = Guest::new(&disk)?;
        guest.program = Some(whylate.to_owned());
        Ok(Trial { guest, out: out.to_owned(), boots: 0, stop, observe, findings: Vec::new() })
    }

    /// Host time after which a boot is ended.
    pub fn set_limit(&mut self, limit: Duration) {
        self.guest.limit = limit;
    }

    /// The directory with its disk and its results.
    pub(super) fn out(&self) -> &Path {
        &self.out
    }

    /// Boots it, runs the lines, and shuts it down.
    pub(super) fn boot(&mut self, lines: &[TrialCommand]) -> Result<BootResults, LabError> {
        let (booted, directory) = self.run(lines, false)?;
        let Booted::Done(done) = booted else {
            return Err(LabError::Died { reason: "its power was cut".into(), console: String::new() });
        };
        let console = directory.join("console.txt");
        std::fs::write(&console, &done.console).map_err(LabError::file("write", &console))?;
        for (index, line) in lines.iter().enumerate() {
            let step = done.report.steps.get(index).cloned().unwrap_or_default();
            let output = std::fs::read_to_string(directory.join(format!("{index}.txt"))).unwrap_or_default();
            let right = step.code.is_some_and(|code| line.right.contains(&code));
            let came = match (step.code, step.error) {
                (Some(code), _) => format!("exit code {code}"),
                (None, error) => error.unwrap_or_else(|| "the guest did not reach it".to_owned()),
            };
            let mut details: Vec<String> = Vec::new();
            if !right {
                details.push(format!("$ {}", line.command));
                details.extend(output.lines().map(str::to_owned));
            }
            self.found(&line.what, right, came, details, done.total);
        }
        Ok(BootResults { directory })
    }

    /// Boots it, runs the lines, and cuts its power. The exit code of the last line.
    pub(super) fn boot_and_cut(&mut self, lines: &[TrialCommand]) -> Result<Option<i32>, LabError> {
        match self.run(lines, true)?.0 {
            Booted::Cut { code, .. } => Ok(code),
            Booted::Done(done) => Err(LabError::Died {
                reason: "it shut down before the power cut".into(),
                console: done.console,
            }),
        }
    }

    fn run(&mut self, lines: &[TrialCommand], cut: bool) -> Result<(Booted, PathBuf), LabError> {
        self.boots += 1;
        let BootResults { directory } = BootResults::of(&self.out, self.boots);
        let step = |(index, line): (usize, &TrialCommand)| {
            let command =
                ["/bin/sh", "-c", &format!("exec 2>&1; {}", line.command)].map(str::to_owned).to_vec();
            GuestStep::Run(Program { command, stdout: Some(format!("{index}.txt")), ..Program::default() })
        };
        let steps = lines.iter().enumerate().map(step).chain(cut.then_some(GuestStep::Cut)).collect();
        let visit = Visit { steps, ..Visit::default() };
        let booted = self.guest.boot(&visit, &directory, self.stop)?;
        Ok((booted, directory))
    }

    pub(super) fn found(
        &mut self,
        what: &str,
        right: bool,
        came: String,
        details: Vec<String>,
        time: Duration,
    ) {
        let seconds = time.as_secs_f64();
        let finding = Observation { boot: self.boots, what: what.to_owned(), right, came, details, seconds };
        (self.observe)(&finding);
        self.findings.push(finding);
    }

    /// Checks that two states are the same.
    pub(super) fn same(&mut self, what: &str, before: &MachineState, after: &MachineState) -> Comparison {
        let comparison = compare(before, after);
        let different = comparison.differences.len();
        let came = format!(
            "{} values compared, {different} differ ({} do so by themselves)",
            comparison.compared,
            comparison.by_themselves.len()
        );
        let details = comparison.differences.iter().map(|difference| {
            let side = |value: &Option<String>| value.clone().unwrap_or_else(|| "(not there)".to_owned());
            format!("{}: {} -> {}", difference.name, side(&difference.before), side(&difference.after))
        });
        self.found(what, different == 0 && comparison.compared > 0, came, details.collect(), Duration::ZERO);
        comparison
    }

    /// True when all checks passed.
    pub fn is_right(&self) -> bool {
        !self.findings.is_empty() && self.findings.iter().all(|finding| finding.right)
    }
}

impl BootResults {
    /// Of a machine's boot, the first of which is 1; `out` is the machine's directory.
    pub(super) fn of(out: &Path, boot: usize) -> BootResults {
        BootResults { directory: out.join(format!("boot-{boot:02}")) }
    }

    /// A state that was read in that boot.
    pub(super) fn state(&self, name: &str) -> Result<MachineState, LabError> {
        self.json(name)
    }

    /// A document that a line wrote to `/out/NAME.json`.
    pub(super) fn json<T: serde::de::DeserializeOwned>(&self, name: &str) -> Result<T, LabError> {
        let path = self.directory.join(format!("{name}.json"));
        let text = std::fs::read(&path).map_err(LabError::file("read", &path))?;
        serde_json::from_slice(&text).map_err(std::io::Error::from).map_err(LabError::file("read", &path))
    }
}
