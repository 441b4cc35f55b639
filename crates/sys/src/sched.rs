//! Scheduling policy and parameters of a thread, through `sched_setattr(2)`, the one call
//! that knows every policy.

use crate::SysError;
use crate::thread::describe;
use std::fmt;
use whylate_base::{Ns, Policy, Tid};

/// The SCHED_DEADLINE reservation of a thread: `runtime` within `deadline` of every `period`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeadlineParams {
    /// CPU time of each period.
    pub runtime: Ns,
    /// Within this time of the period's start.
    pub deadline: Ns,
    /// How often; zero means the same as `deadline`.
    pub period: Ns,
}

/// A thread's policy with the parameters that the policy uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SchedParams {
    /// The policy.
    pub policy: Policy,
    /// 1 to 99 for SCHED_FIFO and SCHED_RR, 0 for all others.
    pub priority: u32,
    /// -20 to 19, of SCHED_OTHER and SCHED_BATCH.
    pub nice: i32,
    /// Of SCHED_DEADLINE only.
    pub deadline: Option<DeadlineParams>,
    /// True when a child starts as SCHED_OTHER instead of inheriting the policy.
    pub reset_on_fork: bool,
    /// The time slice of SCHED_OTHER and SCHED_BATCH, which kernels from 6.12 on have (`sched_runtime` of these policies,
    /// commit 857b158dc5e8). `None` when set: the kernel's own.
    pub slice: Option<Ns>,
}

impl SchedParams {
    /// SCHED_OTHER at nice 0: the default of every program.
    pub const OTHER: SchedParams = SchedParams {
        policy: Policy::Other,
        priority: 0,
        nice: 0,
        deadline: None,
        reset_on_fork: false,
        slice: None,
    };

    /// SCHED_FIFO at `priority`, 1 to 99.
    pub fn fifo(priority: u32) -> Self {
        SchedParams { policy: Policy::Fifo, priority, ..Self::OTHER }
    }

    /// SCHED_RR at `priority`, 1 to 99.
    pub fn rr(priority: u32) -> Self {
        SchedParams { policy: Policy::Rr, priority, ..Self::OTHER }
    }

    /// SCHED_DEADLINE.
    pub fn deadline(params: DeadlineParams) -> Self {
        SchedParams { policy: Policy::Deadline, deadline: Some(params), ..Self::OTHER }
    }
}

/// `SCHED_FIFO priority 80`, `SCHED_OTHER nice 0`, `SCHED_DEADLINE 1.00 ms of 10.00 ms`.
impl fmt::Display for SchedParams {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.policy.constant())?;
        match (self.policy, self.deadline) {
            (Policy::Fifo | Policy::Rr, _) => write!(f, " priority {}", self.priority),
            (Policy::Deadline, Some(params)) => write!(f, " {} of {}", params.runtime, params.period),
            (Policy::Other | Policy::Batch, _) => write!(f, " nice {}", self.nice),
            _ => Ok(()),
        }
    }
}

/// `struct sched_attr` in its first published size (48 bytes, Linux 3.14), which every
/// later kernel accepts and fills. Layout: `include/uapi/linux/sched/types.h`.
#[repr(C)]
#[derive(Default)]
struct SchedAttr {
    size: u32,
    policy: u32,
    flags: u64,
    nice: i32,
    priority: u32,
    runtime: u64,
    deadline: u64,
    period: u64,
}

const ATTR_SIZE: u32 = size_of::<SchedAttr>() as u32;
const _: () = assert!(ATTR_SIZE == 48);

/// `SCHED_FLAG_RESET_ON_FORK`, `include/uapi/linux/sched.h`.
const RESET_ON_FORK: u64 = 1;

/// Sets the policy of thread `tid`. `Tid(0)` is the calling thread.
///
/// # Errors
/// `EPERM` without permission for the policy or priority, `EINVAL` for parameters that the
/// policy does not take, `EBUSY` when SCHED_DEADLINE admission fails, `ESRCH` when the
/// thread is gone. [`SysError::hint`] names the fix.
///
/// [`sched_setattr(2)`](https://man7.org/linux/man-pages/man2/sched_setattr.2.html)
pub fn setattr(tid: Tid, params: &SchedParams) -> Result<(), SysError> {
    let time = |value: Ns| u64::try_from(value.0).unwrap_or(0);
    let deadline = params.deadline.filter(|_| params.policy == Policy::Deadline);
    let slice = params.slice.filter(|_| has_slice(params.policy));
    let attr = SchedAttr {
        size: ATTR_SIZE,
        policy: params.policy.raw(),
        flags: if params.reset_on_fork { RESET_ON_FORK } else { 0 },
        nice: params.nice,
        priority: params.priority,
        runtime: deadline.map(|d| d.runtime).or(slice).map_or(0, time),
        deadline: deadline.map_or(0, |d| time(d.deadline)),
        period: deadline.map_or(0, |d| time(d.period)),
    };
    // SAFETY: the kernel reads `attr.size` bytes from `attr`, which lives through the call.
    let result = unsafe { libc::syscall(libc::SYS_sched_setattr, tid.0, &raw const attr, 0u32) };
    if result < 0 {
        return Err(SysError::last("sched_setattr", format!("{params} for {}", describe(tid))));
    }
    Ok(())
}

