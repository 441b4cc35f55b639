//! An observation without tracing, for one's own programs: call stacks of page faults, and `/proc`.

use super::error::DoctorError;
use super::examine;
use super::gather;
use super::options::{CLOCK_PERIOD, DoctorOptions, LOST_STACKS, NO_STACKS};
use super::report::DoctorReport;
use super::watch::Watch;
use super::{called_names, coarse_reads};
use crate::record::{Stop, Workload, stack_notes, threads_of};
use std::ffi::OsString;
use std::thread;
use std::time::{Duration, Instant};
use whylate_base::Ns;
use whylate_stacks::{SamplerError, SamplerOptions, StackSampler, SymbolOptions};

/// How often the end is looked for.
const TICK: Duration = Duration::from_millis(10);

/// Observes a program that no trace shows.
///
/// # Errors
/// [`DoctorError`]
pub(super) fn observe(options: &DoctorOptions, stop: &Stop) -> Result<DoctorReport, DoctorError> {
    let processes = options.target.processes();
    let mut unseen = Vec::new();
    let sampler = match sampler(options) {
        Ok(sampler) => Some(sampler),
        Err(error) => {
            unseen.push(format!("{NO_STACKS}: {error}"));
            None
        }
    };
    for tid in threads_of(processes) {
        let followed = sampler.as_ref().map_or(Ok(()), |sampler| sampler.follow(tid));
        followed.map_err(|error| DoctorError::Refused { pid: tid, error })?;
    }
    let start = |command: &[OsString]| {
        Workload::start(command, None, options.command_to_stderr, |own| {
            let followed = sampler.as_ref().map_or(Ok(()), |sampler| sampler.follow(own));
            Ok(followed.map_err(SamplerError::from)?)
        })
    };
    let mut workload = options.target.command().map(start).transpose()?;
    let mut watch = Watch::new(processes.to_vec());
    let started = Instant::now();
    let is_over = |workload: &mut Option<Workload>| {
        let has_ended = match workload {
            Some(workload) => workload.has_ended(),
            None => threads_of(processes).is_empty(),
        };
        has_ended || stop.is_asked() || options.duration.is_some_and(|duration| started.elapsed() >= duration)
    };
    while !is_over(&mut workload) {
        watch.look(workload.as_ref().and_then(Workload::pid));
        thread::sleep(TICK);
    }
    let watched = watch.finish();
    let duration = Ns(i64::try_from(started.elapsed().as_nanos()).unwrap_or(i64::MAX));
    if let Some(workload) = workload.as_mut().filter(|_| !stop.command_knows()) {
        workload.terminate();
    }
    let stacks = sampler.map(StackSampler::finish).unwrap_or_default();
    unseen.extend(stack_notes(&stacks, LOST_STACKS));
    let child = match workload.map(Workload::finish) {
        Some(Err(note)) => {
            unseen.push(note);
            None
        }
        ended => ended.and_then(Result::ok),
    };
    let mut observation = gather::without_trace(watched, stacks);
    observation.called_names = called_names::find(&observation);
    observation.coarse_reads = coarse_reads::find(&observation, &options.symbols);
    Ok(examine::report(&observation, unseen, duration, child))
}

fn sampler(options: &DoctorOptions) -> Result<StackSampler, SamplerError> {
    StackSampler::start(SamplerOptions {
        period: CLOCK_PERIOD,
        symbols: SymbolOptions { debug_dirs: options.symbols.clone(), kallsyms: None },
        ..SamplerOptions::default()
    })
}
