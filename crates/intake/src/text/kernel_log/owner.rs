//! Of which thread and which CPU a call stack in the kernel's log is: the lines above it.
//!
//! ```text
//! CPU: 1 PID: 484 Comm: app Tainted: G        W         dump_stack_print_info(), lib/dump_stack.c
//! NMI backtrace for cpu 1                                nmi_cpu_backtrace(), lib/nmi_backtrace.c
//! Task dump for CPU 0:                                   dump_cpu_task(), kernel/sched/core.c
//! task:app  state:D stack:0  pid:615  tgid:615           sched_show_task(), kernel/sched/core.c
//! app       R  running task        0  1315   1295 0x02   the same, before 5.11
//! rcu: RCU grace-period kthread stack dump:              kernel/rcu/tree_stall.h
//! ```

use super::stamps::{cpu_behind, leading_number};
use std::fmt;

/// `TASK_COMM_LEN` without the zero behind it (`include/linux/sched.h`).
const LONGEST_NAME: usize = 15;

/// A thread as a message names it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct LoggedThread {
    pub(super) name: String,
    /// Not all messages have it.
    pub(super) pid: Option<u64>,
}

/// What a line shows of the owner of the stack below it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Owner {
    pub(super) thread: Option<LoggedThread>,
    pub(super) cpu: Option<u32>,
    /// The letter of the thread's state, as in `ps`.
    pub(super) state: Option<char>,
    /// True where the line shows that another stack begins, whatever its owner is.
    pub(super) begins: bool,
    /// The kernel found its CPU in an idle state (`nmi_cpu_backtrace()` in `lib/nmi_backtrace.c`).
    pub(super) is_idling: bool,
}

impl LoggedThread {
    /// `kworker/0:1:11`: the name ends at the last colon, behind which a page may have put a blank. The number is missing where none is behind it. `None` where the name is
    /// longer than one may be.
    pub(super) fn of(text: &str) -> Option<LoggedThread> {
        let text = text.trim();
        let with_pid =
            text.rsplit_once(':').and_then(|(name, pid)| Some((name, Some(pid.trim().parse().ok()?))));
        let (name, pid) = with_pid.unwrap_or((text, None));
        (1..=LONGEST_NAME).contains(&name.len()).then(|| LoggedThread { name: name.to_owned(), pid })
    }

    /// A name and a number that stand apart; `None` where the name is longer than one may be.
    pub(super) fn with_pid(name: &str, pid: u64) -> Option<LoggedThread> {
        let name = name.trim();
        (1..=LONGEST_NAME)
            .contains(&name.len())
            .then(|| LoggedThread { name: name.to_owned(), pid: Some(pid) })
    }

    /// True where both are the same, by their numbers where they have them.
    pub(super) fn is_same(&self, other: &LoggedThread) -> bool {
        match (self.pid, other.pid) {
            (Some(one), Some(other)) => one == other,
            _ => self.name == other.name,
        }
    }

    /// True of a CPU's idle task.
    pub(super) fn is_idle(&self) -> bool {
        // So is the first thread of all, which becomes init.
        self.name.starts_with("swapper") && self.pid.is_none_or(|pid| pid == 0)
    }
}

/// `app (7)`
impl fmt::Display for LoggedThread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        self.pid.map_or(Ok(()), |pid| write!(f, " ({pid})"))
    }
}

impl Owner {
    /// What a message shows of an owner; `None` of other messages.
    pub(super) fn of(message: &str) -> Option<Owner> {
        if message.contains("NMI backtrace for cpu ") {
            let cpu = cpu_behind(message, "NMI backtrace for cpu ");
            let is_idling = message.contains("skipped: idling");
            let thread = LoggedThread { name: "swapper".to_owned(), pid: Some(0) };
            let thread = is_idling.then_some(thread);
            return Some(Owner { cpu, thread, begins: true, is_idling, ..Owner::default() });
        }
        if message.contains("Task dump for CPU ") {
            let cpu = cpu_behind(message, "Task dump for CPU ");
            return Some(Owner { cpu, begins: true, ..Owner::default() });
        }
        if message.contains("kthread stack dump")
            || message.contains("Stack dump where RCU GP kthread last ran")
        {
            return Some(Owner { begins: true, ..Owner::default() });
        }
        current(message).or_else(|| row(message)).or_else(|| old_row(message))
    }

    /// True where both may be of one stack.
    pub(super) fn agrees(&self, other: &Owner) -> bool {
        let threads_agree = match (&self.thread, &other.thread) {
            (Some(one), Some(other)) => one == other,
            _ => true,
        };
        threads_agree && self.cpu.is_none_or(|one| other.cpu.is_none_or(|other| one == other))
    }

    /// Adds what another line shows of the same owner.
    pub(super) fn add(&mut self, other: Owner) {
        self.thread = self.thread.take().or(other.thread);
        self.cpu = self.cpu.or(other.cpu);
        self.state = self.state.or(other.state);
        self.is_idling |= other.is_idling;
    }
}

/// True of the line above the stack of the thread that prints a report.
pub(super) fn begins_own_stack(message: &str) -> bool {
    message.contains("stack backtrace:") || current(message).is_some()
}

