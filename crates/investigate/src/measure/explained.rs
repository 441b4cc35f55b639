//! From kept spikes and their windows to explanations: finds, in the window of each, the
//! activation that the measuring thread saw.

use super::keep::{Kept, Window};
use super::spike::{NotExplained, SpikeKind};
use crate::flight::{Capture, Reader};
use crate::in_full;
use whylate_base::{Finding, Ns, Tid};
use whylate_ledger::{Activation, Explanation};
use whylate_probes::Spike;

/// How far the trace's `mono` may be from the thread's CLOCK_MONOTONIC. Both are the same
/// counter, but the tracer's reading is not taken under the timekeeper's lock: while the
/// clock is being steered they differ by microseconds (`ktime_get_mono_fast_ns`,
/// kernel/time/timekeeping.c).
const SLACK: Ns = Ns::from_us(10);

/// What turns windows into explanations and files.
pub trait Explain {
    /// What the window shows of these threads.
    ///
    /// # Errors
    /// In a sentence, why it cannot be read.
    fn explain(&self, window: &Capture, threads: &[Tid]) -> Result<Explanation, String>;

    /// The window as a file.
    ///
    /// # Errors
    /// In a sentence, why there is none.
    fn file(&self, window: &Capture) -> Result<Vec<u8>, String>;

    /// Whether files have call stacks by now, which they had not while the measurement ran.
    fn adds_stacks(&self) -> bool {
        false
    }
}

impl Explain for Reader {
    fn explain(&self, window: &Capture, threads: &[Tid]) -> Result<Explanation, String> {
        self.explain(window, threads).map_err(|error| in_full(&error))
    }

    fn file(&self, window: &Capture) -> Result<Vec<u8>, String> {
        self.file(window).map_err(|error| in_full(&error))
    }

    fn adds_stacks(&self) -> bool {
        self.stacks().is_some()
    }
}

/// Explains one spike by its own window, if that is taken and not explained yet.
pub(super) fn explain_one(kept: &mut Kept, reader: &dyn Explain) {
    if let Window::Taken(capture) = std::mem::replace(&mut kept.window, Window::Pending) {
        let explanation = reader.explain(&capture, &[kept.spike.tid]);
        let answer = Box::new(answer(&kept.spike, kept.kind, &explanation));
        let findings = explanation.map(|explanation| explanation.findings).unwrap_or_default();
        kept.window = Window::Done { answer, findings, capture: Some(capture) };
    }
}

/// Explains all spikes whose windows are still there, by all of these as one trace with holes: only so are events
/// counted once that are in several windows, and rhythms seen that are longer than one. Gives what the windows show
/// beyond the spikes.
pub(super) fn explain_together(kept: &mut [Kept], reader: &dyn Explain) -> Vec<Finding> {
    let Some(capture) = together(kept.iter().filter_map(Kept::capture)) else { return Vec::new() };
    let mut threads: Vec<Tid> = kept.iter().map(|kept| kept.spike.tid).collect();
    threads.sort_unstable();
    threads.dedup();
    let explanation = reader.explain(&capture, &threads);
    for kept in kept.iter_mut().filter(|kept| kept.capture().is_some()) {
        let together = answer(&kept.spike, kept.kind, &explanation);
        // Each window alone is less of a trace, but an answer is better than none.
        if together.is_ok() || kept.answer().is_err() {
            kept.window = Window::Done { answer: Box::new(together), findings: Vec::new(), capture: None };
        }
    }
    explanation.map(|explanation| explanation.findings).unwrap_or_default()
}

fn together<'a>(captures: impl Iterator<Item = &'a Capture>) -> Option<Capture> {
    let mut captures: Vec<&Capture> = captures.collect();
    captures.sort_by_key(|capture| capture.from);
    let (first, later) = captures.split_first()?;
    let mut all = Capture::clone(first);
    later.iter().for_each(|later| all.extend(later));
    Some(all)
}

fn answer(
    spike: &Spike,
    kind: SpikeKind,
    explanation: &Result<Explanation, String>,
) -> Result<Activation, NotExplained> {
    match explanation {
        Ok(explanation) => {
            let found = find(&explanation.activations, spike, kind).ok_or(NotExplained::NotFound)?;
            // A thread that ran before the spike began, or for most of it without getting as far as to read the clock,
            // was held up in the middle of its work: what came before it ran is not the answer.
            let middle = spike.due + Ns(spike.latency().0 / 2);
            let held_up =
                |running: Ns| running < spike.due || (running < middle && running + SLACK < spike.woken);
            let ran = kind != SpikeKind::Stuck && found.running.is_some_and(held_up);
            let part = ran.then(|| found.gap(spike.due, spike.woken)).flatten();
            Ok(part.unwrap_or_else(|| found.clone()))
        }
        Err(why) => Err(NotExplained::Unreadable(why.clone())),
    }
}

