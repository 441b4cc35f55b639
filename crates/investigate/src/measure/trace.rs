//! The trace that runs along: the flight recorder, or what became of it.

use super::options::MeasureOptions;
use super::report::TraceState;
use super::spike::NotExplained;
use super::spike_log::SpikeLog;
use super::stacks;
use crate::flight::{Capture, FlightRecorder, Reader};
use crate::in_full;
use std::sync::Arc;
use whylate_base::Ns;
use whylate_events::Stacks;
use whylate_probes::{ProbeThread, Spike};
use whylate_stacks::StackSampler;
use whylate_sys::Clock;

/// A window reaches this far beyond the wake-up: to the thread's next sleep, at least.
const AFTER: Ns = Ns::from_ms(2);
/// ... and begins an interval (the timer's start is in it) and this much before it was due.
const BEFORE: Ns = Ns::from_ms(5);
/// Of long spikes it begins earlier: what used up a second's real-time bandwidth is older.
const BEFORE_LONG: Ns = Ns::from_ms(1_100);
/// From here on a spike is long.
const LONG: Ns = Ns::from_ms(5);

/// Windows are explained in this share of the time, beyond what may be used at once: a machine with spikes without end
/// is to be measured, not to be kept busy by us.
const SHARE: f64 = 0.005;
const AT_ONCE: Ns = Ns::from_ms(500);

/// Where the window of a spike begins and ends.
fn span(spike: &Spike, interval: Ns) -> (Ns, Ns) {
    let before = if spike.latency() >= LONG { BEFORE_LONG } else { BEFORE };
    (spike.due - interval - before, spike.woken + AFTER)
}

/// The flight recorder, or what became of it.
pub(super) struct Trace {
    recorder: Option<FlightRecorder>,
    /// There from the start, so that the windows of a recorder that fails later can be read.
    pub(super) reader: Option<Reader>,
    pub(super) state: TraceState,
    /// Call stacks while it runs.
    sampler: Option<StackSampler>,
    /// What the sampling of call stacks did and lacked, in sentences.
    pub(super) stack_notes: Vec<String>,
    /// How long explaining took so far.
    spent: Ns,
}

impl Trace {
    pub(super) fn start(options: &MeasureOptions, threads: &[ProbeThread]) -> Trace {
        let trace = Trace::recorded(options);
        let Some(stacks) = options.stacks.as_ref().filter(|_| trace.recorder.is_some()) else { return trace };
        match stacks::start(stacks, threads) {
            Ok(sampler) => Trace { sampler: Some(sampler), ..trace },
            Err(why) => Trace { stack_notes: vec![format!("no call stack was taken: {why}")], ..trace },
        }
    }

    fn recorded(options: &MeasureOptions) -> Trace {
        let none = |state| Trace {
            recorder: None,
            reader: None,
            state,
            sampler: None,
            stack_notes: Vec::new(),
            spent: Ns::ZERO,
        };
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
                ..none(TraceState::Recorded { events: 0, notes: Vec::new() })
            },
            Err(error) => none(TraceState::Unavailable(in_full(&error))),
        }
    }

    /// Takes the windows that are over. A recorder that fails is given up; its windows
    /// so far stay, and the reader for them.
    pub(super) fn windows(&mut self, spike_log: &mut SpikeLog, interval: Ns) {
        if !spike_log.is_ready(whylate_sys::now(Clock::Monotonic), AFTER) {
            return;
        }
        let drained = match self.recorder.as_mut().map(FlightRecorder::drain) {
            Some(Ok(drained)) => drained,
            Some(Err(error)) => return self.give_up(in_full(&error)),
            None => return,
        };
        if let Some(recorder) = &self.recorder {
            spike_log.take(drained, AFTER, |spike| take(recorder, spike, interval));
        }
        if let Some(sampler) = &self.sampler {
            sampler.choose(spike_log.spikes().map(stacks::span).collect());
        }
    }

    /// The call stacks of the explanations.
    pub(super) fn stacks(&self) -> Option<&Arc<Stacks>> {
        self.reader.as_ref().and_then(Reader::stacks)
    }

    /// The same at the end, when no window will get any longer. The reader is renewed: it then
    /// knows the names of threads that were started meanwhile.
    pub(super) fn windows_at_end(&mut self, spike_log: &mut SpikeLog, interval: Ns) {
        self.end_recorder(spike_log, interval);
        let Some(sampler) = self.sampler.take() else { return };
        sampler.choose(spike_log.spikes().map(stacks::span).collect());
        let stacks = sampler.finish();
        self.stack_notes.extend(stacks::notes(&stacks));
        self.reader = self.reader.take().map(|reader| reader.with_stacks(Some(Arc::new(stacks))));
    }

    fn end_recorder(&mut self, spike_log: &mut SpikeLog, interval: Ns) {
        let Some(mut recorder) = self.recorder.take() else { return };
        let mut end = || {
            recorder.pause()?;
            recorder.drain()?;
            spike_log.take(Ns::MAX, Ns::ZERO, |spike| take(&recorder, spike, interval));
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

    /// Explains one spike, where there is one and time for it.
    pub(super) fn explain(&mut self, spike_log: &mut SpikeLog, elapsed: Ns) {
        let Some(reader) = self.reader.as_ref() else { return };
        if self.spent > AT_ONCE + Ns((elapsed.0 as f64 * SHARE) as i64) {
            return;
        }
        let before = whylate_sys::now(Clock::Monotonic);
        if spike_log.explain_next(reader) {
            self.spent += whylate_sys::now(Clock::Monotonic) - before;
        }
    }

    /// How it stands, while it runs.
    pub(super) fn state_now(&self) -> TraceState {
        match (&self.state, self.recorder.as_ref().map(FlightRecorder::recorded)) {
            (TraceState::Recorded { notes, .. }, Some(Ok(events))) => {
                TraceState::Recorded { events, notes: notes.clone() }
            }
            (state, _) => state.clone(),
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
    use super::super::explained::Explain;
    use super::*;
    use std::time::Duration;
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
        let mut trace = Trace::start(&options, &[]);
        if trace.recorder.is_none() {
            whylate_testing::skip(whylate_testing::Need::Tracefs, format_args!("{:?}", trace.state));
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
        let mut spike_log = SpikeLog::new(2, None, None);
        nap();
        spike_log.offer(spike());
        nap();
        trace.windows(&mut spike_log, Ns::from_ms(1));
        trace.give_up("the recorder failed".to_owned());
        let later = spike();
        spike_log.offer(later);
        trace.windows_at_end(&mut spike_log, Ns::from_ms(1));

        assert_eq!(trace.state, TraceState::Unavailable("the recorder failed".to_owned()));
        let reader = trace.reader.as_ref().map(|reader| reader as &dyn Explain);
        let spikes = spike_log.finish(reader).0.spikes;
        let (after, before): (Vec<_>, Vec<_>) =
            spikes.iter().partition(|spike| spike.measured.due == later.due);
        assert!(matches!(after[0].answer, Err(NotExplained::NoTrace)), "{:?}", after[0]);
        match &before[0].answer {
            Err(NotExplained::Overwritten { .. }) => {
                whylate_testing::skip(whylate_testing::Need::Machine, "in part: the machine was too busy");
            }
            answer => assert!(matches!(answer, Ok(_) | Err(NotExplained::NotFound)), "{answer:?}"),
        }
    }
}
