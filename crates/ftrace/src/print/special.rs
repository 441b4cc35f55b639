//! Events that trace-cmd prints in a form of its own: its plugins and ftrace's own events.

use super::eval::Record;
use super::expr::{Expr, Slot};
use super::format::Format;
use super::parse::field_expr;
use super::text::{hex_bytes, put};
use super::{Mode, Names};
use crate::bytes::until_nul;
use crate::format::{EventFormat, ValueAt};

/// An event with a form of its own, and where its fields are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Special {
    Switch {
        prev: Task,
        state: Option<Expr>,
        /// Of the state's bits.
        letters: Vec<u8>,
        next: Task,
    },
    Wakeup {
        task: Task,
        success: Option<Expr>,
        target: Option<Expr>,
    },
    HrtimerStart {
        timer: Expr,
        function: Option<Expr>,
        expires: Expr,
        softexpires: Expr,
    },
    HrtimerExpire {
        timer: Expr,
        now: Expr,
        function: Option<Expr>,
    },
    Function {
        ip: Expr,
        parent: Expr,
    },
    Stack {
        callers: usize,
    },
    RawData {
        id: Expr,
        data: usize,
    },
    GraphEntry {
        function: Expr,
        depth: Expr,
    },
    GraphExit(GraphExit),
    Futex(Box<[Expr; 6]>),
    /// The event's own form, behind the function that called.
    CallSite(Expr),
}

/// A thread as scheduler events name it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Task {
    pub(super) comm: Option<Slot>,
    pub(super) pid: Expr,
    prio: Option<Expr>,
}

/// The end of a function in the function graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct GraphExit {
    pub(super) function: Expr,
    called: Expr,
    returned: Expr,
    depth: Expr,
}

/// The letters of the states, from the lowest bit on, where the event does not show them itself.
const STATES: &[u8; 8] = b"SDTtXZPI";

/// The operations of `futex(2)`, and which of val, utime, uaddr2 and val3 each is shown with:
/// in hexadecimal, decimal or not.
const FUTEX_OPERATIONS: [(&str, [Shown; 4]); 13] = {
    use Shown::{Decimal as D, Hex as X, No as N};
    [
        ("FUTEX_WAIT", [X, X, N, N]),
        ("FUTEX_WAKE", [D, N, N, N]),
        ("FUTEX_FD", [D, N, N, N]),
        ("FUTEX_REQUEUE", [D, D, X, N]),
        ("FUTEX_CMP_REQUEUE", [D, D, X, X]),
        ("FUTEX_WAKE_OP", [D, D, X, X]),
        ("FUTEX_LOCK_PI", [N, X, N, N]),
        ("FUTEX_UNLOCK_PI", [N, N, N, N]),
        ("FUTEX_TRYLOCK_PI", [N, N, N, N]),
        ("FUTEX_WAIT_BITSET", [X, X, N, X]),
        ("FUTEX_WAKE_BITSET", [D, N, N, X]),
        ("FUTEX_WAIT_REQUEUE_PI", [X, X, X, X]),
        ("FUTEX_CMP_REQUEUE_PI", [D, D, X, X]),
    ]
};

#[derive(Clone, Copy)]
enum Shown {
    No,
    Decimal,
    Hex,
}

const FUTEX_PRIVATE: u64 = 128;
const FUTEX_REALTIME: u64 = 256;

