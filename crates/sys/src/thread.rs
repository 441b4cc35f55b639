//! The calling thread: its id and its timer slack.

use crate::SysError;
use crate::wide::wide;
use whylate_base::{Cpu, Ns, Tid};

/// The calling thread's id, as traces show it.
///
/// [`gettid(2)`](https://man7.org/linux/man-pages/man2/gettid.2.html)
pub fn gettid() -> Tid {
    Tid(rustix::thread::gettid().as_raw_nonzero().get())
}

/// The CPU that the calling thread runs on, at this moment.
///
/// [`getcpu(2)`](https://man7.org/linux/man-pages/man2/getcpu.2.html)
pub fn current_cpu() -> Cpu {
    Cpu(u32::try_from(rustix::thread::sched_getcpu()).unwrap_or(u32::MAX))
}

/// Sets how much the kernel may delay the calling thread's timers to group them; zero or less restores the default (50 us).
/// Real-time threads always have no slack.
///
/// # Errors
/// None that `PR_SET_TIMERSLACK(2const)` documents.
///
/// [`PR_SET_TIMERSLACK(2const)`](https://man7.org/linux/man-pages/man2/PR_SET_TIMERSLACK.2const.html)
pub fn set_timer_slack(slack: Ns) -> Result<(), SysError> {
    let value = libc::c_ulong::try_from(slack.0.max(0)).unwrap_or(libc::c_ulong::MAX);
    // SAFETY: PR_SET_TIMERSLACK takes the value itself, no pointer.
    let result = unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, value, 0, 0, 0) };
    if result < 0 {
        return Err(SysError::last("prctl", format!("PR_SET_TIMERSLACK {slack}")));
    }
    Ok(())
}

/// How much the kernel may delay the calling thread's timers to group them.
///
/// # Errors
/// None that `PR_GET_TIMERSLACK(2const)` documents.
///
/// [`PR_GET_TIMERSLACK(2const)`](https://man7.org/linux/man-pages/man2/PR_GET_TIMERSLACK.2const.html)
pub fn timer_slack() -> Result<Ns, SysError> {
    // SAFETY: PR_GET_TIMERSLACK takes no pointer; the system call itself, as the value may be more than an int.
    let result = unsafe { libc::syscall(libc::SYS_prctl, libc::PR_GET_TIMERSLACK, 0, 0, 0, 0) };
    if result < 0 {
        return Err(SysError::last("prctl", "PR_GET_TIMERSLACK"));
    }
    Ok(Ns(wide(result)))
}

/// The name of a thread in an error message.
pub(crate) fn describe(tid: Tid) -> String {
    match tid.0 {
        0 => "this thread".to_owned(),
        tid => format!("thread {tid}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_thread_has_its_own_id() {
        let own = gettid();
        assert!(own.0 > 0);
        let other = std::thread::spawn(gettid).join().expect("thread");
        assert_ne!(own, other);
    }

    #[test]
    fn timer_slack_is_per_thread() {
        // Of any thread by its id, though only processes are listed: proc_pid_timerslack_ns(5).
        let slack = || {
            let path = format!("/proc/{}/timerslack_ns", gettid());
            std::fs::read_to_string(path).expect("slack").trim().parse::<i64>().expect("number")
        };
        let before = slack();
        std::thread::spawn(move || {
            set_timer_slack(Ns(1)).expect("set");
            assert_eq!(slack(), 1);
            assert_eq!(timer_slack().expect("read"), Ns(1));
        })
        .join()
        .expect("thread");
        assert_eq!(slack(), before);
    }
}
