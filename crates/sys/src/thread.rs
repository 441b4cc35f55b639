//! The calling thread itself: its id, its timer slack.

use crate::SysError;
use whylate_base::{Ns, Tid};

/// The calling thread's id, as traces show it.
///
/// [`gettid(2)`](https://man7.org/linux/man-pages/man2/gettid.2.html)
pub fn gettid() -> Tid {
    Tid(rustix::thread::gettid().as_raw_nonzero().get())
}

/// By how much the kernel may delay the calling thread's timers to group them. Real-time
/// threads have none, whatever this says.
///
/// # Errors
/// None that `PR_GET_TIMERSLACK(2const)` documents.
///
/// [`PR_GET_TIMERSLACK(2const)`](https://man7.org/linux/man-pages/man2/PR_GET_TIMERSLACK.2const.html)
pub fn get_timer_slack() -> Result<Ns, SysError> {
    // SAFETY: PR_GET_TIMERSLACK takes no pointer and returns the value.
    let slack = unsafe { libc::prctl(libc::PR_GET_TIMERSLACK, 0, 0, 0, 0) };
    if slack < 0 {
        return Err(SysError::last("prctl", "PR_GET_TIMERSLACK"));
    }
    Ok(Ns(i64::from(slack)))
}

/// Sets the calling thread's timer slack; zero or less returns to the thread's default (50 us).
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

/// How an error message names a thread.
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
        let before = get_timer_slack().expect("slack");
        std::thread::spawn(|| {
            set_timer_slack(Ns(1)).expect("set");
            assert_eq!(get_timer_slack(), Ok(Ns(1)));
        })
        .join()
        .expect("thread");
        assert_eq!(get_timer_slack(), Ok(before));
    }
}
