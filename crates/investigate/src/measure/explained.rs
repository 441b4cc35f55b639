//! From kept spikes and their windows to explanations: finds, in the window of each, the
//! activation that the measuring thread saw.

use super::keep::{Kept, Window};
use super::report::{ExplainedSpike, NotExplained, SpikeKind};
use crate::flight::{Capture, Reader};
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
    let mut spikes = Vec::with_capacity(kept.len());
    for Kept { spike, kind, window } in kept {
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
    let explanation = reader.explain(&capture, &threads).map_err(|error| error.to_string());
    for spike in spikes.iter_mut().filter(|spike| matches!(spike.answer, Err(NotExplained::NoTrace))) {
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
