//! The thread, CPU and time of a line: everything before the event.
//!
//! ```text
//! comm-pid   (tgid) [cpu] dNh1.  seconds.fraction: body     tracefs; tgid and flags by option
//! buffer: comm-pid  [cpu]        seconds.fraction: body     trace-cmd report
//! comm-pid          cpudNh1.     57us+: body                latency format
//! comm pid cpu flags preempt index [us] 0.057ms (+0.001ms): body    the same with option verbose
//! preempt                               0.057ms (+0.001ms): body    the patches of summer 2004 (v1.0.x)
//! pid preempt                           0.057ms (+0.001ms): body    the same of autumn 2004
//! pid preempt index [cycles]            0.057ms (+0.001ms): body    these with verbose
//! comm pid/tid      [cpu]        seconds.fraction: group:body       perf script
//! comm              [cpu] dNh1.  seconds.fraction: body     tracefs, where the number of the thread was left out
//! comm-pid          [cpu]        seconds.fraction::|  call  function_graph, where the name and the duration were left out
//! ```
//!
//! A comm may hold blanks, dashes, colons and brackets, so a line is read from the
//! timestamp leftwards: there the columns have one meaning each.

use super::event_head::NOBODY_KNOWN;
use super::fields;
use memchr::memchr_iter;
use whylate_base::{Cpu, Ns, Tid};
use whylate_events::{Context, ContextFlags};

/// What stands before the event.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Head<'a> {
    /// The current thread's name, cut to 8 characters in latency format.
    pub(crate) comm: &'a str,
    /// The current thread and the interrupt state.
    pub(crate) context: Context,
    /// Where.
    pub(crate) cpu: Cpu,
    /// When.
    pub(crate) ts: Ns,
    /// `perf script` printed it: a call chain may follow.
    pub(crate) by_perf: bool,
    /// The buffer that trace-cmd names in front of the row; empty for its first one.
    pub(crate) buffer: &'a str,
}

/// No head is longer than this, with a buffer's name in front; text beyond is the body's.
const LONGEST_HEAD: usize = 256;

/// Marks behind a time or a duration: how long it was (`mark`, kernel/trace/trace_output.c).
pub(crate) const MARKS: [char; 6] = ['+', '!', '#', '*', '@', '$'];

/// The line without the index in front of it with which kernels of 2004 and 2005 printed lines that they buffered:
/// `(T1/#39)`.
pub(crate) fn without_index(line: &str) -> &str {
    let index = line.strip_prefix("(T").and_then(|rest| rest.split_once(')'));
    let is_index = |index: &str| {
        index.split_once("/#").is_some_and(|(kind, n)| fields::digits(kind).and(fields::digits(n)).is_some())
    };
    index.filter(|(index, _)| is_index(index)).map_or(line, |(_, rest)| fields::trim_start(rest))
}

/// Splits a trace line into its head and its body; `None` when it is no trace line.
pub(crate) fn split(line: &str) -> Option<(Head<'_>, &str)> {
    let bytes = line.as_bytes();
    memchr_iter(b':', bytes.get(..LONGEST_HEAD).unwrap_or(bytes)).find_map(|colon| {
        let before = bytes.get(..colon)?.iter().rfind(|byte| !byte.is_ascii_whitespace())?;
        let behind = bytes.get(colon + 1..).unwrap_or_default();
        // `12.345678::|  func() {`: a call without the name of its event and without the column of its duration.
        let follows = behind.first().is_none_or(u8::is_ascii_whitespace) || behind.starts_with(b":|");
        // Before the colon of a time stands a digit, `us` with its mark, or `ms)`.
        if !follows || !(before.is_ascii_digit() || b"s+!#*@$)".contains(before)) {
            return None;
        }
        let head = who_where_when(line.get(..colon)?)?;
        Some((head, fields::trim(line.get(colon + 1..)?)))
    })
}

fn who_where_when(left: &str) -> Option<Head<'_>> {
    if left.ends_with("ms)") {
        return verbose(left);
    }
    let (left, ts, is_of_2004) = split_time(left)?;
    match who_and_where(left, ts) {
        None if is_of_2004 => without_state(left, ts),
        head => head,
    }
}

