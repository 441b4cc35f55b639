//! A thread that was about to sleep where it must not (`__schedule_bug()` and `__might_resched()` in `kernel/sched/core.c`).
//!
//! ```text
//! BUG: scheduling while atomic: app/1/812/0x00000002
//! BUG: sleeping function called from invalid context at kernel/locking/rtmutex.c:938
//! in_atomic(): 1, irqs_disabled(): 128, non_block: 0, pid: 812, name: app/1
//! preempt_count: 1, expected: 0
//! RCU nest depth: 0, expected: 0
//! Preemption disabled at:
//! [<ffffffff81077245>] driver+0x125/0x130
//! ```

use super::atomic_reasons::Reasons;
use super::frames::{Frame, frame};
use super::owner::LoggedThread;
use super::stacks::{LoggedStack, LoggedStacks};
use super::stamps::number_behind;

/// What the first of such messages shows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct AtomicSleep {
    thread: Option<LoggedThread>,
    /// Why it must not sleep, as far as the message shows it.
    reasons: Reasons,
    /// A later message follows.
    is_over: bool,
    /// The function that disabled preemption last.
    disabled_in: Option<String>,
    /// That function follows.
    is_open: bool,
}

impl AtomicSleep {
    /// Takes in a line; false where it is none of these.
    pub(super) fn line(&mut self, message: &str) -> bool {
        let is_rest = std::mem::take(&mut self.is_open) && message.trim_start().starts_with("[<");
        let thread = scheduled(message).or_else(|| slept(message));
        let title = message.split_once("Preemption disabled at:").map(|(_, rest)| rest);
        self.is_open = title.is_some_and(|rest| rest.trim().is_empty());
        let function = title.or(is_rest.then_some(message)).and_then(frame);
        if let (Some(Frame::Function(function)), None) = (function, &self.disabled_in) {
            self.disabled_in = Some(function.to_owned());
        }
        // What a later message shows is of another thread.
        self.is_over |= self.thread.is_some() && thread.is_some();
        let has_reason = !self.is_over && self.reasons.line(message);
        let is_one = thread.is_some() || title.is_some() || is_rest || has_reason;
        self.thread = self.thread.take().or(thread);
        is_one
    }

    /// The thread.
    pub(super) fn thread(&self) -> Option<&LoggedThread> {
        self.thread.as_ref()
    }

    /// What it means; `None` where the thread is not shown.
    pub(super) fn meaning(&self, stacks: &LoggedStacks) -> Option<String> {
        let thread = self.thread.as_ref()?;
        let cpu = stacks.of_thread(thread).and_then(|stack| stack.owner.cpu);
        let cpu = cpu.map(|cpu| format!(" on CPU {cpu}")).unwrap_or_default();
        Some(format!(
            "{thread} was about to sleep{cpu} {}: a bug of the kernel or of a module",
            self.reasons.words()
        ))
    }

    /// Where preemption was disabled, and the stack.
    pub(super) fn shown(&self, stacks: &LoggedStacks) -> Vec<String> {
        let disabled =
            self.disabled_in.as_ref().map(|name| format!("preemption was last disabled in {name}"));
        disabled.into_iter().chain(stacks.first().and_then(LoggedStack::shown)).collect()
    }
}

/// `scheduling while atomic: app/1/812/0x00000002`; until 2.6.24 the number stands last.
fn scheduled(message: &str) -> Option<LoggedThread> {
    let (_, text) = message.split_once("scheduling while atomic: ")?;
    let mut parts = text.rsplitn(3, '/');
    let (last, middle, name) = (parts.next()?, parts.next()?, parts.next()?);
    let last = last.split([' ', ',']).next()?;
    let (count, pid) = if middle.starts_with("0x") { (middle, last) } else { (last, middle) };
    count.strip_prefix("0x").and_then(|digits| u32::from_str_radix(digits, 16).ok())?;
    LoggedThread::with_pid(name, pid.parse().ok()?)
}

/// `in_atomic(): 1, irqs_disabled(): 128, pid: 812, name: app/1`
fn slept(message: &str) -> Option<LoggedThread> {
    message.contains("in_atomic(): ").then_some(())?;
    let (_, name) = message.split_once(", name: ")?;
    LoggedThread::with_pid(name.trim(), number_behind(message, " pid: ")?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (Option<String>, Vec<String>) {
        let (mut atomic, mut stacks) = (AtomicSleep::default(), LoggedStacks::default());
        for line in text.lines() {
            atomic.line(line);
            stacks.line(line);
        }
        (atomic.meaning(&stacks), atomic.shown(&stacks))
    }

    #[test]
    fn thread_cpu_and_where_preemption_was_disabled_are_known() {
        let tail = "CPU: 1 PID: 12 Comm: swapper/1 Not tainted\nCall Trace:\n __schedule_bug+0x1/0x2\n spin_on+0x1/0x2\n";
        let meaning = |cpu: &str, why: &str| {
            format!("swapper/1 (12) was about to sleep{cpu} {why}: a bug of the kernel or of a module")
        };
        let disabled = "preemption was last disabled in start_it";
        for at in [
            "Preemption disabled at:[<c01>] start_it+0x4/0x9\n",
            "Preemption disabled at:\n[<c01>] start_it+0x4/0x9\n",
        ] {
            let (means, shown) = read(&format!(
                "BUG: scheduling while atomic: swapper/1/12/0x00000002\nModules linked in:\n{at}{tail}"
            ));
            assert_eq!(means, Some(meaning(" on CPU 1", "where preemption is disabled")));
            assert_eq!(shown, [disabled, "the stack of swapper/1 (12) on CPU 1 is spin_on"]);
        }
        let slept = "BUG: sleeping function called from invalid context at kernel/a.c:938\n\
                     in_atomic(): 1, irqs_disabled(): 128, non_block: 0, pid: 12, name: swapper/1\n";
        let both = "where preemption or softirqs are disabled and interrupts are disabled";
        assert_eq!(read(slept), (Some(meaning("", both)), vec![]));
        let later = format!("{slept}BUG: scheduling while atomic: other/7/0x00000100\n");
        assert_eq!(read(&later).0, Some(meaning("", both)));
        let old = "BUG: scheduling while atomic: swapper/1/0x00000002/12\n";
        assert_eq!(read(old).0, Some(meaning("", "where it must not")));
        assert_eq!(read("BUG: scheduling while atomic: \n"), (None, vec![]));
        let unknown = "BUG: scheduling while atomic: a/7/0x2\nPreemption disabled at:\n[<00000000>] 0x0\n[<c01>] late+0x4/0x9\n";
        assert!(read(unknown).1.iter().all(|shown| !shown.contains("disabled")));
    }
}
