//! Scheduler events in their three spellings: the kernel's `key=value`, the short form of
//! older kernels and of trace-cmd (`comm:pid [prio]`), and the latency tracers' numbers.

use super::fields::{self, from_right};
use super::line::Head;
use memchr::memchr_iter;
use whylate_base::{Comm, Cpu, Ns, Priority, Tid};
use whylate_events::{BlockedReason, EventKind, Switch, TaskState, Wake};

/// `sched_switch`
pub(crate) fn switch(text: &str) -> Option<EventKind> {
    // The first separator whose two sides can be read is the right one: a comm may hold it too.
    let by_keys = || {
        memchr_iter(b'=', text.as_bytes()).find_map(|equals| {
            let prev = text.get(..equals)?.strip_suffix(" next_comm")?;
            let next = text.get(prev.len() + 1..)?;
            // Mail programs and people leave more than one blank around the arrow.
            let prev = fields::trim_end(prev);
            let prev = fields::trim_end(prev.strip_suffix("==>").unwrap_or(prev));
            // With the first priority, a row without the second was cut by a terminal, perhaps within its last number.
            let Some((prev, state)) = leaving(prev) else { return shortened(prev, next) };
            let [next_comm, next_tid, next_prio] = from_right(next, ["next_comm", "next_pid", "next_prio"])?;
            // Patched kernels print more behind it: `R 0x0`.
            let state = task_state(state.split_once(" 0x").map_or(state, |(state, _)| state))?;
            let next = (next_comm, fields::tid(next_tid)?, fields::priority(next_prio)?);
            Some(switched(prev, state, next))
        })
    };
    let short = || {
        fields::signs(text, "==>").find_map(|at| {
            let (prev, state) = fields::last_word(text.get(..at)?)?;
            let (prev, state) = as_of_2009(prev, state);
            let prev = comm_pid_prio(fields::trim_end(prev))?;
            let next = text.get(at + "==> ".len()..)?;
            // Some trace-cmd versions put the CPU or flags behind the last priority.
            let next = next.get(..=next.rfind(']')?)?;
            Some(switched(prev, task_state(state)?, comm_pid_prio(fields::trim(next))?))
        })
    };
    if text.starts_with("prev_comm=") { by_keys().or_else(|| cut_to_idle(text)) } else { short() }
}

/// The thread that leaves, and what is printed of its state: `prev_comm=fio prev_pid=7 prev_prio=120 prev_state=S`.
fn leaving(prev: &str) -> Option<((&str, Tid, Priority), &str)> {
    let [comm, tid, prio, state] = from_right(prev, ["prev_comm", "prev_pid", "prev_prio", "prev_state"])?;
    Some(((comm, fields::tid(tid)?, fields::priority(prio)?), state))
}

/// A switch as people shorten it, without priorities: `prev_comm=fio prev_pid=7 prev_state=S ==> next_comm=app next_pid=9`; some
/// leave the state out as well.
fn shortened(prev: &str, next: &str) -> Option<EventKind> {
    let (comm, tid, state) = match from_right(prev, ["prev_comm", "prev_pid", "prev_state"]) {
        Some([comm, tid, state]) => (comm, fields::tid(tid)?, task_state(state)?),
        None => {
            let [comm, tid] = from_right(prev, ["prev_comm", "prev_pid"])?;
            (comm, fields::tid(tid)?, TaskState::Other)
        }
    };
    let [next_comm, next_tid] = from_right(next, ["next_comm", "next_pid"])?;
    let next_tid = fields::tid(next_tid)?;
    Some(switched(
        (comm, tid, without_priority(tid)),
        state,
        (next_comm, next_tid, without_priority(next_tid)),
    ))
}

/// The priority of a thread of which a row has none: that of the idle task is known.
fn without_priority(tid: Tid) -> Priority {
    if tid.is_idle() { Priority::DEFAULT } else { Priority::UNKNOWN }
}

