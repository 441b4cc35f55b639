//! Real-time threads that wait for instants of CLOCK_REALTIME.

use super::lines::{Mistake, by_line};
use super::rule::{DoctorRule, Needs, page};
use crate::doctor::call_flags::TIMER_ABSTIME;
use crate::doctor::calls::SystemCall;
use crate::doctor::facts::{Call, Observation, ThreadFacts};
use crate::doctor::finding::DoctorFinding;
use crate::doctor::futex::FutexCall;
use whylate_base::Severity;

pub(super) const RULE: DoctorRule =
    DoctorRule { code: "realtime-clock", page: page!("realtime-clock"), needs: Needs::Calls, find };

/// `ETIMEDOUT`, errno(3).
const TIMED_OUT: i32 = 110;
/// Fewer timeouts of a condition variable are no period.
const ENOUGH: usize = 5;

const MISTAKE: Mistake = Mistake {
    code: RULE.code,
    severity: Severity::Warning,
    does: "waits for times of CLOCK_REALTIME",
    why: WHY,
    fix: FIX,
};

fn find(observation: &Observation) -> Vec<DoctorFinding> {
    let sleeps = observation
        .path_calls()
        .filter(|(_, call)| is_sleep(call) || sleeps_for_system_clock(observation, call));
    let sleeps = by_line(observation, sleeps);
    let timers = by_line(observation, timers(observation));
    let waits = observation.path_calls().filter(|(_, call)| is_timed_out(call));
    let waits = by_line(observation, waits);
    let waits = waits.iter().filter(|line| line.items.len() >= ENOUGH);
    let lines = sleeps.iter().chain(&timers).chain(waits);
    lines.map(|line| MISTAKE.at(line)).collect()
}

fn is_sleep(call: &Call) -> bool {
    call.call == SystemCall::ClockNanosleep && call.args[0] == 0 && call.args[1] & TIMER_ABSTIME != 0
}

/// A relative sleep in `std::this_thread::sleep_until` of C++ for `std::chrono::system_clock`: the C++ library computes from
/// that clock how long to sleep (libstdc++, `bits/this_thread_sleep.h`).
fn sleeps_for_system_clock(observation: &Observation, call: &Call) -> bool {
    matches!(call.call, SystemCall::ClockNanosleep | SystemCall::Nanosleep)
        && observation
            .functions(call.stack)
            .any(|function| function.contains("sleep_until<") && function.contains("system_clock"))
}

/// A wait of a condition variable that ended by its timeout.
fn is_timed_out(call: &Call) -> bool {
    let is_wait = FutexCall::of(call).is_some_and(|futex| futex.is_wait() && futex.is_realtime_clock());
    is_wait && call.args[3] != 0 && call.error() == Some(TIMED_OUT)
}

/// Timers that a thread makes which is real-time sooner or later: what others make is not for the real-time path.
fn timers(observation: &Observation) -> impl Iterator<Item = (&ThreadFacts, &Call)> {
    let makes = |call: &&Call| {
        matches!(call.call, SystemCall::TimerCreate | SystemCall::TimerfdCreate)
            && call.args[0] == 0
            && call.error().is_none()
    };
    observation.calls.iter().filter(makes).filter_map(|call| {
        let thread = observation.threads.get(&call.tid)?;
        thread.path.filter(|_| thread.wants_realtime()).map(|_| (thread, call))
    })
}

const WHY: &str = "CLOCK_REALTIME is set by NTP, by administrators and by leap seconds: when it is set back, the thread waits \
     that much longer, and when it is set forward, several periods come at once";

const FIX: &[&str] = &[
    "use CLOCK_MONOTONIC for periods and timeouts: clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, ...), \
     timerfd_create(CLOCK_MONOTONIC, ...)",
    "for condition variables: pthread_condattr_setclock(&attr, CLOCK_MONOTONIC), or pthread_cond_clockwait()",
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::made_up::{call, found, program};
    use std::sync::Arc;
    use whylate_base::Policy;

    #[test]
    fn a_sleep_for_the_system_clock_is_one_by_its_function() {
        let sleep = call(11, SystemCall::ClockNanosleep, &[0, 0], 7);
        for (function, expected) in [
            ("sleep_until<std::chrono::_V2::system_clock, std::chrono::duration<long int> >", true),
            ("sleep_until<std::chrono::_V2::steady_clock, std::chrono::duration<long int> >", false),
            ("sleep_for<long int, std::ratio<1, 1000> >", false),
        ] {
            let mut observation = program(&[(11, Policy::Fifo, 50)]);
            observation.calls = vec![sleep];
            let stacks = Arc::get_mut(&mut observation.stacks).expect("one owner");
            stacks.addresses[7].locations[0].function = Some(function.into());
            let expected: &[_] = if expected { &[("realtime-clock", Some(7))] } else { &[] };
            assert_eq!(found(&observation), expected, "{function}");
        }
    }
}
