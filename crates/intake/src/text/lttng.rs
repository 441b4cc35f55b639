//! Events of LTTng as babeltrace prints them: time, host, event, the packet's CPU, the contexts asked for, the fields.
//!
//! ```text
//! [10:20:30.123456789] (+0.000001234) host sched_waking: { cpu_id = 1 }, { tid = 7, procname = "a" }, { comm = "b", … }
//! ```
//!
//! LTTng subtracts 100 from priorities (`MAX_RT_PRIO`), and has states of threads as the kernel's numbers.

use super::event_head::NOBODY_KNOWN;
use super::fields;
use super::graph::Clock;
use super::line::Head;
use super::ros2::RosCallbacks;
use whylate_base::{Cpu, Ns};
use whylate_events::{Context, ContextFlags};

/// A line, in its parts.
pub(crate) struct LttngLine<'a> {
    ts: Ns,
    cpu: Cpu,
    name: &'a str,
    contexts: &'a str,
    fields: &'a str,
}

/// True of a line's beginning: a wrapped line has more in the next one.
pub(crate) fn begins(text: &str) -> bool {
    time(text).is_some()
}

/// Splits a whole line.
pub(crate) fn parse(text: &str) -> Option<LttngLine<'_>> {
    let (ts, rest) = time(text)?;
    let (before, groups) = rest.split_once(": {")?;
    let (contexts, fields) = groups.strip_suffix('}')?.rsplit_once("}, {")?;
    let (_, name) = fields::last_word(before)?;
    let cpu = fields::cpu_from(value(contexts, "cpu_id")?)?;
    Some(LttngLine { ts, cpu, name, contexts, fields })
}

/// `[10:20:30.123456789] (+…)`, with a date before it or as seconds by option; then what follows.
fn time(text: &str) -> Option<(Ns, &str)> {
    let (time, rest) = text.strip_prefix('[')?.split_once("] (+")?;
    let (_, rest) = rest.split_once(')')?;
    let time = time.rsplit(' ').next()?;
    let mut parts = time.rsplit(':');
    let seconds = fields::clock_time(parts.next()?)?;
    let (minutes, hours) = (parts.next().unwrap_or("0"), parts.next().unwrap_or("0"));
    let minutes = fields::number::<i64>(hours)?.checked_mul(60)?.checked_add(fields::number(minutes)?)?;
    let ns = minutes.checked_mul(60_000_000_000)?.checked_add(seconds.0)?;
    parts.next().is_none().then_some((Ns(ns), rest))
}

impl LttngLine<'_> {
    /// The line as an event of the kernel, with its head and body. Without a context of the thread, it is the one that
    /// the last switch of the CPU showed.
    pub(crate) fn event(&self, clock: &mut Clock, callbacks: &mut RosCallbacks) -> (Head<'_>, String) {
        let is_switch = self.name == "sched_switch";
        let of = |text, key: &str| value(text, key).and_then(fields::tid);
        // What a program has for its own id may be that of a container.
        let tid = of(self.contexts, "tid")
            .or_else(|| of(self.fields, "prev_tid").filter(|_| is_switch))
            .or_else(|| clock.thread(self.cpu))
            .or_else(|| of(self.contexts, "vtid"));
        if let Some(next) = of(self.fields, "next_tid").filter(|_| is_switch) {
            clock.switch(self.cpu, next);
        }
        let context = Context {
            tid: tid.unwrap_or(NOBODY_KNOWN),
            flags: ContextFlags::IRQS_UNKNOWN,
            preempt_depth: None,
        };
        let comm = value(self.contexts, "procname").unwrap_or("");
        let head = Head { comm, context, cpu: self.cpu, ts: self.ts, by_perf: false, buffer: "" };
        let of_ros = self.name.strip_prefix("ros2:").and_then(|name| {
            let process = value(self.contexts, "vpid").and_then(fields::number).unwrap_or(0);
            callbacks.event(name, process, |key| value(self.fields, key))
        });
        let body = match of_ros {
            Some(fact) => Some(format!("tracing_mark_write: {fact}")),
            None => self.body(),
        };
        (head, body.unwrap_or_else(|| format!("lttng_{}: ", self.name)))
    }

    /// The event in the kernel's own words; `None` for those that are not needed, or lack a field.
    fn body(&self) -> Option<String> {
        let get = |key| value(self.fields, key);
        let prio = |key| fields::number::<i64>(get(key)?)?.checked_add(100);
        let task = || Some(format!("comm={} pid={} prio={}", get("comm")?, get("tid")?, prio("prio")?));
        let name = self.name;
        Some(match name {
            "sched_switch" => format!(
                "{name}: prev_comm={} prev_pid={} prev_prio={} prev_state={} ==> next_comm={} next_pid={} next_prio={}",
                get("prev_comm")?,
                get("prev_tid")?,
                prio("prev_prio")?,
                state(get("prev_state")?)?,
                get("next_comm")?,
                get("next_tid")?,
                prio("next_prio")?,
            ),
            "sched_waking" | "sched_wakeup" | "sched_wakeup_new" => {
                format!("{name}: {} target_cpu={:03}", task()?, fields::number::<u32>(get("target_cpu")?)?)
            }
            "sched_migrate_task" => {
                format!("{name}: {} orig_cpu={} dest_cpu={}", task()?, get("orig_cpu")?, get("dest_cpu")?)
            }
            "irq_handler_entry" => format!("{name}: irq={} name={}", get("irq")?, get("name")?),
            "irq_handler_exit" => format!("{name}: irq={} ret=handled", get("irq")?),
            "irq_softirq_entry" | "irq_softirq_exit" | "irq_softirq_raise" => {
                format!("{}: vec={}", name.strip_prefix("irq_")?, get("vec")?)
            }
            _ => {
                let (vector, part) = name.strip_prefix("x86_irq_vectors_")?.rsplit_once('_')?;
                format!("{vector}_{part}: vector={}", get("vector")?)
            }
        })
    }
}

/// The letter of a state's number, or of `( "NAME" : container = number )`. Above them all is the mark of a thread that
/// was runnable when it was switched out.
fn state(text: &str) -> Option<&'static str> {
    let number = text.rsplit_once("container = ").map_or(text, |(_, number)| fields::trim(number));
    let number: u32 = fields::number(number)?;
    const LETTERS: [&str; 8] = ["S", "D", "T", "t", "X", "Z", "P", "I"];
    Some(match number {
        0 => "R",
        _ => LETTERS.get(number.trailing_zeros() as usize).copied().unwrap_or("R+"),
    })
}

/// The value of `key = value`, without its quotes or parentheses.
fn value<'a>(mut text: &'a str, key: &str) -> Option<&'a str> {
    while let Some((name, rest)) = text.split_once(" = ") {
        let name = name.rsplit([' ', ',', '{']).next()?;
        let close = match rest.bytes().next()? {
            b'"' => '"',
            b'(' => ')',
            b'[' => ']',
            b'{' => {
                text = rest;
                continue;
            }
            _ => ',',
        };
        let (value, rest) = match close {
            ',' => rest.split_at(rest.find([',', ' ', '}']).unwrap_or(rest.len())),
            _ => rest.get(1..)?.split_once(close)?,
        };
        if name == key {
            return Some(value);
        }
        text = rest;
    }
    None
}