/// A switch to the idle task that a terminal cut behind its name, which tells the rest: `... ==> next_comm=swapper/11 nex`.
fn cut_to_idle(text: &str) -> Option<EventKind> {
    let (prev, next) = text.split_once(" ==> next_comm=")?;
    let (idle, rest) = next.split_at(next.find(' ').unwrap_or(next.len()));
    let is_cpu = |cpu: &str| cpu.bytes().all(|byte| byte.is_ascii_digit());
    let is_idle = idle == "swapper" || idle.strip_prefix("swapper/").is_some_and(is_cpu);
    let is_cut = is_idle && " next_pid=0 next_prio=120".starts_with(rest);
    let (prev, state) = leaving(prev).filter(|_| is_cut)?;
    Some(switched(prev, task_state(state)?, (idle, Tid::IDLE, Priority::DEFAULT)))
}

/// `task swapper:0 [140] (R) ==> ...`: kernels of 2.6.28 to 2.6.31 printed a word before, and the state in parentheses
/// (`include/trace/events/sched.h`).
fn as_of_2009<'a>(prev: &'a str, state: &'a str) -> (&'a str, &'a str) {
    let bare = state.strip_prefix('(').and_then(|state| state.strip_suffix(')'));
    match (prev.strip_prefix("task "), bare) {
        (Some(prev), Some(state)) => (prev, state),
        _ => (prev, state),
    }
}

fn switched(prev: (&str, Tid, Priority), state: TaskState, next: (&str, Tid, Priority)) -> EventKind {
    EventKind::Switch(Switch {
        prev_comm: Comm::from(prev.0),
        prev_tid: prev.1,
        prev_prio: prev.2,
        prev_state: state,
        next_comm: Comm::from(next.0),
        next_tid: next.1,
        next_prio: next.2,
    })
}

/// `comm:pid [prio]`
fn comm_pid_prio(text: &str) -> Option<(&str, Tid, Priority)> {
    let (who, prio) = fields::rsplit(text.strip_suffix(']')?, b'[')?;
    let (comm, tid) = fields::rsplit(fields::trim_end(who), b':')?;
    Some((comm, fields::tid(tid)?, fields::priority(prio)?))
}

/// `sched_waking`, `sched_wakeup`, `sched_wakeup_new`
pub(crate) fn wake(text: &str) -> Option<Wake> {
    if text.starts_with("comm=") {
        if let Some([comm, tid, prio, cpu]) = from_right(text, ["comm", "pid", "prio", "target_cpu"]) {
            return woken((comm, fields::tid(tid)?, fields::priority(prio)?), cpu);
        }
        // By the field's name, as an old trace-cmd prints it.
        if let Some([comm, tid, prio, _, cpu]) = from_right(text, ["comm", "pid", "prio", "success", "cpu"]) {
            return woken((comm, fields::tid(tid)?, fields::priority(prio)?), cpu);
        }
        // As people shorten it.
        let [comm, tid, cpu] = from_right(text, ["comm", "pid", "target_cpu"])?;
        return woken((comm, fields::tid(tid)?, Priority::UNKNOWN), cpu);
    }
    if let Some((who, rest)) = text.strip_prefix("task ").and_then(|text| text.rsplit_once(" success=")) {
        let (_, cpu) = fields::trim_start(rest).split_once([' ', '\t'])?;
        return woken(comm_pid_prio(who)?, cpu);
    }
    let (who, cpu) = text.rsplit_once(" CPU:")?;
    let who = who.get(..=who.rfind(']')?)?;
    woken(comm_pid_prio(who)?, cpu)
}

fn woken((comm, tid, prio): (&str, Tid, Priority), cpu: &str) -> Option<Wake> {
    let target_cpu = fields::cpu(cpu)?;
    Some(Wake { comm: Comm::from(comm), tid, prio, target_cpu })
}

