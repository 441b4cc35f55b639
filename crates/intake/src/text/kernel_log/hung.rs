//! What reports of hung tasks show, and which thread waits for which (`kernel/hung_task.c`).
//!
//! ```text
//! INFO: task kworker/0:1:11 blocked for more than 120 seconds.
//! INFO: task kworker/0:1:11 is blocked on a mutex likely owned by task app:615.
//! INFO: task app:28631 <reader> blocked on an rw-semaphore likely owned by task other:28630 <writer>
//! INFO: task app:12 blocked on a semaphore likely last held by task other:13
//! INFO: task app:12 is blocked on a mutex, but the owner is not found.
//! ```

use super::consequences::BehindStorage;
use super::owner::LoggedThread;
use super::stacks::{LoggedStack, LoggedStacks};
use super::stamps::number_behind;
use super::waits::WaitsFor;

/// More waits for locks are not kept.
const MOST: usize = 8;
/// More threads are not kept.
const MOST_TASKS: usize = 4096;
/// So many of them are named.
const MOST_NAMED: usize = 8;

/// A thread that waits for a lock.
#[derive(Clone, Debug, PartialEq, Eq)]
struct LockWait {
    waiter: LoggedThread,
    /// `mutex`, `semaphore`, `rw-semaphore`
    lock: String,
    /// The thread that probably holds it; `None` where the kernel did not find it.
    holder: Option<LoggedThread>,
}

/// A thread that the kernel reports.
#[derive(Clone, Debug, PartialEq, Eq)]
struct HungTask {
    thread: LoggedThread,
    /// For more than so many seconds it slept.
    seconds: Option<u64>,
    /// The seconds after the boot of its last report.
    reported: Option<u64>,
}

/// What the reports of hung tasks in a log show.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct HungTasks {
    tasks: Vec<HungTask>,
    waits: Vec<LockWait>,
    /// The stamp of the message that is being read.
    now: Option<u64>,
}

impl HungTask {
    /// Takes in another report of the same thread. The kernel looks once in the time that its message has, and reports no
    /// thread that ran between two looks (`check_hung_task()`): two reports in a row are of one sleep. Older kernels
    /// print that time each time, newer ones the whole sleep. A long timer comes late by up to 12.5 %
    /// (`kernel/time/timer.c`).
    fn again(&mut self, later: &HungTask) {
        let between = self.reported.zip(later.reported).and_then(|(before, now)| now.checked_sub(before));
        let each = later.seconds.unwrap_or_default();
        let is_next = |between: &u64| (1..=each.saturating_add(each / 8)).contains(between);
        let longer =
            between.filter(is_next).zip(self.seconds).map(|(between, sum)| sum.saturating_add(between));
        self.seconds = longer.filter(|_| self.seconds >= later.seconds).or(self.seconds.max(later.seconds));
        self.reported = later.reported.or(self.reported);
    }
}

impl HungTasks {
    /// True of a message that is no report of its own, but a part of the one above it.
    pub(super) fn is_part(message: &str) -> bool {
        lock_wait(message).is_some()
    }

    /// Takes in a message that has a meaning by itself, with the seconds of its stamp.
    pub(super) fn message(&mut self, message: &str, seconds: Option<u64>) {
        self.now = seconds;
        self.line(message);
    }

    /// Takes in a line; false where it is of no such report.
    pub(super) fn line(&mut self, message: &str) -> bool {
        if let Some(wait) = lock_wait(message) {
            if self.waits.len() < MOST && !self.waits.contains(&wait) {
                self.waits.push(wait);
            }
            return true;
        }
        let named = message.split_once("task ").and_then(|(_, rest)| rest.split_once(" blocked"));
        let Some((name, rest)) = named else { return false };
        let Some(thread) = LoggedThread::of(name).filter(|thread| thread.pid.is_some()) else { return false };
        let seconds = number_behind(rest, "for more than ").filter(|_| rest.contains("seconds"));
        let has_room = self.tasks.len() < MOST_TASKS;
        let task = HungTask { thread, seconds, reported: self.now };
        match self.tasks.iter_mut().find(|other| other.thread == task.thread) {
            Some(other) => other.again(&task),
            None if has_room => self.tasks.push(task),
            None => {}
        }
        true
    }

