//! What reports of lockups show (`kernel/watchdog.c`, `arch/powerpc/kernel/watchdog.c`).
//!
//! ```text
//! watchdog: BUG: soft lockup - CPU#1 stuck for 22s! [app:7]
//! Watchdog detected hard LOCKUP on cpu 3
//! watchdog: CPU 0 self-detected hard LOCKUP @ __del_page_from_free_list+0x40/0x220
//! ```
//!
//! A soft lockup is that a CPU did not run its watchdog: until 4.18 a SCHED_FIFO thread of priority 99 (`watchdog/1`), from 4.19 on
//! work of the stop task, which goes before all threads. The kernel may have kept the CPU, or interrupts, or it stood still; only the
//! registers, the stack and the utilization of the report show which.

use super::idle_thread::OverIdle;
use super::owner::{LoggedThread, Owner};
use super::printed_at::PrintedAt;
use super::stacks::{LoggedStack, LoggedStacks, PlaceInWords};
use super::stamps::{cpu_behind, cpus, number_behind};
use super::utilization::{Occupation, Utilization};
use whylate_base::CpuSet;

/// More reports are not kept.
const MOST: usize = 4096;
/// So many are described; of the others the CPUs are named.
const MOST_DESCRIBED: usize = 8;

/// So many different stacks are shown.
const MOST_STACKS: usize = 3;

/// From this version on the watchdog is work of the stop task.
const STOP_TASK_SINCE: (u32, u32) = (4, 19);

/// A CPU that ran no other thread for long.
#[derive(Clone, Debug, PartialEq, Eq)]
struct SoftLockup {
    cpu: u32,
    /// Not where the message is cut, as the next two.
    seconds: Option<u64>,
    /// What ran as the report was made.
    thread: Option<LoggedThread>,
    at: PrintedAt,
}

/// The soft lockups of a log, each CPU once with its longest.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct SoftLockups {
    lockups: Vec<SoftLockup>,
    /// What had the CPUs, each once with its last report.
    utilizations: Vec<Utilization>,
    /// The message is that of a kernel before 4.14 (`NMI watchdog: BUG`, or `BUG` alone).
    has_old_words: bool,
    /// The kernel's version, where a line shows it.
    version: Option<(u32, u32)>,
    /// The same as it is printed, and that another one is printed as well.
    release: Option<String>,
    has_other_release: bool,
    /// The CPUs of reports without their first line.
    headless: Vec<u32>,
    /// When the last report was printed.
    at: PrintedAt,
    /// The times of the log go back between two of the reports, or a boot begins.
    are_of_several_times: bool,
}

impl SoftLockups {
    /// Takes in when the report was printed that comes next.
    pub(super) fn printed(&mut self, at: PrintedAt) {
        self.are_of_several_times |= !self.lockups.is_empty() && self.at.is_left_for(at);
        self.at = at;
    }

    /// Takes in a message: the line of the CPU stands for that of a report whose first line is missing.
    pub(super) fn message(&mut self, message: &str) {
        let owner = Owner::of(message).filter(|_| soft_lockup(message, self.at).is_none());
        if let Some((Owner { thread, .. }, cpu)) = owner.and_then(|owner| Some((owner.clone(), owner.cpu?))) {
            if self.headless.len() < MOST_DESCRIBED && !self.headless.contains(&cpu) {
                self.headless.push(cpu);
            }
            self.add(SoftLockup { cpu, seconds: None, thread, at: self.at });
        }
        self.line(message);
    }

    /// Takes in a line; false where it is no such report.
    pub(super) fn line(&mut self, message: &str) -> bool {
        if let Some(title) = Utilization::title(message) {
            self.utilizations.retain(|other| other.cpu != title.cpu);
            if self.utilizations.len() < MOST_DESCRIBED {
                self.utilizations.push(title);
            }
            return true;
        }
        if let Some(release) = release(message) {
            self.version = self.version.or_else(|| version(release));
            self.has_other_release |= self.release.as_deref().is_some_and(|other| other != release);
            self.release.get_or_insert_with(|| release.to_owned());
        }
        let Some(one) = soft_lockup(message, self.at) else {
            return self.utilizations.last_mut().is_some_and(|last| last.line(message));
        };
        let prefix = message.split_once("BUG: soft lockup").map(|(before, _)| before.trim_end());
        self.has_old_words |=
            prefix.is_some_and(|before| before.is_empty() || before.ends_with("NMI watchdog:"));
        self.add(one);
        true
    }

