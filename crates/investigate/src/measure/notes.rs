//! What the measurement itself did to the machine: said, so that nobody has to guess.

use super::report::TraceState;
use whylate_base::Ns;
use whylate_probes::{Lacking, TimerProbe, TimerResult};

/// Sentences for the report.
pub(super) fn observer(probe: &TimerProbe, result: &TimerResult, trace: &TraceState) -> Vec<String> {
    let mut notes = Vec::new();
    let share = |part: Ns| part.0 as f64 / result.elapsed.0.max(1) as f64 / result.cpus.len().max(1) as f64;
    notes.push(format!(
        "a measuring thread woke every {} on each measured CPU and used {:.1} % of it; an idle CPU slept less \
         deeply for it than it would have otherwise",
        probe.interval,
        100.0 * share(result.cpu_time),
    ));
    notes.push(
        "/dev/cpu_dma_latency was not held, unlike cyclictest: leaving deep idle states is in these numbers, as it \
         would be in an application's"
            .to_owned(),
    );
    if let TraceState::Recorded { events, .. } = trace {
        notes.push(format!(
            "a trace ran along, {:.0} events/s over all CPUs: every event costs the CPU that it happens on some time, \
             so these latencies are a little above those without it",
            *events as f64 / result.elapsed.as_secs_f64().max(1e-9)
        ));
    }
    if !result.degraded.iter().any(|degraded| degraded.lacking == Lacking::LockedMemory) {
        notes.push("this process's memory was locked meanwhile".to_owned());
    }
    if result.degraded.iter().any(|degraded| degraded.lacking == Lacking::Priority) {
        notes.push(
            "the measuring threads' timer slack was set to 1 ns; a SCHED_OTHER application's timers are up to 50 us \
             later by default"
                .to_owned(),
        );
    }
    notes
}
