//! Which mechanism let a CPU pass over a runnable real-time thread: RT throttling, or a deadline server.

use crate::causes::Cause;
use crate::timeline::bandwidth::Bandwidth;
use crate::timeline::windows::Window;
use whylate_base::Confidence;

/// What is left of a period is more than the limit leaves where it is so many times that.
const MARGIN: f64 = 1.25;

/// Which mechanism it was, and how surely, where `bandwidth` was set when the window began.
pub(crate) fn mechanism(window: &Window, bandwidth: &Bandwidth) -> (Cause, Confidence) {
    let throttles = bandwidth.throttles();
    if window.saw_idle {
        // A runnable real-time thread and an idle CPU: no server does that, and a kernel
        // without throttling has no reason to either.
        if throttles == Some(false) {
            return (Cause::Unexplained, Confidence::Low);
        }
        if used_too_little(window, bandwidth) {
            return coarse_clock(bandwidth);
        }
        if left_too_much(window, bandwidth) {
            return (Cause::Unexplained, Confidence::Low);
        }
        return (
            Cause::RtThrottled,
            match throttles {
                Some(true) if !used_less(window, bandwidth) => Confidence::High,
                // Neither the use before it nor its end is seen.
                _ if window.is_cut && used_share(window, bandwidth).is_none() => Confidence::Low,
                _ => Confidence::Medium,
            },
        );
    }
    match (throttles, bandwidth.serves()) {
        (Some(true), Some(false)) if used_too_little(window, bandwidth) => coarse_clock(bandwidth),
        (Some(true), Some(false)) if used_less(window, bandwidth) => (Cause::RtThrottled, Confidence::Medium),
        (Some(true), Some(false)) => (Cause::RtThrottled, Confidence::High),
        (Some(false), Some(true)) => (Cause::FairServer, Confidence::High),
        (Some(false), Some(false)) => (Cause::Unexplained, Confidence::Low),
        (_, Some(false)) => (Cause::RtThrottled, Confidence::Medium),
        (Some(false), _) | (None, Some(true)) => (Cause::FairServer, Confidence::Medium),
        // Both may: only SCHED_OTHER ran, which either would show.
        (Some(true), Some(true)) => (Cause::FairServer, Confidence::Low),
        (_, None) => (Cause::RtThrottled, Confidence::Low),
    }
}

/// Real-time threads used little, and were held back: by a clock that charges them whole ticks. One that counts
/// microseconds does not, and few kernels from 6.12 on throttle at all: then it is not known what held them back.
fn coarse_clock(bandwidth: &Bandwidth) -> (Cause, Confidence) {
    match (bandwidth.throttles(), bandwidth.kernel) {
        _ if bandwidth.counts_finely => (Cause::Unexplained, Confidence::Low),
        (Some(_), _) => (Cause::CoarseClockThrottled, Confidence::Medium),
        (None, Some(_)) => (Cause::Unexplained, Confidence::Low),
        (None, None) => (Cause::CoarseClockThrottled, Confidence::Low),
    }
}

/// True when half a period or more was seen, and real-time use in it was very far from the limit.
fn used_too_little(window: &Window, bandwidth: &Bandwidth) -> bool {
    used_share(window, bandwidth).is_some_and(|share| share < 0.25)
}

/// The same where it was far from the limit: that may have been another one then, for a recording has it as it began.
pub(crate) fn used_less(window: &Window, bandwidth: &Bandwidth) -> bool {
    used_share(window, bandwidth).is_some_and(|share| share < 0.5)
}

/// True where less was seen than [`used_share`] needs, and real-time threads left more of it than the limit does of a whole
/// period: whatever was before, they had time left. A group of threads may have a limit of its own.
fn left_too_much(window: &Window, bandwidth: &Bandwidth) -> bool {
    let (share, over) = window.used;
    let left = over.as_secs_f64() * (1.0 - share);
    let spare = (bandwidth.period - bandwidth.limit_or_default()).as_secs_f64();
    used_share(window, bandwidth).is_none() && bandwidth.group_sched != Some(true) && left > spare * MARGIN
}

