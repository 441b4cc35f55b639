//! A failed system call: its name, its arguments, the reason, and how to get the permission.

use std::fmt;
use std::io;

/// A refused system call.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct SysError {
    call: &'static str,
    tried: String,
    errno: i32,
}

impl SysError {
    pub(crate) fn new(call: &'static str, tried: impl Into<String>, errno: i32) -> Self {
        SysError { call, tried: tried.into(), errno }
    }

    /// From the calling thread's `errno`, which the failed call has just set.
    pub(crate) fn last(call: &'static str, tried: impl Into<String>) -> Self {
        Self::new(call, tried, io::Error::last_os_error().raw_os_error().unwrap_or(0))
    }

    /// From an error of the standard library, which knows the call's errno.
    pub fn of_io(call: &'static str, tried: impl Into<String>, error: &io::Error) -> Self {
        Self::new(call, tried, error.raw_os_error().unwrap_or(0))
    }

    /// The call's name, as its man page spells it.
    pub fn call(&self) -> &'static str {
        self.call
    }

    /// The attempted operation: `SCHED_FIFO priority 80 for thread 4711`.
    pub fn tried(&self) -> &str {
        &self.tried
    }

    /// The error number of `errno(3)`.
    pub fn errno(&self) -> i32 {
        self.errno
    }

    /// True for `EPERM` and `EACCES`: the caller lacks a permission.
    pub fn is_permission(&self) -> bool {
        matches!(self.errno, libc::EPERM | libc::EACCES)
    }

    /// True for `ESRCH`: the thread is gone.
    pub fn is_no_such_thread(&self) -> bool {
        self.errno == libc::ESRCH
    }

    /// The fix, if it is known: the missing capability, limit or setting.
    ///
    /// Sources: `sched(7)` "Privileges and resource limits", `getrlimit(2)`, `mlock(2)`,
    /// `cpuset(7)`, and `Documentation/scheduler/sched-rt-group.rst`.
    pub fn hint(&self) -> Option<&'static str> {
        match (self.call, self.errno) {
            ("sched_setattr", libc::EPERM) => Some(
                "needs CAP_SYS_NICE (run as root, or `setcap cap_sys_nice+ep` on the program), or a real-time \
                 limit: `ulimit -r 99`, granted to a group by the line `@realtime - rtprio 99` in \
                 /etc/security/limits.conf and a new login. If it is refused to root as well, the kernel has \
                 CONFIG_RT_GROUP_SCHED and this cgroup's cpu.rt_runtime_us is 0: start in the root cgroup, or give \
                 the group a runtime. SCHED_DEADLINE always needs CAP_SYS_NICE and an affinity to all CPUs of its \
                 root domain",
            ),
            ("sched_setattr", libc::EBUSY) => Some(
                "SCHED_DEADLINE admission refused: the deadline tasks' runtimes would exceed what \
                 kernel.sched_rt_runtime_us allows; ask for less runtime or a longer period",
            ),
            ("sched_setaffinity", libc::EINVAL) => Some(
                "none of these CPUs is online and in the thread's cpuset: compare \
                 /sys/devices/system/cpu/online and Cpus_allowed_list in /proc/self/status",
            ),
            ("sched_setaffinity", libc::EPERM) => Some("another user's thread: needs CAP_SYS_NICE"),
            ("mlockall", libc::EPERM | libc::ENOMEM) => Some(
                "needs CAP_IPC_LOCK (run as root, or `setcap cap_ipc_lock+ep` on the program), or a limit that \
                 covers the whole process: `ulimit -l unlimited`, granted to a group by the line \
                 `@realtime - memlock unlimited` in /etc/security/limits.conf and a new login",
            ),
            ("perf_event_open", libc::EPERM | libc::EACCES) => Some(
                "needs root or CAP_PERFMON for other users' threads and for what happens in the kernel; for one's own \
                 threads in user mode kernel.perf_event_paranoid must be 2 or less. In a container the seccomp profile \
                 must allow the call",
            ),
            ("perf_event_open", libc::EMFILE) => Some(
                "each sampled thread takes some descriptors for each CPU: raise the limit (`ulimit -n`), or choose fewer \
                 threads",
            ),
            _ => None,
        }
    }
}

impl fmt::Display for SysError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}: {}", self.call, self.tried, io::Error::from_raw_os_error(self.errno))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_names_call_attempt_reason_and_remedy() {
        let refused = SysError::new("sched_setattr", "SCHED_FIFO priority 80 for this thread", libc::EPERM);
        assert!(refused.is_permission());
        let text = refused.to_string();
        for part in ["sched_setattr", "priority 80", "not permitted"] {
            assert!(text.contains(part), "{text}");
        }
        let hint = refused.hint().expect("known refusal");
        for part in ["CAP_SYS_NICE", "ulimit -r", "rtprio 99", "rt_runtime_us"] {
            assert!(hint.contains(part), "{hint}");
        }
        assert_eq!(SysError::new("sched_setattr", "", libc::ESRCH).hint(), None);
        assert!(SysError::new("mlockall", "", libc::ENOMEM).hint().expect("known").contains("memlock"));
    }
}
