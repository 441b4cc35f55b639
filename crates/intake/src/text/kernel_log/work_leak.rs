//! A work item that returned with a lock held, or where a thread must not sleep (`process_one_work()` in `kernel/workqueue.c`).
//!
//! ```text
//! BUG: workqueue leaked lock or atomic: kworker/0:2/0x00000001/812
//!      last function: flush_all [driver]
//! BUG: workqueue leaked atomic, lock or RCU: kworker/0:2[812]                     from 6.9 on
//!      preempt=0x00000001 lock=0->1 RCU=0->0 workfn=flush_all [driver]
//! ```

use super::atomic_reasons;
use super::owner::LoggedThread;
use super::stamps::{leading_number, listed};

/// What the first of such messages shows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct WorkLeak {
    thread: Option<LoggedThread>,
    /// With its module.
    function: Option<String>,
    /// The preemption count as it returned.
    count: Option<u32>,
    /// It held more locks, or was in more sections of RCU, than as it began.
    has_lock: bool,
    is_in_rcu_reader: bool,
    /// A later message follows.
    is_over: bool,
}

impl WorkLeak {
    /// Takes in a line; false where it is none of these.
    pub(super) fn line(&mut self, message: &str) -> bool {
        let thread = old_title(message).or_else(|| new_title(message).map(|thread| (thread, None)));
        if let Some((thread, count)) = thread {
            self.is_over |= self.thread.is_some();
            if !self.is_over {
                (self.thread, self.count) = (Some(thread), count);
            }
            return true;
        }
        let function = ["last function: ", "workfn="].iter().find_map(|title| message.split_once(title));
        let Some((before, function)) = function else { return false };
        if self.is_over || self.function.is_some() {
            return true;
        }
        self.function = Some(function.trim()).filter(|name| !name.is_empty()).map(str::to_owned);
        let value = |name: &str| before.split_whitespace().find_map(|word| word.strip_prefix(name));
        self.count = self.count.or(value("preempt=").and_then(hexadecimal));
        let grows = |name: &str| {
            let depths = value(name).and_then(|depths| depths.split_once("->"));
            depths.is_some_and(|(from, to)| leading_number(from) < leading_number(to))
        };
        (self.has_lock, self.is_in_rcu_reader) = (grows("lock="), grows("RCU="));
        true
    }

    /// The thread that ran the work item.
    pub(super) fn thread(&self) -> Option<&LoggedThread> {
        self.thread.as_ref()
    }

    /// What it means; `None` where no thread is shown.
    pub(super) fn meaning(&self) -> Option<String> {
        let thread = self.thread.as_ref()?;
        let reasons = match self.count {
            // The older message is about locks where it is not about the count.
            Some(0) if !self.is_in_rcu_reader => vec!["with a lock held".to_owned()],
            _ => {
                let count = self.count.and_then(atomic_reasons::left_behind).map(str::to_owned);
                let lock = self.has_lock.then(|| "with a lock held".to_owned());
                let rcu = self
                    .is_in_rcu_reader
                    .then(|| "in a section that RCU waits for (rcu_read_lock)".to_owned());
                count.into_iter().chain(lock).chain(rcu).collect()
            }
        };
        let how = match reasons.is_empty() {
            true => "as no work item must return".to_owned(),
            false => listed(&reasons),
        };
        Some(match &self.function {
            Some(function) => {
                format!(
                    "the work item {function}, which {thread} ran, returned {how}: a bug of that function, or of one that it calls"
                )
            }
            None => format!(
                "a work item that {thread} ran returned {how}: a bug of the kernel or of a module; which work item it was is not shown"
            ),
        })
    }
}

/// `leaked lock or atomic: kworker/0:2/0x00000001/812`: the thread and the preemption count.
fn old_title(message: &str) -> Option<(LoggedThread, Option<u32>)> {
    let (_, text) = message.split_once("workqueue leaked lock or atomic: ")?;
    let mut parts = text.trim_end().rsplitn(3, '/');
    let (pid, count, name) = (parts.next()?, parts.next()?, parts.next()?);
    Some((LoggedThread::with_pid(name, leading_number(pid)?)?, Some(hexadecimal(count)?)))
}

/// `leaked atomic, lock or RCU: kworker/0:2[812]`
fn new_title(message: &str) -> Option<LoggedThread> {
    let (_, text) = message.split_once("workqueue leaked atomic, lock or RCU: ")?;
    let (name, pid) = text.split_once('[')?;
    LoggedThread::with_pid(name, leading_number(pid)?)
}

/// `0x00000001`
fn hexadecimal(text: &str) -> Option<u32> {
    u32::from_str_radix(text.strip_prefix("0x")?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meaning(text: &str) -> Option<String> {
        let mut leak = WorkLeak::default();
        text.lines().for_each(|line| {
            leak.line(line);
        });
        leak.meaning()
    }

    #[test]
    fn the_function_is_named_with_what_it_left_behind() {
        let old = |count: &str| {
            meaning(&format!(
                "BUG: workqueue leaked lock or atomic: kworker/1:2/{count}/71\n     last function: mill_work [mill]\n\
                 BUG: workqueue leaked lock or atomic: kworker/9:2/0x00000000/72\n     last function: other"
            ))
        };
        let new = |values: &str| {
            meaning(&format!(
                "BUG: workqueue leaked atomic, lock or RCU: kworker/1:2[71]\n     {values} workfn=mill_work [mill]"
            ))
        };
        let expected = |how: &str| {
            Some(format!(
                "the work item mill_work [mill], which kworker/1:2 (71) ran, returned {how}: a bug of that function, or of one that it calls"
            ))
        };
        assert_eq!(old("0x00000001"), expected("with preemption disabled"));
        assert_eq!(old("0x00000200"), expected("with softirqs disabled"));
        assert_eq!(
            old("0xffffffff"),
            expected(
                "with a preemption count below 0 (it enabled preemption more often than it disabled it)"
            )
        );
        assert_eq!(old("0x00000000"), expected("with a lock held"));
        assert_eq!(new("preempt=0x00000000 lock=0->1 RCU=0->0"), expected("with a lock held"));
        assert_eq!(
            new("preempt=0x00000001 lock=1->1 RCU=0->1"),
            expected("with preemption disabled and in a section that RCU waits for (rcu_read_lock)")
        );
        assert_eq!(
            new("preempt=0x00000000 lock=0->0 RCU=0->1"),
            expected("in a section that RCU waits for (rcu_read_lock)")
        );
        let alone = meaning("BUG: workqueue leaked lock or atomic: kworker/1:2/0x00000001/71");
        assert!(alone.is_some_and(|alone| alone.ends_with("which work item it was is not shown")));
        assert_eq!(meaning("BUG: workqueue leaked lock or atomic: kworker"), None);
    }
}
