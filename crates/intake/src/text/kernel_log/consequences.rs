//! Which message of a log follows from an earlier one: a thread hangs behind storage that does not answer, and a thread that an oops
//! ended still has preemption disabled.

use super::meanings::{ATOMIC, CRASH, ENDED, HARD_LOCKUP, HUNG_TASK, SPIN_LOCKUP, STORAGE};
use super::owner::LoggedThread;

/// What is compared of a message.
#[derive(Clone, Copy, Debug)]
pub(super) struct Occurrence<'a> {
    pub(super) line: u64,
    pub(super) meaning: &'static str,
    /// The thread that it is of, where it is known.
    pub(super) thread: Option<&'a LoggedThread>,
    /// The CPUs that had interrupts disabled, or waited for a spinlock.
    pub(super) cpus: &'a [u32],
    /// Its CPU waits for another one.
    pub(super) waits_for_answer: bool,
    /// The CPU that it is of, where that takes no interrupts.
    pub(super) silent_cpu: Option<u32>,
    /// The hung thread whose stack shows that it waits for storage.
    pub(super) behind_storage: Option<BehindStorage<'a>>,
}

/// A hung thread that waits for storage.
#[derive(Clone, Copy, Debug)]
pub(super) enum BehindStorage<'a> {
    /// It is the one that the message is of.
    First,
    /// It is another one that the same messages report.
    Other(&'a LoggedThread),
}

/// That a message follows from one of the `others`, in words.
pub(super) fn of<'a>(
    one: Occurrence<'a>,
    mut others: impl Iterator<Item = Occurrence<'a>>,
) -> Option<String> {
    if one.waits_for_answer {
        let (line, cpu) = others.find_map(|other| Some((other.line, other.silent_cpu?)))?;
        return Some(format!(
            "CPU {cpu}, which took no interrupts by line {line}, is probably the one that does not answer"
        ));
    }
    let mut earlier = others.filter(|other| other.line < one.line);
    if one.meaning == HUNG_TASK {
        // Other devices do not answer either while a disk is silent, but not because of it.
        let waiter = one.behind_storage?;
        let storage = earlier.find(|other| other.meaning == STORAGE)?;
        let reason =
            format!("the storage that did not answer in line {} is the probable reason", storage.line);
        return Some(match waiter {
            BehindStorage::First => reason,
            BehindStorage::Other(thread) => format!("{reason} for {thread}"),
        });
    }
    if one.meaning == HARD_LOCKUP {
        let waits = |other: &Occurrence<'_>| one.cpus.iter().all(|cpu| other.cpus.contains(cpu));
        let spins =
            earlier.find(|other| other.meaning == SPIN_LOCKUP && !one.cpus.is_empty() && waits(other))?;
        return Some(format!(
            "by line {} they waited for a spinlock, which is the probable reason",
            spins.line
        ));
    }
    if one.meaning == SPIN_LOCKUP {
        let owner = one.thread?;
        let is_owner = |other: &Occurrence<'_>| other.thread.is_some_and(|thread| thread.is_same(owner));
        let crash = earlier.find(|other| [CRASH, ENDED].contains(&other.meaning) && is_owner(other))?;
        return Some(format!("that owner crashed in line {}, which is the probable reason", crash.line));
    }
    let is_same = |other: &Occurrence<'_>| {
        other.thread.zip(one.thread).is_none_or(|(other, thread)| other.is_same(thread))
    };
    let is_crash = |other: &Occurrence<'_>| [CRASH, ENDED].contains(&other.meaning) && is_same(other);
    let crash = earlier.find(is_crash).filter(|_| one.meaning == ATOMIC)?;
    Some(format!("it probably follows from line {}, as the end of the crashed thread", crash.line))
}

