//! The call stacks below a message, each with its owner.

use super::asides::Asides;
use super::cpu_waits;
use super::frames::{self, Frame};
use super::idle_thread::{OverIdle, over_idle};
use super::owner::{LoggedThread, Owner};
use super::registers::are_of_user;
use super::reporter::{StackPlace, USER, place, softirq};
use super::sparc;
use super::storage_waits::are_of_storage;
use super::waits::{WaitsFor, is_above_lock, is_lock, waits_for};
use super::work_item;
use std::collections::BTreeMap;

/// So many functions of a stack are named.
const MOST_NAMED: usize = 6;
/// So many stacks are kept, and so many functions of each.
const MOST_STACKS: usize = 32;
const MOST_FRAMES: usize = 64;

/// Where powerpc goes on behind an interrupt that it catches up on (`arch/powerpc/kernel/exceptions-64s.S`).
const REPLAY: &str = "replay_interrupt_return";

/// A call stack.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct LoggedStack {
    pub(super) owner: Owner,
    /// Innermost first.
    functions: Vec<String>,
    /// The modules of those that are in one.
    modules: BTreeMap<String, String>,
    /// So many of the functions are of interrupts, by the marks between them (`<IRQ>`).
    of_interrupts: usize,
    /// What its worker thread runs.
    work: Option<String>,
    /// It has more than the function in which the registers are.
    has_trace: bool,
    /// Its first function is the one that a CPU's stop task runs, wherever that is.
    is_of_stopper: bool,
    /// Its thread goes to sleep.
    sleeps: bool,
    /// It does so for input or output.
    sleeps_for_io: bool,
    /// It goes to sleep in the functions with which a kernel thread begins.
    sleeps_at_begin: bool,
}

/// Where the thread of a stack is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum PlaceInWords {
    /// In user code.
    User,
    /// The stack ends above what the report interrupted.
    Cut,
    /// `a, called from b, c`
    In(String),
}

/// The call stacks below a message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct LoggedStacks {
    stacks: Vec<LoggedStack>,
    /// The lines since the title of a stack are all of that stack.
    is_in_trace: bool,
    /// The functions since a mark are of an interrupt.
    is_in_interrupt: bool,
    /// The lines with functions that are of none.
    asides: Asides,
    /// Some line has a function of which the kernel is not sure (`?`).
    has_unsure: bool,
}

impl LoggedStacks {
    /// Takes in a line; false where it is of no stack.
    pub(super) fn line(&mut self, message: &str) -> bool {
        if self.asides.line(message) {
            return false;
        }
        let owner = Owner::of(message).or_else(|| sparc::owner(message));
        let is_one = owner.is_some();
        if let Some(owner) = owner {
            match self.stacks.last_mut() {
                Some(last) if last.is_empty() && !owner.begins && last.owner.agrees(&owner) => {
                    last.owner.add(owner);
                }
                _ => self.push(owner),
            }
        }
        if let Some(work) = work_item::of_line(message) {
            if self.stacks.last().is_none_or(|last| last.has_trace) {
                self.push(Owner::default());
            }
            if let Some(last) = self.stacks.last_mut() {
                last.work = Some(work);
            }
            return true;
        }
        // Of all architectures; arm has none of these lines in newer kernels.
        if ["Call Trace:", "Call trace:", "Backtrace:"].iter().any(|title| message.contains(title)) {
            if self.stacks.last().is_some_and(|last| last.has_trace) {
                self.push(Owner::default());
            }
            self.is_in_trace = true;
            return true;
        }
        self.is_in_interrupt = match message.trim() {
            "<IRQ>" | "<SOFTIRQ>" => true,
            "</IRQ>" | "</SOFTIRQ>" | "<TASK>" => false,
            _ => self.is_in_interrupt,
        };
        if let Some(last) = self.stacks.last_mut() {
            match message.trim() {
                line if line.starts_with("--- interrupt: ") && line.contains(" at ") => {
                    last.begins_interrupted()
                }
                line => last.called_replay(line),
            }
        }
        if let Some(functions) = sparc::functions(message) {
            if let Some(last) = self.stacks.last_mut() {
                last.has_trace |= !functions.is_empty();
                functions.into_iter().for_each(|frame| last.add(frame, None));
            }
            return true;
        }
        let frame = are_of_user(message).then_some(Frame::Function(USER)).or_else(|| frames::frame(message));
        self.has_unsure |= frame.is_none() && frames::is_unsure(message);
        let bare = frames::bare(message).filter(|_| self.is_in_trace && frame.is_none());
        self.is_in_trace &= frame.is_some() || bare.is_some();
        let frame = frame.or(bare.flatten());
        // The kernel found the function to be one of an idle state (`nmi_cpu_backtrace()` in lib/nmi_backtrace.c).
        let is_idling = message.contains("skipped: idling");
        let Some(mut frame) = frame.filter(|_| !is_idling) else { return is_one };
        // The registers are those of a thread that runs: it does not sleep there.
        if frame == Frame::General
            && is_register(message)
            && let Some(name) = frames::general(message)
        {
            frame = Frame::Function(name);
        }
        if self.stacks.is_empty() {
            // Its marks stand above its first function.
            let is_in_interrupt = self.is_in_interrupt;
            self.push(Owner::default());
            self.is_in_interrupt = is_in_interrupt;
        }
        if let Some(last) = self.stacks.last_mut()
            && last.functions.len() < MOST_FRAMES
        {
            last.has_trace |= !is_register(message);
            last.is_of_stopper |= message.contains("Stopper: ");
            last.add(frame, frames::module(message.trim()));
            if self.is_in_interrupt {
                last.of_interrupts = last.functions.len();
            }
        }
        is_one || matches!(frame, Frame::Function(_))
    }

