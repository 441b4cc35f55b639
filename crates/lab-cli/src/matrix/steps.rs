//! The steps of a run in a guest, and the files that come back.

use super::plan::Run;
use crate::label::Label;
use crate::scenario::{Scenario, split_setting};
use std::path::{Path, PathBuf};
use whylate_lab::job::{GuestStep, Program};
use whylate_lab::machine::PROGRAM_PATH;
use whylate_lab::{Arch, LabError};

/// Where the guest finds the injector.
pub(crate) const INJECT_PATH: &str = "/inject";
/// Stands in a scenario for a serial port that no program reads.
const SPARE_SERIAL: &str = "{spare-serial}";
/// At most this many characters of a program's standard error are shown.
const MOST_WORDS: usize = 400;

/// The kernel modules that a scenario loads.
pub(crate) fn modules(scenario: &Scenario) -> Vec<(String, String)> {
    let of = |module: &String| {
        let (name, parameters) = module.split_once(' ').unwrap_or((module, ""));
        (name.to_owned(), parameters.trim().to_owned())
    };
    scenario.modules.iter().map(of).collect()
}

/// The settings that a scenario writes first.
pub(crate) fn settings(scenario: &Scenario) -> Vec<GuestStep> {
    let each = scenario.settings.iter().filter_map(|setting| split_setting(setting));
    let write = |(path, value, optional): (&str, &str, bool)| GuestStep::Write {
        path: path.to_owned(),
        value: value.to_owned(),
        optional,
    };
    each.map(write).collect()
}

/// Records the injector; or, where the recording is to be cut, the machine while the injector runs.
pub(super) fn steps(run: &Run, prefix: &str, arch: Arch) -> Vec<GuestStep> {
    let scenario = &run.scenario;
    let inject = inject(run, arch);
    if scenario.record_after_ms.is_none() && scenario.record_for.is_none() {
        return vec![recorded(scenario, prefix, inject)];
    }
    let mut record = record(scenario, prefix);
    let program = |command, stdout: &str, background| program(prefix, command, stdout, background);
    let length = scenario.record_for.as_ref().unwrap_or(&scenario.duration);
    record.extend(["--duration".to_owned(), length.clone()]);
    vec![
        program(inject, "json", true),
        GuestStep::Sleep(scenario.record_after_ms.unwrap_or(0)),
        program(record, "record", false),
        GuestStep::Wait,
    ]
}

fn program(prefix: &str, command: Vec<String>, stdout: &str, background: bool) -> GuestStep {
    let (stdout, stderr) = (Some(format!("{prefix}.{stdout}")), Some(format!("{prefix}.{stdout}.err")));
    GuestStep::Run(Program { command, stdout, stderr, background, ..Program::default() })
}

fn record(scenario: &Scenario, prefix: &str) -> Vec<String> {
    let mut record = vec![PROGRAM_PATH.to_owned(), "record".to_owned()];
    record.extend(scenario.record.iter().cloned());
    record.extend(["--output".to_owned(), format!("/out/{prefix}.dat")]);
    record
}

/// Records a program from its beginning to its end.
pub(super) fn recorded(scenario: &Scenario, prefix: &str, command: Vec<String>) -> GuestStep {
    let mut record = record(scenario, prefix);
    record.push("--".to_owned());
    record.extend(command);
    program(prefix, record, "json", false)
}

/// The injector's command line.
pub(crate) fn inject(run: &Run, arch: Arch) -> Vec<String> {
    command(run, &run.scenario.inject, arch)
}

/// The same with other arguments.
pub(super) fn command(run: &Run, inject: &[String], arch: Arch) -> Vec<String> {
    let scenario = &run.scenario;
    let mut command = vec![INJECT_PATH.to_owned()];
    let arguments = inject.iter().chain(&run.sweep);
    command.extend(arguments.map(|argument| argument.replace(SPARE_SERIAL, arch.spare_serial())));
    if !inject.iter().any(|argument| argument == "--duration") {
        command.extend(["--duration".to_owned(), scenario.duration.clone()]);
    }
    command.extend(["--seed".to_owned(), run.seed.to_string()]);
    command
}