    /// What it means; `None` where no thread is named.
    pub(super) fn meaning(&self, stacks: &LoggedStacks) -> Option<String> {
        let (first, seconds, others) = match self.tasks.as_slice() {
            [HungTask { thread, seconds, .. }, others @ ..] => (thread, *seconds, others),
            [] => (&self.waits.first()?.waiter, None, [].as_slice()),
        };
        let long = match seconds {
            Some(seconds) => format!("for more than {seconds} s"),
            None => "for longer than kernel.hung_task_timeout_secs".to_owned(),
        };
        let is_not_begun = stacks.of_thread(first).or(stacks.only()).is_some_and(LoggedStack::is_not_begun);
        let waits = match self.chain(first).is_empty() {
            true if is_not_begun => {
                ", as a kernel thread that was created and not woken since: it waits for no device and no lock"
            }
            true => &format!(", {}", self.waits_for(stacks)),
            false => "",
        };
        let others = and_others(seconds, others);
        Some(format!("{first} slept uninterruptibly {long}{waits} (hung task){others}"))
    }

    /// For what all of the threads wait, where their stacks show the same.
    fn waits_for(&self, stacks: &LoggedStacks) -> String {
        let only = || stacks.only().filter(|_| self.tasks.len() == 1);
        let of_task =
            |task: &HungTask| stacks.of_thread(&task.thread).or_else(only).and_then(LoggedStack::waits_for);
        let mut all = self.tasks.iter().map(of_task);
        let first = all.next().flatten();
        let same = first.filter(|first| all.all(|other| other == Some(*first)));
        same.map_or_else(|| "for a device or a lock".to_owned(), |same| same.to_string())
    }

    /// The first thread whose stack shows that it waits for storage, or that of the thread whose lock it waits for.
    pub(super) fn behind_storage<'a>(&'a self, stacks: &LoggedStacks) -> Option<BehindStorage<'a>> {
        let first = self.tasks.first().map(|task| &task.thread)?;
        let only = || stacks.only().filter(|_| self.tasks.len() == 1);
        let is_of_storage = |thread: &LoggedThread| {
            stacks.of_thread(thread).or_else(only).is_some_and(LoggedStack::is_of_storage)
        };
        let waits = |thread: &LoggedThread| {
            let chain = self.chain(thread);
            let mut holders = chain.iter().filter_map(|wait| wait.holder.as_ref());
            is_of_storage(thread) || holders.any(is_of_storage)
        };
        let waiter = self.tasks.iter().map(|task| &task.thread).find(|thread| waits(thread))?;
        Some(if waiter == first { BehindStorage::First } else { BehindStorage::Other(waiter) })
    }

    /// The waits from this thread on, each for the thread of the next.
    fn chain(&self, first: &LoggedThread) -> Vec<&LockWait> {
        let mut chain: Vec<&LockWait> = Vec::new();
        let mut waiter = first;
        while let Some(wait) = self.waits.iter().find(|wait| wait.waiter == *waiter) {
            if chain.contains(&wait) {
                break;
            }
            chain.push(wait);
            match &wait.holder {
                Some(holder) => waiter = holder,
                None => break,
            }
        }
        chain
    }

    /// The stack of a thread that sleeps in no lock, where the `first` waits for one and the kernel does not name its holder. A
    /// thread that holds a lock that long sleeps itself, but this may be another one.
    fn sleeps_without_lock(&self, first: &LoggedThread, stacks: &LoggedStacks) -> Option<String> {
        let waits_for_lock = |stack: &LoggedStack| stack.waits_for() == Some(WaitsFor::Lock);
        stacks.of_thread(first).filter(|stack| waits_for_lock(stack))?;
        let others = self.tasks.iter().map(|task| &task.thread).filter(|thread| *thread != first);
        let mut with_stacks = others.filter_map(|thread| Some((thread, stacks.of_thread(thread)?)));
        let (thread, stack) =
            with_stacks.find(|(_, stack)| !waits_for_lock(stack) && stack.place().is_some())?;
        let place = stack.shown()?;
        Some(format!(
            "{thread} sleeps in no lock, and whether it holds the one that {first} waits for is not shown: {place}"
        ))
    }

    /// For what it waits, and the stacks of the threads of the chain.
    pub(super) fn shown(&self, stacks: &LoggedStacks) -> Vec<String> {
        let first =
            self.tasks.first().map(|task| &task.thread).or(self.waits.first().map(|wait| &wait.waiter));
        let chain = first.map(|first| self.chain(first)).unwrap_or_default();
        let mut shown: Vec<String> = chain.iter().map(|wait| wait.shown()).collect();
        let own = first.and_then(|first| stacks.of_thread(first)).or(stacks.first());
        shown.extend(own.and_then(LoggedStack::shown));
        if let Some(first) = first.filter(|_| chain.is_empty()) {
            shown.extend(self.sleeps_without_lock(first, stacks));
        }
        let mut holders = chain.iter().filter_map(|wait| wait.holder.as_ref());
        for holder in holders.clone().filter(|holder| Some(*holder) != first) {
            shown.extend(stacks.of_thread(holder).and_then(LoggedStack::shown));
        }
        if let Some(last) = holders.next_back() {
            shown.push(match chain.iter().any(|wait| wait.waiter == *last) {
                true => {
                    format!("so {last} waits for itself in the end: a deadlock, if the holders are right")
                }
                false => end(last, stacks.of_thread(last).and_then(|stack| stack.owner.state)),
            });
        }
        shown
    }
}

