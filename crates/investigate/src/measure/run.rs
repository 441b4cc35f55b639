//! The controlling thread: starts probe and recorder, looks after both, and puts the
//! report together.

use super::explained::explain;
use super::keep::Keep;
use super::machine;
use super::notes;
use super::off::KeptOff;
use super::report::{MeasureReport, NotExplained, SpikeKind, TraceState};
use crate::flight::{Capture, FlightRecorder, Reader};
use crate::in_full;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use whylate_base::Ns;
use whylate_probes::{CpuResult, ProbeError, Running, Spike, TimerProbe, TimerResult};
use whylate_sys::Clock;

/// What to measure, for how long, and whether to explain it.
#[derive(Clone, Debug)]
pub struct MeasureOptions {
    /// The measuring threads. Its `worst` is also how many of all CPUs' worst wake-ups are listed.
    pub probe: TimerProbe,
    /// When to stop; `None` for when the stop flag is set.
    pub duration: Option<Ns>,
    /// Whether a trace is to run along.
    pub trace: bool,
    /// KiB of each CPU's trace buffer, and again as much for its window; `None` for 4096,
    /// or less on a machine with more than 64 CPUs.
    pub buffer_kib: Option<u64>,
}

impl Default for MeasureOptions {
    fn default() -> Self {
        MeasureOptions { probe: TimerProbe::default(), duration: None, trace: true, buffer_kib: None }
    }
}

/// Why there is no measurement.
#[derive(Debug, thiserror::Error)]
pub enum MeasureError {
    /// The measuring threads could not start, or failed.
    #[error(transparent)]
    Probe(#[from] ProbeError),
}

/// A look at a measurement that goes on.
#[derive(Debug)]
pub struct Progress<'a> {
    /// How long it has run.
    pub elapsed: Ns,
    /// Each CPU so far.
    pub cpus: &'a [CpuResult],
}

/// How often the spikes and the stop flag are looked at. A quarter of the default buffer
/// fills in this time only at more than 50 MB of events a second and CPU.
const POLL: Duration = Duration::from_millis(20);
/// How often progress is told.
const TELL: Ns = Ns::from_secs(1);
/// A window reaches this far beyond the wake-up: to the thread's next sleep, at least.
const AFTER: Ns = Ns::from_ms(2);
/// ... and begins an interval (the timer's start is in it) and this much before it was due.
const BEFORE: Ns = Ns::from_ms(5);
/// Of long spikes it begins earlier: what used up a second's real-time bandwidth is older.
const BEFORE_LONG: Ns = Ns::from_ms(1_100);
/// From here on a spike is long.
const LONG: Ns = Ns::from_ms(5);

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
    let machine = machine::settings();
    let mut running = options.probe.prepare()?;
    let _kept_off = KeptOff::new(&running.threads().map(|thread| thread.cpu).collect());
    let mut trace = Trace::start(options);
    running.release();
    let mut keep = Keep::new(options.probe.worst, options.probe.threshold);
    watch(options, stop, progress, &mut running, &mut keep, &mut trace);

    let result = running.stop()?;
    result.spikes.iter().for_each(|&spike| keep.offer(spike));
    let ended = whylate_sys::now(Clock::Monotonic);
    stuck(&result, ended).for_each(|spike| keep.stuck(spike));
    trace.windows_at_end(&mut keep, options.probe.interval);
    let over_threshold = options.probe.threshold.map(|_| keep.over_threshold());
    let (spikes, findings) = explain(keep.finish(), trace.reader.as_ref());
    let listed = spikes.iter().filter(|spike| spike.kind == SpikeKind::OverThreshold).count() as u64;
    let observer = notes::observer(&options.probe, &result, &trace.state);
    Ok(MeasureReport {
        probe: options.probe.clone(),
        elapsed: result.elapsed,
        cpus: result.cpus,
        over_threshold,
        not_listed: over_threshold.unwrap_or(0).saturating_sub(listed),
        spikes,
        findings,
        trace: trace.state,
        degraded: result.degraded,
        machine,
        observer,
    })
}

/// Looks after probe and recorder until it is time to stop.
fn watch(
    options: &MeasureOptions,
    stop: &AtomicBool,
    progress: &mut dyn FnMut(Progress<'_>),
    running: &mut Running,
    keep: &mut Keep,
    trace: &mut Trace,
) {
    let started = whylate_sys::now(Clock::Monotonic);
    let mut told = started;
    loop {
        let now = whylate_sys::now(Clock::Monotonic);
        let elapsed = now - started;
        let left = options.duration.map_or(Ns::MAX, |duration| duration - elapsed);
        if left <= Ns::ZERO || stop.load(Ordering::Relaxed) {
            return;
        }
        std::thread::sleep(POLL.min(Duration::from_nanos(left.0.unsigned_abs())));
        running.spikes().into_iter().for_each(|spike| keep.offer(spike));
        trace.windows(keep, options.probe.interval);
        if now - told >= TELL {
            told = now;
            progress(Progress { elapsed, cpus: &running.snapshot() });
        }
    }
}

/// Threads that have not run since they were due, as spikes that last until now.
fn stuck(result: &TimerResult, now: Ns) -> impl Iterator<Item = Spike> + '_ {
    result.cpus.iter().filter_map(move |cpu| {
        let due = cpu.stuck_since?;
        Some(Spike { cpu: cpu.cpu, tid: cpu.tid, due, woken: now })
    })
}

/// Where the window of a spike begins and ends.
fn span(spike: &Spike, interval: Ns) -> (Ns, Ns) {
    let before = if spike.latency() >= LONG { BEFORE_LONG } else { BEFORE };
    (spike.due - interval - before, spike.woken + AFTER)
}

