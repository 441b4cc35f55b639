//! Rows of `perf sched timehist` (`timehist_print_sample` in tools/perf/builtin-sched.c): each is a time that a thread had a CPU,
//! printed as the thread leaves it.
//!
//! ```text
//!            time    cpu  task name                       wait time  sch delay   run time
//!                         [tid/pid]                          (msec)     (msec)     (msec)
//! --------------- ------  ------------------------------  ---------  ---------  ---------
//!    40504.088987 [0000]  rustc[5498/5496]                    0.165      0.000      0.389
//!    40504.091304 [0000]  s    sleep[5500]  120              0.389      0.038      2.316      S  next: rustc[5498]  schedule <- ..
//!    40504.088949 [0001]       rustc[5429/5427]                                              awakened: perf-exec[5500]
//!    40504.084972 [0000]   m   migration/0[18]                                               migrated: perf[5486] cpu 0 => 1
//!    40504.100001 lost 12 events on cpu 1
//! ```
//!
//! By option there is a picture of the CPUs before the thread (`-V`), its priority behind it (`--prio`), one more time
//! (`--pre-migrations`), the state in which it leaves (`--state`), the next thread (`-n`) and the callers of the switch.
//! [`slices`] makes events of the rows.

mod shown;
mod slices;

pub(super) use shown::ShownRows;
pub(super) use slices::Slices;

use super::fields;
use whylate_base::{Comm, Cpu, Ns, Priority, Tid};
use whylate_events::TaskState;

/// A thread whose id perf does not know any more, because it has exited: it prints -1.
const EXITED: Tid = Tid(-2);

/// Two times of one instant, or a time and a sum of two, differ by less than this.
const BLUR: Ns = Ns::from_us(3);

/// A row: what happened on a CPU at an instant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Row {
    /// When, cut to microseconds.
    ts: Ns,
    cpu: Cpu,
    what: What,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum What {
    /// A thread leaves the CPU.
    Ran(Ran),
    /// `by` wakes another thread, which may be printed without its id.
    Wakes { by: Who, woken: Option<Who> },
    /// `by` moves another thread.
    Migrates { by: Who, moved: Who, from: Cpu, to: Cpu },
    /// Events of the CPU were lost.
    Lost(u64),
}

/// A thread, as a row names it.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Who {
    tid: Tid,
    comm: Comm,
}

impl Who {
    /// True of a thread that has an id: neither the idle task nor one that has exited.
    fn is_known(&self) -> bool {
        !self.tid.is_idle() && self.tid != EXITED
    }
}

/// A time that a thread had the CPU. All times are cut to microseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Ran {
    who: Who,
    /// From when it last left a CPU until it had this one.
    wait: Ns,
    /// From its wake-up until it had the CPU. Of a thread that was preempted it is the wait in newer perf, and 0 in older.
    delay: Ns,
    run: Ns,
    /// How much of the delay was on another CPU, before it was moved, where the table has that (`--pre-migrations`).
    elsewhere: Option<Ns>,
    state: Option<TaskState>,
    /// As it got the CPU, and as it left it.
    priority: Option<(Priority, Priority)>,
    next: Option<Who>,
}

impl Ran {
    /// Off the CPU it stayed runnable, as far as the delay shows that: this is its whole wait.
    fn waited_all_the_time(&self) -> bool {
        self.delay > Ns::ZERO && self.wait > Ns::ZERO && (self.wait - self.delay).0.abs() < BLUR.0
    }

    /// It was off the CPU, and got that without a wake-up, or as soon as it was woken.
    fn has_wait_alone(&self) -> bool {
        self.delay == Ns::ZERO && self.wait > Ns::ZERO
    }

    fn was_woken(&self) -> bool {
        self.delay > Ns::ZERO && !self.waited_all_the_time()
    }
}

impl Row {
    /// When it was printed.
    pub(super) fn at(&self) -> Ns {
        self.ts
    }

    /// The thread that has the CPU.
    pub(super) fn thread(&self) -> Option<(Tid, &str)> {
        match &self.what {
            What::Ran(Ran { who, .. }) | What::Wakes { by: who, .. } | What::Migrates { by: who, .. } => {
                Some((who.tid, who.comm.as_str()))
            }
            What::Lost(_) => None,
        }
    }
}