/// The label of the run whose files are called so.
pub(super) fn label(out: &Path, prefix: &str) -> Result<Label, String> {
    let text = std::fs::read_to_string(out.join(format!("{prefix}.json")));
    let text = text.map_err(|error| format!("no label: {error}"))?;
    Label::parse(&text).map_err(|error| {
        format!("no label ({error}): {}", complaints(out, prefix, &["json.err", "record.err"]))
    })
}

/// What programs of a run wrote to standard error.
pub(crate) fn complaints(out: &Path, prefix: &str, names: &[&str]) -> String {
    let read =
        |name: &&str| std::fs::read_to_string(out.join(format!("{prefix}.{name}"))).unwrap_or_default();
    names.iter().map(read).collect::<String>().trim().chars().take(MOST_WORDS).collect()
}

/// Keeps recording and label as `KERNEL/SCENARIO-SEED[-SWEEP][-MACHINE].dat` and `.json`.
pub(super) fn keep_files(
    keep: &Path,
    run: &Run,
    machine: &str,
    out: &Path,
    prefix: &str,
) -> Result<PathBuf, LabError> {
    let from = |ending: &str| out.join(format!("{prefix}.{ending}"));
    let plain = |text: &str| text.replace(|c: char| !(c.is_ascii_alphanumeric() || "._-".contains(c)), "_");
    let directory = keep.join(plain(&run.kernel));
    std::fs::create_dir_all(&directory).map_err(LabError::file("create", &directory))?;
    let sweep = if run.sweep.is_empty() { String::new() } else { format!("-{}", plain(&run.sweep.concat())) };
    let name = format!("{}-{}{sweep}{machine}", plain(&run.scenario.name), run.seed);
    let (dat, json) = (directory.join(format!("{name}.dat")), directory.join(format!("{name}.json")));
    std::fs::copy(from("dat"), &dat).map_err(LabError::file("write", &dat))?;
    std::fs::copy(from("json"), &json).map_err(LabError::file("write", &json))?;
    Ok(dat)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::{Expectation, find};
    use std::sync::Arc;

    fn commands(name: &str, change: impl FnOnce(&mut Scenario)) -> Vec<String> {
        let mut scenario = find(name).expect(name);
        change(&mut scenario);
        let run = Run {
            scenario: Arc::new(scenario),
            kernel: "6.1".to_owned(),
            expected: Expectation::default(),
            seed: 7,
            sweep: Vec::new(),
        };
        let shown = |step: GuestStep| match step {
            GuestStep::Run(program) => {
                format!("{}{}", program.command.join(" "), if program.background { " &" } else { "" })
            }
            GuestStep::Sleep(time) => format!("sleep {time}"),
            other => format!("{other:?}"),
        };
        steps(&run, "run0", Arch::Arm64).into_iter().map(shown).collect()
    }

    #[test]
    fn the_injector_runs_inside_the_recording() {
        let commands = commands("higher", |scenario| scenario.record = vec!["--buffer".into(), "64".into()]);
        let inject = "/inject higher --duration 2s --seed 7";
        assert_eq!(commands, [format!("/whylate record --buffer 64 --output /out/run0.dat -- {inject}")]);
    }

    #[test]
    fn a_cut_recording_runs_beside_the_injector() {
        let commands = commands("higher", |scenario| {
            scenario.inject.extend(["--duration".into(), "5s".into()]);
            scenario.record_after_ms = Some(900);
            scenario.record_for = Some("1s".into());
        });
        assert_eq!(
            commands,
            [
                "/inject higher --duration 5s --seed 7 &",
                "sleep 900",
                "/whylate record --output /out/run0.dat --duration 1s",
                "Wait"
            ]
        );
    }

    #[test]
    fn a_port_is_one_of_the_guests_architecture() {
        let commands = commands("irq-load", |_| {});
        assert!(commands[0].contains("irq-load --port /dev/ttyS0 "), "{commands:?}");
    }
}
