//! An examination from its start to its report.

use super::calls::stack_filter;
use super::error::DoctorError;
use super::examine;
use super::gather;
use super::inversions;
use super::options::{CLOCK_PERIOD, DoctorOptions, LOST_STACKS, NO_STACKS};
use super::report::DoctorReport;
use super::scratch;
use super::untraced;
use super::watch::Watch;
use super::{called_names, coarse_reads};
use crate::in_full;
use crate::record::{
    RecordError, RecordOptions, RecordReport, StackOptions, Stop, record_watched, stack_notes,
};
use std::ffi::OsString;
use whylate_ftrace::tracefs::Tracefs;
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
    match Tracefs::open() {
        Ok(_) => traced(options, stop),
        Err(error) => {
            let mut report = untraced::observe(options, stop)?;
            report
                .unseen
                .insert(0, format!("system calls, locks and wake-ups were not seen: {}", in_full(&error)));
            Ok(report)
        }
    }
}

fn traced(options: &DoctorOptions, stop: &Stop) -> Result<DoctorReport, DoctorError> {
    let directory = scratch::directory()?;
    let mut recording = RecordOptions {
        output: directory.path().join("doctor.dat"),
        duration: options.duration,
        command: options.target.command().map(<[OsString]>::to_vec),
        command_to_stderr: options.command_to_stderr,
        processes: options.target.processes().to_vec(),
        stacks: Some(StackOptions {
            period: CLOCK_PERIOD,
            symbols: options.symbols.clone(),
            syscalls: Some(stack_filter()),
            real_time_programs: false,
        }),
        ..RecordOptions::default()
    };
    let mut unseen = Vec::new();
    let (recorded, watched) = match recorded(&recording, stop) {
        Err(RecordError::Stacks(error)) => {
            unseen.push(format!("{NO_STACKS}: {error}"));
            recording.stacks = None;
            recorded(&recording, stop)?
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

fn recorded(recording: &RecordOptions, stop: &Stop) -> Result<(RecordReport, Watch), RecordError> {
    let mut watch = Watch::new(recording.processes.clone());
    let report = record_watched(recording, stop, |command| watch.look(command))?;
    Ok((report, watch))
}
