//! The longest call in a trace of the function_graph tracer, and where its time went.
//!
//! Calls nest by thread: one that sleeps may return on another CPU. Each function's own time is its duration without that of
//! the calls within it. A call during which another thread got the CPU has its time as well, and counts apart; what the idle
//! task calls does not count.
//! (`trace_graph_return`, `kernel/trace/trace_functions_graph.c`)

use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use whylate_base::{Cpu, Ns, Tid};
use whylate_events::{Event, EventKind, Symbol};

/// Calls do not nest deeper (`FTRACE_RETFUNC_DEPTH` is 50).
const DEEPEST: usize = 256;
/// Of more callers only those are kept that are in a call.
const MOST_CALLERS: usize = 1 << 13;
/// Functions in which a thread gives the CPU away. Others of that name queue work (`schedule_work`), or are the tick's
/// (`scheduler_tick`).
const SCHEDULES: [&str; 7] = [
    "schedule",
    "__schedule",
    "__schedule_loop",
    "schedule_idle",
    "schedule_preempt_disabled",
    "schedule_rtlock",
    "schedule_user",
];
/// Beginnings of the names of such functions, and of those of the idle task.
const GIVE_WAY: [&str; 7] = [
    "schedule_timeout",
    "schedule_hrtimeout",
    "preempt_schedule",
    "do_idle",
    "cpuidle",
    "default_idle",
    "arch_cpu_idle",
];
/// Beginnings of the names of functions in which a thread waits, or is preempted; what calls them is what waits.
const SLEEPS: [&str; 2] = ["schedule_timeout", "schedule_hrtimeout"];
/// Beginnings of the names of functions that sleep for as long as their caller asks for (kernel/time/sleep_timeout.c).
const DELAYS: [&str; 2] = ["msleep", "usleep_range"];
/// What a thread does first as it gets the CPU back (`context_switch()` in `kernel/sched/core.c`, whose callers may not be traced).
const SWITCHED: &str = "finish_task_switch";

/// One call.
#[derive(Clone, Debug)]
pub(crate) struct LongestCall {
    pub(crate) function: Symbol,
    pub(crate) cpu: Cpu,
    pub(crate) at: Ns,
    pub(crate) duration: Ns,
    /// The CPU on which it returned, where that is another one: a thread is moved while it is off the CPU.
    pub(crate) returned_on: Option<Cpu>,
    /// The function that took most of it by itself, with its own time and the number of its calls; `None` where lines
    /// within it are missing.
    pub(crate) most: Option<(Symbol, Ns, u64)>,
    /// Another thread had the CPU meanwhile: it slept, or was preempted.
    pub(crate) was_away: bool,
    /// The longest call within it, or itself, that called the scheduler or in which the CPU went to another thread, and its duration.
    pub(crate) waited: Option<(Symbol, Ns)>,
    /// The trace has returns alone: the kernel records no more where `tracing_thresh` is set (`trace_graph_thresh_return`).
    pub(crate) only_returns: bool,
}

/// The longest call so far, and the calls that are open.
#[derive(Debug, Default)]
pub(crate) struct Calls {
    open: FxHashMap<Caller, OpenCalls>,
    /// Who had the last line of each CPU.
    on_cpu: BTreeMap<Cpu, Caller>,
    longest: Option<LongestCall>,
    /// The longest call during which another thread got the CPU.
    longest_away: Option<LongestCall>,
    /// The longest call that called the scheduler within.
    longest_waiting: Option<LongestCall>,
    /// A call's entry was seen.
    has_entries: bool,
    /// The longest call by its return, as long as no entry was seen.
    longest_return: Option<LongestCall>,
    /// The longest return that belongs to no entry that was seen.
    longest_unmatched: Option<UnmatchedReturn>,
    /// The longest one of a call that gave the CPU away.
    longest_unmatched_away: Option<UnmatchedReturn>,
}

/// A return of a call whose entry the trace does not have.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UnmatchedReturn {
    /// Empty where its line does not name it.
    pub(crate) function: Symbol,
    pub(crate) duration: Ns,
    /// Where the CPU went to other threads.
    pub(crate) gave_way: Option<GaveWay>,
}