/// Reads a row; `None` where the line is none.
pub(super) fn parse(text: &str) -> Option<Row> {
    let (ts, rest) = time(text)?;
    if let Some(lost) = rest.strip_prefix("lost ") {
        let (count, cpu) = lost.split_once(" events on cpu ")?;
        let what = What::Lost(fields::decimal(count)?);
        return Some(Row { ts, cpu: fields::cpu_from(fields::trim(cpu))?, what });
    }
    let (cpu, rest) = cpu(rest)?;
    // The picture of the CPUs has one sign.
    let pictured = rest.split_once("  ").filter(|(sign, _)| ["s", "i", "m"].contains(sign));
    let pictured = pictured.and_then(|(_, rest)| what(fields::trim(rest)));
    Some(Row { ts, cpu, what: pictured.or_else(|| what(rest))? })
}

/// What stands behind the time and the CPU.
fn what(text: &str) -> Option<What> {
    ran(text).map(What::Ran).or_else(|| wakes(text)).or_else(|| migrates(text))
}

/// The thread of a row, and how long after its wake-up it got the CPU; `None` where it was not woken, or at once.
pub(crate) fn delay_of_row(line: &str) -> Option<(Tid, Comm, Ns)> {
    let What::Ran(ran) = parse(line)?.what else { return None };
    (ran.who.is_known() && ran.was_woken()).then_some((ran.who.tid, ran.who.comm, ran.delay))
}

/// True of a line that begins as a row does.
pub(super) fn begins(text: &str) -> bool {
    time(text).and_then(|(_, rest)| cpu(rest)).is_some_and(|(_, rest)| !rest.is_empty())
}

/// True of the lines above the rows.
pub(super) fn is_title(text: &str) -> bool {
    text.contains("task name") && text.contains("sch delay")
        || text.contains("[tid/pid]") && text.contains("(msec)")
        || text.len() > 40 && text.bytes().all(|sign| b"- ".contains(&sign))
}

/// The time at the beginning, which always has six decimals.
fn time(text: &str) -> Option<(Ns, &str)> {
    let (time, rest) = fields::trim_start(text).split_once([' ', '\t'])?;
    let (_, decimals) = time.split_once('.')?;
    let ts = fields::clock_time(time).filter(|_| decimals.len() == 6)?;
    Some((ts, fields::trim_start(rest)))
}

/// The CPU, which has four digits at least.
fn cpu(text: &str) -> Option<(Cpu, &str)> {
    let (cpu, rest) = text.strip_prefix('[')?.split_once(']')?;
    let cpu = fields::cpu_from(cpu).filter(|_| cpu.len() >= 4)?;
    Some((cpu, fields::trim(rest)))
}

/// What perf prints of a thread at most: the rest is cut off (`str` in `timehist_get_commstr`, tools/perf/builtin-sched.c).
const LONGEST_THREAD: usize = 31;

fn ran(text: &str) -> Option<Ran> {
    // A name may have brackets: the thread is what the times follow.
    let ends = memchr::memchr2_iter(b']', b'>', text.as_bytes());
    ends.map(|end| end + 1).chain([LONGEST_THREAD]).find_map(|end| {
        let who = who(fields::trim(text.get(..end)?))?;
        columns(who, text.get(end..)?)
    })
}

/// What follows the thread.
fn columns(who: Who, text: &str) -> Option<Ran> {
    let mut rest = text;
    let mut word = || -> Option<&str> {
        let word = fields::first_word(rest);
        rest = rest.get(rest.find(word)? + word.len()..).filter(|_| !word.is_empty())?;
        Some(word)
    };
    let first = word()?;
    let (priority, first) = match priorities(first) {
        Some(both) => (Some(both), word()?),
        None => (None, first),
    };
    let (wait, delay, run) = (ms(first)?, ms(word()?)?, ms(word()?)?);
    let mut tail = fields::trim_start(rest);
    let elsewhere = ms(fields::first_word(tail));
    if elsewhere.is_some() {
        tail = fields::trim_start(tail.get(fields::first_word(tail).len()..)?);
    }
    let letter = fields::first_word(tail);
    let state = (letter.len() == 1).then(|| state(letter)).flatten();
    let next = tail.split_once("next: ").and_then(|(_, next)| {
        let mut ends = next.match_indices(']').map(|(end, _)| end + 1).chain([LONGEST_THREAD]);
        ends.find_map(|end| self::who(next.get(..end)?))
    });
    let elsewhere = elsewhere.filter(|&elsewhere| elsewhere <= delay);
    Some(Ran { who, wait, delay, run, elsewhere, state, priority, next })
}

