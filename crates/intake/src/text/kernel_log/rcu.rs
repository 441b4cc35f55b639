//! What the report of an RCU stall shows (`kernel/rcu/tree_stall.h`, `kernel/rcu/tree_exp.h`).
//!
//! ```text
//! rcu: INFO: rcu_preempt self-detected stall on CPU
//! rcu:     4-...!: (1 GPs behind) idle=9874/1/0x4 softirq=0/0 fqs=20 rcuc=21071 jiffies(starved)
//! rcu:     Tasks blocked on level-0 rcu_node (CPUs 0-7): P3421
//! rcu:     (t=21035 jiffies g=938281 q=40787 ncpus=6)
//! rcu: rcu_preempt kthread starved for 20964 jiffies! g938281 f0x0 RCU_GP_WAIT_FQS(5) ->state=0x0 ->cpu=0
//! rcu: rcu_preempt kthread timer wakeup didn't happen for 5251 jiffies! g6029 f0x0 RCU_GP_WAIT_FQS(5) ->state=0x402
//! rcu:     Possible timer handling issue on cpu=1 timer-softirq=342
//! rcu_preempt: All QSes seen, ... INFO: rcu_sched detected stalls on CPUs/tasks: { 1 P12} (detected by 0, t=60002 jiffies)
//! ```
//!
//! A grace period that goes on is reported again, by default after three times the first time (`rcu_jiffies_till_stall_check()`).
//! Jiffies are of 1 to 10 ms, as the kernel was built: two reports of one grace period show it by their stamps (`jiffies`).

mod stalled_cpu;

use super::idle_thread::OverIdle;
use super::jiffies;
use super::owner::LoggedThread;
use super::stacks::{LoggedStack, LoggedStacks, PlaceInWords};
use super::stamps::{cpu_behind, cpus, leading_number, number_behind};
use stalled_cpu::{StalledCpu, Watched};

/// No machine has more CPUs, and more threads are not kept.
const MOST: usize = 4096;
/// So many threads are named, and of so many CPUs is shown what ran there.
const MOST_NAMED: usize = 8;

/// True of the row of a CPU that stalls, which no other line is like.
pub(super) fn is_row(message: &str) -> bool {
    StalledCpu::is_alone(message.strip_prefix("rcu: ").unwrap_or(message).trim_start())
}

/// RCU's own thread, which ends grace periods.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct GracePeriodThread {
    name: String,
    starved_jiffies: Option<u64>,
    /// So long its timer was overdue.
    timer_jiffies: Option<u64>,
    state: Option<u64>,
    /// It was looking at the CPUs, and so may have run itself.
    is_at_work: bool,
    cpu: Option<u32>,
    /// So long before the report it last ran, by the line `All QSes seen`.
    idle_jiffies: Option<u64>,
}

/// What a report of an RCU stall shows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct RcuStall {
    /// Another report follows: what comes then is not of this one.
    has_ended: bool,
    /// The CPU that stalls reports that itself, in its timer interrupt.
    is_self_detected: bool,
    stalled: Vec<StalledCpu>,
    /// The threads in a section that RCU waits for.
    readers: Vec<u64>,
    /// There are such threads, whether or not they are listed.
    has_readers: bool,
    jiffies: Option<u64>,
    /// So many seconds after the boot it was printed.
    seconds: Option<u64>,
    /// The number of the grace period, as it is printed.
    grace_period: Option<String>,
    thread: GracePeriodThread,
}

impl RcuStall {
    /// True of a message that is no report of its own, but a part of the one above it.
    pub(super) fn is_part(message: &str) -> bool {
        message.contains("kthread starved for") || message.contains("kthread timer wakeup didn't happen for")
    }

    /// Takes in that another report begins.
    pub(super) fn ends(&mut self) {
        self.has_ended = true;
    }

    /// True once it shows how long it lasted.
    pub(super) fn has_duration(&self) -> bool {
        self.jiffies.is_some()
    }

    /// Takes in the message with which a report begins, printed so many seconds after the boot.
    pub(super) fn message(&mut self, message: &str, seconds: Option<u64>) {
        self.seconds = self.seconds.or(seconds);
        self.line(message);
    }

    /// How many jiffies a second has, by a later report of the same stall.
    pub(super) fn hz(&self, later: &RcuStall) -> Option<u64> {
        let jiffies = later.jiffies?.checked_sub(self.jiffies?)?;
        let seconds = later.seconds?.checked_sub(self.seconds?)?;
        self.goes_on_in(later).then(|| jiffies::hz(jiffies, seconds)).flatten()
    }