/// Takes the timestamp off the end. In latency format a mark after the time shows how
/// long it was until the next line (`57us+`, `57us!`). Until the format v1.1.3 of 2004 the unit was printed by the one
/// byte of Latin-1, `\xb5`, which mail archives keep or replace.
fn split_time(text: &str) -> Option<(&str, Ns, bool)> {
    let (left, time) = fields::last_word(text)?;
    let time =
        if time.ends_with(|end: char| end.is_ascii_digit()) { time } else { time.trim_end_matches(MARKS) };
    let of_2004 = ["\u{b5}s", "\u{3bc}s", "\u{fffd}s"].iter().find_map(|unit| time.strip_suffix(unit));
    let ts = match of_2004.or_else(|| time.strip_suffix("us")) {
        Some(us) => Ns(i64::try_from(fields::decimal(us)?).ok()?.checked_mul(1_000)?),
        None => fields::clock_time(time)?,
    };
    Some((left, ts, of_2004.is_some()))
}

fn who_and_where(left: &str, ts: Ns) -> Option<Head<'_>> {
    let (before, last) = fields::last_word(left)?;
    let mut is_bracketed = true;
    let (who, cpu, (flags, preempt_depth)) = match bracketed_cpu(last) {
        Some(cpu) => (before, cpu, (ContextFlags::IRQS_UNKNOWN, None)),
        None => match fields::last_word(before).and_then(|(who, word)| Some((who, bracketed_cpu(word)?))) {
            Some((who, cpu)) => (who, cpu, state(last)?),
            None => {
                is_bracketed = false;
                let (cpu, state) = last.split_at(last.bytes().position(|byte| !byte.is_ascii_digit())?);
                (before, fields::cpu_from(cpu)?, self::state(state)?)
            }
        },
    };
    let (buffer, comm, tid, by_perf) = match thread(who) {
        // perf's number of no thread, as of a sample without one.
        Some((_, comm, _)) if comm.trim_end() == ":-1" => ("", ":-1", NOBODY_KNOWN, true),
        Some((buffer, comm, tid)) => (buffer, comm, tid, false),
        None if preempt_depth.is_none() => {
            let (comm, tid) = thread_of_perf(who)?;
            ("", comm, tid, true)
        }
        None if is_bracketed => {
            let (comm, tid) = thread_without_number(who)?;
            ("", comm, tid, false)
        }
        None => return None,
    };
    Some(Head { comm, context: Context { tid, flags, preempt_depth }, cpu, ts, by_perf, buffer })
}

/// The format v1.1.3 prints a wake-up and a switch with the CPU alone.
fn without_state(left: &str, ts: Ns) -> Option<Head<'_>> {
    let (who, cpu) = fields::last_word(left)?;
    let cpu = fields::cpu_from(fields::digits(cpu)?)?;
    let (buffer, comm, tid) = thread(who)?;
    let context = Context { tid, flags: ContextFlags::IRQS_UNKNOWN, preempt_depth: None };
    Some(Head { comm, context, cpu, ts, by_perf: false, buffer })
}

fn bracketed_cpu(word: &str) -> Option<Cpu> {
    fields::cpu_from(word.strip_prefix('[')?.strip_suffix(']')?)
}

/// `comm-pid`, with the thread group behind it (`( 1234)`, `(-----)`) where that is switched on, and a buffer's name in front.
fn thread(text: &str) -> Option<(&str, &str, Tid)> {
    let text = fields::trim_end(text);
    let text = match text.strip_suffix(')').and_then(|inner| fields::rsplit(inner, b'(')) {
        Some((before, tgid)) if tgid.bytes().all(|c| c == b'-' || c == b' ' || c.is_ascii_digit()) => {
            fields::trim_end(before)
        }
        _ => text,
    };
    let (comm, tid) = fields::comm_pid(text)?;
    // Some people mark what they quote by a bar, and rows by numbers.
    let comm = fields::trim(comm);
    let comm = comm.strip_prefix('|').map_or(comm, fields::trim_start);
    let (buffer, comm) = buffer_and_comm(without_mark(comm));
    Some((buffer, comm, tid))
}

/// `comm tid` or `comm pid/tid`.
fn thread_of_perf(text: &str) -> Option<(&str, Tid)> {
    let (comm, ids) = fields::last_word(text)?;
    let tid = match ids.split_once('/') {
        Some((pid, tid)) => fields::digits(pid).and(fields::digits(tid))?,
        None => fields::digits(ids)?,
    };
    let comm = without_mark(fields::trim(comm));
    (!comm.is_empty()).then_some((comm, Tid(tid.parse().ok()?)))
}

/// The name without the mark of a list in front of the row: `(4)   app`, `4) app`.
fn without_mark(comm: &str) -> &str {
    let inner = comm.strip_prefix('(').unwrap_or(comm);
    if !inner.starts_with(|first: char| first.is_ascii_digit()) {
        return comm;
    }
    let rest = inner.split_once(')').filter(|(number, rest)| {
        fields::digits(number).is_some() && rest.starts_with([' ', '\t']) && !rest.trim().is_empty()
    });
    rest.map_or(comm, |(_, rest)| fields::trim_start(rest))
}