fn wakes(text: &str) -> Option<What> {
    let (by, woken) = text.split_once("awakened: ")?;
    let (by, woken) = (who(fields::trim(by))?, fields::trim(woken));
    (!woken.is_empty()).then(|| What::Wakes { by, woken: who(woken) })
}

fn migrates(text: &str) -> Option<What> {
    let (by, moved) = text.split_once("migrated: ")?;
    let (moved, cpus) = moved.rsplit_once(" cpu ")?;
    let (from, to) = cpus.split_once(" => ")?;
    let (from, to) = (fields::cpu_from(fields::trim(from))?, fields::cpu_from(fields::trim(to))?);
    Some(What::Migrates { by: who(fields::trim(by))?, moved: who(fields::trim(moved))?, from, to })
}

/// `comm[tid]`, `comm[tid/pid]`, `<idle>`; the idle task that wakes has its name without an id.
fn who(text: &str) -> Option<Who> {
    let idle = Who { tid: Tid::IDLE, comm: Comm::from("swapper") };
    if text == "<idle>" || text == "swapper" {
        return Some(idle);
    }
    // Where perf knows no process of a thread that is woken, it prints its name alone.
    if let Some(tid) = text.strip_prefix(':').and_then(fields::decimal) {
        return Some(Who { tid: Tid(i32::try_from(tid).ok()?), comm: Comm::default() });
    }
    let is_cut = text.len() == LONGEST_THREAD && !text.ends_with(']');
    let (comm, ids) = fields::rsplit(if is_cut { text } else { text.strip_suffix(']')? }, b'[')?;
    // Of a cut one the process may lack digits, or all of them; the thread is whole.
    let (tid, pid) = match ids.split_once('/') {
        Some((tid, "")) if is_cut => (tid, "0"),
        Some(both) => both,
        None if is_cut => return None,
        None => (ids, "0"),
    };
    if tid == "-1" {
        return Some(Who { tid: EXITED, comm: Comm::default() });
    }
    let tid = Tid(i32::try_from(fields::decimal(tid)?).ok()?);
    fields::decimal(pid.strip_prefix('-').unwrap_or(pid))?;
    if tid.is_idle() {
        return Some(idle);
    }
    // `:77[77]`: a name that was not recorded.
    let is_named = comm.strip_prefix(':').is_none_or(|number| fields::digits(number).is_none());
    Some(Who { tid, comm: if is_named { Comm::from(fields::trim(comm)) } else { Comm::default() } })
}

/// `120`, or `120->98` where it changed meanwhile.
fn priorities(word: &str) -> Option<(Priority, Priority)> {
    let (from, to) = word.split_once("->").unwrap_or((word, word));
    let priority = |text: &str| {
        fields::digits(text.strip_prefix('-').unwrap_or(text)).and_then(|_| fields::priority(text))
    };
    Some((priority(from)?, priority(to)?))
}

/// Milliseconds with three decimals.
fn ms(word: &str) -> Option<Ns> {
    let (_, decimals) = word.split_once('.')?;
    fields::billionths(word).filter(|_| decimals.len() == 3).map(|billionths| Ns(billionths / 1_000))
}

/// The letters of perf; older ones have K for an idle kernel thread, and letters for preempted ones that mean others.
fn state(letter: &str) -> Option<TaskState> {
    Some(match letter {
        "R" => TaskState::Runnable,
        "S" => TaskState::Interruptible,
        "D" => TaskState::Uninterruptible,
        "X" | "Z" | "x" => TaskState::Dead,
        "I" | "K" => TaskState::Idle,
        "T" => TaskState::Stopped,
        "t" => TaskState::Traced,
        "P" | "W" | "N" | "w" | "p" | "?" => TaskState::Other,
        _ => return None,
    })
}

#[cfg(test)]
mod tests;