    /// Takes in a line of the report; false where it is none.
    pub(super) fn line(&mut self, message: &str) -> bool {
        if self.has_ended {
            return false;
        }
        let message = message.strip_prefix("rcu: ").unwrap_or(message).trim_start();
        let is_header = message.contains("stall");
        // Before 3.2 without that word (`print_cpu_stall()`, `kernel/rcutree.c`).
        self.is_self_detected |=
            ["self-detected stall", "detected stall on CPU "].iter().any(|own| message.contains(own));
        if is_header {
            self.header(message);
        }
        // In that of another CPU stands `(detected by 0, t=`, in place of it (`print_cpu_stall()` and `print_other_cpu_stall()`).
        self.is_self_detected |= message.starts_with("(t=") && message.contains(" jiffies g=");
        let row = StalledCpu::of_row(message);
        let known = row.is_some() | self.thread(message) | is_header;
        row.into_iter().for_each(|one| self.stalled(one));
        self.jiffies = self.jiffies.or_else(|| grace_period_jiffies(message));
        self.grace_period = self.grace_period.take().or_else(|| grace_period(message));
        self.has_readers |= message.contains("Tasks blocked on level-");
        if let Some((_, tasks)) =
            message.split_once("Tasks blocked on level-").and_then(|(_, rest)| rest.split_once("): "))
        {
            // The next line may follow, where lines were put together.
            let tasks = tasks.split_whitespace().take_while(|task| task.starts_with('P'));
            tasks.for_each(|task| self.item(task));
            return true;
        }
        known
    }

    /// `rcu_sched self-detected stall on CPU { 1}  (t=15000 jiffies`, `rcu_sched_state detected stall on CPU 0`,
    /// `rcu_preempt detected expedited stalls on CPUs/tasks: { 3-.... P12 } 21 jiffies s: 45`
    fn header(&mut self, message: &str) {
        if let Some((items, rest)) = message.split_once('{').and_then(|(_, rest)| rest.split_once('}')) {
            items.split_whitespace().for_each(|item| self.item(item));
            if let Some(sequence) = number_behind(rest, " jiffies s: ") {
                self.jiffies = self.jiffies.or(leading_number(rest));
                self.grace_period = self.grace_period.take().or(Some(format!("expedited {sequence}")));
            }
        } else if let Some(cpu) = cpu_behind(message, "detected stall on CPU ") {
            self.stalled(StalledCpu::new(cpu));
        }
    }

    /// `1`, `3-....`, `P12`, `P12/1:b..l`
    fn item(&mut self, item: &str) {
        match item.strip_prefix('P').map(leading_number) {
            Some(Some(tid)) if self.readers.len() < MOST && !self.readers.contains(&tid) => {
                self.readers.push(tid)
            }
            Some(_) => {}
            None => {
                if let Some(cpu) = leading_number(item).and_then(|cpu| u32::try_from(cpu).ok()) {
                    self.stalled(StalledCpu::new(cpu));
                }
            }
        }
    }

    fn stalled(&mut self, one: StalledCpu) {
        let has_room = self.stalled.len() < MOST;
        match self.stalled.iter_mut().find(|other| other.cpu == one.cpu) {
            Some(other) => other.add(&one),
            None if has_room => self.stalled.push(one),
            None => {}
        }
    }

    /// `rcu_preempt kthread starved for 20964 jiffies! ... ->state=0x0 ->cpu=0`
    fn thread(&mut self, message: &str) -> bool {
        const STARVED: &str = " kthread starved for ";
        const TIMER: &str = " kthread timer wakeup didn't happen for ";
        const ACTIVITY: &str = " kthread activity ";
        if let Some((before, _)) =
            message.split_once("All QSes seen, last ").and_then(|(_, rest)| rest.split_once(ACTIVITY))
        {
            self.thread.idle_jiffies = self.thread.idle_jiffies.or(number_behind(message, ACTIVITY));
            if self.thread.name.is_empty() {
                self.thread.name = before.to_owned();
            }
            return true;
        }
        if self.thread.timer_jiffies.is_some() && message.contains("Possible timer handling issue on cpu=") {
            self.thread.cpu = self.thread.cpu.or(cpu_behind(message, "issue on cpu="));
            return true;
        }
        let Some((before, _)) = message.split_once(STARVED).or_else(|| message.split_once(TIMER)) else {
            return false;
        };
        let thread = &mut self.thread;
        if thread.name.is_empty() {
            let name = before.split_whitespace().next_back().unwrap_or_default();
            thread.name = name.to_owned();
        }
        thread.starved_jiffies = thread.starved_jiffies.or(number_behind(message, STARVED));
        thread.timer_jiffies = thread.timer_jiffies.or(number_behind(message, TIMER));
        let state = message.split_once("->state=0x").map(|(_, state)| {
            let end = state.find(|digit: char| !digit.is_ascii_hexdigit()).unwrap_or(state.len());
            u64::from_str_radix(state.get(..end).unwrap_or_default(), 16).ok()
        });
        thread.state = thread.state.or(state.flatten());
        thread.is_at_work |= message.contains("RCU_GP_DOING_FQS");
        if message.contains(STARVED) {
            thread.cpu = thread.cpu.or(cpu_behind(message, "->cpu="));
        }
        true
    }

