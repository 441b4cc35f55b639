//! One line's who, where and when: everything before the event.
//!
//! ```text
//! comm-pid   (tgid) [cpu] dNh1.  seconds.fraction: body     tracefs; tgid and flags by option
//! buffer: comm-pid  [cpu]        seconds.fraction: body     trace-cmd report
//! comm-pid          cpudNh1.     57us+: body                latency format
//! ```
//!
//! A comm may hold blanks, dashes, colons and brackets, so a line is read from the
//! timestamp leftwards: there the columns have one meaning each.

use super::{clock_time, cpu_from, fields};
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
}

/// No head is longer than this, with a buffer's name in front; text beyond is the body's.
const LONGEST_HEAD: usize = 256;

/// Splits a trace line into its head and its body; `None` when it is no trace line.
pub(crate) fn split(line: &str) -> Option<(Head<'_>, &str)> {
    line.match_indices(':').take_while(|&(colon, _)| colon < LONGEST_HEAD).find_map(|(colon, _)| {
        let body = line.get(colon + 1..)?;
        if !body.is_empty() && !body.starts_with(char::is_whitespace) {
            return None;
        }
        let (left, ts) = split_time(line.get(..colon)?)?;
        Some((who_and_where(left, ts)?, body.trim()))
    })
}

/// Takes the timestamp off the end. In latency format a mark after the time shows how
/// long it was until the next line (`57us+`, `57us!`).
fn split_time(text: &str) -> Option<(&str, Ns)> {
    let (left, time) = fields::last_word(text)?;
    let time = time.trim_end_matches(['+', '!', '#', '*', '@', '$']);
    let ts = match time.strip_suffix("us") {
        Some(us) => Ns(fields::digits(us)?.parse::<i64>().ok()?.checked_mul(1_000)?),
        None => clock_time(time)?,
    };
    Some((left, ts))
}

fn who_and_where(left: &str, ts: Ns) -> Option<Head<'_>> {
    let (before, last) = fields::last_word(left)?;
    let (who, cpu, (flags, preempt_depth)) = match bracketed_cpu(last) {
        Some(cpu) => (before, cpu, (ContextFlags::IRQS_UNKNOWN, None)),
        None => match fields::last_word(before).and_then(|(who, word)| Some((who, bracketed_cpu(word)?))) {
            Some((who, cpu)) => (who, cpu, interrupt_state(last)?),
            None => {
                let (cpu, state) = last.split_at(last.find(|c: char| !c.is_ascii_digit())?);
                (before, cpu_from(cpu)?, interrupt_state(state)?)
            }
        },
    };
    let (comm, tid) = thread(who)?;
    Some(Head { comm, context: Context { tid, flags, preempt_depth }, cpu, ts })
}

fn bracketed_cpu(word: &str) -> Option<Cpu> {
    cpu_from(word.strip_prefix('[')?.strip_suffix(']')?)
}

/// `comm-pid`, with the thread group behind it (`( 1234)`, `(-----)`) where that is switched on.
fn thread(text: &str) -> Option<(&str, Tid)> {
    let text = text.trim_end();
    let text = match text.strip_suffix(')').and_then(|inner| inner.rsplit_once('(')) {
        Some((before, tgid)) if tgid.chars().all(|c| c == '-' || c == ' ' || c.is_ascii_digit()) => {
            before.trim_end()
        }
        _ => text,
    };
    let (comm, pid) = text.rsplit_once('-')?;
    Some((without_buffer(comm.trim()), Tid(fields::digits(pid)?.parse().ok()?)))
}

/// A comm has at most 15 bytes, and right-justified ones have blanks before them: what is
/// longer or has a gap behind a colon begins with the name of a buffer.
fn without_buffer(comm: &str) -> &str {
    match comm.split_once(": ") {
        Some((_, rest)) if comm.len() > 15 || rest.starts_with(' ') => rest.trim_start(),
        _ => comm,
    }
}

/// The column of interrupt and preemption state, by its characters:
///
/// ```text
/// d N   h 1          irqs-off, need-resched, hardirq/softirq, preempt-depth
/// d N   h 1 .        + migrate-disable (5.12), or a lock depth in trace-cmd
/// d N . h 1 . .      + need-resched-lazy and preempt-lazy-depth (PREEMPT_RT patches)
/// ```
fn interrupt_state(column: &str) -> Option<(ContextFlags, Option<u8>)> {
    let column = column.as_bytes();
    let is_handler = |at: usize| column.get(at).is_some_and(|c| b"hHsZz".contains(c));
    let lazy = is_handler(3) || (column.len() >= 7 && !is_handler(2));
    let (&irqs, rest) = column.split_first()?;
    let (&resched, rest) = rest.split_first()?;
    let rest = match lazy {
        true => rest.split_first().filter(|(c, _)| b".lLnN".contains(c))?.1,
        false => rest,
    };
    let [handler, preempt, more @ ..] = rest else { return None };
    let irqs = match irqs {
        b'd' | b'D' => ContextFlags::IRQS_OFF,
        b'X' => ContextFlags::IRQS_UNKNOWN,
        b'.' | b'b' => ContextFlags::default(),
        _ => return None,
    };
    let resched = match resched {
        b'N' | b'n' | b'B' | b'b' => ContextFlags::NEED_RESCHED,
        b'.' | b'p' | b'L' | b'l' => ContextFlags::default(),
        _ => return None,
    };
    let handler = match handler {
        b'h' | b'Z' => ContextFlags::HARDIRQ,
        b's' => ContextFlags::SOFTIRQ,
        b'H' => ContextFlags::HARDIRQ | ContextFlags::SOFTIRQ,
        b'.' | b'z' => ContextFlags::default(),
        _ => return None,
    };
    if more.len() > 3 || !more.iter().all(|&c| depth(c).is_some()) {
        return None;
    }
    Some((irqs | resched | handler, Some(depth(*preempt)?)))
}

/// One hexadecimal digit, `.` for none.
fn depth(column: u8) -> Option<u8> {
    match column {
        b'.' => Some(0),
        _ => char::from(column).to_digit(16)?.try_into().ok(),
    }
}