/// The flight recorder, or what became of it.
struct Trace {
    recorder: Option<FlightRecorder>,
    /// There from the start, so that the windows of a recorder that fails later can be read.
    reader: Option<Reader>,
    state: TraceState,
}

impl Trace {
    fn start(options: &MeasureOptions) -> Trace {
        let none = |state| Trace { recorder: None, reader: None, state };
        if !options.trace || (options.probe.worst == 0 && options.probe.threshold.is_none()) {
            return none(TraceState::Off);
        }
        let recorder = match FlightRecorder::start(options.buffer_kib) {
            Ok(recorder) => recorder,
            Err(error) => return none(TraceState::Unavailable(in_full(&error))),
        };
        match recorder.reader() {
            Ok(reader) => Trace {
                recorder: Some(recorder),
                reader: Some(reader),
                state: TraceState::Recorded { events: 0, notes: Vec::new() },
            },
            Err(error) => none(TraceState::Unavailable(in_full(&error))),
        }
    }

    /// Takes the windows that are over. A recorder that fails is given up; its windows
    /// so far stay, and the reader for them.
    fn windows(&mut self, keep: &mut Keep, interval: Ns) {
        if !keep.is_ready(whylate_sys::now(Clock::Monotonic), AFTER) {
            return;
        }
        let drained = match self.recorder.as_mut().map(FlightRecorder::drain) {
            Some(Ok(drained)) => drained,
            Some(Err(error)) => return self.give_up(in_full(&error)),
            None => return,
        };
        if let Some(recorder) = &self.recorder {
            keep.take(drained, AFTER, |spike| take(recorder, spike, interval));
        }
    }

    /// The same at the end, when no window will get any longer. The reader is renewed: it then
    /// knows the names of threads that were started meanwhile.
    fn windows_at_end(&mut self, keep: &mut Keep, interval: Ns) {
        let Some(mut recorder) = self.recorder.take() else { return };
        let mut end = || {
            recorder.pause()?;
            recorder.drain()?;
            keep.take(Ns::MAX, Ns::ZERO, |spike| take(&recorder, spike, interval));
            Ok((recorder.recorded()?, recorder.reader()?))
        };
        match end() {
            Ok((recorded, reader)) => {
                self.reader = Some(reader);
                self.state = TraceState::Recorded { events: recorded, notes: recorder.take_notes() };
            }
            Err::<_, whylate_ftrace::tracefs::TracefsError>(error) => self.give_up(in_full(&error)),
        }
    }

    fn give_up(&mut self, why: String) {
        self.recorder = None;
        self.state = TraceState::Unavailable(why);
    }
}

fn take(recorder: &FlightRecorder, spike: &Spike, interval: Ns) -> Result<Capture, NotExplained> {
    let (from, to) = span(spike, interval);
    let capture = recorder.capture(from, to);
    match capture.cpu(spike.cpu).and_then(|part| part.begins()) {
        Some(begins) if begins <= spike.due => Ok(capture),
        begins => Err(NotExplained::Overwritten { begins }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use whylate_base::{Cpu, Tid};

    #[test]
    fn a_window_reaches_from_the_timers_start_past_the_wake_up() {
        let spike = |latency| Spike {
            cpu: Cpu(0),
            tid: Tid(1),
            due: Ns::from_secs(5),
            woken: Ns::from_secs(5) + latency,
        };
        let interval = Ns::from_ms(1);
        let (from, to) = span(&spike(Ns::from_us(90)), interval);
        assert!(from < Ns::from_secs(5) - interval && to > Ns::from_secs(5) + Ns::from_us(90));
        let (early, _) = span(&spike(Ns::from_ms(50)), interval);
        assert!(early <= Ns::from_secs(4), "a second's real-time bandwidth is in sight");
    }

    #[test]
    fn windows_taken_before_the_recorder_failed_are_still_read() {
        let options = MeasureOptions { buffer_kib: Some(4096), ..MeasureOptions::default() };
        let mut trace = Trace::start(&options);
        if trace.recorder.is_none() {
            println!("skipped: {:?}", trace.state);
            return;
        }
        let cpu = whylate_sys::getaffinity(Tid(0)).expect("affinity").iter().next().expect("a CPU");
        whylate_sys::setaffinity(Tid(0), &[cpu].into_iter().collect()).expect("pinned");
        let tid = whylate_sys::gettid();
        let nap = || std::thread::sleep(Duration::from_millis(10));
        let spike = || {
            let due = whylate_sys::now(Clock::Monotonic);
            nap();
            Spike { cpu, tid, due, woken: whylate_sys::now(Clock::Monotonic) }
        };
        let mut keep = Keep::new(2, None);
        nap();
        keep.offer(spike());
        nap();
        trace.windows(&mut keep, Ns::from_ms(1));
        trace.give_up("the recorder failed".to_owned());
        let later = spike();
        keep.offer(later);
        trace.windows_at_end(&mut keep, Ns::from_ms(1));

        assert_eq!(trace.state, TraceState::Unavailable("the recorder failed".to_owned()));
        let (spikes, _) = explain(keep.finish(), trace.reader.as_ref());
        let (after, before): (Vec<_>, Vec<_>) = spikes.iter().partition(|spike| spike.due == later.due);
        assert!(matches!(after[0].answer, Err(NotExplained::NoTrace)), "{:?}", after[0]);
        match &before[0].answer {
            Err(NotExplained::Overwritten { .. }) => println!("skipped: the machine was too busy"),
            answer => assert!(matches!(answer, Ok(_) | Err(NotExplained::NotFound)), "{answer:?}"),
        }
    }
}
