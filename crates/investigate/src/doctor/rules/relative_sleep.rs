//! Periods that are made of relative sleeps.

use super::lines::{Line, by_line, times};
use super::rule::{DoctorRule, Needs, page};
use crate::doctor::call_flags::TIMER_ABSTIME;
use crate::doctor::calls::SystemCall;
use crate::doctor::facts::{Call, Observation};
use crate::doctor::finding::DoctorFinding;
use crate::doctor::futex::FutexCall;
use crate::doctor::path::wait_point;
use whylate_base::{Ns, Severity};

pub(super) const RULE: DoctorRule =
    DoctorRule { code: "relative-sleep", page: page!("relative-sleep"), needs: Needs::Calls, find };

/// As many yields in one period are a loop that waits.
const SPIN: usize = 3;
/// Fewer sleeps are no period.
const ENOUGH: usize = 5;
/// So many show how regular they are.
const ENOUGH_ABSOLUTE: usize = 20;

fn find(observation: &Observation) -> Vec<DoctorFinding> {
    let relative = observation.path_calls().filter(|(_, call)| is_sleep(call) && !is_absolute(call));
    let absolute = observation.path_calls().filter(|(_, call)| is_sleep(call) && is_absolute(call));
    let relative = by_line(observation, relative).into_iter();
    let relative = relative.filter(|line| line.items.len() >= ENOUGH && !makes_up(&line.items));
    let absolute = by_line(observation, absolute).into_iter().filter(|line| is_from_now(&line.items));
    let timeouts = observation.path_calls().filter(|(_, call)| is_timed_wait(call));
    let timeouts = by_line(observation, timeouts).into_iter();
    let timeouts = timeouts.filter(|line| is_timeout(&line.items) && is_from_now(&line.items));
    let periods = relative.chain(absolute).chain(timeouts);
    let periods = periods.filter(|line| !is_paced_otherwise(observation, line));
    periods
        .map(|line| {
            let title =
                format!("{} sleeps relative to now in its loop: {}", line.name(), times(line.items.len()));
            let drift = drift(&line.items).map_or_else(String::new, |drift| {
                format!("; here the loop takes {drift} more than the sleeps, in each hour")
            });
            line.finding(RULE.code, Severity::Warning, title).because(format!("{WHY}{drift}")).fix(FIX)
        })
        .collect()
}

/// True where something else makes the period: between the sleeps the thread waits for an input that comes, or spins with
/// sched_yield(2). The sleep is a pause then.
fn is_paced_otherwise(observation: &Observation, line: &Line<'_, Call>) -> bool {
    let thread = line.thread;
    let own: Vec<&Call> = observation.calls.iter().filter(|call| call.tid == thread.tid).collect();
    let descriptor = |call: &Call| observation.descriptor(call.tid, call.fd(), call.start).cloned();
    let is_input = |call: &Call| {
        let came =
            call.slept && call.ret.is_some_and(|ret| ret > 0 || (ret == 0 && call.call == SystemCall::Futex));
        came && !is_sleep(call) && wait_point(call, thread.policy, &descriptor).is_some()
    };
    let paced = line.items.windows(2).filter(|pair| {
        let from = own.partition_point(|call| call.start <= pair[0].start);
        let to = own.partition_point(|call| call.start < pair[1].start);
        let between = own.get(from..to).unwrap_or_default();
        let yields = between.iter().filter(|call| call.call == SystemCall::SchedYield).count();
        yields >= SPIN || between.iter().any(|call| is_input(call))
    });
    paced.count() * 2 > line.items.len()
}

fn is_sleep(call: &Call) -> bool {
    matches!(call.call, SystemCall::Nanosleep | SystemCall::ClockNanosleep)
}

fn is_absolute(call: &Call) -> bool {
    call.call == SystemCall::ClockNanosleep && call.args[1] & TIMER_ABSTIME != 0
}

/// True for a wait of a condition variable, a semaphore or the like with a timeout.
fn is_timed_wait(call: &Call) -> bool {
    call.due.is_some() && FutexCall::of(call).is_some_and(|futex| futex.is_wait() && !futex.is_lock())
}

