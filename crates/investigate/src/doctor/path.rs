//! Which part of a real-time thread's life is its real-time path: from its first periodic wait to the end of its last.
//!
//! What comes before is start-up, and what comes after is shutdown: neither delays a period.

use super::calls::SystemCall;
use super::facts::{Call, Descriptor, RealTimePath, ThreadFacts};
use super::futex::FutexCall;
use super::watch::WatchedThread;
use std::collections::HashMap;
use whylate_base::{Ns, Policy};

/// A wait that comes back this often at the same thing is periodic.
const ENOUGH: usize = 3;

/// A wait that comes back for a time that is so many times shorter than the loop's is no loop of its own.
const SHORT: i64 = 10;

/// What a thread waits at: the call with the descriptor or address.
type WaitPoint = (SystemCall, u64);

/// The real-time path of a thread, by its calls in the order of their start. `descriptor` resolves a file descriptor.
pub(super) fn of<'a>(
    thread: &ThreadFacts,
    calls: impl Iterator<Item = &'a Call>,
    descriptor: impl Fn(&Call) -> Option<Descriptor>,
) -> Option<RealTimePath> {
    let since = thread.realtime_since.or_else(|| thread.refused().map(|_| Ns(i64::MIN)))?;
    let mut waits: HashMap<WaitPoint, Vec<&Call>> = HashMap::new();
    let until = thread.realtime_until.unwrap_or(Ns(i64::MAX));
    for call in calls.filter(|call| call.start >= since && call.start <= until) {
        if let Some(point) = wait_point(call, thread.policy, &descriptor) {
            waits.entry(point).or_default().push(call);
        }
    }
    let mut periodic: Vec<&Call> = without_start_and_end(waits.into_values()).into_iter().flatten().collect();
    periodic.sort_by_key(|call| call.start);
    let (first, last) = (periodic.first()?, periodic.last()?);
    Some(RealTimePath {
        start: first.start,
        warm: periodic.get(1)?.start,
        end: last.end.unwrap_or(last.start),
        waits: periodic.len() as u64,
    })
}

/// The points at which the thread waits periodically. What comes back for a short time only, before the loop or behind it, is part
/// of start-up or shutdown: a client that waits for its server, a resolver that asks again.
fn without_start_and_end<'a>(points: impl Iterator<Item = Vec<&'a Call>>) -> Vec<Vec<&'a Call>> {
    let mut points: Vec<Vec<&Call>> = points.filter(|calls| calls.len() >= ENOUGH).collect();
    let span = |calls: &[&Call]| Some((calls.first()?.start, calls.last()?.start));
    let longest = points.iter().filter_map(|calls| span(calls)).max_by_key(|(from, to)| *to - *from);
    if let Some((from, to)) = longest {
        points.retain(|calls| {
            span(calls).is_some_and(|(first, last)| {
                let overlaps = first <= to && last >= from;
                overlaps || (last - first).0.saturating_mul(SHORT) >= (to - from).0
            })
        });
    }
    points
}

/// What a call waits at, if it is a wait for the next period or input; `None` for locks, files and all other calls.
pub(super) fn wait_point(
    call: &Call,
    policy: Policy,
    descriptor: &impl Fn(&Call) -> Option<Descriptor>,
) -> Option<WaitPoint> {
    use SystemCall as C;
    let point = match call.call {
        C::Nanosleep | C::ClockNanosleep | C::Pause | C::RtSigtimedwait | C::RtSigsuspend => 0,
        C::Select | C::Pselect => 0,
        C::Poll | C::Ppoll => 0,
        C::EpollWait
        | C::EpollPwait
        | C::EpollPwait2
        | C::Accept
        | C::RecvFrom
        | C::RecvMsg
        | C::MqTimedReceive => call.args[0],
        // The next period of a SCHED_DEADLINE thread (sched_yield(2)).
        C::SchedYield if policy == Policy::Deadline => 0,
        C::Read => match descriptor(call)? {
            Descriptor::Timer | Descriptor::Event | Descriptor::Pipe | Descriptor::Socket => call.args[0],
            // A device or a terminal may as well have data at hand.
            Descriptor::Other(_) | Descriptor::Terminal(_) => call.slept.then_some(call.args[0])?,
            Descriptor::File(_) => return None,
        },
        C::Futex => {
            let futex = FutexCall::of(call)?;
            // Of a condition variable the two groups of waiters take turns, each with one of two words.
            (futex.is_wait() && !futex.is_lock()).then_some(futex.address & !7)?
        }
        _ => return None,
    };
    Some((call.call, point))
}