impl Special {
    /// `None` for an event that has no form of its own, or lacks a field of it.
    /// `plain` is the event's own form.
    pub(super) fn compile(
        format: &EventFormat,
        plain: Option<&Format>,
        mode: Mode,
        long_size: usize,
    ) -> Option<Special> {
        let int = |name: &str| match field_expr(format.field(name)?, long_size) {
            expression @ (Expr::Int { .. } | Expr::Pointer { .. }) => Some(expression),
            _ => None,
        };
        let task = |comm: &str, pid: &str, prio: &str| {
            let comm = format.field(comm).map(|field| Slot::of(field, long_size));
            Some(Task { comm, pid: int(pid)?, prio: int(prio) })
        };
        let array = |name: &str| {
            format.field(name).filter(|field| field.place == ValueAt::Here).map(|field| field.offset)
        };
        let name = (format.system.as_str(), format.name.as_str());
        match name {
            ("ftrace", "function") => {
                return Some(Special::Function { ip: int("ip")?, parent: int("parent_ip")? });
            }
            ("ftrace", "kernel_stack") => return Some(Special::Stack { callers: array("caller")? }),
            ("ftrace", "raw_data") => {
                return Some(Special::RawData { id: int("id")?, data: array("buf")? });
            }
            ("ftrace", "funcgraph_entry") => {
                return Some(Special::GraphEntry { function: int("func")?, depth: int("depth")? });
            }
            ("ftrace", "funcgraph_exit") => {
                let (called, returned) = (int("calltime")?, int("rettime")?);
                let (function, depth) = (int("func")?, int("depth")?);
                return Some(Special::GraphExit(GraphExit { function, called, returned, depth }));
            }
            _ => {}
        }
        if mode == Mode::Kernel {
            return None;
        }
        Some(match name {
            ("sched", "sched_switch") => Special::Switch {
                prev: task("prev_comm", "prev_pid", "prev_prio")?,
                state: int("prev_state"),
                letters: letters(plain, format.field("prev_state").map_or(0, |field| field.offset)),
                next: task("next_comm", "next_pid", "next_prio")?,
            },
            ("sched", "sched_wakeup" | "sched_wakeup_new") => Special::Wakeup {
                task: task("comm", "pid", "prio")?,
                success: int("success"),
                target: int("target_cpu"),
            },
            ("timer", "hrtimer_start") => Special::HrtimerStart {
                timer: int("timer").or_else(|| int("hrtimer"))?,
                function: int("function"),
                expires: int("expires")?,
                softexpires: int("softexpires")?,
            },
            ("timer", "hrtimer_expire_entry") => Special::HrtimerExpire {
                timer: int("timer").or_else(|| int("hrtimer"))?,
                now: int("now")?,
                function: int("function"),
            },
            (
                "kmem",
                "kfree"
                | "kmalloc"
                | "kmalloc_node"
                | "kmem_cache_alloc"
                | "kmem_cache_alloc_node"
                | "kmem_cache_free",
            ) => Special::CallSite(int("call_site")?),
            ("syscalls", "sys_enter_futex") => Special::Futex(Box::new([
                int("uaddr")?,
                int("op")?,
                int("val")?,
                int("utime")?,
                int("uaddr2")?,
                int("val3")?,
            ])),
            _ => return None,
        })
    }

