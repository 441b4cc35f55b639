//! Numbers of the system calls in which threads wait.

/// A system call's number, on the architecture that this program is built for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Number(pub(super) i64);

/// `arch/x86/entry/syscalls/syscall_64.tbl`
#[cfg(target_arch = "x86_64")]
mod native {
    pub(super) const FUTEX: &[i64] = &[202];
    /// read, recvfrom, recvmsg, accept, accept4, recvmmsg.
    pub(super) const OF_DESCRIPTOR: &[i64] = &[0, 45, 47, 43, 288, 299];
    /// epoll_wait, epoll_pwait, epoll_pwait2.
    pub(super) const EPOLL: &[i64] = &[232, 281, 441];
    /// poll, ppoll.
    pub(super) const POLL: &[i64] = &[7, 271];
}

/// `scripts/syscall.tbl`
#[cfg(not(target_arch = "x86_64"))]
mod native {
    pub(super) const FUTEX: &[i64] = &[98];
    /// read, recvfrom, recvmsg, accept, accept4, recvmmsg.
    pub(super) const OF_DESCRIPTOR: &[i64] = &[63, 207, 212, 202, 242, 243];
    /// epoll_pwait, epoll_pwait2.
    pub(super) const EPOLL: &[i64] = &[22, 441];
    /// ppoll.
    pub(super) const POLL: &[i64] = &[73];
}

impl Number {
    pub(super) fn is_futex(self) -> bool {
        native::FUTEX.contains(&self.0)
    }

    /// Whether the first argument is the descriptor that it waits for.
    pub(super) fn reads_descriptor(self) -> bool {
        native::OF_DESCRIPTOR.contains(&self.0)
    }

    pub(super) fn is_epoll(self) -> bool {
        native::EPOLL.contains(&self.0)
    }

    pub(super) fn is_poll(self) -> bool {
        native::POLL.contains(&self.0)
    }
}