    /// What the report means; `None` where it shows no more than its words.
    pub(super) fn meaning(&self, stacks: &LoggedStacks) -> Option<String> {
        let mut parts: Vec<String> =
            [self.thread_meaning(stacks), self.cpus_meaning(), self.readers_meaning(stacks)]
                .into_iter()
                .flatten()
                .collect();
        if parts.is_empty() {
            parts.extend(self.no_cause_meaning());
        }
        (!parts.is_empty()).then(|| format!("{} (RCU stall)", parts.join(", and that ")))
    }

    fn thread_meaning(&self, stacks: &LoggedStacks) -> Option<String> {
        let GracePeriodThread { name, starved_jiffies, timer_jiffies, state, is_at_work, cpu, .. } =
            &self.thread;
        let where_ = cpu.map(|cpu| format!(" on CPU {cpu}")).unwrap_or_default();
        let thread = LoggedThread { name: name.clone(), pid: None };
        let letter = stacks.of_thread(&thread).and_then(|stack| stack.owner.state);
        // TASK_RUNNING is 0 (include/linux/sched.h).
        let is_runnable = state.map_or(letter == Some('R'), |state| state == 0);
        match (starved_jiffies, timer_jiffies) {
            (_, Some(jiffies)) => Some(format!(
                "RCU's own thread {name} slept{where_}, and its timer had not ended that for {jiffies} jiffies"
            )),
            (Some(jiffies), None) if is_runnable && *is_at_work => Some(format!(
                "RCU's own thread {name} ran or was runnable{where_}, and made no progress for {jiffies} jiffies"
            )),
            (Some(jiffies), None) if is_runnable => Some(format!(
                "RCU's own thread {name} was runnable and got no CPU time{where_} for {jiffies} jiffies"
            )),
            (Some(jiffies), None) => {
                let state = state.map(|state| format!(", and was not runnable (state {state:#x})"));
                let state = state.unwrap_or_default();
                Some(format!("RCU's own thread {name} did not run{where_} for {jiffies} jiffies{state}"))
            }
            (None, None) => None,
        }
    }

    fn cpus_meaning(&self) -> Option<String> {
        let all: Vec<u32> = self.stalled.iter().map(|one| one.cpu).collect();
        let jiffies = self.jiffies.map(|jiffies| format!(" for {jiffies} jiffies")).unwrap_or_default();
        let has_no_ticks = !self.stalled.is_empty() && self.stalled.iter().all(|one| one.has_no_ticks);
        let ticks = if has_no_ticks { ", nor took a timer tick" } else { "" };
        (!all.is_empty()).then(|| format!("{} gave RCU no quiescent state{jiffies}{ticks}", cpus(&all)))
    }

    fn readers_meaning(&self, stacks: &LoggedStacks) -> Option<String> {
        let named = |&reader: &u64| match stacks.name_of(reader) {
            Some(name) => LoggedThread { name: name.to_owned(), pid: Some(reader) }.to_string(),
            None => reader.to_string(),
        };
        let mut readers: Vec<String> = self.readers.iter().take(MOST_NAMED).map(named).collect();
        match self.readers.len().saturating_sub(MOST_NAMED) {
            0 => {}
            more => readers.push(format!("and {more} more")),
        }
        // A duration of the CPUs is that of the report.
        let jiffies = self.jiffies.filter(|_| self.stalled.is_empty());
        let jiffies = jiffies.map(|jiffies| format!(" for {jiffies} jiffies")).unwrap_or_default();
        match readers.as_slice() {
            [] => self.has_readers.then(|| {
                format!("a thread that the report does not name was in a section that RCU waits for, and did not leave it{jiffies}")
            }),
            [reader] => {
                Some(format!("thread {reader} was in a section that RCU waits for, and did not leave it{jiffies}"))
            }
            readers => Some(format!(
                "threads {} were in sections that RCU waits for, and did not leave them{jiffies}",
                readers.join(", ")
            )),
        }
    }