/// The activation that is due at the same nanosecond: the timer's own expiry. Without it
/// (its start was not recorded), the last that ran by the time the thread read the clock, if
/// it had not ended before; of a stuck thread, the one that never ran.
fn find<'a>(activations: &'a [Activation], spike: &Spike, kind: SpikeKind) -> Option<&'a Activation> {
    let own = || activations.iter().filter(|activation| activation.tid == spike.tid);
    let around = |activation: &&Activation| match activation.running {
        Some(running) => {
            kind != SpikeKind::Stuck
                && running <= spike.woken + SLACK
                && activation.end + SLACK >= spike.woken
        }
        None => kind == SpikeKind::Stuck,
    };
    own().find(|activation| activation.due == spike.due).or_else(|| {
        own().filter(around).max_by_key(|activation| activation.running.unwrap_or(activation.due))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use whylate_base::{Comm, Cpu, Priority};
    use whylate_events::{Context, Event, EventKind, Switch, TaskState, TraceInfo, VecSource, Wake};
    use whylate_ledger::{Cause, Judge, Options, Select};

    const THREAD: Tid = Tid(100);

    fn switch(at: i64, prev: Tid, next: Tid) -> Event {
        let prio = |tid: Tid| if tid == THREAD { Priority::realtime(80) } else { Priority::DEFAULT };
        let switch = Switch {
            prev_comm: Comm::default(),
            prev_tid: prev,
            prev_prio: prio(prev),
            prev_state: if prev == THREAD { TaskState::Interruptible } else { TaskState::Runnable },
            next_comm: Comm::default(),
            next_tid: next,
            next_prio: prio(next),
        };
        event(at, prev, EventKind::Switch(switch))
    }

    fn event(at: i64, current: Tid, kind: EventKind) -> Event {
        Event { ts: Ns(at), cpu: Cpu(0), context: Context { tid: current, ..Context::default() }, kind }
    }

    fn wake(at: i64) -> [Event; 2] {
        let wake =
            Wake { comm: Comm::default(), tid: THREAD, prio: Priority::realtime(80), target_cpu: Cpu(0) };
        let wakeup = EventKind::Wakeup { wake, new: false };
        [event(at, Tid::IDLE, EventKind::Waking(wake)), event(at + 1_000, Tid::IDLE, wakeup)]
    }

    /// Wakes at every 1 ms, runs 30 us later for 10 us; the last time it never runs.
    fn activations() -> Vec<Activation> {
        let mut events = vec![switch(0, THREAD, Tid::IDLE)];
        for due in (1..=4).map(|ms| ms * 1_000_000) {
            events.extend(wake(due));
            if due < 4_000_000 {
                events.push(switch(due + 30_000, Tid::IDLE, THREAD));
                events.push(switch(due + 40_000, THREAD, Tid::IDLE));
            }
        }
        events.push(event(4_500_000, Tid::IDLE, EventKind::Other));
        let options = Options { tasks: vec![Select::Tid(THREAD)], ..Options::default() };
        whylate_ledger::explain(VecSource::new(events, TraceInfo::default(), true), &options).activations
    }

    fn found(tid: Tid, kind: SpikeKind, due: i64, woken: i64) -> Option<i64> {
        let spike = Spike { cpu: Cpu(0), tid, due: Ns(due), woken: Ns(woken) };
        find(&activations(), &spike, kind).map(|activation| activation.due.0)
    }

    #[test]
    fn a_spike_is_the_activation_that_was_due_then() {
        assert_eq!(found(THREAD, SpikeKind::Worst, 2_000_000, 2_035_000), Some(2_000_000));
        // The clocks disagree: still the same due instant.
        assert_eq!(found(THREAD, SpikeKind::Worst, 2_000_000, 2_010_000), Some(2_000_000));
    }

    #[test]
    fn without_its_timer_it_is_the_one_that_ran_when_the_clock_was_read() {
        assert_eq!(found(THREAD, SpikeKind::Worst, 1_990_000, 2_035_000), Some(2_000_000));
        assert_eq!(found(THREAD, SpikeKind::Worst, 1_990_000, 2_500_000), None, "it slept then");
        assert_eq!(found(Tid(7), SpikeKind::Worst, 2_000_000, 2_035_000), None, "another thread");
    }

    #[test]
    fn who_preempts_the_thread_before_it_read_the_clock_is_the_answer() {
        const OTHER: Tid = Tid(7);
        let mut events = vec![switch(0, THREAD, Tid::IDLE)];
        events.extend(wake(1_000_000));
        events.push(switch(1_010_000, Tid::IDLE, THREAD));
        let EventKind::Switch(mut preempted) = switch(1_015_000, THREAD, OTHER).kind else { unreachable!() };
        preempted.prev_state = TaskState::Runnable;
        preempted.next_prio = Priority::realtime(94);
        events.push(event(1_015_000, THREAD, EventKind::Switch(preempted)));
        let EventKind::Switch(mut back) = switch(1_315_000, OTHER, THREAD).kind else { unreachable!() };
        back.prev_prio = Priority::realtime(94);
        back.prev_state = TaskState::Interruptible;
        events.push(event(1_315_000, OTHER, EventKind::Switch(back)));
        events.push(switch(1_330_000, THREAD, Tid::IDLE));
        let options =
            Options { tasks: vec![Select::Tid(THREAD)], judge: Judge::Latency, ..Options::default() };
        let explanation =
            whylate_ledger::explain(VecSource::new(events, TraceInfo::default(), true), &options);
        let spike = Spike { cpu: Cpu(0), tid: THREAD, due: Ns(1_000_000), woken: Ns(1_320_000) };
        let answer = answer(&spike, SpikeKind::Worst, &Ok(explanation)).expect("found");
        assert_eq!(answer.verdict.cause, Cause::HigherPriorityTask, "{:?}", answer.verdict);
    }

    #[test]
    fn a_stuck_thread_is_the_one_that_never_ran() {
        assert_eq!(found(THREAD, SpikeKind::Stuck, 3_990_000, 4_500_000), Some(4_000_000));
    }
}
