//! The sockets whose whole life was observed: of others it is not known what was set before.

use super::calls::SystemCall;
use super::facts::{Call, Observation};
use whylate_base::{Ns, Tid};

/// What a socket was made as: the arguments of socket(2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Socket {
    pub(super) family: u64,
    /// Without the flags that may be in the same argument.
    pub(super) kind: u64,
    pub(super) protocol: u64,
}

/// `include/linux/net.h`: the other bits of the type are flags.
const SOCK_TYPE_MASK: u64 = 0xf;

/// A descriptor of a process, from when on it was which socket, or something else.
struct Made {
    pid: Tid,
    fd: i32,
    from: Ns,
    socket: Option<Socket>,
}

pub(super) struct Sockets {
    made: Vec<Made>,
    /// Process, descriptor, level and name of the options that were set.
    options: Vec<(Tid, i32, u64, u64)>,
}

impl Sockets {
    pub(super) fn new(observation: &Observation) -> Sockets {
        let mut sockets = Sockets { made: Vec::new(), options: Vec::new() };
        for call in &observation.calls {
            let Some(pid) = observation.threads.get(&call.tid).map(|thread| thread.pid) else { continue };
            sockets.take(pid, call);
        }
        sockets
    }

    fn take(&mut self, pid: Tid, call: &Call) {
        use SystemCall as C;
        let socket = match call.call {
            C::SetSockOpt => {
                let [_, level, name, ..] = call.args;
                self.options.push((pid, call.fd(), level, name));
                return;
            }
            C::Socket => {
                let [family, kind, protocol, ..] = call.args;
                Some(Socket { family, kind: kind & SOCK_TYPE_MASK, protocol })
            }
            // What an accepted socket inherited is not known.
            C::Accept | C::Accept4 | C::Open | C::Openat | C::Openat2 | C::Creat | C::TimerfdCreate => None,
            _ => return,
        };
        let fd = call.ret.and_then(|fd| i32::try_from(fd).ok()).filter(|&fd| fd >= 0);
        if let (Some(fd), Some(from)) = (fd, call.end) {
            self.made.push(Made { pid, fd, from, socket });
        }
    }

    /// The socket that a call of a process is about.
    pub(super) fn of(&self, pid: Tid, call: &Call) -> Option<Socket> {
        let of_it = |one: &&Made| one.pid == pid && one.fd == call.fd() && one.from <= call.start;
        self.made.iter().rev().find(of_it)?.socket
    }

    /// True where one of these options of `level` was set on the socket that a call is about, whenever that was.
    pub(super) fn has_option(&self, pid: Tid, call: &Call, level: u64, names: &[u64]) -> bool {
        let of_it = |&&(of, fd, its_level, name): &&(Tid, i32, u64, u64)| {
            (of, fd, its_level) == (pid, call.fd(), level) && names.contains(&name)
        };
        self.options.iter().any(|option| of_it(&option))
    }
}