    fn push(&mut self, owner: Owner) {
        self.is_in_interrupt = false;
        if self.stacks.len() < MOST_STACKS {
            self.stacks.push(LoggedStack { owner, ..LoggedStack::default() });
        }
    }

    /// The first stack that shows where its thread is, or the work item that it runs.
    pub(super) fn first(&self) -> Option<&LoggedStack> {
        let has_place = |stack: &&LoggedStack| place(&stack.functions) != StackPlace::Nothing;
        let has_work = |stack: &&LoggedStack| stack.work.is_some();
        self.stacks.iter().find(has_place).or_else(|| self.stacks.iter().find(has_work))
    }

    /// The same, of these CPUs, or of a CPU that is not shown.
    pub(super) fn first_on(&self, are: impl Fn(u32) -> bool) -> Option<&LoggedStack> {
        let mut own = self.stacks.iter().filter(|stack| stack.owner.cpu.is_none_or(&are));
        let has_place = |stack: &&LoggedStack| place(&stack.functions) != StackPlace::Nothing;
        own.clone().find(has_place).or_else(|| own.find(|stack| stack.work.is_some()))
    }

    /// True where the backtrace of a CPU has begun, and has nothing yet.
    pub(super) fn begin_backtrace(&self) -> bool {
        let begins = |last: &LoggedStack| last.owner.begins && last.owner.cpu.is_some() && last.is_empty();
        self.stacks.last().is_some_and(begins)
    }

    /// The owner of the stack that is printed first.
    pub(super) fn first_owner(&self) -> Option<&Owner> {
        self.stacks.first().map(|stack| &stack.owner)
    }

    /// The first that shows where its thread is, of a thread that the report names, unless it was on another CPU than these.
    pub(super) fn of_cpus(&self, are: impl Fn(u32) -> bool) -> Option<&LoggedStack> {
        let is_of = |stack: &&LoggedStack| stack.owner.thread.is_some() && stack.owner.cpu.is_none_or(&are);
        let mut own = self.stacks.iter().filter(is_of);
        let has_place = |stack: &&LoggedStack| place(&stack.functions) != StackPlace::Nothing;
        own.clone().find(has_place).or_else(|| own.find(|stack| stack.work.is_some()))
    }

    /// True where they have no function of which the kernel is sure, and others.
    pub(super) fn are_unsure(&self) -> bool {
        self.has_unsure && self.stacks.iter().all(|stack| stack.functions.is_empty())
    }