/// A function in which the CPU went to other threads, and what called it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GaveWay {
    pub(crate) function: Symbol,
    pub(crate) took: Ns,
    /// The depth of its last caller that returned.
    depth: u32,
    /// The caller that sleeps for a time that its own caller asks for.
    delay: Option<Symbol>,
    /// What asked for that time.
    asked_by: Option<Symbol>,
}

impl GaveWay {
    /// The function that sleeps for a time of its own choice, and by what.
    pub(crate) fn chosen(&self) -> Option<(Symbol, Symbol)> {
        self.asked_by.zip(self.delay)
    }

    /// A call of this depth returns that it is within.
    fn within(self, name: Symbol, depth: u32) -> GaveWay {
        let is_caller = depth.checked_add(1) == Some(self.depth) && !name.is_empty();
        let mut whole = GaveWay { depth, ..self };
        match self.delay {
            _ if is_one_of(&name, &[], &DELAYS) => (whole.delay, whole.asked_by) = (Some(name), None),
            Some(_) if is_caller && self.asked_by.is_none() => whole.asked_by = Some(name),
            _ => {}
        }
        whole
    }
}

/// Whose calls nest: a thread's; where it is not known, or is a CPU's idle task, those of a CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Caller {
    Thread(Tid),
    Cpu(Cpu),
}

#[derive(Debug, Default)]
struct OpenCalls {
    /// Of a CPU's calls, the thread of the last one.
    tid: Option<Tid>,
    stack: Vec<OpenCall>,
    /// The last return of a function that gave the CPU away, without its entry.
    gave_way: Option<GaveWay>,
}

#[derive(Debug)]
struct OpenCall {
    function: Symbol,
    depth: u32,
    /// Where and when it was entered.
    cpu: Cpu,
    entered: Ns,
    /// The time of the calls within.
    within: Ns,
    /// Own times and numbers of the calls within.
    own: HashMap<Symbol, (Ns, u64)>,
    /// Lines are missing since it was entered.
    has_gaps: bool,
    /// Another thread had the CPU since.
    was_away: bool,
    /// It called the scheduler, or another thread got the CPU in it.
    waits: bool,
    /// The longest call within that did.
    waited: Option<(Symbol, Ns)>,
}

impl Calls {
    /// Takes in the next event.
    pub(super) fn see(&mut self, event: &Event) {
        let is_call = matches!(
            event.kind,
            EventKind::FunctionEntry { .. } | EventKind::FunctionExit { .. } | EventKind::Lost { .. }
        );
        if !is_call {
            return;
        }
        let tid = event.context.tid;
        if let EventKind::Lost { .. } = event.kind {
            if let Some(open) = self.on_cpu.get(&event.cpu).and_then(|caller| self.open.get_mut(caller)) {
                open.stack.clear();
            }
            return;
        }
        let caller = if tid.0 > 0 { Caller::Thread(tid) } else { Caller::Cpu(event.cpu) };
        if let Some(before) = self.on_cpu.insert(event.cpu, caller).filter(|&before| before != caller)
            && let Some(left) = self.open.get_mut(&before)
        {
            left.is_away();
        }
        if self.open.len() > MOST_CALLERS {
            self.open.retain(|_, open| !open.stack.is_empty());
        }
        let open = self.open.entry(caller).or_default();
        if open.tid.replace(tid) != Some(tid) {
            open.stack.clear();
        }
        match event.kind {
            EventKind::FunctionEntry { name, depth } => {
                self.has_entries = true;
                open.enter(event, name, depth);
            }
            EventKind::FunctionExit { name, depth, duration } if self.has_entries => {
                match open.leave(event.cpu, name, depth, duration) {
                    Left::Call(call) => keep_longer(&mut self.longest, call),
                    Left::Away(call) => keep_longer(&mut self.longest_away, call),
                    Left::Unmatched => {
                        let gave_way = open.giving_way(name, depth, duration);
                        let longest = match gave_way {
                            Some(_) => &mut self.longest_unmatched_away,
                            None => &mut self.longest_unmatched,
                        };
                        if longest.is_none_or(|longest| duration > longest.duration) {
                            *longest = Some(UnmatchedReturn { function: name, duration, gave_way });
                        }
                    }
                    // The idle task waits by its nature.
                    Left::GaveWay(call) if !tid.is_idle() && call.waited.is_some() => {
                        keep_longer(&mut self.longest_waiting, call);
                    }
                    Left::GaveWay(_) => {}
                }
            }
            EventKind::FunctionExit { name, depth, duration } => {
                if let Some(call) = open.returned(event, name, depth, duration) {
                    keep_longer(&mut self.longest_return, call);
                }
            }
            _ => {}
        }
    }