/// `note: app[812] exited with preempt_count 2` (`make_task_dead()` in `kernel/exit.c`): the thread that an oops or a BUG ended.
pub(super) fn ended(message: &str) -> Option<LoggedThread> {
    let (thread, _) = message.split_once("note: ")?.1.split_once("] exited with ")?;
    let (name, pid) = thread.rsplit_once('[')?;
    LoggedThread::with_pid(name, pid.parse().ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cpu_that_takes_no_interrupts_is_the_one_that_others_wait_for() {
        let at = |line, waits_for_answer, silent_cpu| Occurrence {
            line,
            meaning: "",
            thread: None,
            cpus: &[],
            waits_for_answer,
            silent_cpu,
            behind_storage: None,
        };
        let others = [at(3, false, None), at(12, false, Some(7))];
        assert_eq!(
            of(at(9, true, None), others.into_iter()).as_deref(),
            Some("CPU 7, which took no interrupts by line 12, is probably the one that does not answer")
        );
        assert_eq!(of(at(9, false, None), others.into_iter()), None);
        assert_eq!(of(at(9, true, None), others.into_iter().take(1)), None);
    }

    #[test]
    fn only_what_fits_and_stands_before_it_is_a_reason() {
        let (app, other) = (
            ended("note: app[812] exited with preempt_count 2"),
            ended("note: b[9] exited with irqs disabled"),
        );
        assert_eq!(app.as_ref().map(ToString::to_string).as_deref(), Some("app (812)"));
        let at = |line, meaning, thread| Occurrence {
            line,
            meaning,
            thread,
            cpus: &[],
            waits_for_answer: false,
            silent_cpu: None,
            behind_storage: None,
        };
        let follows = |one, others: &[Occurrence<'_>]| of(one, others.iter().copied());
        let hung = Occurrence { behind_storage: Some(BehindStorage::First), ..at(9, HUNG_TASK, None) };
        assert_eq!(
            follows(hung, &[at(3, CRASH, None), at(4, STORAGE, None)]).as_deref(),
            Some("the storage that did not answer in line 4 is the probable reason")
        );
        assert_eq!(follows(hung, &[at(12, STORAGE, None)]), None);
        assert_eq!(follows(at(9, HUNG_TASK, None), &[at(4, STORAGE, None)]), None);
        let second = Occurrence { behind_storage: app.as_ref().map(BehindStorage::Other), ..hung };
        assert_eq!(
            follows(second, &[at(4, STORAGE, None)]).as_deref(),
            Some("the storage that did not answer in line 4 is the probable reason for app (812)")
        );
        let atomic = at(9, ATOMIC, app.as_ref());
        let follow = "it probably follows from line 3, as the end of the crashed thread";
        assert_eq!(follows(atomic, &[at(3, CRASH, None)]).as_deref(), Some(follow));
        assert_eq!(follows(atomic, &[at(3, ENDED, app.as_ref())]).as_deref(), Some(follow));
        assert_eq!(follows(atomic, &[at(3, ENDED, other.as_ref()), at(4, STORAGE, None)]), None);
        assert_eq!(follows(at(9, STORAGE, None), &[at(3, CRASH, None)]), None);
        // The owner of the lock crashed, and other CPUs wait for it with interrupts disabled.
        let spins = Occurrence { cpus: &[1, 3], ..at(9, SPIN_LOCKUP, app.as_ref()) };
        let crashed = "that owner crashed in line 3, which is the probable reason";
        assert_eq!(follows(spins, &[at(3, CRASH, app.as_ref())]).as_deref(), Some(crashed));
        assert_eq!(follows(spins, &[at(3, CRASH, None), at(4, CRASH, other.as_ref())]), None);
        let hard = |cpus| Occurrence { cpus, ..at(12, HARD_LOCKUP, None) };
        let waited = "by line 9 they waited for a spinlock, which is the probable reason";
        assert_eq!(follows(hard(&[3]), &[spins]).as_deref(), Some(waited));
        assert_eq!((follows(hard(&[3, 5]), &[spins]), follows(hard(&[]), &[spins])), (None, None));
    }
}
