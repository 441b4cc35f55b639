//! What ledgers show of the times in which CPUs passed over runnable real-time threads.

use crate::causes::Cause;
use crate::charge::bandwidth::mechanism;
use crate::model::{Culprit, Segment};
use crate::timeline::Timeline;
use crate::timeline::running::Running;
use crate::timeline::windows::Window;
use whylate_base::{Ns, Tid};

/// Marks the bandwidth windows in which time was lost, and adds those that only a wait showed.
pub(super) fn note(timeline: &mut Timeline, ledger: &[Segment]) {
    let mut rest = ledger;
    while let Some(first) = rest.iter().position(by_bandwidth) {
        let (lost, others) = rest[first..].split_at(length(&rest[first..]));
        rest = others;
        for segment in lost.iter().filter(|segment| by_bandwidth(segment)) {
            if let Some(window) = timeline.windows.overlapping(segment.cpu, segment.start, segment.end) {
                window.hurt = true;
            }
        }
        let (Some(first), Some(last)) = (lost.first(), lost.last()) else { continue };
        if timeline.windows.overlapping(first.cpu, first.start, last.end).is_none() {
            add(timeline, first, last.end);
        }
    }
}

fn by_bandwidth(segment: &Segment) -> bool {
    matches!(segment.cause, Cause::RtThrottled | Cause::CoarseClockThrottled | Cause::FairServer)
}

/// How many segments of a ledger are of the time that its first one was lost in: interrupts do not end it.
fn length(ledger: &[Segment]) -> usize {
    let Some(first) = ledger.first() else { return 0 };
    let same = |segment: &Segment| (segment.cause, segment.cpu) == (first.cause, first.cpu);
    let interrupts = |segment: &Segment| matches!(segment.cause, Cause::Irq | Cause::Softirq | Cause::Nmi);
    let run = ledger.iter().take_while(|segment| same(segment) || interrupts(segment)).count();
    ledger[..run].iter().rposition(same).map_or(1, |last| last + 1)
}

/// Adds the window from the beginning of `first` to `end`.
fn add(timeline: &mut Timeline, first: &Segment, end: Ns) {
    let window = shown_by(timeline, first, end);
    let (cause, confidence) = mechanism(&window, &timeline.bandwidth.at(window.start));
    // Without the idle task that the wait as a whole showed, it may have another cause. And the thread may not be a real-time one,
    // where the ledger is less sure of it.
    if cause != first.cause || confidence > first.confidence {
        return;
    }
    if let Some(cpu) = timeline.cpus.get_mut(first.cpu) {
        cpu.passed_over_until = cpu.passed_over_until.max(Some(end));
    }
    timeline.windows.add(window);
}

fn shown_by(timeline: &Timeline, first: &Segment, end: Ns) -> Window {
    let cpu = timeline.cpus.get(first.cpu);
    let used = cpu.map_or((0.0, Ns::ZERO), |cpu| {
        let (_, share, over) = timeline.realtime_use(cpu, first.start);
        (share, over)
    });
    let mut slices = cpu.into_iter().flat_map(|cpu| cpu.between(first.start, end));
    Window {
        cpu: first.cpu,
        start: first.start,
        end: Some(end),
        passed_over: Tid::IDLE,
        saw_idle: slices.any(|(_, _, slice)| slice.running == Running::Idle),
        ran: None,
        most_used_by: first.by.filter(|by| matches!(by, Culprit::Task { .. })),
        used,
        hurt: true,
        is_cut: false,
    }
}
