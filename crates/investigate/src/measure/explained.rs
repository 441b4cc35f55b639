//! From kept spikes and their windows to explanations: finds, in the window of each, the
//! activation that the measuring thread saw.

use super::keep::{Kept, Window};
use super::report::{ExplainedSpike, NotExplained, SpikeKind};
use crate::flight::{Capture, Reader};
use whylate_base::{Finding, Ns};
use whylate_ledger::{Activation, Explanation};
use whylate_probes::Spike;

/// The thread's clock and the trace's are the same, but an event's time is taken a moment
/// before or after what it stands for.
const SLACK: Ns = Ns::from_us(1);

/// Explains each spike, in the order given, and gathers what the windows say beyond them.
pub(super) fn explain(kept: Vec<Kept>, reader: Option<&Reader>) -> (Vec<ExplainedSpike>, Vec<Finding>) {
    let mut findings: Vec<Finding> = Vec::new();
    let mut spikes = Vec::with_capacity(kept.len());
    let mut windows = Vec::new();
    for Kept { spike, kind, window } in kept {
        let why = match window {
            Window::Taken(capture) => {
                windows.push((spikes.len(), capture));
                NotExplained::NoTrace
            }
            Window::Missing(why) => why,
            Window::Pending => NotExplained::NoTrace,
        };
        let Spike { cpu, tid, due, woken } = spike;
        spikes.push(ExplainedSpike { cpu, tid, kind, due, woken, answer: Err(why) });
    }
    if let Some(reader) = reader {
        for (members, capture) in together(windows) {
            let mut tids: Vec<_> = members.iter().filter_map(|&at| Some(spikes.get(at)?.tid)).collect();
            tids.sort_unstable();
            tids.dedup();
            let explanation = reader.explain(&capture, &tids).map_err(|error| error.to_string());
            for at in members {
                if let Some(spike) = spikes.get_mut(at) {
                    spike.answer = answer(spike, &explanation);
                }
            }
            add(&mut findings, explanation.map(|explanation| explanation.findings).unwrap_or_default());
        }
    }
    findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    (spikes, findings)
}

/// Windows that overlap are read once, as one.
fn together(mut windows: Vec<(usize, Capture)>) -> Vec<(Vec<usize>, Capture)> {
    windows.sort_by_key(|(_, capture)| capture.from);
    let mut groups: Vec<(Vec<usize>, Capture)> = Vec::new();
    for (at, capture) in windows {
        match groups.last_mut() {
            Some((members, group)) if capture.from <= group.to => {
                group.extend(&capture);
                members.push(at);
            }
            _ => groups.push((vec![at], capture)),
        }
    }
    groups
}

/// Windows of one measurement say the same thing of the machine again and again: once is enough.
fn add(findings: &mut Vec<Finding>, more: Vec<Finding>) {
    for finding in more {
        if !findings.iter().any(|known| (known.code, &known.title) == (finding.code, &finding.title)) {
            findings.push(finding);
        }
    }
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

/// The activation in which the thread read the clock at `woken`: the last that ran by then,
/// if it had not ended before. Of a stuck thread: the one that never ran.
fn find<'a>(activations: &'a [Activation], spike: &ExplainedSpike) -> Option<&'a Activation> {
    let fits = |activation: &&Activation| {
        let seen = match activation.running {
            Some(running) => {
                spike.kind != SpikeKind::Stuck
                    && running <= spike.woken + SLACK
                    && activation.end + SLACK >= spike.woken
            }
            None => spike.kind == SpikeKind::Stuck,
        };
        seen && activation.tid == spike.tid
    };
    activations.iter().filter(fits).max_by_key(|activation| activation.running.unwrap_or(activation.due))
}