/// Whether a seccomp filter refuses `sched_setattr(2)` to this thread. It asks with no attributes, which changes nothing: the
/// kernel refuses that with `EINVAL` alone, and only a filter refuses it otherwise.
///
/// [`seccomp(2)`](https://man7.org/linux/man-pages/man2/seccomp.2.html), SECCOMP_RET_ERRNO
pub fn is_setattr_filtered() -> bool {
    let none = std::ptr::null::<SchedAttr>();
    // SAFETY: a null pointer, which the kernel refuses before it reads from it.
    let result = unsafe { libc::syscall(libc::SYS_sched_setattr, 0, none, 0u32) };
    result < 0 && std::io::Error::last_os_error().raw_os_error() != Some(libc::EINVAL)
}

/// The policy of thread `tid`, with its parameters. `Tid(0)` is the calling thread.
///
/// # Errors
/// `ESRCH` when the thread is gone; `EINVAL`, with the number in the message, when the
/// kernel has a policy that [`Policy`] does not know.
///
/// [`sched_getattr(2)`](https://man7.org/linux/man-pages/man2/sched_getattr.2.html)
pub fn getattr(tid: Tid) -> Result<SchedParams, SysError> {
    let mut attr = SchedAttr::default();
    // SAFETY: the kernel writes at most `ATTR_SIZE` bytes into `attr`, which lives through the call.
    let result = unsafe { libc::syscall(libc::SYS_sched_getattr, tid.0, &raw mut attr, ATTR_SIZE, 0u32) };
    if result < 0 {
        return Err(SysError::last("sched_getattr", describe(tid)));
    }
    let Some(policy) = Policy::from_raw(attr.policy) else {
        let tried = format!("{}: policy {} is unknown to whylate", describe(tid), attr.policy);
        return Err(SysError::new("sched_getattr", tried, libc::EINVAL));
    };
    let time = |value: u64| Ns(i64::try_from(value).unwrap_or(i64::MAX));
    Ok(SchedParams {
        policy,
        priority: attr.priority,
        nice: attr.nice,
        deadline: (policy == Policy::Deadline).then(|| DeadlineParams {
            runtime: time(attr.runtime),
            deadline: time(attr.deadline),
            period: time(attr.period),
        }),
        reset_on_fork: attr.flags & RESET_ON_FORK != 0,
        slice: (has_slice(policy) && attr.runtime > 0).then(|| time(attr.runtime)),
    })
}

fn has_slice(policy: Policy) -> bool {
    matches!(policy, Policy::Other | Policy::Batch)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs in its own thread, so that no test's policy affects another test.
    fn in_a_thread(test: impl FnOnce() + Send + 'static) {
        std::thread::spawn(test).join().expect("thread");
    }

    #[test]
    fn own_policy_is_read_and_written_back() {
        in_a_thread(|| {
            let before = getattr(Tid(0)).expect("own policy");
            setattr(Tid(0), &before).expect("the same again");
            assert_eq!(getattr(Tid(0)).expect("own policy"), before);
        });
    }

    #[test]
    fn unprivileged_policies_with_reset_on_fork() {
        in_a_thread(|| {
            for policy in [Policy::Batch, Policy::Idle] {
                let wanted = SchedParams { policy, reset_on_fork: true, ..SchedParams::OTHER };
                setattr(Tid(0), &wanted).expect("needs no right");
                let got = getattr(Tid(0)).expect("own policy");
                assert_eq!((got.policy, got.reset_on_fork), (policy, true));
            }
        });
    }

    #[test]
    fn realtime_policies_are_set_or_refused_with_a_remedy() {
        in_a_thread(|| {
            let deadline = DeadlineParams {
                runtime: Ns::from_us(100),
                deadline: Ns::from_ms(5),
                period: Ns::from_ms(10),
            };
            for wanted in [
                SchedParams::fifo(3),
                SchedParams::rr(4),
                SchedParams::deadline(deadline),
                SchedParams::OTHER,
            ] {
                match setattr(Tid(0), &wanted) {
                    Ok(()) => {
                        let got = getattr(Tid(0)).expect("own policy");
                        assert_eq!((got.policy, got.priority), (wanted.policy, wanted.priority));
                        assert_eq!(got.deadline, wanted.deadline);
                    }
                    Err(error) => {
                        assert!(error.is_permission(), "{error}");
                        assert!(error.hint().is_some());
                        assert!(error.to_string().contains(&wanted.to_string()), "{error}");
                    }
                }
            }
        });
    }

    #[test]
    fn no_filter_refuses_tests() {
        let status = std::fs::read_to_string("/proc/self/status").expect("status");
        let filtered = status.lines().any(|line| line == "Seccomp:\t2");
        assert!(filtered || !is_setattr_filtered());
    }

    #[test]
    fn wrong_values_are_refused() {
        assert_eq!(setattr(Tid(0), &SchedParams::fifo(100)).expect_err("100").errno(), libc::EINVAL);
        assert!(getattr(Tid(i32::MAX)).expect_err("no such thread").is_no_such_thread());
    }

    #[test]
    fn parameters_read_as_their_man_page_says_them() {
        assert_eq!(SchedParams::fifo(80).to_string(), "SCHED_FIFO priority 80");
        assert_eq!(SchedParams::OTHER.to_string(), "SCHED_OTHER nice 0");
    }
}