    /// The report names neither a CPU nor a thread, and RCU's own thread came to run.
    fn no_cause_meaning(&self) -> Option<String> {
        let idle = self.thread.idle_jiffies?;
        let jiffies = self.jiffies.map(|jiffies| format!(" for {jiffies} jiffies")).unwrap_or_default();
        let name = &self.thread.name;
        Some(format!(
            "a grace period did not end{jiffies}; the report names no CPU and no thread that held it up, and RCU's own thread {name} \
             last ran {idle} jiffies before it"
        ))
    }

    /// True of the CPUs of the report, and of all where it names none.
    pub(super) fn may_be_of(&self, cpu: u32) -> bool {
        self.stalled.is_empty() || self.stalled.iter().any(|one| one.cpu == cpu)
    }

    /// True where a later report is of the same grace period, which the same CPUs and threads still hold up.
    pub(super) fn goes_on_in(&self, later: &RcuStall) -> bool {
        let cpus = |stall: &RcuStall| stall.stalled.iter().map(|one| one.cpu).collect::<Vec<_>>();
        self.grace_period.is_some()
            && self.grace_period == later.grace_period
            && cpus(self) == cpus(later)
            && self.readers == later.readers
            && self.has_readers == later.has_readers
    }

    /// The only CPU of it, where that took no interrupt.
    pub(super) fn silent_cpu(&self) -> Option<u32> {
        match self.stalled.as_slice() {
            [one] => one.takes_no_interrupt.then_some(one.cpu),
            _ => None,
        }
    }

    /// `the same stall after 52509 jiffies`
    pub(super) fn again(&self) -> Option<String> {
        self.jiffies.map(|jiffies| format!("the same stall after {jiffies} jiffies"))
    }

    /// What ran on the CPUs in question, as far as the log shows it.
    pub(super) fn shown(&self, stacks: &LoggedStacks) -> Vec<String> {
        let mut concerned: Vec<u32> = self.stalled.iter().map(|one| one.cpu).collect();
        concerned.extend(self.thread.cpu.filter(|_| self.thread.starved_jiffies.is_some()));
        concerned.sort_unstable();
        concerned.dedup();
        if concerned.is_empty() {
            let ran = self
                .thread
                .idle_jiffies
                .filter(|_| self.has_readers && self.thread.starved_jiffies.is_none());
            let ran = ran.map(|idle| {
                let unit = if idle == 1 { "jiffy" } else { "jiffies" };
                format!("RCU's own thread {} had last run {idle} {unit} before", self.thread.name)
            });
            // Its stack shows only where RCU's own thread waits.
            let is_own = |stack: &LoggedStack| {
                stack.owner.thread.as_ref().is_some_and(|thread| thread.name == self.thread.name)
            };
            let stack = stacks.first().filter(|stack| !is_own(stack)).and_then(LoggedStack::shown);
            return ran.into_iter().chain(stack).collect();
        }
        let mut unknown = Vec::new();
        let mut shown: Vec<String> = self.stalled.iter().flat_map(StalledCpu::shown).collect();
        let (mut further, mut idle, mut over_idle) = (Vec::new(), Vec::new(), Vec::new());
        let is_idle = |cpu: u32| self.watched(cpu) == Watched::Idle;
        for &cpu in &concerned {
            let is_counted = self.is_over_idle(cpu);
            let is_seen = is_counted || is_idle(cpu);
            let shows = |stack: &&LoggedStack| !is_seen || !is_idle_without_place(stack);
            match stacks.on_cpu(cpu).filter(shows).and_then(|stack| ran(cpu, stack)) {
                Some(text) if shown.len() < MOST_NAMED => shown.push(text),
                Some(_) => further.push(cpu),
                None if is_counted => over_idle.push(cpu),
                None if is_idle(cpu) => idle.push(cpu),
                None => unknown.push(cpu),
            }
        }
        if !over_idle.is_empty() {
            let threads = if over_idle.len() == 1 { "thread" } else { "threads" };
            let timer = match self.is_self_detected {
                true => ", and the timer interrupt of the report over that",
                false => "",
            };
            shown.push(format!(
                "RCU's count shows an interrupt or a softirq over the idle {threads} of {}{timer}: which one is not shown",
                cpus(&over_idle)
            ));
        }
        if !idle.is_empty() {
            let were = if idle.len() == 1 { "was" } else { "were" };
            shown.push(format!(
                "{} {were} idle, so no thread kept RCU waiting there: a timer interrupt, or a wake-up of RCU's own thread, was lost or late",
                cpus(&idle)
            ));
        }
        if !further.is_empty() {
            shown.push(format!("what ran on {} is in the log, too", cpus(&further)));
        }
        if !unknown.is_empty() {
            let interrupts =
                // A CPU that detects its own stall does so in its tick.
                if !self.is_self_detected
                    && self.stalled.iter().any(|one| unknown.contains(&one.cpu) && !one.takes_no_interrupt)
                {
                    ", or whether interrupts were disabled there,"
                } else {
                    ""
                };
            shown.push(format!("what ran on {}{interrupts} is not shown", cpus(&unknown)));
        }
        shown
    }
}

