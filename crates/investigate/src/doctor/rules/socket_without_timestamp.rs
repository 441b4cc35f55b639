//! Messages that are received without the time at which they arrived.

use super::lines::{Mistake, by_line};
use super::rule::{DoctorRule, Needs, page};
use crate::doctor::calls::SystemCall;
use crate::doctor::facts::{Call, Observation};
use crate::doctor::finding::DoctorFinding;
use crate::doctor::sockets::{Socket, Sockets};
use whylate_base::Severity;

pub(super) const RULE: DoctorRule = DoctorRule {
    code: "socket-without-timestamp",
    page: page!("socket-without-timestamp"),
    needs: Needs::AllCalls,
    find,
};

/// Fewer messages are no stream.
const ENOUGH: usize = 10;
/// `include/linux/socket.h`
const AF_INET: u64 = 2;
const AF_INET6: u64 = 10;
const AF_PACKET: u64 = 17;
const AF_CAN: u64 = 29;
const SOCK_DGRAM: u64 = 2;
const SOCK_RAW: u64 = 3;
/// `include/uapi/asm-generic/socket.h`
const SOL_SOCKET: u64 = 1;
/// SO_TIMESTAMP, SO_TIMESTAMPNS and SO_TIMESTAMPING, each with its old and its new layout.
const TIMESTAMPS: [u64; 6] = [29, 35, 37, 63, 64, 65];

/// Not every program needs the time of its messages: this is a hint.
const MISTAKE: Mistake = Mistake {
    code: RULE.code,
    severity: Severity::Info,
    does: "receives messages without the time at which they arrived",
    why: WHY,
    fix: FIX,
};

fn find(observation: &Observation) -> Vec<DoctorFinding> {
    let sockets = Sockets::new(observation);
    let received = observation.path_calls().filter(|(thread, call)| {
        is_message(call)
            && sockets.of(thread.pid, call).is_some_and(is_of_messages)
            && !sockets.has_option(thread.pid, call, SOL_SOCKET, &TIMESTAMPS)
    });
    let lines = by_line(observation, received);
    lines.iter().filter(|line| line.items.len() >= ENOUGH).map(|line| MISTAKE.at(line)).collect()
}

fn is_message(call: &Call) -> bool {
    use SystemCall as C;
    matches!(call.call, C::RecvFrom | C::RecvMsg | C::Read) && call.ret.is_some_and(|received| received > 0)
}

/// A stream has no messages of which each has a time.
fn is_of_messages(socket: Socket) -> bool {
    let is_udp = matches!(socket.family, AF_INET | AF_INET6) && socket.kind == SOCK_DGRAM;
    is_udp || (matches!(socket.family, AF_PACKET | AF_CAN) && matches!(socket.kind, SOCK_DGRAM | SOCK_RAW))
}

const WHY: &str = "when a cycle is late, only the time at which the message arrived tells whether the network or this machine was late";

const FIX: &[&str] = &[
    "setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof(on)), and recvmsg() with room for the control message: the kernel's time \
     of arrival",
    "SO_TIMESTAMPING with SOF_TIMESTAMPING_RX_HARDWARE, where the network card has a clock (ethtool -T DEVICE)",
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::made_up::{call_at, endless, found};

    #[test]
    fn a_stream_of_messages_without_their_times_is_found() {
        use SystemCall as C;
        let socket = |family, kind| vec![call_at(C::Socket, &[family, kind, 0], 9, 100)];
        let with_flags = socket(AF_INET, SOCK_DGRAM | 0o4000);
        let set = |name| vec![call_at(C::SetSockOpt, &[9, SOL_SOCKET, name], 0, 200)];
        let messages = |kind, count: i64| -> Vec<Call> {
            (0..count).map(|n| call_at(kind, &[9], 64, 2_000 + n * 1_000_000)).collect()
        };
        for (what, calls, expected) in [
            ("UDP", [with_flags.clone(), messages(C::RecvFrom, 10)].concat(), true),
            ("a raw CAN socket", [socket(AF_CAN, SOCK_RAW), messages(C::Read, 10)].concat(), true),
            ("a few", [with_flags.clone(), messages(C::RecvFrom, 9)].concat(), false),
            ("with times", [with_flags.clone(), set(35), messages(C::RecvMsg, 10)].concat(), false),
            ("another option", [with_flags.clone(), set(8), messages(C::RecvMsg, 10)].concat(), true),
            ("a stream", [socket(AF_INET, 1), messages(C::RecvFrom, 10)].concat(), false),
            ("between processes", [socket(1, SOCK_DGRAM), messages(C::RecvFrom, 10)].concat(), false),
            ("made before", messages(C::RecvFrom, 10), false),
        ] {
            let found: Vec<_> = found(&endless(calls)).into_iter().filter(|one| one.0 == RULE.code).collect();
            let expected: &[_] = if expected { &[("socket-without-timestamp", Some(7))] } else { &[] };
            assert_eq!(found, expected, "{what}");
        }
    }
}