/// The latency tracers' own lines. The previous thread's name is the line's, cut to 8
/// characters there; a waker's wake-up has the CPU on which the woken thread is queued.
///
/// ```text
///  1456:  0:S ==> [001]   12905: 19:R cyclictest
/// 12898:120:R   + [001]   12905: 19:R cyclictest
/// ```
pub(crate) fn latency_line(head: &Head<'_>, text: &str) -> Option<EventKind> {
    let (at, is_switch) = match (text.find(" ==> ["), text.find(" + [")) {
        (Some(at), _) => (at, true),
        (None, Some(at)) => (at, false),
        (None, None) => return None,
    };
    let (prev_tid, prev_prio, state) = triple(text.get(..at)?)?;
    let (cpu, next) = text.get(at..)?.split_once('[')?.1.split_once(']')?;
    let cpu = fields::cpu_from(cpu)?;
    let (tid, prio, rest) = split_triple(next)?;
    let comm = rest.trim_start().split_once(char::is_whitespace).map_or("", |(_, comm)| comm.trim());
    Some(if is_switch {
        switched((head.comm, prev_tid, prev_prio), task_state(state)?, (comm, tid, prio))
    } else {
        wakeup(comm, tid, prio, cpu)
    })
}

/// The two in the latency traces of the patches of 2004 to 2008 (`trace_special_pid`, `kernel/latency.c` there): the
/// priorities are hexadecimal.
///
/// ```text
/// __trace_start_sched_wakeup <<...>-26580> (13 0)     the thread that is woken, its priority
/// schedule <ldconfig-26779> (76 13)                   upon the next thread: the previous one, and the priorities of both
/// ```
pub(crate) fn old_line(head: &Head<'_>, text: &str) -> Option<EventKind> {
    let (function, rest) = text.strip_suffix(':').unwrap_or(text).split_once(" <")?;
    let (who, numbers) = rest.rsplit_once("> (")?;
    // By option each function has its address behind it: `schedule+0x356/0x710 <c02a7ea6> <ldconfig-26779> (76 13)`.
    let function = function.split_once('+').map_or(function, |(name, _)| name);
    let who = who.rsplit_once("> <").map_or(who, |(_, who)| who);
    let (first, second) = numbers.strip_suffix(')')?.split_once(' ')?;
    let prio = |hex| i32::try_from(fields::address(hex)?).ok().map(Priority);
    let (comm, tid) = fields::comm_pid(who)?;
    // `<...>`: a name that was not known.
    let known = |comm: &'_ str| if comm.starts_with('<') { Comm::default() } else { Comm::from(comm) };
    match function {
        // The other name is that of v1.1.3.
        "__trace_start_sched_wakeup" | "__wake_up_common" => {
            let wake = Wake { comm: known(comm), tid, prio: prio(first)?, target_cpu: head.cpu };
            Some(EventKind::Wakeup { wake, new: false })
        }
        "schedule" | "__schedule" | "finish_task_switch" if tid != head.context.tid => {
            Some(EventKind::Switch(Switch {
                prev_comm: known(comm),
                prev_tid: tid,
                prev_prio: prio(first)?,
                // Not printed. A thread that a wake-up traced had to wait for was runnable in most cases.
                prev_state: TaskState::Other,
                next_comm: known(head.comm),
                next_tid: head.context.tid,
                next_prio: prio(second)?,
            }))
        }
        _ => None,
    }
}

/// The same two as `trace-cmd report` prints them, without names: `1456:0:1  ==> 12905:19:0 [001]`
/// for a switch, `==+` for a wake-up.
pub(crate) fn numbers_line(head: &Head<'_>, text: &str) -> Option<EventKind> {
    let (prev, next) = text.split_once("==")?;
    let (is_switch, next) = match next.strip_prefix('>') {
        Some(next) => (true, next),
        None => (false, next.strip_prefix('+')?),
    };
    let (prev_tid, prev_prio, state) = triple(prev)?;
    let (next, cpu) = fields::rsplit(next.trim().strip_suffix(']')?, b'[')?;
    let (tid, prio, _) = triple(next)?;
    Some(match is_switch {
        true => switched((head.comm, prev_tid, prev_prio), task_state(state)?, ("", tid, prio)),
        false => wakeup("", tid, prio, fields::cpu_from(cpu)?),
    })
}

fn wakeup(comm: &str, tid: Tid, prio: Priority, target_cpu: Cpu) -> EventKind {
    EventKind::Wakeup { wake: Wake { comm: Comm::from(comm), tid, prio, target_cpu }, new: false }
}