    /// Writes one record; false where its plain form belongs behind what was written.
    pub(super) fn write(&self, record: &Record<'_>, out: &mut Vec<u8>) -> bool {
        let names = record.names;
        let value = |expression: &Expr| record.value(expression).bits;
        match self {
            Special::Switch { prev, state, letters, next } => {
                prev.write(record, out);
                out.push(b' ');
                if let Some(state) = state {
                    write_state(value(state), letters, out);
                }
                out.extend(b" ==> ");
                next.write(record, out);
            }
            Special::Wakeup { task, success, target } => {
                task.write(record, out);
                if let Some(success) = success {
                    put!(out, " success={}", value(success) as i64);
                }
                if let Some(target) = target {
                    put!(out, " CPU:{:03}", value(target));
                }
            }
            Special::HrtimerStart { timer, function, expires, softexpires } => {
                put!(out, "hrtimer=0x{:x}", value(timer));
                names.write_timer_function(function.as_ref().map(value), out);
                put!(out, " expires={} softexpires={}", value(expires), value(softexpires));
            }
            Special::HrtimerExpire { timer, now, function } => {
                put!(out, "hrtimer=0x{:x} now={}", value(timer), value(now));
                names.write_timer_function(function.as_ref().map(value), out);
            }
            Special::Function { ip, parent } if names.mode == Mode::TraceCmd => {
                let indent = record.calls.depth(record.cpu, &names.symbols, value(parent), value(ip));
                out.resize(out.len() + 3 * indent, b' ');
                names.write_symbol(value(ip), false, out);
            }
            Special::Function { ip, parent } => {
                names.write_symbol(value(ip), false, out);
                out.extend(b" <-");
                names.write_symbol(value(parent), false, out);
            }
            Special::Stack { callers } => write_stack(record, *callers, out),
            Special::RawData { id, data } => {
                put!(out, "# {:x}", value(id));
                for byte in record.bytes.get(*data..).unwrap_or_default() {
                    out.push(b' ');
                    hex_bytes(&[*byte], None, out);
                }
            }
            Special::GraphEntry { function, depth } => {
                write_indent(b"             |  ", value(depth), out);
                names.write_graph_function(value(function), out);
                out.extend(b"() {");
            }
            Special::GraphExit(exit) => {
                let took = value(&exit.returned).wrapping_sub(value(&exit.called));
                write_duration(took, out);
                write_indent(b"", value(&exit.depth), out);
                out.push(b'}');
            }
            Special::Futex(arguments) => return write_futex(record, arguments, out),
            Special::CallSite(site) => {
                if let Some((start, name)) = names.symbols.find(value(site)) {
                    out.push(b'(');
                    out.extend(name);
                    put!(out, "+0x{:x}) ", value(site) - start);
                }
                return false;
            }
        }
        true
    }

    /// The threads that the event names.
    pub(super) fn tasks(&self) -> impl Iterator<Item = &Task> {
        let tasks = match self {
            Special::Switch { prev, next, .. } => [Some(prev), Some(next)],
            Special::Wakeup { task, .. } => [Some(task), None],
            _ => [None, None],
        };
        tasks.into_iter().flatten()
    }
}

impl Task {
    fn write(&self, record: &Record<'_>, out: &mut Vec<u8>) {
        if let Some(comm) = &self.comm {
            out.extend(until_nul(record.slot(comm).unwrap_or_default()));
            out.push(b':');
        }
        put!(out, "{}", record.value(&self.pid).bits as i64);
        if let Some(prio) = &self.prio {
            put!(out, " [{}]", record.value(prio).bits as i64);
        }
    }
}

impl GraphExit {
    /// Writes a function that called no other: its begin and end as one.
    pub(super) fn write_leaf(&self, record: &Record<'_>, depth: u64, out: &mut Vec<u8>) {
        let value = |expression: &Expr| record.value(expression).bits;
        write_duration(value(&self.returned).wrapping_sub(value(&self.called)), out);
        write_indent(b"", depth, out);
        record.names.write_graph_function(value(&self.function), out);
        out.extend(b"();");
    }
}

impl Names {
    /// The name of a timer's function; how far into it the address is is counted backwards there.
    fn write_timer_function(&self, address: Option<u64>, out: &mut Vec<u8>) {
        let Some(address) = address else { return };
        out.extend(b" function=");
        match self.symbols.find(address) {
            Some((start, name)) => {
                out.extend(name);
                put!(out, "/0x{:x}", start.wrapping_sub(address));
            }
            None => put!(out, "0x{address:08x}"),
        }
    }

    fn write_graph_function(&self, address: u64, out: &mut Vec<u8>) {
        match self.symbols.find(address) {
            Some((_, name)) => out.extend(name),
            None => put!(out, "{address:x}"),
        }
    }
}

/// The letters of the states by bit, as the event's own table of flags has them: they changed
/// between kernels.
fn letters(plain: Option<&Format>, state: usize) -> Vec<u8> {
    let mut letters = Vec::new();
    for entry in plain.and_then(|plain| plain.flags_of(state)).unwrap_or_default() {
        let bit = entry.value.filter(|value| value.is_power_of_two()).map(|value| value.trailing_zeros());
        if let (Some(bit @ 0..32), Some(&letter)) = (bit, entry.text.first()) {
            letters.resize(letters.len().max(bit as usize + 1), 0);
            letters[bit as usize] = letter;
        }
    }
    if letters.is_empty() { STATES.to_vec() } else { letters }
}