/// True where the waits end by their timeouts as a rule: what they wait for is not what makes the period.
fn is_timeout(waits: &[&Call]) -> bool {
    const TIMED_OUT: i32 = 110;
    let timed_out = waits.iter().filter(|call| call.error() == Some(TIMED_OUT)).count();
    timed_out * 10 >= waits.len() * 9
}

/// The deviations of two series: how long sleeps were to last, and the periods in which they were to end; `None` where
/// their timers were not seen.
fn deviations(sleeps: &[&Call]) -> Option<(f64, f64)> {
    let timers: Vec<(Ns, Ns)> = sleeps.iter().filter_map(|call| Some((call.start, call.due?))).collect();
    let lengths = timers.iter().map(|(start, due)| due.since(*start).0 as f64).collect();
    let periods = timers.windows(2).map(|pair| pair[1].1.since(pair[0].1).0 as f64).collect();
    let is_known = timers.len() >= ENOUGH && timers.len() * 10 >= sleeps.len() * 9;
    is_known.then(|| (deviation(lengths), deviation(periods)))
}

/// The median of the deviations from the median: single delays do not move it.
fn deviation(mut values: Vec<f64>) -> f64 {
    let median = |values: &mut Vec<f64>| {
        values.sort_by(f64::total_cmp);
        values.get(values.len() / 2).copied().unwrap_or(0.0)
    };
    let middle = median(&mut values);
    median(&mut values.iter().map(|value| (value - middle).abs()).collect())
}

/// True where a program sleeps until instants that it computes from now, as `time.sleep()` of Python 3.11 does: the
/// sleeps are far more regular than the periods. Instants of a grid have periods without any deviation.
fn is_from_now(sleeps: &[&Call]) -> bool {
    sleeps.len() >= ENOUGH_ABSOLUTE
        && deviations(sleeps).is_some_and(|(lengths, periods)| 3.0 * lengths < periods)
}

/// True where the periods are far more regular than the sleeps: the program computes each sleep from the time that is
/// left.
fn makes_up(sleeps: &[&Call]) -> bool {
    if let Some((lengths, periods)) = deviations(sleeps) {
        return 2.0 * periods < lengths;
    }
    let pairs = sleeps.windows(2).filter_map(|pair| {
        let [one, next] = pair else { return None };
        Some((next.end?.since(one.end?).0 as f64, next.duration()?.0 as f64))
    });
    let (periods, slept): (Vec<f64>, Vec<f64>) = pairs.unzip();
    4.0 * variance(&periods) < variance(&slept)
}

fn variance(values: &[f64]) -> f64 {
    let count = values.len().max(1) as f64;
    let mean = values.iter().sum::<f64>() / count;
    values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / count
}

/// The time that is not slept, extrapolated to an hour.
fn drift(sleeps: &[&Call]) -> Option<Ns> {
    let (first, last) = (sleeps.first()?, sleeps.last()?);
    let span = last.start.since(first.start).0;
    let slept: i64 = sleeps
        .iter()
        .filter(|call| call.start < last.start)
        .filter_map(|call| call.duration())
        .map(|ns| ns.0)
        .sum();
    let awake = span.checked_sub(slept).filter(|&awake| awake > 0 && span > 0)?;
    let per_hour = Ns::from_secs(3600).as_secs_f64() * awake as f64 / span as f64;
    Some(Ns((per_hour * 1e9) as i64))
}

const WHY: &str = "a relative sleep begins when it is called: each period is longer by the work, and by every delay, and what \
     is late once stays late";