    /// The last stack that shows where its thread is.
    pub(super) fn last(&self) -> Option<&LoggedStack> {
        self.stacks.iter().rfind(|stack| place(&stack.functions) != StackPlace::Nothing)
    }

    /// The first stack of a CPU that shows where its thread is.
    pub(super) fn first_with_place_on(&self, cpu: u32) -> Option<&LoggedStack> {
        let mut own = self.stacks.iter().filter(|stack| stack.owner.cpu == Some(cpu));
        own.find(|stack| place(&stack.functions) != StackPlace::Nothing)
    }

    /// What is known of the thread that ran on a CPU.
    pub(super) fn on_cpu(&self, cpu: u32) -> Option<&LoggedStack> {
        let ran = self.stacks.iter().filter(|stack| stack.owner.cpu == Some(cpu));
        ran.max_by_key(|stack| (stack.owner.thread.is_some(), place(&stack.functions) != StackPlace::Nothing))
    }

    /// What is known of a thread: the first of its stacks that shows something, as others are cut.
    pub(super) fn of_thread(&self, thread: &LoggedThread) -> Option<&LoggedStack> {
        let is_same = |owner: &LoggedThread| owner.is_same(thread);
        let is_own = |stack: &&LoggedStack| stack.owner.thread.as_ref().is_some_and(is_same);
        let mut own = self.stacks.iter().filter(is_own);
        own.clone().find(|stack| !stack.is_empty()).or_else(|| own.next())
    }
}

impl LoggedStacks {
    /// The stack, where there is one alone and it does not show its thread.
    pub(super) fn only(&self) -> Option<&LoggedStack> {
        self.stacks.first().filter(|stack| self.stacks.len() == 1 && stack.owner.thread.is_none())
    }

    /// The name of the thread with this number.
    pub(super) fn name_of(&self, pid: u64) -> Option<&str> {
        let threads = self.stacks.iter().filter_map(|stack| stack.owner.thread.as_ref());
        threads.filter(|thread| thread.pid == Some(pid)).map(|thread| thread.name.as_str()).next()
    }
}

impl LoggedStack {
    fn is_empty(&self) -> bool {
        self.functions.is_empty() && !self.sleeps
    }

    /// Takes in the next function outwards.
    fn add(&mut self, frame: Frame<'_>, module: Option<&str>) {
        match frame {
            Frame::General => self.sleeps = true,
            Frame::ForIo => {
                self.sleeps = true;
                self.sleeps_for_io |= self.functions.is_empty();
            }
            Frame::ThreadBegins => self.sleeps_at_begin |= self.sleeps && self.functions.is_empty(),
            // As the innermost function it shows where the thread is.
            Frame::Function(function) if !self.functions.is_empty() && frames::is_kernel_entry(function) => {}
            Frame::Function(function) => {
                // A thread that sleeps may have been preempted on its way there, or as it looked at the lock again.
                let is_above = |name: &String| is_above_lock(name);
                if self.owner.state == Some('D') && is_lock(function) && self.functions.iter().all(is_above) {
                    self.functions.clear();
                }
                if self.functions.last().is_none_or(|inner| inner != function) {
                    self.functions.push(function.to_owned());
                }
                if let Some(module) = module.filter(|_| function != USER) {
                    self.modules.insert(function.to_owned(), module.to_owned());
                }
            }
        }
    }

    /// Takes in the mark of powerpc below which the functions are interrupted ones: `--- interrupt: 901 at spin_on+0x10/0x20`. The function
    /// above it is where the interrupt enters the kernel, or leaves it again (`fast_exception_return`): neither is a caller.
    fn begins_interrupted(&mut self) {
        if self.has_trace && self.functions.len() > self.of_interrupts + 1 {
            self.functions.pop();
        }
        self.of_interrupts = self.functions.len();
    }

