//! From kept spikes and their windows to explanations: finds, in the window of each, the
//! activation that the measuring thread saw.

use super::keep::{Kept, Window};
use super::report::{ExplainedSpike, NotExplained, SpikeKind};
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

/// Explains each spike, in the order given, and says what the windows say beyond them.
///
/// All windows are explained as one trace with holes: only so are events counted once that
/// are in several windows, and rhythms seen that are longer than one.
pub(super) fn explain(kept: Vec<Kept>, reader: Option<&Reader>) -> (Vec<ExplainedSpike>, Vec<Finding>) {
    let mut captures = Vec::new();
    let mut taken = Vec::with_capacity(kept.len());
    let mut spikes = Vec::with_capacity(kept.len());
    for Kept { spike, kind, window } in kept {
        taken.push(matches!(window, Window::Taken(_)));
        let why = match window {
            Window::Missing(why) => why,
            Window::Pending => NotExplained::NoTrace,
            Window::Taken(capture) => {
                captures.push(capture);
                NotExplained::NoTrace
            }
        };
        let Spike { cpu, tid, due, woken } = spike;
        spikes.push(ExplainedSpike { cpu, tid, kind, due, woken, answer: Err(why) });
    }
    let (Some(reader), Some(capture)) = (reader, together(captures)) else { return (spikes, Vec::new()) };
    let mut threads: Vec<Tid> = spikes.iter().map(|spike| spike.tid).collect();
    threads.sort_unstable();
    threads.dedup();
    let explanation = reader.explain(&capture, &threads).map_err(|error| in_full(&error));
    // One without a window is not to be looked for: the recorder failed before it.
    for (spike, _) in spikes.iter_mut().zip(taken).filter(|(_, taken)| *taken) {
        spike.answer = answer(spike, &explanation);
    }
    (spikes, explanation.map(|explanation| explanation.findings).unwrap_or_default())
}

fn together(mut captures: Vec<Capture>) -> Option<Capture> {
    captures.sort_by_key(|capture| capture.from);
    captures.into_iter().reduce(|mut all, later| {
        all.extend(&later);
        all
    })
}

fn answer(
    spike: &ExplainedSpike,
    explanation: &Result<Explanation, String>,
) -> Result<Activation, NotExplained> {
    match explanation {
        Ok(explanation) => find(&explanation.activations, spike).cloned().ok_or(NotExplained::NotFound),
        Err(why) => Err(NotExplained::Unreadable(why.clone())),
    }
}

/// The activation that is due at the same nanosecond: the timer's own expiry. Without it
/// (its start was not recorded), the last that ran by the time the thread read the clock, if
/// it had not ended before; of a stuck thread, the one that never ran.
fn find<'a>(activations: &'a [Activation], spike: &ExplainedSpike) -> Option<&'a Activation> {
    let own = || activations.iter().filter(|activation| activation.tid == spike.tid);
    let around = |activation: &&Activation| match activation.running {
        Some(running) => {
            spike.kind != SpikeKind::Stuck
                && running <= spike.woken + SLACK
                && activation.end + SLACK >= spike.woken
        }
        None => spike.kind == SpikeKind::Stuck,
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
    use whylate_ledger::{Options, Select};

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
        let answer = Err(NotExplained::NotFound);
        let spike = ExplainedSpike { cpu: Cpu(0), tid, kind, due: Ns(due), woken: Ns(woken), answer };
        find(&activations(), &spike).map(|activation| activation.due.0)
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
    fn a_stuck_thread_is_the_one_that_never_ran() {
        assert_eq!(found(THREAD, SpikeKind::Stuck, 3_990_000, 4_500_000), Some(4_000_000));
    }
}
