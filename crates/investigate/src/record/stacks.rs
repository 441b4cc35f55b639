//! Call stacks beside the events: of COMMAND, and of the processes of real-time threads.

use super::error::RecordError;
use super::session::Session;
use super::threads::{real_time_threads, threads_of};
use std::fs;
use std::path::PathBuf;
use whylate_base::Tid;
use whylate_events::Stacks;
use whylate_ftrace::format::EventFormat;
use whylate_ftrace::tracefs::Tracefs;
use whylate_stacks::{
    ClockPeriod, DEFAULT_PERIOD, SampledTracepoint, SamplerError, SamplerOptions, StackSampler, SymbolOptions,
};

/// How to sample call stacks.
#[derive(Clone, Debug)]
pub struct StackOptions {
    /// The interval of the CPU clock of each thread.
    pub period: ClockPeriod,
    /// Directories with separate debug files, besides `/usr/lib/debug`.
    pub symbols: Vec<PathBuf>,
    /// The system calls whose stacks are sampled, as a filter of `raw_syscalls:sys_enter`; `None` samples none.
    pub syscalls: Option<String>,
    /// Whether the machine's real-time programs are sampled, besides what the recording follows.
    pub real_time_programs: bool,
}

impl Default for StackOptions {
    fn default() -> Self {
        StackOptions { period: DEFAULT_PERIOD, symbols: Vec::new(), syscalls: None, real_time_programs: true }
    }
}

/// Prepares the sampling, before tracing starts: what it costs is measured first, and shall not be in the trace.
///
/// # Errors
/// [`RecordError::StackClock`], [`RecordError::Stacks`], and [`RecordError::Tracefs`].
pub(super) fn prepare(options: &StackOptions, clock: Option<&str>) -> Result<StackSampler, RecordError> {
    check_clock(clock.unwrap_or("mono"))?;
    let tracefs = Tracefs::open()?;
    let syscalls = options.syscalls.as_ref().and_then(|filter| {
        let tracepoint = tracepoint(&tracefs, "raw_syscalls", "sys_enter", "id")?;
        Some(SampledTracepoint { filter: Some(filter.clone()), ..tracepoint })
    });
    Ok(StackSampler::start(SamplerOptions {
        period: options.period,
        wakes: tracepoint(&tracefs, "sched", "sched_waking", "pid"),
        timers: tracepoint(&tracefs, "timer", "hrtimer_expire_entry", "hrtimer")
            .map(|tracepoint| tracepoint.id),
        syscalls,
        symbols: SymbolOptions {
            debug_dirs: options.symbols.clone(),
            // Without privileges it has zeros in place of addresses.
            kallsyms: fs::read_to_string("/proc/kallsyms").ok(),
        },
        ..SamplerOptions::default()
    })?)
}

/// Samples the real-time threads of programs from now on, and the other threads of their processes: one of those may
/// hold a lock. Only those that the recording follows, where the options ask for that.
///
/// # Errors
/// [`RecordError::StackClock`], [`RecordError::Stacks`].
pub(super) fn follow_real_time(
    sampler: &StackSampler,
    options: &StackOptions,
    session: &Session,
) -> Result<(), RecordError> {
    check_clock(session.clock())?;
    if !options.real_time_programs {
        return Ok(());
    }
    let real_time: Vec<Tid> =
        real_time_threads().iter().filter(|thread| !thread.is_kernel).map(|thread| thread.tid).collect();
    for tid in threads_of(&real_time) {
        sampler.follow(tid).map_err(SamplerError::from)?;
    }
    Ok(())
}

/// Samples have times of CLOCK_MONOTONIC.
fn check_clock(clock: &str) -> Result<(), RecordError> {
    match clock {
        "mono" => Ok(()),
        clock => Err(RecordError::StackClock { clock: clock.to_owned() }),
    }
}

/// A tracepoint with the member that its samples keep; `None` where this kernel has none.
pub(crate) fn tracepoint(
    tracefs: &Tracefs,
    group: &str,
    name: &str,
    member: &str,
) -> Option<SampledTracepoint> {
    let text = tracefs.read(&format!("events/{group}/{name}/format")).ok()?;
    let format = EventFormat::parse(group, &text)?;
    let field = format.field(member)?;
    Some(SampledTracepoint { id: format.id.into(), member: (field.offset, field.size), filter: None })
}

/// That running threads were sampled less often than they are elsewhere.
pub(super) fn sparse(stacks: &Stacks, asked: &StackOptions) -> Option<String> {
    let ClockPeriod::AtLeast(least) = asked.period else { return None };
    let period = stacks.period;
    (period > least).then(|| {
        format!(
            "a timer's interrupt takes long on this machine: running threads were sampled each {period}, and in the interrupts \
             of other timers; --stack-period 1ms shows more of what they did, and takes more of their time"
        )
    })
}

/// What the call stacks do not show, in sentences; `consequence` is what a lost one means.
pub(crate) fn notes(stacks: &Stacks, consequence: &str) -> Vec<String> {
    let lost = (stacks.lost > 0).then(|| format!("{} call stacks were lost: {consequence}", stacks.lost));
    stacks.notes.iter().cloned().chain(lost).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use whylate_base::Ns;

    #[test]
    fn a_clock_that_is_slower_than_asked_for_is_noted() {
        let noted = |period, sampled| {
            let stacks = Stacks { period: sampled, ..Stacks::default() };
            sparse(&stacks, &StackOptions { period, ..StackOptions::default() }).is_some()
        };
        let (one, long) = (Ns::from_ms(1), Ns::from_ms(10));
        assert!(noted(ClockPeriod::AtLeast(one), long));
        assert!(!noted(ClockPeriod::AtLeast(one), one));
        assert!(!noted(ClockPeriod::Exactly(long), long));
    }
}