    /// The longest call that was seen from its entry to its return; of a trace with returns alone, the longest of them.
    pub(crate) fn longest(&self) -> Option<&LongestCall> {
        match self.has_entries {
            true => self.longest.as_ref().or(self.longest_away.as_ref()),
            false => self.longest_return.as_ref(),
        }
    }

    /// A longer call than that one, during which another thread got the CPU.
    pub(crate) fn longer_away(&self) -> Option<&LongestCall> {
        let longest = self.longest.as_ref()?;
        let away = [&self.longest_away, &self.longest_waiting].into_iter().flatten();
        let away = away.max_by_key(|call| (call.duration, Reverse(call.at)));
        away.filter(|away| away.duration > longest.duration)
    }

    /// A call that took longer than all that were seen from entry to return: its return alone was seen.
    pub(crate) fn longer_return(&self) -> Option<UnmatchedReturn> {
        self.longest_unmatched.filter(|unmatched| self.is_longer(unmatched))
    }

    /// The same, of a call that gave the CPU away.
    pub(crate) fn longer_return_away(&self) -> Option<UnmatchedReturn> {
        self.longest_unmatched_away.filter(|unmatched| self.is_longer(unmatched))
    }

    fn is_longer(&self, unmatched: &UnmatchedReturn) -> bool {
        let seen = [&self.longest, &self.longest_away].into_iter().flatten().map(|call| call.duration).max();
        self.has_entries && unmatched.duration > seen.unwrap_or(Ns::ZERO)
    }
}

/// Keeps the longer of two calls; of equally long ones the first.
fn keep_longer(longest: &mut Option<LongestCall>, call: LongestCall) {
    let length = |call: &LongestCall| (call.duration, Reverse(call.at));
    if longest.as_ref().is_none_or(|longest| length(&call) > length(longest)) {
        *longest = Some(call);
    }
}

/// True of a function in which the CPU goes to another thread.
fn gives_way(name: &Symbol) -> bool {
    is_one_of(name, &SCHEDULES, &GIVE_WAY)
}

/// True of a function of the scheduler whose caller waits.
fn is_wait(name: &Symbol) -> bool {
    is_one_of(name, &SCHEDULES, &SLEEPS)
}

/// True of the function with which a thread has the CPU again.
fn is_switched(name: &Symbol) -> bool {
    is_one_of(name, &[SWITCHED], &[])
}

/// True of a function of one of these names, whatever the compiler put behind it (`.isra.0`), or with one of these beginnings.
fn is_one_of(name: &Symbol, names: &[&str], beginnings: &[&str]) -> bool {
    let name = name.as_str();
    let whole = name.split('.').next().unwrap_or(name);
    names.contains(&whole) || beginnings.iter().any(|beginning| name.starts_with(beginning))
}

/// The longer of two waits.
fn longer(one: Option<(Symbol, Ns)>, other: Option<(Symbol, Ns)>) -> Option<(Symbol, Ns)> {
    match (one, other) {
        (Some(one), Some(other)) => Some(if other.1 > one.1 { other } else { one }),
        _ => one.or(other),
    }
}

/// What became of a call that returned.
enum Left {
    /// It was seen from its entry.
    Call(LongestCall),
    /// The same; another thread had the CPU meanwhile.
    Away(LongestCall),
    /// It, or a call within it, gave the CPU away.
    GaveWay(LongestCall),
    /// Its entry was not seen, or lines are missing.
    Unmatched,
}

impl OpenCalls {
    /// A call returns in a trace without entries; `None` where it, or one within it, gave the CPU away.
    fn returned(&mut self, event: &Event, name: Symbol, depth: u32, duration: Ns) -> Option<LongestCall> {
        if self.giving_way(name, depth, duration).is_some() {
            return None;
        }
        (!name.is_empty()).then(|| LongestCall {
            function: name,
            cpu: event.cpu,
            at: (event.ts - duration).max(Ns::ZERO),
            duration,
            returned_on: None,
            most: None,
            was_away: false,
            waited: None,
            only_returns: true,
        })
    }