/// The real-time path of a thread that only `/proc` shows: from the look at which it had gone to sleep often enough as a
/// real-time thread, to the last at which it had slept again.
pub(super) fn by_looks(thread: &WatchedThread) -> Option<RealTimePath> {
    let since = thread.realtime_since?;
    let looks: Vec<(Ns, u64)> = thread.switches.iter().copied().filter(|(at, _)| *at >= since).collect();
    let &(_, first) = looks.first()?;
    let &(_, last) = looks.last()?;
    let start = looks.iter().find(|(_, switches)| *switches >= first + ENOUGH as u64)?.0;
    let end = looks.iter().rev().find(|(_, switches)| *switches < last)?.0;
    (start < end).then_some(RealTimePath { start, warm: start, end, waits: last - first })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::made_up::{call, program, repeat, task};
    use whylate_base::Tid;

    /// The path of a thread of a policy that makes these calls; descriptor 3 is a file, 4 a timer, 5 a device.
    fn path(policy: Policy, calls: &[Call]) -> Option<RealTimePath> {
        let observation = program(&[(11, policy, 50)]);
        let descriptor = |call: &Call| match call.fd() {
            3 => Some(Descriptor::File("/etc/config".to_owned())),
            4 => Some(Descriptor::Timer),
            5 => Some(Descriptor::Other("/dev/adc".to_owned())),
            _ => None,
        };
        of(&observation.threads[&Tid(11)], calls.iter(), descriptor)
    }

    #[test]
    fn only_what_comes_back_is_periodic() {
        const WAIT: u64 = 128;
        const WAIT_BITSET: u64 = 137;
        let slept = |call| Call { slept: true, ..call };
        for (what, policy, one, count, expected) in [
            ("sleeps", Policy::Fifo, call(11, SystemCall::ClockNanosleep, &[1, 1], 1), 3, true),
            ("two sleeps", Policy::Fifo, call(11, SystemCall::ClockNanosleep, &[1, 1], 1), 2, false),
            ("a timer", Policy::Fifo, call(11, SystemCall::Read, &[4], 1), 3, true),
            ("a file", Policy::Fifo, slept(call(11, SystemCall::Read, &[3], 1)), 9, false),
            ("an unknown descriptor", Policy::Fifo, slept(call(11, SystemCall::Read, &[7], 1)), 9, false),
            ("a device that it waits for", Policy::Fifo, slept(call(11, SystemCall::Read, &[5], 1)), 3, true),
            ("a device that has data", Policy::Fifo, call(11, SystemCall::Read, &[5], 1), 9, false),
            ("a mutex", Policy::Fifo, call(11, SystemCall::Futex, &[64, WAIT, 2], 1), 9, false),
            (
                "a condition variable",
                Policy::Fifo,
                call(11, SystemCall::Futex, &[64, WAIT_BITSET, 5], 1),
                3,
                true,
            ),
            ("a yield", Policy::Fifo, call(11, SystemCall::SchedYield, &[], 1), 9, false),
            (
                "a period of SCHED_DEADLINE",
                Policy::Deadline,
                call(11, SystemCall::SchedYield, &[], 1),
                3,
                true,
            ),
            ("work", Policy::Fifo, call(11, SystemCall::Write, &[4], 1), 9, false),
        ] {
            let calls = repeat(one, count);
            let found = path(policy, &calls);
            assert_eq!(found.is_some(), expected, "{what}");
            if let (Some(path), [first, second, .., last]) = (found, &calls[..]) {
                assert_eq!(
                    (path.start, path.warm, Some(path.end)),
                    (first.start, second.start, last.end),
                    "{what}"
                );
                assert_eq!(path.waits, count as u64);
            }
        }
    }

    #[test]
    fn a_short_loop_before_or_behind_the_long_one_is_start_or_end() {
        let polls = |from: i64, apart: i64| {
            (0..5).map(move |n| Call { start: Ns(from + n * apart), ..call(11, SystemCall::Poll, &[], 1) })
        };
        let sleeps = || {
            let sleep = |n: i64| Call {
                start: Ns(1_000_000 + n * 1_000),
                ..call(11, SystemCall::ClockNanosleep, &[1, 1], 1)
            };
            (0..100).map(sleep)
        };
        for (what, polls, waits) in [
            ("before", polls(500_000, 100), 100),
            ("behind", polls(2_000_000, 100), 100),
            ("within", polls(1_050_000, 100), 105),
            ("for long", polls(500_000, 10_000), 105),
        ] {
            let mut calls: Vec<Call> = polls.chain(sleeps()).collect();
            calls.sort_by_key(|call| call.start);
            let found = path(Policy::Fifo, &calls).expect("a path");
            assert_eq!(found.waits, waits, "{what}");
            assert_eq!(
                found.start == Ns(1_000_000),
                matches!(what, "before" | "behind" | "within"),
                "{what}"
            );
        }
    }

    #[test]
    fn the_looks_show_the_part_in_which_it_slept() {
        let thread = |since: Option<i64>, switches: &[(i64, u64)]| WatchedThread {
            pid: Tid(10),
            last: task("", Policy::Fifo, 50),
            realtime: Some((Policy::Fifo, 50)),
            realtime_since: since.map(Ns),
            switches: switches.iter().map(|&(at, count)| (Ns(at), count)).collect(),
        };
        let looks = [(10, 0), (20, 5), (30, 9), (40, 20), (50, 30), (60, 30)];
        let part = |thread: &WatchedThread| by_looks(thread).map(|path| (path.start.0, path.end.0));
        assert_eq!(part(&thread(Some(20), &looks)), Some((30, 40)));
        assert_eq!(part(&thread(None, &looks)), None);
        assert_eq!(part(&thread(Some(50), &looks)), None);
    }
}
