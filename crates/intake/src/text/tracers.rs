//! What the timerlat, osnoise and hwlat tracers print.
//!
//! ```text
//! #1     context    irq timer_latency       932 ns
//! 1000000        190  99.98100        12     18      0   1007     18      1
//! irq_noise: local_timer:236 start 2.154658536 duration 20896 ns
//! #1     inner/outer(us):   84/124   ts:1795191830.519962072 count:841
//! ```
//!
//! Facts: kernel/trace/trace_output.c, kernel/trace/trace_entries.h, include/trace/events/osnoise.h. The
//! osnoise tracer counts in whole microseconds, as does hwlat.

use super::fields::{self, decimal, field, from_right, labelled, number};
use whylate_base::Ns;
use whylate_events::{
    EventKind, Name, Noise, NoiseSource, OsnoiseSample, Preemptirq, Timerlat, TimerlatContext, softirq_name,
};

/// A line's body without an event's name: timerlat's and hwlat's begin with `#`, osnoise's is a table.
pub(crate) fn unnamed(body: &str) -> Option<EventKind> {
    match body.strip_prefix('#') {
        Some(rest) if rest.contains("inner/outer(us):") => hwlat_line(rest),
        Some(rest) => timerlat_line(rest),
        None => osnoise_line(body),
    }
}

fn timerlat_line(text: &str) -> Option<EventKind> {
    let mut words = text.split_ascii_whitespace();
    let seq = number(words.next()?)?;
    let ("context", context, "timer_latency") = (words.next()?, words.next()?, words.next()?) else {
        return None;
    };
    let context = match context {
        "irq" => TimerlatContext::Irq,
        "thread" => TimerlatContext::Thread,
        "user-ret" => TimerlatContext::UserReturn,
        _ => return None,
    };
    let latency = fields::nanoseconds(words.next()?)?;
    Some(EventKind::Timerlat(Timerlat { seq, context, latency }))
}

/// `seq:1 context:0 timer_latency:932` of trace-cmd, its raw form, and the tracepoint `timerlat_sample`.
pub(crate) fn timerlat(text: &str) -> Option<EventKind> {
    if let Some(rest) = text.strip_prefix('#') {
        return timerlat_line(rest);
    }
    let seq = labelled(text, "seqnum").or_else(|| labelled(text, "seq"))?;
    let context = match number::<u32>(labelled(text, "context")?)? {
        0 => TimerlatContext::Irq,
        1 => TimerlatContext::Thread,
        2 => TimerlatContext::UserReturn,
        _ => return None,
    };
    let latency = fields::nanoseconds(labelled(text, "timer_latency")?)?;
    Some(EventKind::Timerlat(Timerlat { seq: number(seq)?, context, latency }))
}

fn hwlat_line(text: &str) -> Option<EventKind> {
    let (_, times) = text.split_once("inner/outer(us):")?;
    let (inner, outer) = times.split_once('/')?;
    hwlat_of(fields::trim(inner), fields::first_word(outer))
}

/// `cnt:1 ts:.. inner:84 outer:124` of trace-cmd, and its raw form.
pub(crate) fn hwlat(text: &str) -> Option<EventKind> {
    if text.contains("inner/outer(us):") {
        return hwlat_line(text);
    }
    let inner = labelled(text, "inner").or_else(|| field(text, "duration"))?;
    let outer = labelled(text, "outer").or_else(|| field(text, "outer_duration"))?;
    hwlat_of(inner, outer)
}

fn hwlat_of(inner: &str, outer: &str) -> Option<EventKind> {
    Some(EventKind::Hwlat { inner: whole_us(inner)?, outer: whole_us(outer)? })
}

fn whole_us(text: &str) -> Option<Ns> {
    number::<i64>(text)?.checked_mul(1_000).map(Ns)
}

fn osnoise_line(text: &str) -> Option<EventKind> {
    let mut words = text.split_ascii_whitespace();
    let mut next = || words.next();
    let (runtime, noise) = (whole_us(next()?)?, whole_us(next()?)?);
    // The share of the CPU it had, in percent.
    next()?.contains('.').then_some(())?;
    let max_sample = whole_us(next()?)?;
    let mut count = || number(next()?);
    let sample = OsnoiseSample {
        runtime,
        noise,
        max_sample,
        hw_count: count()?,
        nmi_count: count()?,
        irq_count: count()?,
        softirq_count: count()?,
        thread_count: count()?,
    };
    Some(EventKind::OsnoiseSample(sample))
}