    fn add(&mut self, one: SoftLockup) {
        let has_room = self.lockups.len() < MOST;
        let is_same = |other: &&mut SoftLockup| {
            other.cpu == one.cpu
                && (other.thread.is_none() || one.thread.is_none() || other.thread == one.thread)
        };
        match self.lockups.iter_mut().find(is_same) {
            Some(other) => {
                if one.seconds > other.seconds {
                    (other.seconds, other.at) = (one.seconds, one.at);
                }
                other.thread = other.thread.take().or(one.thread);
            }
            None if has_room => self.lockups.push(one),
            None => {}
        }
    }

    /// What it means; `None` where no CPU is named.
    pub(super) fn meaning(&self, stacks: &LoggedStacks) -> Option<String> {
        let [first @ SoftLockup { cpu, seconds, .. }, others @ ..] = self.lockups.as_slice() else {
            return None;
        };
        let (mut text, doubt) = self.first_meaning(first, stacks);
        let (described, further) = others.split_at(others.len().min(MOST_DESCRIBED - 1));
        for SoftLockup { cpu, seconds, thread, .. } in described {
            let with = thread.as_ref().map(|thread| format!(" with {thread}")).unwrap_or_default();
            text.push_str(&format!(", and CPU {cpu} for {}{with}", long(*seconds)));
        }
        if !further.is_empty() {
            let mut more: Vec<u32> = further.iter().map(|one| one.cpu).collect();
            more.sort_unstable();
            more.dedup();
            text.push_str(&format!("; the same is reported of {}", cpus(&more)));
        }
        let is_like_first = |other: &SoftLockup| {
            other.cpu != *cpu && other.seconds == *seconds && other.at.is_at_once(first.at)
        };
        let is_of_one_time = !self.has_other_release && !self.are_of_several_times;
        if self.has_other_release && !others.is_empty() {
            text.push_str("; these reports are of several kernels");
        } else if self.are_of_several_times && !others.is_empty() {
            text.push_str(
                "; the times of the log go back between these reports, so they are not of one time",
            );
        } else if is_of_one_time
            && seconds.is_some()
            && others.iter().any(is_like_first)
            && !self.lockups.iter().any(|one| self.is_waiting(one.cpu, stacks))
        {
            text.push_str(": several CPUs at once, so it may be that the machine stood still");
        }
        doubt.iter().for_each(|doubt| text.push_str(&format!("; {doubt}")));
        Some(text)
    }

    /// What the first of them means, as far as the report shows where the CPU was, and what it leaves open.
    fn first_meaning(&self, one: &SoftLockup, stacks: &LoggedStacks) -> (String, Option<String>) {
        let SoftLockup { cpu, seconds, thread, .. } = one;
        let (long, occupation) = (long(*seconds), self.occupation(*cpu));
        let ran = thread.as_ref().map(|thread| format!(", while {thread} ran there")).unwrap_or_default();
        if let Some(kept) = occupation.and_then(kept_by) {
            let current = thread.as_ref().map(|thread| format!(" with {thread}")).unwrap_or_default();
            let text = format!("{kept} kept CPU {cpu}{current} from its watchdog for {long} (soft lockup)");
            return (text, None);
        }
        let place = self.stack(*cpu, stacks).and_then(LoggedStack::place);
        let is_of_kernel =
            matches!(place, Some(PlaceInWords::In(_))) || occupation == Some(Occupation::Kernel);
        let (did, doubt) = match place {
            _ if is_of_kernel => ("stayed in the kernel", None),
            Some(PlaceInWords::User) => {
                let thread = if self.watchdog_is_thread() { " or a thread of priority 99" } else { "" };
                (
                    "did not run its watchdog",
                    Some(format!(
                        "the report interrupted user code, so that the thread did not stay in the kernel: CPU {cpu} stood still, as one of a \
                     guest may, or interrupts{thread} kept it"
                    )),
                )
            }
            Some(PlaceInWords::Cut | PlaceInWords::In(_)) | None => (
                "did not run its watchdog",
                Some(format!(
                    "whether CPU {cpu} stayed in the kernel, served interrupts or stood still is not shown"
                )),
            ),
        };
        let and = if is_of_kernel { " and switched to no other thread" } else { "" };
        (format!("CPU {cpu} {did} for {long}{and}{ran} (soft lockup)"), doubt)
    }

    /// True where the watchdog was a thread, which another one of its priority could keep waiting.
    fn watchdog_is_thread(&self) -> bool {
        self.version.map_or(self.has_old_words, |version| version < STOP_TASK_SINCE)
    }

    /// True of the CPUs of the reports, and of all where they name none.
    pub(super) fn may_be_of(&self, cpu: u32) -> bool {
        self.lockups.is_empty() || self.lockups.iter().any(|one| one.cpu == cpu)
    }