/// `CPU: 1 UID: 0 PID: 484 Comm: app Not tainted 6.12`
fn current(message: &str) -> Option<Owner> {
    let (before, rest) = message.split_once("CPU: ")?;
    let (_, behind) = rest.split_once("PID: ").filter(|_| before.trim().is_empty())?;
    let (pid, name) = behind.split_once(" Comm: ")?;
    let ends = [" Not tainted", " Tainted:", " Kdump:"];
    let end = ends.iter().filter_map(|end| name.find(end)).min().unwrap_or(name.len());
    // A mail program may have broken the line within `Not tainted`.
    let name = name.get(..end)?.trim_end();
    let name = name.strip_suffix(" Not").unwrap_or(name).trim();
    let thread = LoggedThread { name: name.to_owned(), pid: leading_number(pid) };
    Some(Owner { thread: Some(thread), cpu: cpu_behind(message, "CPU: "), ..Owner::default() })
}

/// `task:app  state:R  running task     stack:14896 pid:14`
fn row(message: &str) -> Option<Owner> {
    let (name, rest) = message.strip_prefix("task:")?.split_once("state:")?;
    let pid = rest.split_once("pid:").and_then(|(_, pid)| leading_number(pid));
    let thread = LoggedThread { name: name.trim().to_owned(), pid };
    Some(Owner { thread: Some(thread), state: rest.chars().next(), ..Owner::default() })
}

/// `app             D c0aa2100     0   621      2 0x00000000`: the name, the state, the address or `running task`, what the stack
/// has left, the thread, its parent, flags.
fn old_row(message: &str) -> Option<Owner> {
    let states = ['R', 'S', 'D', 'T', 't', 'X', 'Z', 'P', 'I', 'K', 'W'];
    let state = |word: &str| word.parse::<char>().ok().filter(|state| states.contains(state));
    // The name has up to 15 characters and is filled up with blanks.
    let (at, state) = message.match_indices(' ').find_map(|(at, _)| {
        let word = message.get(at..)?.split_whitespace().next()?;
        (at > 0).then_some((at, state(word)?))
    })?;
    let name = message.get(..at)?.trim();
    let mut rest = message.get(at..)?.split_whitespace().skip(1).peekable();
    let is_running = rest.next_if_eq(&"running").is_some() && rest.next_if_eq(&"task").is_some();
    let is_address = |word: &&str| word.len() >= 8 && word.bytes().all(|digit| digit.is_ascii_hexdigit());
    rest.next_if(is_address);
    let mut numbers = rest.map_while(|word| word.parse::<u64>().ok());
    let (_, pid) = (numbers.next()?, numbers.next()?);
    let is_row = is_running || numbers.next().is_some();
    let thread = LoggedThread { name: name.to_owned(), pid: Some(pid) };
    (is_row && name.len() <= LONGEST_NAME).then(|| Owner {
        thread: Some(thread),
        state: Some(state),
        ..Owner::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn owners_are_found_in_lines_of_all_kernels() {
        type Shown = (&'static str, Option<u32>, Option<char>);
        let cases: [(&str, Option<Shown>); 14] = [
            ("CPU: 1 PID: 484 Comm: sysbench Tainted: G   W", Some(("sysbench (484)", Some(1), None))),
            (
                "CPU: 0 UID: 0 PID: 20 Comm: Web Content Not tainted 6.15",
                Some(("Web Content (20)", Some(0), None)),
            ),
            ("CPU: 2 PID: 364 Comm: md127_raid6 Not", Some(("md127_raid6 (364)", Some(2), None))),
            ("NMI backtrace for cpu 13", Some(("", Some(13), None))),
            (
                "NMI backtrace for cpu 2 skipped: idling at mwait+0x1/0x2",
                Some(("swapper (0)", Some(2), None)),
            ),
            ("Task dump for CPU 3:", Some(("", Some(3), None))),
            ("rcu: RCU grace-period kthread stack dump:", Some(("", None, None))),
            (
                "task:rcu_preempt     state:R  running task     stack:14896 pid:14    tgid:14",
                Some(("rcu_preempt (14)", None, Some('R'))),
            ),
            ("task:kworker/0:1     state:D stack:0     pid:11", Some(("kworker/0:1 (11)", None, Some('D')))),
            (
                "sh              R  running task        0  1315   1295 0x00000002",
                Some(("sh (1315)", None, Some('R'))),
            ),
            ("rcu_preempt     R  running task        0    10", Some(("rcu_preempt (10)", None, Some('R')))),
            (
                "brcmf_wdog/mmc1 D    0   621      2 0x00000000 last_sleep: 24",
                Some(("brcmf_wdog/mmc1 (621)", None, Some('D'))),
            ),
            (
                "kworker/0:1     D c0aa2100     0   621      2 0x00000000",
                Some(("kworker/0:1 (621)", None, Some('D'))),
            ),
            ("plan D was to run 2 of them, I think", None),
        ];
        for (line, expected) in cases {
            let found = Owner::of(line).map(|owner| {
                let thread = owner.thread.map(|thread| thread.to_string()).unwrap_or_default();
                (thread, owner.cpu, owner.state)
            });
            assert_eq!(found, expected.map(|(name, cpu, state)| (name.to_owned(), cpu, state)), "{line}");
        }
    }

    #[test]
    fn a_thread_has_a_name_and_mostly_a_number() {
        let shown = |text| LoggedThread::of(text).map(|thread| thread.to_string());
        assert_eq!(shown("kworker/0:1:11").as_deref(), Some("kworker/0:1 (11)"));
        assert_eq!(shown("(app): 513").as_deref(), Some("(app) (513)"));
        assert_eq!(shown("alertmanager").as_deref(), Some("alertmanager"));
        assert_eq!(shown(" "), None);
        assert_eq!(shown("app:615. A longer text:7"), None);
    }
}
