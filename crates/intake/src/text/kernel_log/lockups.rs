//! What reports of lockups show (`kernel/watchdog.c`, `arch/powerpc/kernel/watchdog.c`).
//!
//! ```text
//! watchdog: BUG: soft lockup - CPU#1 stuck for 22s! [app:7]
//! Watchdog detected hard LOCKUP on cpu 3
//! watchdog: CPU 0 self-detected hard LOCKUP @ __del_page_from_free_list+0x40/0x220
//! ```

use super::idle_thread::OverIdle;
use super::owner::LoggedThread;
use super::stacks::LoggedStacks;
use super::stamps::{cpu_behind, cpus, number_behind};

/// More reports are not kept.
const MOST: usize = 4096;
/// So many are described; of the others the CPUs are named.
const MOST_DESCRIBED: usize = 8;

/// A CPU that ran no other thread for long.
#[derive(Clone, Debug, PartialEq, Eq)]
struct SoftLockup {
    cpu: u32,
    /// Not where the message is cut, as the next two.
    seconds: Option<u64>,
    /// What ran as the report was made.
    thread: Option<LoggedThread>,
}

/// The soft lockups of a log, each CPU once with its longest.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct SoftLockups {
    lockups: Vec<SoftLockup>,
}

impl SoftLockups {
    /// Takes in a line; false where it is no such report.
    pub(super) fn line(&mut self, message: &str) -> bool {
        let Some(one) = soft_lockup(message) else { return false };
        let has_room = self.lockups.len() < MOST;
        let is_same = |other: &&mut SoftLockup| {
            other.cpu == one.cpu
                && (other.thread.is_none() || one.thread.is_none() || other.thread == one.thread)
        };
        match self.lockups.iter_mut().find(is_same) {
            Some(other) => {
                other.seconds = other.seconds.max(one.seconds);
                other.thread = other.thread.take().or(one.thread);
            }
            None if has_room => self.lockups.push(one),
            None => {}
        }
        true
    }

    /// What it means; `None` where no CPU is named.
    pub(super) fn meaning(&self) -> Option<String> {
        let [SoftLockup { cpu, seconds, thread }, others @ ..] = self.lockups.as_slice() else { return None };
        let ran = thread.as_ref().map(|thread| format!(", while {thread} ran there")).unwrap_or_default();
        let mut text = format!(
            "CPU {cpu} stayed in the kernel for {} and switched to no other thread{ran} (soft lockup)",
            long(*seconds)
        );
        let (described, further) = others.split_at(others.len().min(MOST_DESCRIBED - 1));
        for SoftLockup { cpu, seconds, thread } in described {
            let with = thread.as_ref().map(|thread| format!(" with {thread}")).unwrap_or_default();
            text.push_str(&format!(", and CPU {cpu} for {}{with}", long(*seconds)));
        }
        if !further.is_empty() {
            let mut more: Vec<u32> = further.iter().map(|one| one.cpu).collect();
            more.sort_unstable();
            more.dedup();
            text.push_str(&format!("; the same is reported of {}", cpus(&more)));
        }
        let longest_elsewhere =
            seconds.is_some() && others.iter().any(|other| other.cpu != *cpu && other.seconds == *seconds);
        if longest_elsewhere {
            text.push_str(": several CPUs at once, so it may be that the machine stood still");
        }
        Some(text)
    }

    /// The same of a CPU whose idle thread was current: `None` unless the stack shows that it served softirqs or an interrupt.
    pub(super) fn over_idle_meaning(&self, stacks: &LoggedStacks) -> Option<String> {
        let SoftLockup { cpu, seconds, .. } = self.lockups.first()?;
        let served = match stacks.on_cpu(*cpu).or(stacks.first())?.over_idle()? {
            OverIdle::Softirqs => "served softirqs",
            OverIdle::Interrupt => "served an interrupt",
            OverIdle::Idle | OverIdle::Other => return None,
        };
        Some(format!(
            "CPU {cpu} {served} over its idle thread, and switched to no other thread for {} (soft lockup)",
            long(*seconds)
        ))
    }
}

/// For how long; by default the watchdog warns after 20 s.
fn long(seconds: Option<u64>) -> String {
    seconds.map_or_else(|| "20 s or more".to_owned(), |seconds| format!("{seconds} s"))
}

fn soft_lockup(message: &str) -> Option<SoftLockup> {
    let (_, rest) = message.split_once("soft lockup")?;
    let thread = rest.split_once("! [").and_then(|(_, rest)| rest.split_once(']'));
    Some(SoftLockup {
        cpu: cpu_behind(rest, "CPU#")?,
        seconds: number_behind(rest, "stuck for "),
        thread: thread.and_then(|(thread, _)| LoggedThread::of(thread)),
    })
}

/// The CPU of a report of a hard lockup.
pub(super) fn hard_lockup(message: &str) -> Option<u32> {
    message.contains("hard LOCKUP").then_some(())?;
    let detected = message.split_once("hard LOCKUP").and_then(|(_, rest)| cpu_behind(rest, " on cpu "));
    detected.or_else(|| message.contains("self-detected").then(|| cpu_behind(message, "CPU ")).flatten())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lockups_have_cpus_threads_and_seconds() {
        let mut lockups = SoftLockups::default();
        assert_eq!(lockups.meaning(), None);
        assert!(!lockups.line("watchdog: BUG: soft lockup"));
        assert!(lockups.line("watchdog: BUG: soft lockup - CPU#2 stuck for 22s! [app:7]"));
        assert!(lockups.line("watchdog: BUG: soft lockup - CPU#2 stuck for 48s! [app:7]"));
        let one = "CPU 2 stayed in the kernel for 48 s and switched to no other thread, while app (7) ran there (soft lockup)";
        assert_eq!(lockups.meaning().as_deref(), Some(one));
        assert!(lockups.line("watchdog: BUG: soft lockup - CPU#3 stuck for 48s! [redis]"));
        let both = format!(
            "{one}, and CPU 3 for 48 s with redis: several CPUs at once, so it may be that the machine stood still"
        );
        assert_eq!(lockups.meaning(), Some(both));
        for cpu in 4..=11 {
            assert!(
                lockups.line(&format!("watchdog: BUG: soft lockup - CPU#{cpu} stuck for 22s! [app:{cpu}]"))
            );
        }
        let many = lockups.meaning().unwrap_or_default();
        assert!(
            many.contains("CPU 9 for 22 s with app (9); the same is reported of CPUs 10 and 11"),
            "{many}"
        );
    }

    #[test]
    fn hard_lockups_have_cpus() {
        assert_eq!(hard_lockup("Watchdog detected hard LOCKUP on cpu 3"), Some(3));
        assert_eq!(hard_lockup("watchdog: CPU 0 self-detected hard LOCKUP @ x+0x40/0x220"), Some(0));
        assert_eq!(hard_lockup("NMI watchdog: Watchdog detected hard LOCKUP"), None);
    }
}
