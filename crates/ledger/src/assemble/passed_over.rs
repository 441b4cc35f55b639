//! What ledgers show of the times in which CPUs passed over runnable real-time threads.

use crate::causes::Cause;
use crate::model::{Culprit, Segment};
use crate::timeline::Timeline;
use crate::timeline::windows::Window;
use whylate_base::{Ns, Tid};

/// Marks the bandwidth windows in which time was lost, and adds those that only a wait showed.
pub(super) fn note(timeline: &mut Timeline, ledger: &[Segment]) {
    let by_bandwidth = [Cause::RtThrottled, Cause::CoarseClockThrottled, Cause::FairServer];
    for segment in ledger.iter().filter(|segment| by_bandwidth.contains(&segment.cause)) {
        match timeline.windows.overlapping(segment.cpu, segment.start, segment.end) {
            Some(window) => window.hurt = true,
            None => {
                let window = shown_by(timeline, segment);
                if let Some(cpu) = timeline.cpus.get_mut(segment.cpu) {
                    cpu.passed_over_until = cpu.passed_over_until.max(Some(segment.end));
                }
                timeline.windows.add(window);
            }
        }
    }
}

fn shown_by(timeline: &Timeline, segment: &Segment) -> Window {
    let used = timeline.cpus.get(segment.cpu).map_or((0.0, Ns::ZERO), |cpu| {
        let (_, share, over) = timeline.realtime_use(cpu, segment.start);
        (share, over)
    });
    Window {
        cpu: segment.cpu,
        start: segment.start,
        end: Some(segment.end),
        passed_over: Tid::IDLE,
        saw_idle: segment.cause != Cause::FairServer,
        ran: None,
        most_used_by: segment.by.filter(|by| matches!(by, Culprit::Task { .. })),
        used,
        hurt: true,
    }
}