/// `noise:1 max_sample:1 hw:0 nmi:0 irq:5 softirq:0 thread:8` of trace-cmd, which leaves the runtime out;
/// its raw form and the tracepoint `osnoise_sample` have it.
pub(crate) fn osnoise(text: &str) -> Option<EventKind> {
    if text.starts_with(|first: char| first.is_ascii_digit()) {
        return osnoise_line(text);
    }
    let us = |key| labelled(text, key).and_then(whole_us);
    let count =
        |key: &str, short: &str| labelled(text, key).or_else(|| labelled(text, short)).and_then(number);
    let sample = OsnoiseSample {
        runtime: us("runtime").unwrap_or_default(),
        noise: us("noise")?,
        max_sample: us("max_sample")?,
        hw_count: count("hw_count", "hw")?,
        nmi_count: count("nmi_count", "nmi")?,
        irq_count: count("irq_count", "irq")?,
        softirq_count: count("softirq_count", "softirq")?,
        thread_count: count("thread_count", "thread")?,
    };
    Some(EventKind::OsnoiseSample(sample))
}

/// `start 36.469564153 duration 1452 ns interference 5`, `duration 8 us interferences 2` in the kernel's documentation, or by key.
pub(crate) fn threshold(text: &str) -> Option<EventKind> {
    let (start, duration, interferences) = match text.contains("duration=") {
        true => {
            let time = |key| field(text, key).and_then(fields::nanoseconds);
            (time("start")?, time("duration")?, number(field(text, "interference")?)?)
        }
        false => {
            let (start, rest) = text.strip_prefix("start ")?.split_once(" duration ")?;
            let (duration, interferences) = rest.split_once(" interference")?;
            let start = Ns(fields::billionths(fields::trim(start))?);
            (start, with_unit(duration)?, number(interferences.strip_prefix('s').unwrap_or(interferences))?)
        }
    };
    Some(EventKind::OsnoiseThreshold { start, duration, interferences })
}

/// `1452 ns`, `8 us`
fn with_unit(duration: &str) -> Option<Ns> {
    match fields::last_word(fields::trim(duration)) {
        Some((number, "us")) => whole_us(number),
        _ => fields::nanoseconds(duration),
    }
}

/// `caller=console_unlock+0xc0/0x510 parent=vprintk_emit+0x134/0x1d0`; raw printing has offsets in place of names.
pub(crate) fn preemptirq(what: Preemptirq, disables: bool, text: &str) -> Option<EventKind> {
    let caller = field(text, "caller").map(fields::symbol);
    let is_event = caller.is_some() || text.contains("caller_offs");
    is_event.then(|| EventKind::Preemptirq { what, disables, caller: caller.unwrap_or_default() })
}

/// `irq_noise`, `softirq_noise`, `thread_noise`, `nmi_noise`.
pub(crate) fn noise(source: NoiseSource, text: &str) -> Option<EventKind> {
    let (name, id, start, duration) = match text.contains("duration=") {
        true => raw_noise(source, text)?,
        false => printed_noise(source, text)?,
    };
    Some(EventKind::Noise(Noise { source, name: Name::from(name), id, start, duration }))
}

/// `local_timer:236 start 2.154658536 duration 20896 ns`; an NMI has no name.
fn printed_noise(source: NoiseSource, text: &str) -> Option<(&str, u32, Ns, Ns)> {
    let (who, times) = match source {
        NoiseSource::Nmi => ("", text.strip_prefix("start ")?),
        _ => text.rsplit_once(" start ")?,
    };
    let (name, id) = match source {
        NoiseSource::Nmi => ("", 0),
        _ => {
            let (name, id) = who.rsplit_once(':')?;
            (fields::trim(name), u32::try_from(decimal(fields::trim(id))?).ok()?)
        }
    };
    let (start, duration) = times.split_once(" duration ")?;
    Some((name, id, Ns(fields::billionths(fields::trim(start))?), with_unit(duration)?))
}

/// `comm=a start=1 duration=2 pid=3`, by key.
fn raw_noise(source: NoiseSource, text: &str) -> Option<(&str, u32, Ns, Ns)> {
    let time = |key| field(text, key).and_then(fields::nanoseconds);
    let (name, id) = match source {
        NoiseSource::Nmi => ("", 0),
        NoiseSource::Irq => (field(text, "desc").unwrap_or(""), number(field(text, "vector")?)?),
        NoiseSource::Softirq => {
            let vector: u32 = number(field(text, "vector")?)?;
            (softirq_name(vector).unwrap_or(""), vector)
        }
        NoiseSource::Thread => {
            let [comm, _, _, pid] = from_right(text, ["comm", "start", "duration", "pid"])?;
            (comm, number(pid)?)
        }
    };
    let name = name.trim_matches('"');
    Some((name, id, time("start")?, time("duration")?))
}
