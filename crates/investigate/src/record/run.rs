//! A recording from its start to its file.

use super::affinity_watch::AffinityWatch;
use super::command::{self, Workload};
use super::drain::Drain;
use super::error::RecordError;
use super::options::{RecordOptions, Stop};
use super::report::RecordReport;
use super::session::Session;
use super::stacks;
use super::threads::threads_of;
use std::sync::Arc;
use std::time::{Duration, Instant};
use whylate_base::{Ns, Tid};
use whylate_events::Fact;
use whylate_ftrace::dat::write::{self, Description};
use whylate_stacks::{SamplerError, StackSampler};
use whylate_sys::OutputFile;

/// What it means that a call stack was lost.
const LOST: &str = "the samples came faster than they were taken out; choose a longer --stack-period";

/// Records until the duration is over, the command has ended, or it is stopped,
/// whichever is first; then writes the file.
///
/// A command that still runs then is sent SIGTERM, because a recording leaves nothing behind:
/// at once, or where it got the signal as well ([`Stop::alone`]) after some time to end by itself.
///
/// If pages cannot be put aside any more, on a full disk, the recording ends there, and the file has what was recorded by
/// then ([`RecordReport::ended_early`]).
///
/// # Errors
/// [`RecordError`]. No file is written then, and nothing of the tracing is left.
pub fn record(options: &RecordOptions, stop: &Stop) -> Result<RecordReport, RecordError> {
    let mut report = record_watched(options, stop, |_| {})?;
    if let Some(stacks) = &report.stacks {
        if stacks.samples.is_empty() {
            report.notes.push("no call stack was sampled: no followed thread ran".to_owned());
        }
        report.notes.extend(stacks::notes(stacks, LOST));
        report.notes.extend(options.stacks.as_ref().and_then(|asked| stacks::sparse(stacks, asked)));
    }
    Ok(report)
}

/// Records as [`record`] does, and calls `watch` with the command's process every now and then, from the time it has
/// started until it has ended. What is to be noted of the call stacks is left to the caller.
///
/// # Errors
/// Those of [`record`].
pub(crate) fn record_watched(
    options: &RecordOptions,
    stop: &Stop,
    mut watch: impl FnMut(Option<Tid>),
) -> Result<RecordReport, RecordError> {
    let directory = OutputFile::check(&options.output)?;
    let user = options.user.as_deref().map(command::user).transpose()?;
    let clock = options.session.clock.as_deref();
    let sampler = options.stacks.as_ref().map(|options| stacks::prepare(options, clock)).transpose()?;
    let has_workload = options.command.is_some() || !options.processes.is_empty();
    let mut session = Session::start(&options.session, has_workload)?;
    let mut drain = Drain::new(&session, directory)?;
    let started = Instant::now();
    if let (Some(sampler), Some(options)) = (&sampler, &options.stacks) {
        stacks::follow_real_time(sampler, options, &session)?;
    }
    for tid in threads_of(&options.processes) {
        follow(&session, sampler.as_ref(), tid)?;
    }
    let mut workload = match &options.command {
        Some(command) => {
            let follow = |own| follow(&session, sampler.as_ref(), own);
            Some(Workload::start(command, user.as_ref(), options.command_to_stderr, follow)?)
        }
        None => None,
    };
    let pid = workload.as_ref().and_then(Workload::pid);
    if let Some(tid) = pid {
        session.fact(&Fact::Workload { tid })?;
    }
    watch(pid);
    let mut affinity = AffinityWatch::new(&session);
    let mut ended = Ok(Duration::ZERO);
    let drained = drain.run(|| {
        let gone = started.elapsed();
        let left = options.duration.map_or(Some(Duration::MAX), |duration| duration.checked_sub(gone));
        if stop.is_asked()
            || left.is_none_or(|left| left.is_zero())
            || workload.as_mut().is_some_and(Workload::has_ended)
        {
            ended = session.stop().map(|()| gone);
            return None;
        }
        affinity.look(&mut session);
        watch(pid);
        left
    });
    let mut ended_early = None;
    match drained {
        Ok(()) => drain.rest()?,
        Err(error @ RecordError::Store { .. }) => {
            // An error on the way back is one more of the same kind: what is aside is kept all the same.
            ended = session.stop().map(|()| started.elapsed());
            let again = drain.end_early().err().map(|_| "; a part of the last events could not be kept");
            ended_early = Some(format!("{}{}", with_source(&error), again.unwrap_or_default()));
        }
        Err(error) => return Err(error),
    }
    let duration = Ns(i64::try_from(ended?.as_nanos()).unwrap_or(i64::MAX));
    if let Some(workload) = workload.as_mut().filter(|_| !stop.command_knows()) {
        workload.terminate();
    }
    let stacks = sampler.map(|sampler| Arc::new(sampler.finish()));
    let description = Description { stacks: stacks.clone(), ..session.describe()? };
    let (stats, cpus) = drain.stats(&session)?;
    let bytes = write::write_file(&options.output, &description, &drain.buffers(&session, &stats))?;
    let child = match workload.map(Workload::finish) {
        Some(Err(note)) => {
            session.note(note);
            None
        }
        ended => ended.and_then(Result::ok),
    };
    let (clock, notes) = (session.clock().to_owned(), session.take_notes());
    let (path, only) = (options.output.clone(), session.cpus().cloned());
    Ok(RecordReport { path, bytes, duration, clock, cpus, only, notes, child, ended_early, stacks })
}

/// Records the system calls, page faults and, with a sampler, the call stacks of a thread and of what it starts. A thread
/// that has ended has none.
fn follow(session: &Session, sampler: Option<&StackSampler>, tid: Tid) -> Result<(), RecordError> {
    session.follow(tid)?;
    let followed = sampler.map_or(Ok(()), |sampler| sampler.follow(tid));
    Ok(followed.map_err(SamplerError::from)?)
}

fn with_source(error: &RecordError) -> String {
    match std::error::Error::source(error) {
        Some(source) => format!("{error}: {source}"),
        None => error.to_string(),
    }
}