/// A name alone, which no row with a number has: `<idle>` has the number 0, and that of another one is not known.
fn thread_without_number(who: &str) -> Option<(&str, Tid)> {
    let comm = fields::trim(who);
    let is_name = (1..=15).contains(&comm.len()) && !comm.contains(['[', ']', '=']) && !comm.ends_with(':');
    let tid = if comm == "<idle>" { Tid(0) } else { NOBODY_KNOWN };
    is_name.then_some((comm, tid))
}

/// A comm has at most 15 bytes, and right-justified ones have blanks before them: what is
/// longer or has a gap behind a colon begins with the name of a buffer.
fn buffer_and_comm(comm: &str) -> (&str, &str) {
    let mut parts = memchr_iter(b':', comm.as_bytes())
        .filter_map(|colon| Some((comm.get(..colon)?, comm.get(colon + 1..)?.strip_prefix(' ')?)));
    match parts.next() {
        Some((buffer, rest)) if comm.len() > 15 || rest.starts_with(' ') => {
            (buffer, fields::trim_start(rest))
        }
        _ => ("", comm),
    }
}

/// Latency format with the option `verbose`: all columns are numbers.
fn verbose(left: &str) -> Option<Head<'_>> {
    let (left, _) = left.rsplit_once(" (+")?;
    let (left, time) = fields::last_word(left)?;
    let ts = Ns(fields::billionths(time.strip_suffix("ms")?)? / 1_000);
    if let Some(head) = of_summer_2004(left, ts) {
        return Some(head);
    }
    let (left, clock) = fields::last_word(left)?;
    clock.strip_prefix('[')?.strip_suffix(']')?;
    let (left, _index) = fields::last_word(left)?;
    let (left, preempt) = fields::last_word(left)?;
    let (left, flags) = fields::last_word(left)?;
    let (left, cpu) = fields::last_word(left)?;
    let (comm, tid) = thread_of_perf(left)?;
    let context = Context {
        tid,
        // Bit 1 meant something else before Linux 6.13.
        flags: ContextFlags(fields::number::<u8>(flags).map(u16::from)? & !ContextFlags::NEED_RESCHED_LAZY.0),
        preempt_depth: Some(fields::address(preempt)?.try_into().ok()?),
    };
    Some(Head { comm, context, cpu: fields::cpu_from(cpu)?, ts, by_perf: false, buffer: "" })
}

/// What the patches of summer 2004 print of a line's state: the kernel's `preempt_count`, and with verbose the thread. They do
/// not print the CPU, nor whether interrupts are off.
fn of_summer_2004(left: &str, ts: Ns) -> Option<Head<'_>> {
    let hexadecimal = |word: &str| match word.len() {
        8 => u32::from_str_radix(word, 16).ok(),
        _ => None,
    };
    let mut words = left.split_ascii_whitespace();
    let (tid, count) = match [words.next()?, words.next().unwrap_or(""), words.next().unwrap_or("")] {
        [count, "", ""] => (NOBODY_KNOWN, hexadecimal(count)?),
        // The later ones of that year print the thread in every line.
        [pid, count, ""] => (Tid(fields::digits(pid)?.parse().ok()?), hexadecimal(count)?),
        [pid, count, index] => {
            hexadecimal(index)?;
            words.next()?.strip_prefix('[')?.strip_suffix(']')?;
            (Tid(fields::digits(pid)?.parse().ok()?), hexadecimal(count)?)
        }
    };
    if words.next().is_some() {
        return None;
    }
    // include/asm-i386/hardirq.h of 2.6.9: eight bits of preemption, eight of softirqs, then the hard interrupts.
    let flag = |mask: u32, flag| if count & mask != 0 { flag } else { ContextFlags::default() };
    let flags = ContextFlags::IRQS_UNKNOWN
        | flag(0xff00, ContextFlags::SOFTIRQ)
        | flag(0x03ff_0000, ContextFlags::HARDIRQ);
    let preempt_depth = u8::try_from(count & 0xff).ok();
    let context = Context { tid, flags, preempt_depth };
    Some(Head { comm: "", context, cpu: Cpu(0), ts, by_perf: false, buffer: "" })
}

/// The column of a row, which may lack the depth, `2d..`, and of which people leave the first two signs alone, `d.`.
fn state(column: &str) -> Option<(ContextFlags, Option<u8>)> {
    let padded =
        |missing: &str| interrupt_state(&format!("{column}{missing}")).map(|(flags, _)| (flags, None));
    match column.as_bytes() {
        [_, _, _] => padded("."),
        [b'd' | b'.', b'N' | b'.'] => padded(".."),
        _ => interrupt_state(column),
    }
}