fn split_triple(text: &str) -> Option<(Tid, Priority, &str)> {
    let mut parts = text.splitn(3, ':');
    Some((fields::tid(parts.next()?)?, fields::priority(parts.next()?)?, parts.next()?))
}

fn triple(text: &str) -> Option<(Tid, Priority, &str)> {
    split_triple(text).map(|(tid, prio, state)| (tid, prio, state.trim()))
}

/// `sched_migrate_task`
pub(crate) fn migrate(text: &str) -> Option<EventKind> {
    let [_, tid, _, from, to] = from_right(text, ["comm", "pid", "prio", "orig_cpu", "dest_cpu"])?;
    Some(EventKind::Migrate { tid: fields::tid(tid)?, from: fields::cpu(from)?, to: fields::cpu(to)? })
}

/// What a statistic of the scheduler states of a thread: since when it has been on a runqueue.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Queued {
    pub(crate) tid: Tid,
    pub(crate) comm: Comm,
    /// It has waited there for so long; `None`: its sleep ends now.
    pub(crate) waited: Option<Ns>,
}

/// `sched_stat_wait`: the thread gets a CPU, and has waited for so long. `sched_stat_sleep`, `sched_stat_blocked` and
/// `sched_stat_iowait`: it is woken, and has slept for so long. (kernel/sched/stats.c and fair.c; of real-time threads since 5.16.)
pub(crate) fn queued(text: &str, has_waited: bool) -> Option<Queued> {
    if let Some((comm, tid, delay)) = old_statistic(text, &["wait", "sleep", "iowait"]) {
        return Some(Queued { tid, comm, waited: Some(delay).filter(|_| has_waited) });
    }
    let [comm, tid, delay] = from_right(text, ["comm", "pid", "delay"])?;
    let delay = fields::nanoseconds(fields::first_word(delay)).filter(|delay| *delay >= Ns::ZERO)?;
    Some(Queued {
        tid: fields::tid(tid)?,
        comm: Comm::from(comm),
        waited: Some(delay).filter(|_| has_waited),
    })
}

/// `task: app:7 wait: 5362 [ns]`, `task: app:7 runtime: 5092 [ns], vruntime: 133 [ns]`: the fields of 2.6.31 and before
/// (include/trace/events/sched.h).
fn old_statistic(text: &str, names: &[&str]) -> Option<(Comm, Tid, Ns)> {
    let text = text.trim_start().strip_prefix("task")?.trim_start_matches([':', ' ']);
    let (thread, delay) = names.iter().find_map(|name| text.split_once(&format!(" {name}: ")))?;
    let (comm, tid) = fields::rsplit(thread.trim(), b':')?;
    let delay = fields::nanoseconds(fields::first_word(delay)).filter(|delay| *delay >= Ns::ZERO)?;
    Some((Comm::from(comm), fields::tid(tid)?, delay))
}

/// For how long a thread has run since it got its CPU or was last counted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct RanFor {
    pub(crate) tid: Tid,
    pub(crate) time: Ns,
}

/// `sched_stat_runtime`, which has no `vruntime=` since Linux 6.8.
pub(crate) fn ran_for(text: &str) -> Option<RanFor> {
    if let Some((_, tid, time)) = old_statistic(text, &["runtime"]) {
        return Some(RanFor { tid, time });
    }
    let old =
        || from_right(text, ["comm", "pid", "runtime", "vruntime"]).map(|[_, tid, time, _]| (tid, time));
    let (tid, time) =
        old().or_else(|| from_right(text, ["comm", "pid", "runtime"]).map(|[_, tid, time]| (tid, time)))?;
    let time = fields::nanoseconds(fields::first_word(time)).filter(|time| *time >= Ns::ZERO)?;
    Some(RanFor { tid: fields::tid(tid)?, time })
}