    /// The stack of a CPU with a lockup.
    fn stack<'a>(&self, cpu: u32, stacks: &'a LoggedStacks) -> Option<&'a LoggedStack> {
        let own = stacks.first_with_place_on(cpu).or_else(|| stacks.on_cpu(cpu));
        own.or(stacks.first().filter(|stack| stack.owner.cpu.is_none()))
    }

    /// True of a CPU that was on, and spun for a lock or waited for another CPU.
    fn is_waiting(&self, cpu: u32, stacks: &LoggedStacks) -> bool {
        let stack = self.stack(cpu, stacks);
        stack.is_some_and(|stack| stack.waits_for_answer() || stack.spins_for_lock())
    }

    /// True where the stack of the first of them waits for another CPU.
    pub(super) fn waits_for_answer(&self, stacks: &LoggedStacks) -> bool {
        let first = self.lockups.first().and_then(|one| self.stack(one.cpu, stacks));
        first.is_some_and(LoggedStack::waits_for_answer)
    }

    /// The stacks of their CPUs, one sentence each.
    pub(super) fn stacks_shown(&self, stacks: &LoggedStacks) -> Vec<String> {
        let first = stacks.first_on(|cpu| self.may_be_of(cpu));
        let mut shown: Vec<String> = first.and_then(LoggedStack::shown).into_iter().collect();
        let (mut places, mut same) = (vec![first.and_then(LoggedStack::place)], Vec::new());
        for cpu in self.lockups.iter().map(|one| one.cpu) {
            let is_first = first.is_none_or(|first| first.owner.cpu.is_none_or(|own| own == cpu));
            let Some(stack) = stacks.first_with_place_on(cpu).filter(|_| !is_first) else { continue };
            let place = stack.place();
            match places.iter().position(|other| *other == place) {
                Some(0) if !same.contains(&cpu) => same.push(cpu),
                Some(_) => {}
                None if shown.len() < MOST_STACKS => {
                    shown.extend(stack.shown());
                    places.push(place);
                }
                None => {}
            }
        }
        if !same.is_empty() {
            same.sort_unstable();
            let (stacks, show) =
                if same.len() == 1 { ("the stack", "shows") } else { ("the stacks", "show") };
            shown.insert(1.min(shown.len()), format!("{stacks} of {} {show} the same", cpus(&same)));
        }
        shown
    }

    /// What had this CPU for most of the time, where the report measured that.
    fn occupation(&self, cpu: u32) -> Option<Occupation> {
        self.utilizations.iter().find(|one| one.cpu == cpu)?.occupation()
    }

    /// What had the CPUs, one sentence each.
    pub(super) fn shown(&self) -> Vec<String> {
        let headless = (!self.headless.is_empty()).then(|| {
            format!(
                "the first line of a report of {} is missing: watchdog_timer_fn in its stack shows what it is",
                cpus(&self.headless)
            )
        });
        self.utilizations.iter().filter_map(Utilization::shown).chain(headless).collect()
    }

    /// The same of a CPU whose idle thread was current, by what its stack shows: it served softirqs or an interrupt, or it was idle.
    pub(super) fn over_idle_meaning(&self, stacks: &LoggedStacks) -> Option<String> {
        let SoftLockup { cpu, seconds, .. } = self.lockups.first()?;
        let own = stacks.first_with_place_on(*cpu).or_else(|| stacks.on_cpu(*cpu));
        let stack = own.or(stacks.first_on(|other| other == *cpu));
        if let Some(kept) = self.occupation(*cpu).and_then(kept_by) {
            return Some(format!(
                "{kept} kept CPU {cpu} from its watchdog for {} over its idle thread (soft lockup)",
                long(*seconds)
            ));
        }
        let served = match stack.and_then(LoggedStack::over_idle) {
            Some(OverIdle::Softirqs) => "served softirqs",
            Some(OverIdle::Interrupt) => "served an interrupt",
            // An idle CPU is in no such function: what it did instead, its callers would show.
            Some(OverIdle::Other) => {
                return Some(format!(
                    "CPU {cpu} did not run its watchdog for {} while its idle thread was current (soft lockup); whether it served an \
                     interrupt or a softirq there is not shown",
                    long(*seconds)
                ));
            }
            Some(OverIdle::Idle) | None => return self.idle_meaning(),
        };
        Some(format!(
            "CPU {cpu} {served} over its idle thread, and switched to no other thread for {} (soft lockup)",
            long(*seconds)
        ))
    }

    /// The same of CPUs that were idle.
    fn idle_meaning(&self) -> Option<String> {
        let mut all: Vec<u32> = self.lockups.iter().map(|one| one.cpu).collect();
        all.sort_unstable();
        all.dedup();
        let longest = self.lockups.iter().filter_map(|one| one.seconds).max()?;
        let (watchdog, up_to, had, lost) = match all.len() {
            1 => ("the watchdog", "", "its idle task had it", "its timer or its interrupts were lost"),
            _ => ("the watchdogs", "up to ", "their idle tasks had them", "timers or interrupts were lost"),
        };
        Some(format!(
            "{watchdog} of {} did not run for {up_to}{longest} s while {had} (soft lockup): {lost}, a clock jumped, \
             or the machine stood still",
            cpus(&all)
        ))
    }
}