impl RcuStall {
    /// What RCU saw a CPU do.
    fn watched(&self, cpu: u32) -> Watched {
        self.stalled.iter().find(|one| one.cpu == cpu).map(|one| one.watched).unwrap_or_default()
    }

    /// True where RCU's count shows an interrupt or a softirq over a CPU's idle thread. The timer interrupt that reports the stall of its own
    /// CPU is one of those that are counted.
    fn is_over_idle(&self, cpu: u32) -> bool {
        let least = if self.is_self_detected { 2 } else { 1 };
        matches!(self.watched(cpu), Watched::OverIdle(depth) if depth >= least)
    }
}

/// How long the grace period has lasted: `(t=21035 jiffies g=938281`, `(detected by 0, t=60002 jiffies, g=5`.
/// A console that was read by machine has other blanks, and digits that are none: `t = 525O jiffies`.
fn grace_period_jiffies(message: &str) -> Option<u64> {
    message.match_indices('t').find_map(|(at, _)| {
        let (before, behind) = (message.get(..at)?, message.get(at + 1..)?);
        let is_word = before.chars().next_back().is_none_or(|sign| matches!(sign, '(' | ' ' | '\t'));
        let value = behind.trim_start().strip_prefix('=').filter(|_| is_word)?.trim_start();
        let (jiffies, rest) = value.split_once(char::is_whitespace)?;
        jiffies.parse().ok().filter(|_| rest.trim_start().starts_with("jiffies"))
    })
}

/// `t=2102 jiffies, g=-863, q=61`: the number of the grace period.
fn grace_period(message: &str) -> Option<String> {
    let (_, text) = message.split_once(" jiffies")?;
    let text = text.trim_start_matches([',', ' ']).strip_prefix('g')?.trim_start();
    let number = text.strip_prefix('=')?.trim_start();
    let end = number.find(|sign: char| !sign.is_ascii_digit() && sign != '-').unwrap_or(number.len());
    number.get(..end).filter(|number| !number.is_empty()).map(str::to_owned)
}

/// True of the dump of an idle thread that does not show what its CPU did.
fn is_idle_without_place(stack: &LoggedStack) -> bool {
    stack.owner.thread.as_ref().is_some_and(LoggedThread::is_idle) && stack.over_idle().is_none()
}

/// What the dump of a CPU shows.
fn ran(cpu: u32, stack: &LoggedStack) -> Option<String> {
    let Some(thread) = &stack.owner.thread else { return stack.shown() };
    if thread.is_idle() {
        return Some(over_idle(cpu, stack));
    }
    let work = stack.work().map(|work| format!("; {work}")).unwrap_or_default();
    let ran = match stack.place() {
        None => format!("{thread} ran on CPU {cpu}, and where in it is not shown"),
        Some(PlaceInWords::User) => format!("{thread} ran user code on CPU {cpu}"),
        Some(PlaceInWords::Cut) => format!(
            "{thread} ran on CPU {cpu}, and its stack ends above what the report interrupted: where that was is not shown"
        ),
        Some(PlaceInWords::In(functions)) => {
            format!("{thread} ran on CPU {cpu}, in {functions}{}", stack.cpu_wait())
        }
    };
    Some(format!("{ran}{work}"))
}

/// What a CPU did whose idle thread was current.
fn over_idle(cpu: u32, stack: &LoggedStack) -> String {
    let functions = match stack.place() {
        Some(PlaceInWords::In(functions)) => functions,
        _ => String::new(),
    };
    match stack.over_idle() {
        Some(OverIdle::Idle) => format!("CPU {cpu} was idle as it was looked at"),
        Some(OverIdle::Softirqs) => format!("CPU {cpu} served softirqs over its idle thread, in {functions}"),
        Some(OverIdle::Interrupt) => {
            format!("CPU {cpu} served an interrupt over its idle thread, in {functions}")
        }
        Some(OverIdle::Other) => format!(
            "the idle thread of CPU {cpu} was current, in {functions}: that is an interrupt or a softirq, unless it is of an idle state"
        ),
        None => format!(
            "the idle thread of CPU {cpu} was current, and what the report interrupted there is not shown"
        ),
    }
}

#[cfg(test)]
mod tests;
