//! Periods that are made of relative sleeps.

use super::lines::{by_line, times};
use super::rule::{DoctorRule, Needs, page};
use crate::doctor::call_flags::TIMER_ABSTIME;
use crate::doctor::calls::SystemCall;
use crate::doctor::facts::{Call, Observation};
use crate::doctor::finding::DoctorFinding;
use whylate_base::{Ns, Severity};

pub(super) const RULE: DoctorRule =
    DoctorRule { code: "relative-sleep", page: page!("relative-sleep"), needs: Needs::Calls, find };

/// Fewer sleeps are no period.
const ENOUGH: usize = 5;

fn find(observation: &Observation) -> Vec<DoctorFinding> {
    let calls = observation.path_calls().filter(|(_, call)| is_relative_sleep(call));
    let lines = by_line(observation, calls);
    let periods = lines.iter().filter(|line| line.items.len() >= ENOUGH && !makes_up(&line.items));
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

fn is_relative_sleep(call: &Call) -> bool {
    match call.call {
        SystemCall::Nanosleep => true,
        SystemCall::ClockNanosleep => call.args[1] & TIMER_ABSTIME == 0,
        _ => false,
    }
}

/// True where the periods are far more regular than the sleeps: the program computes each sleep from the time that is
/// left.
fn makes_up(sleeps: &[&Call]) -> bool {
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
