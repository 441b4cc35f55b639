//! The controlling thread: starts probe, loads and recorder, looks after them, and puts the report together.

use super::deadline_answer::DeadlineAnswer;
use super::explained::Explain;
use super::groups::SpikeGroup;
use super::housekeeping::Housekeeping;
use super::observed::{Observed, hold_latency};
use super::options::{Loading, MeasureOptions};
use super::report::{MeasureReport, TraceState};
use super::spike_log::{Listing, SpikeLog};
use super::steal::Steal;
use super::store::{Store, StoreError};
use super::tail::TailEstimate;
use super::trace::Trace;
use super::{caveats, machine};
use crate::compare::Prepared;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use whylate_base::{Ns, Tid};
use whylate_probes::load::{LoadError, LoadReport, Loads};
use whylate_probes::{CpuResult, ProbeError, ProbeResult, Running, Spike};
use whylate_sys::{CPU_DMA_LATENCY, Clock};

/// Why there is no measurement.
#[derive(Debug, thiserror::Error)]
pub enum MeasureError {
    /// The measuring threads could not start, or failed.
    #[error(transparent)]
    Probe(#[from] ProbeError),
    /// A load could not start.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// The run cannot be kept where it was to be.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The request for short ways out of idle states was refused.
    #[error("cannot request {us} us in {CPU_DMA_LATENCY}: it takes root, and a kernel with CONFIG_CPU_IDLE")]
    Latency {
        /// The request.
        us: u32,
        /// The refusal.
        source: io::Error,
    },
}

/// A look at a measurement that goes on.
pub struct Progress<'a> {
    /// How long it has run.
    pub elapsed: Ns,
    /// Each CPU so far.
    pub cpus: &'a [CpuResult],
    /// Its spikes so far.
    pub spike_log: &'a SpikeLog,
    /// What became of the loads.
    pub loads: &'a [LoadReport],
}

/// How often the spikes and the stop flag are looked at. A quarter of the default buffer
/// fills in this time only at more than 50 MB of events a second and CPU.
const POLL: Duration = Duration::from_millis(20);
/// How often progress is reported.
const SHOW_EVERY: Ns = Ns::from_secs(1);
/// How often the journal is written: that much is lost at most. The first is written at once.
const WRITE: Ns = Ns::from_secs(10);
/// Without the trace is measured for this part of the time, between these.
const AGAIN_PART: i64 = 4;
const AGAIN: (Ns, Ns) = (Ns::from_ms(100), Ns::from_secs(60));

/// Measures until the duration is over or `stop` is set, then explains.
///
/// `progress` is called about once a second, on the calling thread. While it measures, the
/// calling thread keeps off the measured CPUs where others are allowed to it.
///
/// # Errors
/// [`MeasureError`] for choices that cannot be measured. Missing rights and tracefs are
/// none: the report has them as [`MeasureReport::degraded`] and [`MeasureReport::trace`].
pub fn measure(
    options: &MeasureOptions,
    stop: &AtomicBool,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<MeasureReport, MeasureError> {
    let store = options.keep.as_ref().map(|keep| Store::create(&keep.directory)).transpose()?;
    let _held = options
        .dma_latency
        .map(|us| {
            hold_latency(Path::new(CPU_DMA_LATENCY), us)
                .map_err(|source| MeasureError::Latency { us, source })
        })
        .transpose()?;
    let mut machine = machine::settings();
    let mut running = options.probe.prepare()?;
    let loads = options.loading.as_ref().map(start_loads).transpose()?;
    machine::add_loads(&mut machine, loads.as_ref());
    let _housekeeping = Housekeeping::new(&running.threads().map(|thread| thread.cpu).collect());
    let trace = Trace::start(options, &running.threads().collect::<Vec<_>>());
    let steal = Steal::now();
    running.release();
    if let Some(duration) = options.duration {
        running.end_after(duration);
    }
    let spike_log = SpikeLog::new(options.probe.worst, options.probe.threshold, store);
    let mut run = Run { options, machine, spike_log, trace, loads, steal };
    run.watch(stop, progress, &mut running);

    let result = running.stop()?;
    run.end(result, stop)
}

fn start_loads(loading: &Loading) -> Result<Loads, MeasureError> {
    let cpus = match &loading.cpus {
        Some(cpus) => cpus.clone(),
        None => whylate_sys::getaffinity(Tid(0)).map_err(ProbeError::from)?,
    };
    Ok(Loads::start(&loading.loads, &cpus, &loading.launcher)?)
}

/// A measurement at work, beside its measuring threads.
struct Run<'a> {
    options: &'a MeasureOptions,
    machine: Vec<(String, String)>,
    spike_log: SpikeLog,
    trace: Trace,
    loads: Option<Loads>,
    /// Before it began.
    steal: Steal,
}

