//! Lost events: how much of the answer they put in doubt.

use super::subject::Subject;
use crate::causes::Cause;
use crate::causes::advised::Advised;
use crate::timeline::losses::LossCount;
use crate::verdict::between_pieces;
use whylate_base::{Evidence, Finding, Ns, Severity};

pub(super) fn findings(subject: &Subject<'_>) -> Vec<Finding> {
    let (lost, seen_lost) = match subject.scope {
        Some(_) => {
            let LossCount { losses, events } = subject.timeline.losses.asked_for;
            (events, losses > 0)
        }
        None => (subject.trace.lost_events, subject.timeline.seen.contains(whylate_events::Kind::Lost)),
    };
    if lost == 0 && !seen_lost {
        return Vec::new();
    }
    let lost_by_thread = subject.timeline.threads.iter().filter_map(|thread| {
        let mut causes = subject.stats.get(thread.tid)?.causes();
        causes.find(|(cause, _)| *cause == Cause::TraceLoss).map(|(_, time)| time)
    });
    let by_thread: Vec<Ns> = lost_by_thread.collect();
    // One gap is in the activations of several threads.
    let most = by_thread.iter().copied().max().unwrap_or(Ns::ZERO);
    let charged: Ns = by_thread.iter().copied().sum();
    if let (Some(first), 0) = (subject.trace.cuts().next(), lost) {
        // What stands there may be a remark within one dump, or the end of a recording.
        let places = match subject.trace.cuts().count() {
            1 => format!("at line {}", first.line),
            count => format!("in {count} places, the first is line {}", first.line),
        };
        let between = match most == charged {
            // Of no activation is it known that it goes on there.
            _ if charged == Ns::ZERO => String::new(),
            true => format!("; {charged} of activations fall in between"),
            false => format!("; up to {most} of a thread's activations fall in between"),
        };
        return vec![Finding {
            code: Cause::TraceLoss.code(),
            severity: if charged > Ns::ZERO { Severity::Warning } else { Severity::Info },
            title: format!("the rows of the text are interrupted {places}{between}"),
            why: "the times behind other lines do not follow on those before them: whether rows were left out there, and what happened \
                  meanwhile, is not known"
                .to_owned(),
            evidence: vec![Evidence::general(format!("line {} is the first between the rows", first.line))],
            fix: vec![between_pieces()],
        }];
    }
    let count = if lost > 0 { lost.to_string() } else { "an unknown number of".to_owned() };
    vec![Finding {
        code: Cause::TraceLoss.code(),
        severity: if charged > Ns::ZERO { Severity::Warning } else { Severity::Info },
        title: match charged {
            Ns::ZERO => format!("{count} events were lost"),
            charged => format!("{count} events were lost; {charged} of activations fall into the gaps"),
        },
        why: "the ring buffer was full before it was read; the recording does not show what happened in the gaps".to_owned(),
        evidence: vec![Evidence::general(format!("{} events were read", subject.trace.events))],
        fix: Cause::TraceLoss.advice(&Advised::general()),
    }]
}
