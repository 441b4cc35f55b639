//! Messages that are sent in pieces over TCP with Nagle's algorithm.

use super::lines::{Mistake, by_line};
use super::rule::{DoctorRule, Needs, page};
use crate::doctor::calls::SystemCall;
use crate::doctor::facts::{Call, Observation, ThreadFacts};
use crate::doctor::finding::DoctorFinding;
use crate::doctor::sockets::Sockets;
use std::collections::BTreeMap;
use whylate_base::{Ns, Severity, Tid};

pub(super) const RULE: DoctorRule =
    DoctorRule { code: "tcp-small-writes", page: page!("tcp-small-writes"), needs: Needs::AllCalls, find };

/// Fewer pairs are no habit.
const ENOUGH: usize = 5;
/// Smaller than a segment on every link (RFC 9293: 536 bytes at least).
const SMALL: i64 = 536;
/// Two writes that are as close belong together.
const CLOSE: Ns = Ns::from_ms(1);
/// `include/uapi/linux/in.h`, `include/uapi/linux/tcp.h`, socket(2)
const IPPROTO_TCP: u64 = 6;
const TCP_NODELAY: u64 = 1;
const TCP_CORK: u64 = 3;
const AF_INET: u64 = 2;
const AF_INET6: u64 = 10;
const SOCK_STREAM: u64 = 1;
const MSG_MORE: u64 = 0x8000;

const MISTAKE: Mistake = Mistake {
    code: RULE.code,
    severity: Severity::Warning,
    does: "sends messages in several small writes over TCP",
    why: WHY,
    fix: FIX,
};

fn find(observation: &Observation) -> Vec<DoctorFinding> {
    let sockets = Sockets::new(observation);
    let mut last: BTreeMap<(Tid, i32), &Call> = BTreeMap::new();
    let mut seconds: Vec<(&ThreadFacts, &Call)> = Vec::new();
    for (thread, call) in observation.path_calls().filter(|(_, call)| is_small_write(call)) {
        if !has_nagle(&sockets, thread.pid, call) {
            continue;
        }
        let before = last.insert((thread.tid, call.fd()), call);
        let is_close = |before: &Call| before.end.is_some_and(|end| call.start.since(end) <= CLOSE);
        if before.is_some_and(is_close) {
            seconds.push((thread, call));
        }
    }
    let lines = by_line(observation, seconds.into_iter());
    lines.iter().filter(|line| line.items.len() >= ENOUGH).map(|line| MISTAKE.at(line)).collect()
}

fn is_small_write(call: &Call) -> bool {
    use SystemCall as C;
    let has_more = match call.call {
        C::SendTo => call.args[3] & MSG_MORE != 0,
        C::SendMsg => call.args[2] & MSG_MORE != 0,
        C::Write | C::Writev => false,
        _ => return false,
    };
    !has_more && call.ret.is_some_and(|sent| sent > 0 && sent < SMALL)
}

/// True where Nagle's algorithm holds small writes back, and nothing gathers them.
fn has_nagle(sockets: &Sockets, pid: Tid, call: &Call) -> bool {
    let is_tcp = sockets.of(pid, call).is_some_and(|socket| {
        matches!(socket.family, AF_INET | AF_INET6)
            && socket.kind == SOCK_STREAM
            && matches!(socket.protocol, 0 | IPPROTO_TCP)
    });
    is_tcp && !sockets.has_option(pid, call, IPPROTO_TCP, &[TCP_NODELAY, TCP_CORK])
}

const WHY: &str = "the second small write waits in the kernel until the other side has acknowledged the first one, which it may \
     delay by 40 ms (Nagle's algorithm and delayed acknowledgements, tcp(7))";

const FIX: &[&str] = &[
    "send the message at once: one buffer, or writev() and sendmsg() with several",
    "TCP_NODELAY, where each write is a whole message",
    "TCP_CORK or MSG_MORE while a message is put together",
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::made_up::{call_at, endless, found};

    #[test]
    fn small_writes_one_after_the_other_are_found() {
        use SystemCall as C;
        let socket = |kind| call_at(C::Socket, &[AF_INET, kind, 0], 9, 100);
        let stream = socket(SOCK_STREAM);
        let write = |length, at| call_at(C::SendTo, &[9, 0, 0, 0], length, at);
        let pairs = |length, apart| -> Vec<Call> {
            let pair = |n: i64| {
                let at = 2_000 + n * 10_000_000;
                [write(length, at), write(length, at + 10 + apart)]
            };
            (0..5).flat_map(pair).collect()
        };
        let with = |first: Call, then: Vec<Call>| [vec![first], then].concat();
        let set = |name| call_at(C::SetSockOpt, &[9, IPPROTO_TCP, name], 0, 200);
        let more = |calls: Vec<Call>| -> Vec<Call> {
            calls.into_iter().map(|one| Call { args: [9, 0, 0, MSG_MORE, 0, 0], ..one }).collect()
        };
        for (what, calls, expected) in [
            ("pairs", with(stream, pairs(8, 20)), true),
            ("large", with(stream, pairs(SMALL, 20)), false),
            ("far apart", with(stream, pairs(8, 2_000_000)), false),
            ("a few", with(stream, pairs(8, 20)[..8].to_vec()), false),
            ("with more to come", with(stream, more(pairs(8, 20))), false),
            ("without Nagle", with(stream, with(set(TCP_NODELAY), pairs(8, 20))), false),
            ("corked", with(stream, with(set(TCP_CORK), pairs(8, 20))), false),
            ("UDP", with(socket(2), pairs(8, 20)), false),
            ("made before", pairs(8, 20), false),
            ("another file", with(stream, with(call_at(C::Openat, &[0], 9, 300), pairs(8, 20))), false),
        ] {
            let found: Vec<_> = found(&endless(calls)).into_iter().filter(|one| one.0 == RULE.code).collect();
            let expected: &[_] = if expected { &[("tcp-small-writes", Some(7))] } else { &[] };
            assert_eq!(found, expected, "{what}");
        }
    }
}