impl Run<'_> {
    /// Looks after everything until it is time to stop.
    fn watch(&mut self, stop: &AtomicBool, progress: &mut dyn FnMut(Progress<'_>), running: &mut Running) {
        let started = whylate_sys::now(Clock::Monotonic);
        let (mut shown, mut write) = (started, Ns::ZERO);
        loop {
            let now = whylate_sys::now(Clock::Monotonic);
            let elapsed = now - started;
            let left = self.options.duration.map_or(Ns::MAX, |duration| duration - elapsed);
            if left <= Ns::ZERO || stop.load(Ordering::Relaxed) || running.is_over() {
                return;
            }
            std::thread::sleep(POLL.min(Duration::from_nanos(left.0.unsigned_abs())));
            running.spikes().into_iter().for_each(|spike| self.spike_log.offer(spike));
            self.trace.windows(&mut self.spike_log, self.options.probe.interval);
            self.trace.explain(&mut self.spike_log, elapsed);
            if now - shown >= SHOW_EVERY {
                shown = now;
                let cpus = running.snapshot();
                let loads = self.loads.as_mut().map(Loads::check).unwrap_or_default();
                progress(Progress { elapsed, cpus: &cpus, spike_log: &self.spike_log, loads: &loads });
            }
            if elapsed >= write && self.options.keep.is_some() {
                write = elapsed + WRITE;
                self.journal(elapsed, running);
            }
        }
    }

    /// Writes what is known by now.
    fn journal(&mut self, elapsed: Ns, running: &Running) {
        let Some(keep) = &self.options.keep else { return };
        let loads = self.loads.as_mut().map(Loads::check).unwrap_or_default();
        let result = ProbeResult {
            cpus: running.snapshot(),
            spikes: Vec::new(),
            elapsed,
            cpu_time: Ns::ZERO,
            degraded: running.degraded().to_vec(),
        };
        let listing = self.spike_log.so_far();
        let report = self.report(result, listing, self.trace.state_now(), loads, &Steal::now());
        self.spike_log.journal(|| (keep.journal)(&report));
    }

    /// The report, when the measuring threads have ended.
    fn end(mut self, result: ProbeResult, stop: &AtomicBool) -> Result<MeasureReport, MeasureError> {
        let steal = Steal::now();
        result.spikes.iter().for_each(|&spike| self.spike_log.offer(spike));
        let ended = whylate_sys::now(Clock::Monotonic);
        stuck(&result, ended).for_each(|spike| self.spike_log.stuck(spike));
        self.trace.windows_at_end(&mut self.spike_log, self.options.probe.interval);
        // The loads go on: without the trace is to be measured under the same.
        let without = self.measure_again(&result, stop)?;
        let loads = self.loads.take().map(Loads::end).unwrap_or_default();
        let spike_log = std::mem::replace(&mut self.spike_log, SpikeLog::new(0, None, None));
        let reader = self.trace.reader.as_ref().map(|reader| reader as &dyn Explain);
        let (listing, store) = spike_log.finish(reader);
        let mut report = self.report(result, listing, self.trace.state.clone(), loads, &steal);
        report.is_complete = true;
        report.observed = without;
        report.tail = Some(TailEstimate::of(&Prepared::of(report.run()), self.options.claim));
        let judged = |deadline| DeadlineAnswer::of(&report, &report.run().all(), deadline);
        report.deadline = self.options.deadline.map(judged);
        if let (Some(mut store), Some(keep)) = (store, &self.options.keep) {
            store.journal(&(keep.journal)(&report));
        }
        Ok(report)
    }

    /// The same without the trace, where that is wanted and there was one.
    fn measure_again(
        &mut self,
        result: &ProbeResult,
        stop: &AtomicBool,
    ) -> Result<Option<Observed>, MeasureError> {
        let traced = matches!(self.trace.state, TraceState::Recorded { .. });
        if !self.options.observer || !traced || stop.load(Ordering::Relaxed) {
            return Ok(None);
        }
        let mut running = self.options.probe.start()?;
        let started = whylate_sys::now(Clock::Monotonic);
        let duration = Ns(result.elapsed.0 / AGAIN_PART).clamp(AGAIN.0, AGAIN.1);
        running.end_after(duration);
        while whylate_sys::now(Clock::Monotonic) - started < duration && !stop.load(Ordering::Relaxed) {
            std::thread::sleep(POLL);
            // So that the rings do not fill up.
            running.spikes();
        }
        let without = running.stop()?;
        Ok(Some(Observed::of(without.elapsed, &without.all(), &result.all())))
    }

    fn report(
        &self,
        result: ProbeResult,
        listing: Listing,
        trace: TraceState,
        loads: Vec<LoadReport>,
        steal: &Steal,
    ) -> MeasureReport {
        let Listing { spikes, over_threshold, not_listed, groups, findings, notes: unsaved } = listing;
        // Each thread's due instants lie an interval apart: that is our own rhythm.
        let is_own = |group: &SpikeGroup| {
            group.rhythm.is_some_and(|rhythm| rhythm.period <= self.options.probe.interval)
        };
        let own =
            |group: SpikeGroup| SpikeGroup { rhythm: group.rhythm.filter(|_| !is_own(&group)), ..group };
        let groups = groups.into_iter().map(own).collect();
        let mut observer: Vec<String> =
            caveats::left_out(self.options, &result, &self.machine).into_iter().collect();
        let measured = result.cpus.iter().map(|cpu| cpu.cpu).collect();
        observer.extend(steal.since(&self.steal, &measured));
        observer.extend(caveats::observer(self.options, &result, &trace));
        observer.extend(self.trace.stack_notes.iter().cloned());
        observer.extend(unsaved);
        let ProbeResult { cpus, elapsed, degraded, .. } = result;
        MeasureReport {
            probe: self.options.probe.clone(),
            elapsed,
            cpus,
            over_threshold,
            spikes,
            not_listed,
            findings,
            trace,
            stacks: self.trace.stacks().cloned(),
            degraded,
            machine: self.machine.clone(),
            observer,
            groups,
            loads,
            tail: None,
            observed: None,
            phases: Vec::new(),
            phase_shift: None,
            deadline: None,
            is_complete: false,
        }
    }
}

/// Threads that have not run since they were due, as spikes that last until now.
fn stuck(result: &ProbeResult, now: Ns) -> impl Iterator<Item = Spike> + '_ {
    result.cpus.iter().filter_map(move |cpu| {
        let due = cpu.stuck_since?;
        Some(Spike { cpu: cpu.cpu, tid: cpu.tid, due, woken: now })
    })
}