impl LockWait {
    fn shown(&self) -> String {
        let LockWait { waiter, lock, holder } = self;
        let article = if lock.starts_with("rw") { "an" } else { "a" };
        match holder {
            Some(holder) => format!("{waiter} waits for {article} {lock} that {holder} probably holds"),
            None => format!(
                "{waiter} waits for {article} {lock}, and the kernel did not find which thread holds it"
            ),
        }
    }
}

/// `, and so did b (2), c (3) for more than 362 s, and 2 more threads`: the threads beside the first, which slept for so many `seconds`.
fn and_others(seconds: Option<u64>, others: &[HungTask]) -> String {
    let named = |other: &HungTask| match other.seconds {
        own if own == seconds => other.thread.to_string(),
        Some(own) => format!("{} for more than {own} s", other.thread),
        None => format!("{} for a time that is not shown", other.thread),
    };
    let all: Vec<String> = others.iter().take(MOST_NAMED - 1).map(named).collect();
    let more = match others.len().saturating_sub(MOST_NAMED - 1) {
        0 => String::new(),
        1 => ", and 1 more thread".to_owned(),
        more => format!(", and {more} more threads"),
    };
    if all.is_empty() { String::new() } else { format!(", and so did {}{more}", all.join(", ")) }
}

/// What is known of the last thread of a chain.
fn end(last: &LoggedThread, state: Option<char>) -> String {
    match state {
        Some('D') => {
            format!("{last} sleeps uninterruptibly as well, and which thread it waits for is not shown")
        }
        Some('R') => format!("{last} was runnable or ran"),
        Some('S' | 'I') => format!("{last} sleeps, and what it waits for is not shown"),
        _ => format!("what {last} waits for is not shown"),
    }
}