fn write_state(state: u64, letters: &[u8], out: &mut Vec<u8>) {
    let start = out.len();
    for (bit, letter) in letters.iter().enumerate() {
        if state >> bit & 1 == 1 && *letter != 0 {
            if out.len() > start {
                out.push(b'|');
            }
            out.push(*letter);
        }
    }
    if out.len() == start {
        out.push(b'R');
    }
}

fn write_stack(record: &Record<'_>, callers: usize, out: &mut Vec<u8>) {
    let names = record.names;
    let last = if names.long_size == 4 { u64::from(u32::MAX) } else { u64::MAX };
    out.extend(b"<stack trace >\n");
    let frames = record.bytes.get(callers..).unwrap_or_default();
    for frame in frames.chunks_exact(names.long_size) {
        let address = record.endian.long(frame, 0, names.long_size).unwrap_or(last);
        // A stack that fills less than its place ends in -1.
        if address == last {
            break;
        }
        let name = names.symbols.find(address).map(|(_, name)| name);
        match (names.mode, name) {
            (Mode::Kernel, Some(name)) => {
                out.extend(b" => ");
                out.extend(name);
                out.push(b'\n');
            }
            (Mode::TraceCmd, Some(name)) => {
                out.extend(b"=> ");
                out.extend(name);
                put!(out, " ({address:x})\n");
            }
            (Mode::Kernel, None) => put!(out, " => 0x{address:x}\n"),
            (Mode::TraceCmd, None) => put!(out, "=> {address:x}\n"),
        }
    }
}

/// The mark of a long duration and the duration, in its column.
fn write_duration(ns: u64, out: &mut Vec<u8>) {
    let mark = match ns {
        1_000_000_001.. => '$',
        1_000_001.. => '#',
        100_001.. => '!',
        10_001.. => '+',
        _ => ' ',
    };
    put!(out, "{mark} ");
    let start = out.len();
    put!(out, "{}", ns / 1000);
    if out.len() - start < 7 {
        put!(out, ".{:03}", ns % 1000);
    }
    let written = out.len() - start;
    out.extend(b" us ");
    out.resize(out.len() + 7usize.saturating_sub(written), b' ');
    out.extend(b"|  ");
}

/// Deeper ones are not moved further: no line is that wide.
const DEEPEST_INDENT: u64 = 512;

fn write_indent(before: &[u8], depth: u64, out: &mut Vec<u8>) {
    out.extend(before);
    out.resize(out.len() + 2 * depth.min(DEEPEST_INDENT) as usize, b' ');
}

fn write_futex(record: &Record<'_>, arguments: &[Expr; 6], out: &mut Vec<u8>) -> bool {
    let [uaddr, op, val, utime, uaddr2, val3] =
        arguments.each_ref().map(|argument| record.value(argument).bits);
    let operation = usize::try_from(op & !(FUTEX_PRIVATE | FUTEX_REALTIME));
    let Some((name, shown)) = operation.ok().and_then(|operation| FUTEX_OPERATIONS.get(operation)) else {
        return false;
    };
    put!(out, "op={name}");
    if op & FUTEX_PRIVATE != 0 {
        out.extend(b"|FUTEX_PRIVATE_FLAG");
    }
    if op & FUTEX_REALTIME != 0 {
        out.extend(b"|FUTEX_CLOCK_REALTIME");
    }
    put!(out, " uaddr=0x{uaddr:08x}");
    let names = ["val", if matches!(shown[1], Shown::Decimal) { "val2" } else { "utime" }, "uaddr2", "val3"];
    for ((shown, name), value) in shown.iter().zip(names).zip([val, utime, uaddr2, val3]) {
        match shown {
            Shown::No => {}
            Shown::Decimal => put!(out, " {name}={value}"),
            Shown::Hex => put!(out, " {name}=0x{value:08x}"),
        }
    }
    true
}