/// What kept a CPU, where it was no thread.
fn kept_by(occupation: Occupation) -> Option<&'static str> {
    match occupation {
        Occupation::Interrupts => Some("hard interrupts, one after another,"),
        Occupation::Softirqs => Some("softirqs"),
        Occupation::Kernel | Occupation::Idle | Occupation::UserOrStolen => None,
    }
}

/// For how long; by default the watchdog warns after 20 s.
fn long(seconds: Option<u64>) -> String {
    seconds.map_or_else(|| "20 s or more".to_owned(), |seconds| format!("{seconds} s"))
}

/// The CPU of a soft lockup.
pub(super) fn soft_lockup_cpu(message: &str) -> Option<u32> {
    cpu_behind(message.split_once("soft lockup")?.1, "CPU#")
}

fn soft_lockup(message: &str, at: PrintedAt) -> Option<SoftLockup> {
    let (_, rest) = message.split_once("soft lockup")?;
    let thread = rest.split_once("! [").and_then(|(_, rest)| rest.split_once(']'));
    Some(SoftLockup {
        cpu: cpu_behind(rest, "CPU#")?,
        seconds: number_behind(rest, "stuck for "),
        thread: thread.and_then(|(thread, _)| LoggedThread::of(thread)),
        at,
    })
}

/// The kernel's release in the line of the thread: `Comm: app Not tainted 5.12.0-rc1 #2`
fn release(message: &str) -> Option<&str> {
    let (_, words) = message.split_once(" Comm: ")?.1.split_once("ainted")?;
    words.split_whitespace().find(|word| version(word).is_some())
}

/// `5.12.0-rc1`
fn version(release: &str) -> Option<(u32, u32)> {
    let mut numbers = release.split(['.', '-']);
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

/// The CPUs of a report of a hard lockup, and not the one that reports it of others.
pub(super) fn hard_lockup(message: &str) -> Vec<u32> {
    let Some((before, behind)) =
        ["hard LOCKUP", "Hard LOCKUP"].iter().find_map(|words| message.split_once(words))
    else {
        return Vec::new();
    };
    if let Some((_, others)) =
        [" other CPUs ", " other CPUS:"].iter().find_map(|words| behind.split_once(words))
    {
        let list = others.split_whitespace().next().unwrap_or_default();
        return list.parse::<CpuSet>().map(|cpus| cpus.iter().map(|cpu| cpu.0).collect()).unwrap_or_default();
    }
    let of_itself = || {
        let is_own = before.contains("self-detected") || !before.contains("detected");
        let cpu = ["CPU ", "CPU:"].iter().find_map(|words| cpu_behind(before, words));
        cpu.filter(|_| is_own)
    };
    cpu_behind(behind, " on cpu ").or_else(of_itself).into_iter().collect()
}

/// A stop of the machine that a hard lockup brought (`kernel.hardlockup_panic`): the CPU and the thread are those of the stack where the
/// stop is in the watchdog's own NMI, which comes on the CPU that it is of. Another CPU stops the machine otherwise.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct HardPanic {
    is_on_own_cpu: bool,
}

impl HardPanic {
    /// Takes in a line; false where it does not show whose stop it is.
    pub(super) fn line(&mut self, message: &str) -> bool {
        let shows = message.contains("watchdog_overflow_callback");
        self.is_on_own_cpu |= shows;
        shows
    }

    /// What it means; `None` where the CPU is not known.
    pub(super) fn meaning(&self, stacks: &LoggedStacks) -> Option<String> {
        let owner = stacks.first_owner().filter(|_| self.is_on_own_cpu)?;
        let cpu = owner.cpu?;
        let with =
            owner.thread.as_ref().map(|thread| format!(" while {thread} was on it")).unwrap_or_default();
        Some(format!(
            "CPU {cpu} had interrupts disabled for 10 s or more{with} (hard lockup), and the kernel is set to stop at such a report"
        ))
    }
}

#[cfg(test)]
mod tests;
