//! An examination from its start to its report.

use super::calls::stack_filter;
use super::error::DoctorError;
use super::examine;
use super::gather;
use super::inversions;
use super::options::{CLOCK_PERIOD, DoctorOptions, DoctorTarget, LOST_STACKS, NO_STACKS};
use super::report::DoctorReport;
use super::scratch;
use super::untraced;
use super::watch::Watch;
use super::{called_names, coarse_reads};
use crate::in_full;
use crate::record::{
    RecordError, RecordOptions, RecordReport, StackOptions, Stop, record_watched, stack_notes,
};
use std::fs;
use whylate_base::Tid;
use whylate_ftrace::tracefs::Tracefs;
use whylate_host::status_value;
use whylate_ledger::WANTED;

/// Observes a program until it ends, the duration is over or it is stopped, and examines what was seen.
///
/// As root it records the program as [`crate::record`] does, in a temporary file. Without root it observes one's own
/// programs by call stacks and `/proc` alone, and [`DoctorReport::unseen`] lists what that cannot show. A command that
/// still runs at the end is sent SIGTERM; a process that ran before is left running.
///
/// # Errors
/// [`DoctorError`]. Nothing of the observation is left then.
pub fn doctor(options: &DoctorOptions, stop: &Stop) -> Result<DoctorReport, DoctorError> {
    let target = Target::of(&options.target)?;
    match Tracefs::open() {
        Ok(_) => traced(options, &target, stop),
        Err(error) => {
            let mut report = untraced::observe(options, &target.processes, stop)?;
            report
                .unseen
                .insert(0, format!("system calls, locks and wake-ups were not seen: {}", in_full(&error)));
            Ok(report)
        }
    }
}

/// The program as the recording wants it.
struct Target {
    processes: Vec<Tid>,
    command: Option<Vec<std::ffi::OsString>>,
}

impl Target {
    fn of(target: &DoctorTarget) -> Result<Target, DoctorError> {
        match target {
            DoctorTarget::Command(command) => {
                Ok(Target { processes: Vec::new(), command: Some(command.clone()) })
            }
            &DoctorTarget::Process(pid) => {
                let gone = DoctorError::NoSuchProcess { pid };
                let Ok(status) = fs::read_to_string(format!("/proc/{pid}/status")) else { return Err(gone) };
                if status_value(&status, "VmSize").is_none() {
                    let is_zombie =
                        status_value(&status, "State").is_some_and(|state| state.starts_with('Z'));
                    return Err(if is_zombie { gone } else { DoctorError::KernelThread { pid } });
                }
                let leader = status_value(&status, "Tgid").and_then(|leader| leader.parse().ok()).map(Tid);
                Ok(Target { processes: vec![leader.unwrap_or(pid)], command: None })
            }
        }
    }
}

fn traced(options: &DoctorOptions, target: &Target, stop: &Stop) -> Result<DoctorReport, DoctorError> {
    let directory = scratch::directory()?;
    let mut recording = RecordOptions {
        output: directory.path().join("doctor.dat"),
        duration: options.duration,
        command: target.command.clone(),
        command_to_stderr: options.command_to_stderr,
        processes: target.processes.clone(),
        stacks: Some(StackOptions {
            period: CLOCK_PERIOD,
            symbols: options.symbols.clone(),
            syscalls: Some(stack_filter()),
            real_time_programs: false,
        }),
        ..RecordOptions::default()
    };
    let mut unseen = Vec::new();
    let (recorded, watched) = match recorded(&recording, target, stop) {
        Err(RecordError::Stacks(error)) => {
            unseen.push(format!("{NO_STACKS}: {error}"));
            recording.stacks = None;
            recorded(&recording, target, stop)?
        }
        recorded => recorded?,
    };
    let watched = watched.finish();
    unseen.extend(recorded.notes);
    unseen.extend(recorded.stacks.iter().flat_map(|stacks| stack_notes(stacks, LOST_STACKS)));
    unseen.extend(recorded.ended_early);
    if watched.is_cut {
        unseen.push("some threads were not looked at: there are more than 1,000".to_owned());
    }
    let mut source = whylate_intake::open(&recording.output, WANTED)?;
    let (mut observation, missing) = gather::observation(&mut *source, watched);
    unseen.extend(missing);
    drop(source);
    observation.called_names = called_names::find(&observation);
    observation.coarse_reads = coarse_reads::find(&observation, &options.symbols);
    observation.inversions = inversions::find(whylate_intake::open(&recording.output, WANTED)?, &observation);
    Ok(examine::report(&observation, unseen, recorded.duration, recorded.child))
}

fn recorded(
    recording: &RecordOptions,
    target: &Target,
    stop: &Stop,
) -> Result<(RecordReport, Watch), RecordError> {
    let mut watch = Watch::new(target.processes.clone());
    let report = record_watched(recording, stop, |command| watch.look(command))?;
    Ok((report, watch))
}