/// Real-time use as a share of the limit; `None` where too short a time was seen. RT_RUNTIME_SHARE lets CPUs borrow, so that
/// a CPU's own limit can only be higher.
fn used_share(window: &Window, bandwidth: &Bandwidth) -> Option<f64> {
    let (share, over) = window.used;
    let limit = bandwidth.limit_or_default().as_secs_f64() / bandwidth.period.as_secs_f64();
    (over.0 >= bandwidth.period.0 / 2).then_some(share / limit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::timeline::bandwidth::BandwidthSettings;
    use whylate_base::{Cpu, Ns, Tid};

    fn window(saw_idle: bool, used: f64) -> Window {
        Window {
            cpu: Cpu(0),
            start: Ns(0),
            end: None,
            passed_over: Tid(1),
            saw_idle,
            ran: None,
            most_used_by: None,
            used: (used, Ns::from_secs(1)),
            hurt: false,
            is_cut: false,
        }
    }

    #[test]
    fn a_third_of_the_limit_may_be_all_of_another_one() {
        let bandwidth = Bandwidth { kernel: Some((6, 1)), ..BandwidthSettings::new(None).at(Ns(0)) };
        for (used, expected) in [
            (0.2, (Cause::CoarseClockThrottled, Confidence::Medium)),
            (0.3, (Cause::RtThrottled, Confidence::Medium)),
            (0.9, (Cause::RtThrottled, Confidence::High)),
        ] {
            for saw_idle in [false, true] {
                assert_eq!(mechanism(&window(saw_idle, used), &bandwidth), expected, "{used} {saw_idle}");
            }
        }
    }

    #[test]
    fn time_that_was_left_contradicts_throttling() {
        let bandwidth = BandwidthSettings::new(None).at(Ns(0));
        let of_group = Bandwidth { group_sched: Some(true), ..bandwidth };
        let seen = |used, ms| Window { used: (used, Ns::from_ms(ms)), ..window(true, used) };
        for (used, ms, bandwidth, expected) in [
            (0.5, 260, bandwidth, (Cause::Unexplained, Confidence::Low)),
            (0.01, 100, bandwidth, (Cause::Unexplained, Confidence::Low)),
            (0.01, 100, of_group, (Cause::RtThrottled, Confidence::High)),
            (0.01, 50, bandwidth, (Cause::RtThrottled, Confidence::Medium)),
            (0.9, 260, bandwidth, (Cause::RtThrottled, Confidence::Medium)),
        ] {
            assert_eq!(mechanism(&seen(used, ms), &bandwidth), expected, "{used} of {ms} ms");
        }
        let cut = Window { is_cut: true, ..seen(0.9, 260) };
        assert_eq!(mechanism(&cut, &bandwidth), (Cause::RtThrottled, Confidence::Low));
    }

    #[test]
    fn the_mechanism_is_told_by_version_and_by_idle() {
        let unknown = BandwidthSettings::new(None).at(Ns(0));
        let kernel = |version, group_sched| Bandwidth { kernel: Some(version), group_sched, ..unknown };
        for (bandwidth, saw_idle, used, cause) in [
            (kernel((6, 1), None), false, 0.95, Cause::RtThrottled),
            (kernel((6, 1), None), true, 0.95, Cause::RtThrottled),
            (kernel((6, 1), None), true, 0.10, Cause::CoarseClockThrottled),
            (kernel((6, 12), None), true, 0.10, Cause::Unexplained),
            (unknown, true, 0.10, Cause::CoarseClockThrottled),
            (kernel((6, 12), Some(false)), false, 0.95, Cause::FairServer),
            (kernel((6, 12), None), false, 0.95, Cause::FairServer),
            (kernel((6, 12), Some(false)), true, 0.95, Cause::Unexplained),
            (kernel((6, 18), Some(true)), true, 0.95, Cause::RtThrottled),
            (unknown, true, 0.95, Cause::RtThrottled),
        ] {
            assert_eq!(
                mechanism(&window(saw_idle, used), &bandwidth).0,
                cause,
                "{bandwidth:?} idle {saw_idle}"
            );
        }
    }
}