/// The column of interrupt and preemption state, by its characters:
///
/// ```text
/// d N   h 1          irqs-off, need-resched, hardirq/softirq, preempt-depth
/// d N   h 1 .        + migrate-disable (5.12), or a lock depth in trace-cmd
/// d N . h 1 . .      + need-resched-lazy and preempt-lazy-depth (PREEMPT_RT patches)
/// - h s 1            irqs-off, hardirq, softirq, preempt-depth, without need-resched (v1.1.3, 2004)
/// * N   ~ 1          Dovetail (Xenomai 4): interrupts off for both stages; on the out-of-band stage, by an interrupt or not
/// ```
pub(crate) fn interrupt_state(column: &str) -> Option<(ContextFlags, Option<u8>)> {
    let column = column.as_bytes();
    if let &[irqs @ (b'-' | b'd'), hard @ (b'h' | b'.'), soft @ (b's' | b'.'), preempt] = column
        && (irqs == b'-' || hard == b'h')
    {
        let flag = |is_set, flag| if is_set { flag } else { ContextFlags::default() };
        let flags = flag(irqs == b'd', ContextFlags::IRQS_OFF)
            | flag(hard == b'h', ContextFlags::HARDIRQ)
            | flag(soft == b's', ContextFlags::SOFTIRQ);
        return Some((flags, Some(depth(preempt)?)));
    }
    let is_handler = |at: usize| column.get(at).is_some_and(|c| b"hHsZz".contains(c));
    let lazy = is_handler(3) || (column.len() >= 7 && !is_handler(2));
    let (&irqs, rest) = column.split_first()?;
    let (&resched, rest) = rest.split_first()?;
    let (lazy, rest) = match lazy {
        true => {
            rest.split_first().filter(|(c, _)| b".lLnN".contains(c)).map(|(&c, rest)| (c != b'.', rest))?
        }
        false => (false, rest),
    };
    let lazy = if lazy { ContextFlags::NEED_RESCHED_LAZY } else { ContextFlags::default() };
    let [handler, preempt, more @ ..] = rest else { return None };
    let irqs = match irqs {
        b'd' => ContextFlags::IRQS_OFF,
        b'D' => ContextFlags::IRQS_OFF | ContextFlags::SOFTIRQS_OFF,
        b'b' => ContextFlags::SOFTIRQS_OFF,
        // Dovetail's `*`: off for both stages.
        b'*' => ContextFlags::IRQS_OFF,
        b'X' => ContextFlags::IRQS_UNKNOWN,
        b'.' => ContextFlags::default(),
        _ => return None,
    };
    // trace-cmd's `N` does not show PREEMPT_RESCHED, so the kernel's is not taken to.
    let resched = match resched {
        b'N' | b'n' => ContextFlags::NEED_RESCHED,
        b'B' | b'b' => ContextFlags::NEED_RESCHED | ContextFlags::NEED_RESCHED_LAZY,
        b'L' | b'l' => ContextFlags::NEED_RESCHED_LAZY,
        b'p' => ContextFlags::PREEMPT_RESCHED,
        b'.' => ContextFlags::default(),
        _ => return None,
    };
    let handler = match handler {
        b'Z' => ContextFlags::NMI | ContextFlags::HARDIRQ,
        b'z' => ContextFlags::NMI,
        b'h' => ContextFlags::HARDIRQ,
        b's' => ContextFlags::SOFTIRQ,
        b'H' => ContextFlags::HARDIRQ | ContextFlags::SOFTIRQ,
        b'.' | b'~' => ContextFlags::default(),
        _ => return None,
    };
    if more.len() > 3 || !more.iter().all(|&c| depth(c).is_some()) {
        return None;
    }
    Some((irqs | resched | lazy | handler, Some(depth(*preempt)?)))
}

/// One hexadecimal digit, `.` for none.
fn depth(column: u8) -> Option<u8> {
    match column {
        b'.' => Some(0),
        _ => char::from(column).to_digit(16)?.try_into().ok(),
    }
}

/// A kernel's frame of a call chain that `perf script` printed, without the address before it.
pub(super) fn perf_frame(text: &str) -> Option<&str> {
    let (address, rest) = text.split_once(' ')?;
    let (function, place) = rest.rsplit_once(" (")?;
    let is_frame = address.bytes().all(|byte| byte.is_ascii_hexdigit()) && place.ends_with(')');
    // Those of programs have a file there, and are no events.
    is_frame.then(|| if place.starts_with('[') { function } else { "" })
}