/// The message that a thread waits for a lock.
fn lock_wait(message: &str) -> Option<LockWait> {
    let (_, rest) = message.split_once("task ")?;
    let (waiter, rest) = rest.split_once(" blocked on a")?;
    // `task app:12 is blocked`, `task app:12 <reader> blocked`
    let waiter = waiter.split(" <").next()?;
    let waiter = LoggedThread::of(waiter.strip_suffix(" is").unwrap_or(waiter))?;
    let rest = rest.strip_prefix('n').unwrap_or(rest).trim_start();
    let end = rest.find([' ', ',', '.']).unwrap_or(rest.len());
    let (lock, rest) = rest.split_at(end);
    let holder = rest.split_once(" by task ").and_then(|(_, holder)| {
        let holder = holder.split(" <").next()?.trim_end_matches(['.', ' ']);
        LoggedThread::of(holder).filter(|holder| holder.pid.is_some())
    });
    // A line that was broken shows nothing of the holder.
    let is_whole = holder.is_some() || rest.contains("is not found");
    (is_whole && waiter.pid.is_some() && !lock.is_empty()).then(|| LockWait {
        waiter,
        lock: lock.to_owned(),
        holder,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (HungTasks, LoggedStacks) {
        let (mut hung, mut stacks) = (HungTasks::default(), LoggedStacks::default());
        for line in text.lines() {
            let _ = hung.line(line) || stacks.line(line);
        }
        (hung, stacks)
    }

    #[test]
    fn the_holder_is_named_and_not_blamed() {
        let (hung, stacks) = read(
            "INFO: task a/0:1:11 blocked for more than 120 seconds.\ntask:a/0:1  state:D stack:0 pid:11\nCall trace:\n __mutex_lock+0x1/0x2\n \
             mutex_lock+0x1/0x2\n lock_it+0x1/0x2\nINFO: task a/0:1:11 is blocked on a mutex likely owned by task b:615.\n\
             task:b  state:D stack:0 pid:615\nCall trace:\n down_write+0x1/0x2\n register+0x1/0x2\n",
        );
        assert_eq!(
            hung.meaning(&stacks).as_deref(),
            Some("a/0:1 (11) slept uninterruptibly for more than 120 s (hung task)")
        );
        assert_eq!(
            hung.shown(&stacks),
            [
                "a/0:1 (11) waits for a mutex that b (615) probably holds",
                "the stack of a/0:1 (11) is mutex_lock, called from lock_it",
                "the stack of b (615) is down_write, called from register",
                "b (615) sleeps uninterruptibly as well, and which thread it waits for is not shown",
            ]
        );
    }

    #[test]
    fn chains_end_where_the_log_ends_them() {
        let wait = |who: &str, held: &str| {
            format!(
                "INFO: task {who} <writer> blocked on an rw-semaphore likely owned by task {held} <reader>\n"
            )
        };
        let last = |text: &str| {
            let (hung, stacks) = read(&format!("INFO: task a:1 blocked for more than 122 seconds.\n{text}"));
            hung.shown(&stacks).pop().unwrap_or_default()
        };
        let cases = [
            (
                wait("a:1", "b:2") + &wait("b:2", "a:1"),
                "so a (1) waits for itself in the end: a deadlock, if the holders are right",
            ),
            (wait("a:1", "b:2") + &wait("b:2", "c:3"), "what c (3) waits for is not shown"),
            (
                wait("a:1", "b:2") + "task:b state:S stack:0 pid:2",
                "b (2) sleeps, and what it waits for is not shown",
            ),
            (
                "INFO: task a:1 blocked on a semaphore likely last held by task b:2\n".to_owned(),
                "what b (2) waits for is not shown",
            ),
            (
                "INFO: task a:1 is blocked on a mutex, but the owner is not found.\n".to_owned(),
                "a (1) waits for a mutex, and the kernel did not find which thread holds it",
            ),
            (wait("d:4", "b:2"), ""),
        ];
        for (text, end) in cases {
            assert_eq!(last(&text), end, "{text}");
        }
    }

    #[test]
    fn a_stack_shows_whether_a_thread_waits_for_a_device_or_a_lock() {
        let report = |pid: u32, functions: &str| {
            format!(
                "INFO: task a:{pid} blocked for more than 120 seconds.\ntask:a state:D stack:0 pid:{pid}\nCall Trace:\n {}",
                functions.split(' ').map(|name| format!(" {name}+0x1/0x2\n")).collect::<String>()
            )
        };
        let meaning = |text: &str| {
            let (hung, stacks) = read(text);
            hung.meaning(&stacks).unwrap_or_default()
        };
        let lock = report(1, "schedule __mutex_lock mutex_lock do_it");
        let io = report(2, "io_schedule folio_wait_bit_common do_it");
        let page = report(3, "io_schedule sleep_on_page __lock_page do_it");
        assert!(meaning(&lock).contains(" s, for a lock (hung task)"), "{}", meaning(&lock));
        assert!(
            meaning(&io).contains(" s, for the input or output of a device (hung task)"),
            "{}",
            meaning(&io)
        );
        assert!(
            meaning(&page).contains(" s, for the lock of a page, which is held while"),
            "{}",
            meaning(&page)
        );
        let both = meaning(&(lock.clone() + &io));
        assert!(both.contains(" s, for a device or a lock (hung task), and so did a (2)"), "{both}");
        let alike = meaning(&(lock + &report(4, "schedule rwsem_down_read_slowpath down_read do_it")));
        assert!(alike.contains(" s, for a lock (hung task), and so did a (4)"), "{alike}");
        assert!(meaning(&report(5, "schedule wait_for_completion do_it")).contains("for a device or a lock"));
    }

    #[test]
    fn a_thread_that_sleeps_in_no_lock_is_shown_beside_one_that_waits_for_a_lock() {
        let report = |name: &str, pid: u32, functions: &str| {
            format!(
                "INFO: task {name}:{pid} blocked for more than 120 seconds.\ntask:{name} state:D stack:0 pid:{pid}\nCall Trace:\n{}",
                functions.split(' ').map(|name| format!(" {name}+0x1/0x2\n")).collect::<String>()
            )
        };
        let lock = report("a", 1, "schedule __mutex_lock reset_it");
        let other = report("b", 2, "schedule wait_for_completion send_it");
        let shown = |text: String| {
            let (hung, stacks) = read(&text);
            hung.shown(&stacks)
        };
        let own = "the stack of a (1) is __mutex_lock, called from reset_it";
        let beside = "b (2) sleeps in no lock, and whether it holds the one that a (1) waits for is not shown: the stack of b (2) is \
                      wait_for_completion, called from send_it";
        assert_eq!(
            shown(format!("{lock}{}{other}", report("c", 3, "schedule mutex_lock open_it"))),
            [own, beside]
        );
        assert_eq!(shown(format!("{other}{lock}")).len(), 1, "the first waits for no lock");
        let held = "INFO: task a:1 is blocked on a mutex likely owned by task d:4.\n";
        let shown = shown(format!("{lock}{held}{other}"));
        assert!(!shown.iter().any(|part| part.contains("in no lock")), "{shown:?}");
    }

    #[test]
    fn other_hung_threads_are_listed() {
        let (hung, _) = read(
            "INFO: task a:1 blocked for more than\nINFO: task b:0:2 blocked for more than 123 seconds.\nINFO: task a:1 blocked for more than 245 seconds.",
        );
        let meaning = "a (1) slept uninterruptibly for more than 245 s, for a device or a lock (hung task), and so did b:0 (2) for more than 123 s";
        assert_eq!(hung.meaning(&LoggedStacks::default()).as_deref(), Some(meaning));
        assert_eq!(HungTasks::default().meaning(&LoggedStacks::default()), None);
        let row = |pid: u32| format!("INFO: task a:{pid} blocked for more than 122 seconds.\n");
        let (hung, _) = read(&(1..=10).map(row).collect::<String>());
        let meaning = hung.meaning(&LoggedStacks::default()).unwrap_or_default();
        assert!(
            meaning.ends_with(
                "(hung task), and so did a (2), a (3), a (4), a (5), a (6), a (7), a (8), and 2 more threads"
            ),
            "{meaning}"
        );
        let (hung, _) = read(&format!("{}INFO: task b:20 blocked for more\n{}", row(1), row(2)));
        let meaning = hung.meaning(&LoggedStacks::default()).unwrap_or_default();
        assert!(meaning.ends_with(", and so did b (20) for a time that is not shown, a (2)"), "{meaning}");
    }

    #[test]
    fn reports_in_a_row_are_of_one_sleep() {
        let long = |reports: &[(Option<u64>, u64)]| {
            let mut hung = HungTasks::default();
            for (at, seconds) in reports {
                hung.message(&format!("INFO: task a:1 blocked for more than {seconds} seconds."), *at);
            }
            hung.tasks[0].seconds
        };
        /// The stamp and the seconds of each report.
        type Reports = &'static [(Option<u64>, u64)];
        let cases: [(Reports, u64); 6] = [
            (&[(Some(240), 120), (Some(360), 120)], 240),
            (&[(Some(240), 120), (Some(363), 120), (Some(486), 120)], 366),
            // It may have run between them.
            (&[(Some(240), 120), (Some(480), 120)], 120),
            (&[(None, 120), (None, 120)], 120),
            // The kernel prints the whole sleep.
            (&[(Some(240), 122), (Some(363), 245)], 245),
            (&[(None, 122), (None, 368), (None, 245)], 368),
        ];
        for (reports, seconds) in cases {
            assert_eq!(long(reports), Some(seconds), "{reports:?}");
        }
    }

    #[test]
    fn a_kernel_thread_that_was_not_woken_waits_for_nothing() {
        let meaning = |stack: &str| {
            let (hung, stacks) = read(&format!("INFO: task a:1 blocked for more than 120 seconds.\n{stack}"));
            hung.meaning(&stacks).unwrap_or_default()
        };
        let not_woken = "a (1) slept uninterruptibly for more than 120 s, as a kernel thread that was created and not woken since: it waits \
                         for no device and no lock (hung task)";
        let row = "a  D 00000000     0    1      2 0x00\n";
        for stack in [
            "Call Trace:\n __schedule+0x1/0x2\n kthread+0x1/0x2\n kernel_thread_helper+0x1/0x2\n",
            "[<c0>] (__schedule) from [<c0>] (schedule+0x1/0x2)\n[<c0>] (schedule) from [<c0>] (kthread+0x1/0x2)\n\
             [<c0>] (kthread) from [<c0>] (ret_from_fork+0x1/0x2)\n",
        ] {
            assert_eq!(meaning(stack), not_woken);
            assert_eq!(meaning(&format!("{row}{stack}")), not_woken);
        }
        for stack in [
            " __schedule+0x1/0x2\n driver+0x1/0x2\n kthread+0x1/0x2\n ret_from_fork+0x1/0x2\n",
            " kthread+0x1/0x2\n ret_from_fork+0x1/0x2\n",
            " __schedule+0x1/0x2\n schedule+0x1/0x2\n",
            "task:b  state:D stack:0 pid:2\n __schedule+0x1/0x2\n kthread+0x1/0x2\n",
            " __schedule+0x1/0x2\n kthread+0x1/0x2\ntask:b  state:D stack:0 pid:2\n driver+0x1/0x2\n",
        ] {
            assert!(meaning(stack).contains("for a device or a lock"), "{stack}");
        }
    }
}
