//! An observation without tracing, for one's own programs: call stacks of page faults, and `/proc`.

use super::error::DoctorError;
use super::examine;
use super::gather;
use super::options::{DoctorOptions, DoctorTarget};
use super::report::DoctorReport;
use super::watch::Watch;
use crate::record::{RecordError, Stop, Workload, threads_of};
use std::thread;
use std::time::{Duration, Instant};
use whylate_base::{CpuSet, Ns, Tid};
use whylate_events::Stacks;
use whylate_stacks::{DEFAULT_STACK_BYTES, SamplerError, SamplerOptions, StackSampler, SymbolOptions};

/// How often the end is looked for.
const TICK: Duration = Duration::from_millis(10);

/// Observes a program that no trace shows.
///
/// # Errors
/// [`DoctorError`]
pub(super) fn observe(
    options: &DoctorOptions,
    processes: &[Tid],
    stop: &Stop,
) -> Result<DoctorReport, DoctorError> {
    let sampler = sampler(options)?;
    for tid in threads_of(processes) {
        match sampler.follow(tid) {
            Err(error) if error.is_no_such_thread() => {}
            followed => followed.map_err(|error| DoctorError::Refused { pid: tid, error })?,
        }
    }
    let mut workload = match &options.target {
        DoctorTarget::Command(command) => Some(Workload::start(command, None, |own| {
            sampler.follow(own).map_err(|error| RecordError::Stacks(SamplerError::from(error)))
        })?),
        DoctorTarget::Process(_) => None,
    };
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
    let stacks = sampler.finish();
    let mut unseen = notes(&stacks);
    let child = match workload.map(Workload::finish) {
        Some(Err(note)) => {
            unseen.push(note);
            None
        }
        ended => ended.and_then(Result::ok),
    };
    let observation = gather::without_trace(watched, stacks);
    Ok(examine::report(&observation, unseen, duration, child))
}

/// What the call stacks do not show, in sentences.
pub(super) fn notes(stacks: &Stacks) -> Vec<String> {
    let mut notes = stacks.notes.clone();
    if stacks.lost > 0 {
        notes.push(format!(
            "{} call stacks were lost: page faults may be missing, and lines of system calls",
            stacks.lost
        ));
    }
    notes
}

fn sampler(options: &DoctorOptions) -> Result<StackSampler, SamplerError> {
    let online = std::fs::read_to_string("/sys/devices/system/cpu/online").unwrap_or_default();
    let cpus: CpuSet = online.trim().parse().unwrap_or_default();
    StackSampler::start(SamplerOptions {
        period: Ns::from_secs(1),
        wakes: None,
        syscalls: None,
        stack_bytes: DEFAULT_STACK_BYTES,
        cpus: cpus.iter().collect(),
        symbols: SymbolOptions { debug_dirs: options.symbols.clone(), kallsyms: None },
    })
}