    /// Where the call that returns without its entry gave the CPU away.
    fn giving_way(&mut self, name: Symbol, depth: u32, duration: Ns) -> Option<GaveWay> {
        let within = self.gave_way.filter(|inner| depth < inner.depth && inner.took <= duration);
        let gave_way = match within {
            Some(inner) => inner.within(name, depth),
            None if gives_way(&name) => {
                GaveWay { function: name, took: duration, depth, delay: None, asked_by: None }
            }
            None => return None,
        };
        self.gave_way = Some(gave_way);
        Some(gave_way)
    }

    fn enter(&mut self, event: &Event, function: Symbol, depth: u32) {
        // The callers of what gave the CPU away have returned, in lines that are missing.
        self.gave_way = self.gave_way.filter(|inner| depth >= inner.depth);
        // Calls that never returned: lines are missing.
        let is_next = self.stack.last().is_none_or(|last| last.depth.checked_add(1) == Some(depth));
        if !is_next {
            self.missing_above(depth);
        }
        if self.stack.len() == DEEPEST {
            self.stack.clear();
        }
        if is_switched(&function) && self.stack.last().is_some() {
            self.is_away();
        } else if let Some(caller) = self.stack.last_mut().filter(|_| is_wait(&function)) {
            caller.waits = true;
        }
        let own = HashMap::new();
        self.stack.push(OpenCall {
            function,
            depth,
            cpu: event.cpu,
            entered: event.ts,
            within: Ns::ZERO,
            own,
            has_gaps: false,
            was_away: false,
            waits: false,
            waited: None,
        });
    }

    /// Another thread has the CPU, or had it.
    fn is_away(&mut self) {
        self.stack.iter_mut().for_each(|call| call.was_away = true);
        if let Some(innermost) = self.stack.last_mut() {
            innermost.waits = true;
        }
    }

    /// Lines are missing before one of this depth: the calls that it is in may be open still.
    fn missing_above(&mut self, depth: u32) {
        self.stack.retain(|call| call.depth < depth);
        self.stack.iter_mut().for_each(|call| call.has_gaps = true);
    }

    /// The call of this depth returns on a CPU.
    fn leave(&mut self, on: Cpu, name: Symbol, depth: u32, duration: Ns) -> Left {
        if self.stack.last().is_some_and(|last| last.depth != depth) {
            self.missing_above(depth.saturating_add(1));
        }
        let Some(mut call) = self.stack.pop() else { return Left::Unmatched };
        // With lines missing, the return may be that of a later call of the same depth.
        if call.depth != depth || call.has_gaps && name != call.function {
            self.stack.push(call);
            self.missing_above(depth);
            return Left::Unmatched;
        }
        let duration = duration.max(Ns::ZERO);
        let own = call.own.entry(call.function).or_default();
        own.0 += duration.since(call.within);
        own.1 += 1;
        let most = call.own.iter().max_by_key(|(name, (time, _))| (*time, Reverse(name.as_str())));
        let is_complete = !call.has_gaps && !call.was_away;
        // The scheduler's own functions wait for their caller.
        let is_scheduler = gives_way(&call.function);
        if call.waits && !is_scheduler {
            call.waited = longer(call.waited, Some((call.function, duration)));
        }
        let most = most.map(|(&name, &(time, calls))| (name, time, calls)).filter(|_| is_complete);
        let whole = LongestCall {
            function: call.function,
            cpu: call.cpu,
            at: call.entered,
            duration,
            returned_on: Some(on).filter(|on| *on != call.cpu),
            most,
            was_away: call.was_away,
            waited: call.waited,
            only_returns: false,
        };
        let left = match call.own.keys().any(gives_way) {
            true => Left::GaveWay(whole),
            false if call.was_away => Left::Away(whole),
            false => Left::Call(whole),
        };
        if let Some(caller) = self.stack.last_mut() {
            caller.has_gaps |= call.has_gaps;
            caller.was_away |= call.was_away;
            caller.waits |= call.waits && is_scheduler;
            caller.waited = longer(caller.waited, call.waited);
            caller.within += duration;
            for (name, (time, calls)) in call.own {
                let own = caller.own.entry(name).or_default();
                own.0 += time;
                own.1 += calls;
            }
        }
        left
    }
}