/// `sched_process_fork`: `comm= pid= child_comm= child_pid=`, with `parent_` keys in raw form.
pub(crate) fn fork(text: &str) -> Option<EventKind> {
    let keys = if text.starts_with("parent_comm=") { ["parent_comm", "parent_pid"] } else { ["comm", "pid"] };
    let [_, parent, comm, child] = from_right(text, [keys[0], keys[1], "child_comm", "child_pid"])?;
    Some(EventKind::Fork { parent: fields::tid(parent)?, child: fields::tid(child)?, comm: Comm::from(comm) })
}

/// `sched_process_exec`
pub(crate) fn exec(text: &str) -> Option<EventKind> {
    let [_, tid, old] = from_right(text, ["filename", "pid", "old_pid"])?;
    Some(EventKind::Exec { old: fields::tid(old)?, tid: fields::tid(tid)? })
}

/// `sched_process_exit`
pub(crate) fn exit(text: &str) -> Option<EventKind> {
    let [_, tid, _] = from_right(text, ["comm", "pid", "prio"])?;
    Some(EventKind::Exit { tid: fields::tid(tid)? })
}

/// `sched_blocked_reason`
pub(crate) fn blocked_reason(text: &str) -> Option<EventKind> {
    Some(EventKind::BlockedReason(BlockedReason {
        tid: fields::tid(fields::field(text, "pid")?)?,
        io_wait: fields::field(text, "iowait").or_else(|| fields::field(text, "io_wait"))? != "0",
        caller: fields::field(text, "caller").map(fields::symbol).unwrap_or_default(),
    }))
}

/// `sched_pi_setprio`
pub(crate) fn pi_setprio(text: &str) -> Option<EventKind> {
    let [_, tid, old, new] = from_right(text, ["comm", "pid", "oldprio", "newprio"])?;
    let tid = fields::tid(tid)?;
    Some(EventKind::PiSetprio { tid, old: fields::priority(old)?, new: fields::priority(new)? })
}

/// A state's letters, or its bits where the trace was printed raw.
///
/// Letters: `TASK_STATE_TO_CHAR_STR` of `include/linux/sched.h`. trace-cmd prints the letters
/// of old kernels for the bits of new ones, so an idle kernel thread shows as `W`, and a
/// preempted thread as `R`. Bits: those the versions agree on; a parked thread of 4.14 has
/// the bit of an ending one before.
fn task_state(text: &str) -> Option<TaskState> {
    // Nearly all are one of these.
    match text {
        "R" => return Some(TaskState::Runnable),
        "R+" => return Some(TaskState::Preempted),
        "S" => return Some(TaskState::Interruptible),
        "D" => return Some(TaskState::Uninterruptible),
        _ => {}
    }
    if let Some(bits) = fields::number::<i64>(text) {
        let any = |mask: i64| bits & mask != 0;
        return Some(match bits {
            0 => TaskState::Runnable,
            0x100 | 0x400 | 0x800 | 0x1000 => TaskState::Preempted,
            _ if any(0x70) => TaskState::Dead,
            // TASK_IDLE before 4.14 is uninterruptible (2) without load (0x400).
            0x80 | 0x402 => TaskState::Idle,
            _ if any(0x2) => TaskState::Uninterruptible,
            _ if any(0x1) => TaskState::Interruptible,
            _ if any(0x4) => TaskState::Stopped,
            _ if any(0x8) => TaskState::Traced,
            _ => TaskState::Other,
        });
    }
    if !text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '?') {
        return None;
    }
    let any = |letters: &[&str]| text.split('|').any(|letter| letters.contains(&letter));
    Some(if text.ends_with('+') {
        TaskState::Preempted
    } else if any(&["X", "Z", "x"]) {
        TaskState::Dead
    } else if any(&["I"]) || text == "W" || any(&["D"]) && any(&["N"]) {
        TaskState::Idle
    } else if any(&["D"]) {
        TaskState::Uninterruptible
    } else if any(&["S"]) {
        TaskState::Interruptible
    } else if any(&["T"]) {
        TaskState::Stopped
    } else if any(&["t"]) {
        TaskState::Traced
    } else if text.split('|').all(|letter| letter.len() == 1) {
        TaskState::Other
    } else {
        return None;
    })
}
