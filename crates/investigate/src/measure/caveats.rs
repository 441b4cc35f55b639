//! Caveats of a measurement: what it did to the machine itself, and which CPUs it left out.

use super::options::MeasureOptions;
use super::report::TraceState;
use whylate_base::{CpuSet, Ns};
use whylate_probes::{Lacking, ProbeKind, ProbeResult, Workload};

/// Which CPUs are out of load balancing (drivers/base/cpu.c); programs are not started on them, so they are not among
/// those that this process may use, unless its affinity was set.
const ISOLATED: &str = "/sys/devices/system/cpu/isolated";

/// Isolated CPUs are mostly those that matter, so a measurement without them is reported.
pub(super) fn left_out(
    options: &MeasureOptions,
    result: &ProbeResult,
    machine: &[(String, String)],
) -> Option<String> {
    let isolated: CpuSet = machine.iter().find(|(name, _)| name == ISOLATED)?.1.parse().ok()?;
    let all_bound = result.cpus.iter().all(|cpu| cpu.bound);
    let left_out: CpuSet =
        isolated.iter().filter(|cpu| !result.cpus.iter().any(|measured| measured.cpu == *cpu)).collect();
    (options.probe.cpus.is_none() && all_bound && !left_out.is_empty()).then(|| {
        format!("CPUs {left_out} are isolated and were not measured: to measure them use --cpus {left_out}, where this process may use them")
    })
}

/// Sentences for the report.
pub(super) fn observer(options: &MeasureOptions, result: &ProbeResult, trace: &TraceState) -> Vec<String> {
    let mut notes = Vec::new();
    let probe = &options.probe;
    let share = |part: Ns| part.0 as f64 / result.elapsed.0.max(1) as f64 / result.cpus.len().max(1) as f64;
    notes.push(format!(
        "{}{}; because of it an idle CPU entered shallower idle states than without it",
        match probe.kind {
            ProbeKind::Timer(_) =>
                format!("a measuring thread woke every {} on each measured CPU", probe.interval),
            ProbeKind::Timerlat(Workload::User) => format!(
                "the kernel's timerlat tracer woke a measuring thread every {} on each measured CPU",
                probe.interval
            ),
            ProbeKind::Timerlat(Workload::Kernel) => format!(
                "the kernel's timerlat tracer woke a thread of its own every {} on each measured CPU",
                probe.interval
            ),
            ProbeKind::Ipc { .. } =>
                format!("a thread woke another every {} on each measured CPU", probe.interval),
            ProbeKind::Busy { .. } => "a measuring thread spun on each measured CPU".to_owned(),
            ProbeKind::Deadline { .. } =>
                format!("a measuring thread worked every {}, on any CPU", probe.interval),
            ProbeKind::Hwlat { width } => format!(
                "a measuring thread spun for {width} every {} on each measured CPU, before all others",
                probe.interval
            ),
        },
        // While it runs, that is not known.
        match result.cpu_time > Ns::ZERO {
            true => format!(" and used {:.1} % of it", 100.0 * share(result.cpu_time)),
            false => String::new(),
        },
    ));
    notes.push(match options.dma_latency {
        Some(us) => format!(
            "/dev/cpu_dma_latency was held at {us} us, as cyclictest does at 0: idle states that take longer to leave \
             were not entered; an application that does not hold it has higher latencies than these"
        ),
        None => "/dev/cpu_dma_latency was not held, unlike cyclictest: these numbers include leaving deep idle states, as \
                 those of an application do"
            .to_owned(),
    });
    if let TraceState::Recorded { events, .. } = trace {
        notes.push(format!(
            "a trace was recorded, {:.0} events/s over all CPUs: every event takes some time of its CPU, so these \
             latencies are a little higher than without it",
            *events as f64 / result.elapsed.as_secs_f64().max(1e-9)
        ));
    }
    if !result.degraded.iter().any(|degraded| degraded.lacking == Lacking::LockedMemory) {
        notes.push("this process's memory was locked during the measurement".to_owned());
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
