//! A thread's policy, priority and CPUs, by the scheduler's own calls. Ids are used again: whether it still is the
//! same thread its start time shows, before anything is set and afterwards.

use crate::{TargetError, ThreadId};
use std::fs;
use whylate_base::{CpuSet, Ns, Policy};
use whylate_host::ThreadStat;
use whylate_sys::{DeadlineParams, SchedParams, SysError};

/// Its policy, in the words of [`Setting`](crate::Setting).
pub(super) fn policy(thread: &ThreadId) -> Result<String, TargetError> {
    let what = format!("policy of {thread}");
    identify(thread, "read", &what)?;
    let params = whylate_sys::getattr(thread.tid()).map_err(|error| failed("read", &what, &error))?;
    identify(thread, "read", &what)?;
    Ok(policy_words(&params))
}

pub(super) fn set_policy(thread: &ThreadId, value: &str) -> Result<(), TargetError> {
    let what = format!("policy of {thread}");
    let wanted = parse_policy(value).ok_or_else(|| {
        TargetError::new("set", &what, format!("`{value}` is not a policy such as `fifo 50`"))
    })?;
    identify(thread, "set", &what)?;
    let now = whylate_sys::getattr(thread.tid()).map_err(|error| failed("set", &what, &error))?;
    // What its children get is not asked for, and stays.
    let wanted = SchedParams { reset_on_fork: now.reset_on_fork, ..wanted };
    whylate_sys::setattr(thread.tid(), &wanted).map_err(|error| failed("set", &what, &error))?;
    match policy(thread)? {
        now if now == policy_words(&wanted) => Ok(()),
        now => {
            Err(TargetError::new("set", &what, format!("the kernel accepted {value}, but it reads {now}")))
        }
    }
}

/// Its CPUs, as a list.
pub(super) fn cpus(thread: &ThreadId) -> Result<String, TargetError> {
    let what = format!("CPUs of {thread}");
    identify(thread, "read", &what)?;
    let cpus = whylate_sys::getaffinity(thread.tid()).map_err(|error| failed("read", &what, &error))?;
    identify(thread, "read", &what)?;
    Ok(cpus.to_string())
}

pub(super) fn set_cpus(thread: &ThreadId, value: &str) -> Result<(), TargetError> {
    let what = format!("CPUs of {thread}");
    let wanted: CpuSet = value.parse().map_err(|error| TargetError::new("set", &what, error))?;
    if identify(thread, "set", &what)? {
        return Err(TargetError::new("set", &what, "the kernel itself binds this thread to its CPUs").gone());
    }
    whylate_sys::setaffinity(thread.tid(), &wanted).map_err(|error| failed("set", &what, &error))?;
    match cpus(thread)? {
        now if now == wanted.to_string() => Ok(()),
        now => {
            let why = format!(
                "the kernel accepted {wanted}, but it reads {now}: the thread's cpuset does not have the others"
            );
            Err(TargetError::new("set", &what, why))
        }
    }
}

/// Whether the kernel binds the thread to its CPUs, if it is the one that was meant.
fn identify(thread: &ThreadId, tried: &'static str, what: &str) -> Result<bool, TargetError> {
    let ended = || TargetError::new(tried, what, "the thread has ended").gone();
    let path = format!("/proc/{}/task/{}/stat", thread.pid, thread.tid);
    let text = fs::read(path).map_err(|_| ended())?;
    let stat = ThreadStat::parse(&text).filter(|stat| stat.started() == Some(thread.started));
    stat.and_then(|stat| stat.is_bound()).ok_or_else(ended)
}

fn failed(tried: &'static str, what: &str, error: &SysError) -> TargetError {
    let why = match error.hint() {
        Some(hint) => format!("{error}: {hint}"),
        None => error.to_string(),
    };
    match error.is_no_such_thread() {
        true => TargetError::new(tried, what, "the thread has ended").gone(),
        false => TargetError::new(tried, what, why),
    }
}

fn policy_words(params: &SchedParams) -> String {
    let name = params.policy.name();
    match (params.policy, params.deadline) {
        (Policy::Fifo | Policy::Rr, _) => format!("{name} {}", params.priority),
        (Policy::Other | Policy::Batch, _) => format!("{name} {}", params.nice),
        (Policy::Deadline, Some(own)) => {
            format!("{name} {} {} {}", own.runtime.0, own.deadline.0, own.period.0)
        }
        _ => name.to_owned(),
    }
}

fn parse_policy(text: &str) -> Option<SchedParams> {
    let mut words = text.split_ascii_whitespace();
    let policy = Policy::from_name(words.next()?)?;
    let numbers: Vec<i64> = words.map(|word| word.parse().ok()).collect::<Option<_>>()?;
    let params = SchedParams { policy, ..SchedParams::OTHER };
    match (policy, numbers.as_slice()) {
        (Policy::Fifo | Policy::Rr, &[priority]) => {
            Some(SchedParams { priority: u32::try_from(priority).ok()?, ..params })
        }
        (Policy::Other | Policy::Batch, &[nice]) => {
            Some(SchedParams { nice: i32::try_from(nice).ok()?, ..params })
        }
        (Policy::Idle | Policy::Ext, []) => Some(params),
        (Policy::Deadline, &[runtime, deadline, period]) => {
            let own = DeadlineParams { runtime: Ns(runtime), deadline: Ns(deadline), period: Ns(period) };
            Some(SchedParams { deadline: Some(own), ..params })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use whylate_sys::gettid;

    #[test]
    fn policies_read_as_they_are_written() {
        for text in ["fifo 50", "rr 1", "other 0", "other -5", "batch 3", "idle", "deadline 100 200 300"] {
            assert_eq!(parse_policy(text).map(|params| policy_words(&params)).as_deref(), Some(text));
        }
        for text in ["", "fifo", "fifo x", "fifo 1 2", "deadline 1", "idle 0", "best 1", "fifo -1"] {
            assert_eq!(parse_policy(text), None, "{text}");
        }
    }

    fn this_thread() -> ThreadId {
        let (pid, tid) = (std::process::id() as i32, gettid().0);
        let stat = fs::read(format!("/proc/{pid}/task/{tid}/stat")).expect("own thread");
        let started = ThreadStat::parse(&stat).and_then(|stat| stat.started()).expect("fields");
        ThreadId { pid, tid, started, name: "test".into() }
    }

    #[test]
    fn a_thread_is_set_and_put_back() {
        let run = || {
            let thread = this_thread();
            let before = (policy(&thread).expect("own"), cpus(&thread).expect("own"));
            set_policy(&thread, "batch 0").expect("needs no right");
            assert_eq!(policy(&thread).as_deref(), Ok("batch 0"));
            set_policy(&thread, &before.0).expect("its own again");
            let first = before.1.split(['-', ',']).next().expect("a CPU").to_owned();
            set_cpus(&thread, &first).expect("fewer CPUs");
            assert_eq!(cpus(&thread), Ok(first));
            set_cpus(&thread, &before.1).expect("its own again");
            assert_eq!((policy(&thread), cpus(&thread)), (Ok(before.0), Ok(before.1)));
        };
        std::thread::spawn(run).join().expect("thread");
    }

    #[test]
    fn another_thread_with_the_same_id_is_left_alone() {
        let other = ThreadId { started: 1, ..this_thread() };
        for result in [policy(&other).map(drop), set_policy(&other, "batch 0"), set_cpus(&other, "0")] {
            let error = result.expect_err("not the same thread");
            assert!(error.gone && error.to_string().contains("has ended"), "{error}");
        }
    }
}