    /// Takes in `LR = enable_irqs+0x10/0x20`: of an interrupt that is caught up on as interrupts are enabled again, this is the function
    /// that enabled them (`arch/powerpc/kernel/irq.c`). Elsewhere it may be an old value.
    fn called_replay(&mut self, line: &str) {
        let name = line.strip_prefix("LR = ").and_then(|rest| rest.split_once("+0x"));
        if let (Some((name, _)), Some(last)) = (name, self.functions.last_mut())
            && last == REPLAY
        {
            *last = name.to_owned();
        }
    }

    /// True where its thread sleeps in the functions with which a kernel thread begins: it was created, and nothing has woken it
    /// since (`kthread()` in `kernel/kthread.c` sleeps uninterruptibly before it calls the thread's function).
    pub(super) fn is_not_begun(&self) -> bool {
        self.sleeps_at_begin && self.functions.is_empty()
    }

    /// For what its thread waits, if it sleeps.
    pub(super) fn waits_for(&self) -> Option<WaitsFor> {
        let by_io = self.sleeps_for_io.then_some("io_schedule");
        waits_for(by_io.into_iter().chain(self.functions.iter().map(String::as_str)))
    }

    /// `it waits for a lock`: of a thread that sleeps uninterruptibly, where its stack shows that.
    pub(super) fn wait(&self) -> Option<String> {
        let wait = self.waits_for().filter(|_| self.owner.state == Some('D'))?;
        Some(format!("it waits {wait}"))
    }

    /// True where its thread is in storage, a file system or pages, or sleeps for input or output.
    pub(super) fn is_of_storage(&self) -> bool {
        self.waits_for().is_some_and(|wait| wait != WaitsFor::Lock)
            || are_of_storage(self.functions.iter().map(String::as_str))
    }

    /// Where its thread is, in words; `None` where it shows nothing.
    pub(super) fn place(&self) -> Option<PlaceInWords> {
        Some(match place(&self.functions) {
            StackPlace::Nothing => return None,
            StackPlace::User => PlaceInWords::User,
            StackPlace::Cut => PlaceInWords::Cut,
            StackPlace::Functions(functions) => {
                let named = self.named(&functions);
                let [innermost, callers @ ..] = named.as_slice() else { return None };
                let callers = self.callers(innermost, callers);
                let softirq = softirq(&functions).filter(|handler| !named.contains(handler));
                let softirq = softirq.map(|handler| format!(", in the softirq's handler {handler}"));
                let innermost = self.with_module(innermost);
                PlaceInWords::In(format!("{innermost}{callers}{}", softirq.unwrap_or_default()))
            }
        })
    }

    /// True where its CPU waits for other ones. What a line names alone (`Stopper: multi_cpu_stop+0x0/0x18c`) may not have begun.
    pub(super) fn waits_for_answer(&self) -> bool {
        let StackPlace::Functions(functions) = place(&self.functions) else { return false };
        cpu_waits::is_for_answer(&functions) && (self.has_trace || !self.is_of_stopper)
    }

    /// True where its CPU spins for a lock.
    pub(super) fn spins_for_lock(&self) -> bool {
        matches!(place(&self.functions), StackPlace::Functions(functions) if cpu_waits::is_for_lock(&functions))
    }

