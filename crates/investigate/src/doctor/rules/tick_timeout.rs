//! Periods that are made of the timeouts of sockets.

use super::lines::{Line, by_line, times};
use super::rule::{DoctorRule, Needs, page};
use crate::doctor::calls::SystemCall;
use crate::doctor::facts::{Call, Descriptor, Observation};
use crate::doctor::finding::DoctorFinding;
use whylate_base::Severity;

pub(super) const RULE: DoctorRule =
    DoctorRule { code: "tick-timeout", page: page!("tick-timeout"), needs: Needs::Calls, find };

/// Fewer timeouts are no period.
const ENOUGH: usize = 5;
/// `EAGAIN`, errno(3).
const AGAIN: i32 = 11;

fn find(observation: &Observation) -> Vec<DoctorFinding> {
    let waits = observation.path_calls().filter(|(_, call)| receives(observation, call));
    let lines = by_line(observation, waits);
    lines
        .iter()
        // Where input comes as a rule, the timeout is for its absence.
        .filter(|line| timed_out(line) >= ENOUGH && 2 * timed_out(line) > line.items.len())
        .map(|line| {
            let count = times(timed_out(line));
            let title = format!("{} uses a socket's timeout as its period: {count}", line.name());
            line.finding(RULE.code, Severity::Warning, title).because(WHY).fix(FIX)
        })
        .collect()
}

fn receives(observation: &Observation, call: &Call) -> bool {
    use SystemCall as C;
    match call.call {
        C::RecvFrom | C::RecvMsg | C::Accept | C::Accept4 => true,
        C::Read => observation.descriptor(call.tid, call.fd(), call.start) == Some(&Descriptor::Socket),
        _ => false,
    }
}

/// A socket that does not block returns at once: one that slept and has nothing had a timeout (socket(7)).
fn timed_out(line: &Line<'_, Call>) -> usize {
    line.items.iter().filter(|call| call.slept && call.error() == Some(AGAIN)).count()
}

const WHY: &str = "the kernel rounds SO_RCVTIMEO up to ticks, 1 to 10 ms by the kernel's CONFIG_HZ, and adds one: of 1 us it makes a \
     tick. The timeout begins when the call is made, so each period is longer by the work before it";

const FIX: &[&str] = &[
    "sleep until an instant, clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL), and take what has come with MSG_DONTWAIT",
    "or wait for a timerfd and the socket together, by epoll_wait() or ppoll()",
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::made_up::{PID, call, program, repeat};
    use std::collections::BTreeMap;
    use whylate_base::{Ns, Policy};

    #[test]
    fn sockets_that_mostly_time_out_are_a_period() {
        let timeout =
            Call { slept: true, ret: Some(-i64::from(AGAIN)), ..call(11, SystemCall::RecvFrom, &[6], 7) };
        let input = Call { ret: Some(8), ..timeout };
        let look = Call { slept: false, ..timeout };
        let read = |fd| Call { args: [fd, 0, 0, 0, 0, 0], call: SystemCall::Read, ..timeout };
        for (what, calls, expected) in [
            ("timeouts", repeat(timeout, 5), 1),
            ("read of a socket", repeat(read(6), 5), 1),
            ("read of a terminal", repeat(read(5), 5), 0),
            ("a few", repeat(timeout, 4), 0),
            ("mostly input", [repeat(timeout, 5), repeat(input, 5)].concat(), 0),
            ("a look without a wait", repeat(look, 50), 0),
        ] {
            let mut observation = program(&[(11, Policy::Fifo, 50)]);
            observation.calls = calls;
            let table =
                BTreeMap::from([(5, Descriptor::Terminal("/dev/tty1".to_owned())), (6, Descriptor::Socket)]);
            observation.processes.get_mut(&PID).expect("a process").descriptors = vec![(Ns(0).into(), table)];
            assert_eq!(find(&observation).len(), expected, "{what}");
        }
    }
}