const FIX: &[&str] = &[
    "sleep until an instant: next += period; clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL)",
    "or a periodic timer: timerfd_settime() with it_interval",
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::made_up::{call, found, program};
    use whylate_base::Policy;

    /// Sleeps whose work takes `works`, with the instants until which each is to last.
    fn sleeps(flags: u64, due: impl Fn(i64, i64) -> i64) -> Vec<Call> {
        let works = [100, 400, 200, 500, 150, 300, 250];
        let mut at = 5_000;
        (0..28)
            .map(|n| {
                let start = at + works[n as usize % works.len()];
                let due = due(n, start);
                at = due + 20 + n % 9;
                Call {
                    start: Ns(start),
                    end: Some(Ns(at)),
                    due: Some(Ns(due)),
                    ..call(11, SystemCall::ClockNanosleep, &[1, flags], 7)
                }
            })
            .collect()
    }

    #[test]
    fn a_wait_that_times_out_is_a_sleep() {
        let from_now = |n: i64, start: i64| start + 600 + n % 3;
        let waits = |ret: i64| -> Vec<Call> {
            let wait = |sleep| Call {
                call: SystemCall::Futex,
                args: [0x7000, 393, 0, 0, 0, 0],
                ret: Some(ret),
                ..sleep
            };
            sleeps(0, from_now).into_iter().map(wait).collect()
        };
        let grid: Vec<Call> = waits(-110)
            .into_iter()
            .zip(0..)
            .map(|(wait, n)| Call { due: Some(Ns(6_000 + 1_000 * n)), ..wait })
            .collect();
        for (what, calls, expected) in [
            ("it times out", waits(-110), true),
            ("it is woken", waits(0), false),
            ("until an instant", grid, false),
        ] {
            let mut observation = program(&[(11, Policy::Fifo, 50)]);
            observation.calls = calls;
            let expected: &[_] = if expected { &[("relative-sleep", Some(7))] } else { &[] };
            assert_eq!(found(&observation), expected, "{what}");
        }
    }

    #[test]
    fn a_pause_in_a_loop_that_waits_for_input_is_no_period() {
        let from_now = |n: i64, start: i64| start + 600 + n % 3;
        let with = |between: fn(i64) -> Vec<Call>| {
            let mut observation = program(&[(11, Policy::Fifo, 50)]);
            for sleep in sleeps(0, from_now) {
                observation.calls.extend(between(sleep.start.0 - 20));
                observation.calls.push(sleep);
            }
            found(&observation)
        };
        fn at(start: i64, ret: i64, slept: bool, kind: SystemCall) -> Call {
            Call {
                start: Ns(start),
                end: Some(Ns(start + 2)),
                ret: Some(ret),
                slept,
                ..call(11, kind, &[3], 9)
            }
        }
        let is_found = |between| with(between).contains(&("relative-sleep", Some(7)));
        assert!(!is_found(|start| vec![at(start, 8, true, SystemCall::RecvFrom)]), "input");
        assert!(is_found(|start| vec![at(start, 8, false, SystemCall::RecvFrom)]), "it was there");
        assert!(is_found(|start| vec![at(start, 0, true, SystemCall::Poll)]), "none came");
        assert!(is_found(|_| Vec::new()), "nothing");
        let yields = |start| (0..3).map(|n| at(start + 3 * n, 0, false, SystemCall::SchedYield)).collect();
        assert!(!is_found(yields), "a spin");
    }

    #[test]
    fn timers_show_whether_a_sleep_begins_now() {
        let grid = |n: i64, _: i64| 6_000 + 1_000 * n;
        let from_now = |n: i64, start: i64| start + 600 + n % 3;
        for (what, calls, expected) in [
            ("a relative sleep", sleeps(0, from_now), true),
            ("the time that is left", sleeps(0, grid), false),
            ("until an instant", sleeps(TIMER_ABSTIME, grid), false),
            ("until an instant from now", sleeps(TIMER_ABSTIME, from_now), true),
            ("a few of these", sleeps(TIMER_ABSTIME, from_now)[..19].to_vec(), false),
        ] {
            let mut observation = program(&[(11, Policy::Fifo, 50)]);
            observation.calls = calls.clone();
            let expected: &[_] = if expected { &[("relative-sleep", Some(7))] } else { &[] };
            assert_eq!(found(&observation), expected, "{what}");
            // Without the timers an absolute sleep is what it seems to be.
            if what.starts_with("until") {
                observation.calls.iter_mut().for_each(|call| call.due = None);
                assert_eq!(found(&observation), [], "{what}");
            }
        }
    }
}