    /// Behind the functions: what its CPU waits for.
    pub(super) fn cpu_wait(&self) -> &'static str {
        match self.waits_for_answer() {
            true => "; there it only waits for another CPU to answer, and that CPU is the one to look at",
            false => "",
        }
    }

    /// The innermost functions: each once where functions call each other again and again, as the outer ones show more then.
    fn named<'a>(&self, functions: &[&'a str]) -> Vec<&'a str> {
        let is_first = |&(at, name): &(usize, &&str)| {
            self.of_interrupts > 0 || !functions.get(..at).is_some_and(|inner| inner.contains(name))
        };
        let each = functions.iter().enumerate().filter(is_first).map(|(_, name)| *name);
        each.take(MOST_NAMED).collect()
    }

    /// `, called from b, c, which interrupted d, called from e`: an interrupt is called by no function that it interrupts.
    fn callers(&self, innermost: &str, callers: &[&str]) -> String {
        let called = |callers: &[&str]| match callers {
            [] => String::new(),
            callers => {
                let named: Vec<String> = callers.iter().map(|name| self.with_module(name)).collect();
                format!(", called from {}", named.join(", "))
            }
        };
        let at = self.functions.iter().position(|name| name == innermost).unwrap_or(0);
        // Those of the interrupt, without the innermost one.
        let own = self.of_interrupts.checked_sub(at + 1).and_then(|own| callers.split_at_checked(own));
        match own {
            Some((own, [interrupted, callers @ ..])) => {
                let interrupted = self.with_module(interrupted);
                format!("{}, which interrupted {interrupted}{}", called(own), called(callers))
            }
            _ => called(callers),
        }
    }

    /// `spin_on [driver]`
    fn with_module(&self, function: &str) -> String {
        match self.modules.get(function) {
            Some(module) => format!("{function} [{module}]"),
            None => function.to_owned(),
        }
    }

    /// What its CPU did, if its thread is the idle thread; `None` where the stack does not show that.
    pub(super) fn over_idle(&self) -> Option<OverIdle> {
        match place(&self.functions) {
            StackPlace::Nothing => self.owner.is_idling.then_some(OverIdle::Idle),
            StackPlace::User | StackPlace::Cut => None,
            StackPlace::Functions(functions) => {
                let is_innermost = |name: &String| functions.first().is_some_and(|first| first == name);
                let at = self.functions.iter().position(is_innermost);
                Some(over_idle(&functions, at.is_some_and(|at| at < self.of_interrupts)))
            }
        }
    }

    /// `its work item is flush_all (workqueue events)`, `its init call is self_test`; `None` where it is in neither, or names the
    /// function already.
    pub(super) fn work(&self) -> Option<String> {
        if let Some(work) = &self.work {
            return Some(format!("its work item is {work}"));
        }
        let StackPlace::Functions(functions) = place(&self.functions) else { return None };
        let named = functions.get(..MOST_NAMED).unwrap_or(&functions);
        let not_named = |function: &&str| !named.contains(function);
        let work = work_item::of_stack(&functions).filter(not_named);
        let init_call = work_item::init_call(&functions).filter(not_named);
        let work = work.map(|work| format!("its work item is {work}"));
        work.or_else(|| init_call.map(|call| format!("its init call is {call}")))
    }

    /// `the stack of app (7) on CPU 1 is a, called from b, c`; `None` where it shows nothing.
    pub(super) fn shown(&self) -> Option<String> {
        let cpu = self.owner.cpu.map(|cpu| format!("CPU {cpu}"));
        let owner = match (&self.owner.thread, cpu) {
            (Some(thread), Some(cpu)) => format!(" of {thread} on {cpu}"),
            (Some(thread), None) => format!(" of {thread}"),
            (None, Some(cpu)) => format!(" of {cpu}"),
            (None, None) => " below it".to_owned(),
        };
        if self.place().is_none() {
            let work = self.work.as_ref()?;
            return Some(match &self.owner.thread {
                Some(thread) => format!("the work item of {thread} is {work}"),
                None => format!("the work item is {work}"),
            });
        }
        self.shown_as(&format!("the stack{owner}"))
    }

    /// The same, with other words for the stack.
    pub(super) fn shown_as(&self, stack: &str) -> Option<String> {
        let work = self.work().map(|work| format!("; {work}")).unwrap_or_default();
        Some(match self.place()? {
            PlaceInWords::User => format!("{stack} shows user code"),
            PlaceInWords::Cut => {
                format!("{stack} ends above what the report interrupted: where that was is not shown{work}")
            }
            PlaceInWords::In(functions) => format!("{stack} is {functions}{work}{}", self.cpu_wait()),
        })
    }
}

/// True of the line with the function in which the registers are.
fn is_register(message: &str) -> bool {
    are_of_user(message)
        || ["RIP: ", "EIP: ", "pc : ", "PC is at ", "NIP [", "PSW : ", "Stopper: ", "TPC: <", "I7: <"]
            .iter()
            .any(|name| message.contains(name))
}

mod several_reports;
#[cfg(test)]
mod tests;
