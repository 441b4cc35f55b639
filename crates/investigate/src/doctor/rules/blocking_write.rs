//! Writes in the real-time path that waited for their reader.

use super::lines::Mistake;
use super::purpose::is_name_resolution;
use super::rule::{DoctorRule, Needs, page};
use crate::doctor::calls::SystemCall;
use crate::doctor::facts::{Call, Descriptor, Observation};
use crate::doctor::finding::DoctorFinding;
use whylate_base::Severity;

pub(super) const RULE: DoctorRule =
    DoctorRule { code: "blocking-write", page: page!("blocking-write"), needs: Needs::Calls, find };

const MISTAKE: Mistake = Mistake {
    code: RULE.code,
    severity: Severity::Warning,
    does: "waits in its loop until its reader takes what it writes",
    why: WHY,
    fix: FIX,
};

fn find(observation: &Observation) -> Vec<DoctorFinding> {
    MISTAKE.of_path_calls(observation, is_one)
}

/// A writer sleeps interruptibly where a pipe or a socket is full (`anon_pipe_write` in `fs/pipe.c`, `sk_stream_wait_memory` in
/// `net/core/stream.c`, `unix_wait_for_peer` in `net/unix/af_unix.c`); for their locks it sleeps uninterruptibly.
fn is_one(observation: &Observation, call: &Call) -> bool {
    use SystemCall as C;
    let descriptor = || observation.descriptor(call.tid, call.fd(), call.start);
    let sends = match call.call {
        C::SendTo | C::SendMsg | C::SendMmsg => true,
        // Of standard output it is known elsewhere that it belongs to another.
        C::Write | C::Writev if !matches!(call.fd(), 1 | 2) => {
            matches!(descriptor(), Some(Descriptor::Pipe | Descriptor::Socket))
        }
        _ => false,
    };
    sends && call.slept_interruptibly && !is_name_resolution(observation, call)
}

const WHY: &str = "a pipe or a socket takes only so much: when it is full, the writer sleeps until the reader has run, which \
     is not real-time, on another machine, or stopped: the real-time thread is then only as fast as its reader";

const FIX: &[&str] = &[
    "O_NONBLOCK (fcntl(2)) or MSG_DONTWAIT (send(2)), and drop or count what does not fit",
    "put the data into a ring buffer in memory, and let a thread that is not real-time write it",
    "a larger buffer (F_SETPIPE_SZ, SO_SNDBUF) only delays it, where the reader is too slow on the average",
];

#[cfg(test)]
mod tests {
    use crate::doctor::calls::SystemCall as C;
    use crate::doctor::facts::{Call, Descriptor};
    use crate::doctor::made_up::{PID, call, found, program};
    use std::collections::BTreeMap;
    use whylate_base::{Ns, Policy};

    #[test]
    fn only_a_wait_for_the_reader_is_one() {
        let write = |kind, fd| Call { slept: true, slept_interruptibly: true, ..call(11, kind, &[fd], 7) };
        for (what, one, expected) in [
            ("a pipe", write(C::Write, 3), &["blocking-write"][..]),
            ("a socket", write(C::Write, 4), &["blocking-write"]),
            ("sendto", write(C::SendTo, 4), &["blocking-write"]),
            ("a lock of the pipe", Call { slept_interruptibly: false, ..write(C::Write, 3) }, &[]),
            ("room in the pipe", call(11, C::Write, &[3], 7), &[]),
            ("a file", write(C::Write, 5), &["file-write"]),
            ("standard output", write(C::Write, 1), &["terminal-output"]),
            ("a read", write(C::Read, 3), &[]),
        ] {
            let mut observation = program(&[(11, Policy::Fifo, 50)]);
            observation.calls = vec![one];
            let table = BTreeMap::from([
                (1, Descriptor::Pipe),
                (3, Descriptor::Pipe),
                (4, Descriptor::Socket),
                (5, Descriptor::File("/var/log/x".to_owned())),
            ]);
            observation.processes.get_mut(&PID).expect("a process").descriptors = vec![(Ns(0).into(), table)];
            let codes: Vec<_> = found(&observation).into_iter().map(|(code, _)| code).collect();
            assert_eq!(codes, expected, "{what}");
        }
    }
}
