//! Periods that are made of the timeouts of poll, select and epoll_wait.

use super::lines::{by_line, times};
use super::rule::{DoctorRule, Needs, page};
use crate::doctor::calls::SystemCall;
use crate::doctor::facts::{Call, Observation};
use crate::doctor::finding::DoctorFinding;
use whylate_base::Severity;

pub(super) const RULE: DoctorRule =
    DoctorRule { code: "timeout-slack", page: page!("timeout-slack"), needs: Needs::Calls, find };

/// Fewer timeouts are no period.
const ENOUGH: usize = 5;

fn find(observation: &Observation) -> Vec<DoctorFinding> {
    let lines = by_line(observation, observation.path_calls().filter(|(_, call)| is_wait(call)));
    let timed_out =
        |line: &super::lines::Line<'_, Call>| line.items.iter().filter(|call| call.ret == Some(0)).count();
    // Where input comes as a rule, the timeout is for its absence.
    let periods =
        lines.iter().filter(|line| timed_out(line) >= ENOUGH && 2 * timed_out(line) > line.items.len());
    periods
        .map(|line| {
            let title = format!("{} uses a timeout as its period: {}", line.name(), times(timed_out(line)));
            line.finding(RULE.code, Severity::Warning, title).because(WHY).fix(FIX)
        })
        .collect()
}

/// An event loop asks without a wait in between, which returns 0 as well where nothing came.
fn is_wait(call: &Call) -> bool {
    use SystemCall as C;
    let polls = matches!(
        call.call,
        C::Poll | C::Ppoll | C::Select | C::Pselect | C::EpollWait | C::EpollPwait | C::EpollPwait2
    );
    polls && (call.slept || call.ret != Some(0))
}

const WHY: &str = "a timeout begins when the call is made, so each period is longer by the work before it; poll() and epoll_wait() \
     round it to milliseconds; and of a thread that is not real-time the kernel delays it by the timer slack, 50 us by default \
     and up to 0.1 % of it";

const FIX: &[&str] = &[
    "wait for a timerfd with a period beside the other descriptors: timerfd_settime() with it_interval",
    "or sleep until an instant: clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL)",
];
