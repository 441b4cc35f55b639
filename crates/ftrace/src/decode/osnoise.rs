//! The records of the timerlat, osnoise and hwlat tracers (`kernel/trace/trace_entries.h`), and the tracepoints
//! of group `osnoise` (`include/trace/events/osnoise.h`).
//!
//! The summaries of osnoise and hwlat are in whole microseconds (`time_to_us` in `kernel/trace/trace_osnoise.c`
//! and `trace_hwlat.c`), all else in nanoseconds.

use super::field::{Int, Lookup, Str};
use crate::bytes::Endian;
use whylate_base::Ns;
use whylate_events::{
    EventKind, Kind, Name, Noise, NoiseSource, OsnoiseSample, Timerlat, TimerlatContext, softirq_name,
};

#[derive(Debug)]
pub(super) enum Osnoise {
    Timerlat { seqnum: Int, context: Int, latency: Int },
    Noise { source: NoiseSource, name: Option<Str>, id: Option<Int>, start: Int, duration: Int },
    Sample(Box<Sample>),
    Threshold { start: Int, duration: Int, interference: Int },
    Hwlat { inner: Int, outer: Int },
}

/// Boxed: it is rare, and would make every decoder larger.
#[derive(Debug)]
pub(super) struct Sample {
    runtime: Int,
    noise: Int,
    max_sample: Int,
    hw_count: Int,
    nmi_count: Int,
    irq_count: Int,
    softirq_count: Int,
    thread_count: Int,
}

pub(super) fn compile(f: &mut Lookup<'_>) -> Option<(Kind, Osnoise)> {
    let noise = |source, name, id, f: &mut Lookup<'_>| {
        let (start, duration) = (f.int("start")?, f.int("duration")?);
        Some((Kind::Osnoise, Osnoise::Noise { source, name, id, start, duration }))
    };
    Some(match (f.format.system.as_str(), f.format.name.as_str()) {
        ("ftrace", "timerlat") | ("osnoise", "timerlat_sample") => {
            let (seqnum, context) = (f.int("seqnum")?, f.int("context")?);
            (Kind::Timerlat, Osnoise::Timerlat { seqnum, context, latency: f.int("timer_latency")? })
        }
        ("ftrace", "osnoise") | ("osnoise", "osnoise_sample") => {
            let sample = Sample {
                runtime: f.int("runtime")?,
                noise: f.int("noise")?,
                max_sample: f.int("max_sample")?,
                hw_count: f.int("hw_count")?,
                nmi_count: f.int("nmi_count")?,
                irq_count: f.int("irq_count")?,
                softirq_count: f.int("softirq_count")?,
                thread_count: f.int("thread_count")?,
            };
            (Kind::Osnoise, Osnoise::Sample(Box::new(sample)))
        }
        ("ftrace", "hwlat") => {
            (Kind::Hwlat, Osnoise::Hwlat { inner: f.int("duration")?, outer: f.int("outer_duration")? })
        }
        ("osnoise", "sample_threshold") => {
            let (start, duration) = (f.int("start")?, f.int("duration")?);
            (Kind::Osnoise, Osnoise::Threshold { start, duration, interference: f.int("interference")? })
        }
        ("osnoise", "nmi_noise") => noise(NoiseSource::Nmi, None, None, f)?,
        ("osnoise", "irq_noise") => {
            let (desc, vector) = (f.text("desc")?, f.int("vector")?);
            noise(NoiseSource::Irq, Some(desc), Some(vector), f)?
        }
        ("osnoise", "softirq_noise") => {
            let vector = f.int("vector")?;
            noise(NoiseSource::Softirq, None, Some(vector), f)?
        }
        ("osnoise", "thread_noise") => {
            let (comm, pid) = (f.text("comm")?, f.int("pid")?);
            noise(NoiseSource::Thread, Some(comm), Some(pid), f)?
        }
        _ => return None,
    })
}

impl Osnoise {
    #[inline(always)]
    pub(super) fn decode(&self, e: Endian, r: &[u8]) -> Option<EventKind> {
        Some(match self {
            Osnoise::Timerlat { seqnum, context, latency } => {
                // IRQ_CONTEXT, THREAD_CONTEXT and THREAD_URET (6.5) of trace_osnoise.c.
                let context = match context.read(e, r)? {
                    0 => TimerlatContext::Irq,
                    1 => TimerlatContext::Thread,
                    2 => TimerlatContext::UserReturn,
                    _ => return Some(EventKind::Other),
                };
                let (seq, latency) = (seqnum.read(e, r)? as u32, Ns(latency.read(e, r)?));
                EventKind::Timerlat(Timerlat { seq, context, latency })
            }
            Osnoise::Noise { source, name, id, start, duration } => {
                let id = match id {
                    Some(id) => id.read(e, r)? as u32,
                    None => 0,
                };
                let name = match name {
                    Some(name) => name.text(e, r),
                    None if *source == NoiseSource::Softirq => softirq(id),
                    None => Name::default(),
                };
                let (start, duration) = (Ns(start.read(e, r)?), Ns(duration.read(e, r)?));
                EventKind::Noise(Noise { source: *source, name, id, start, duration })
            }
            Osnoise::Sample(sample) => {
                let count = |field: Int| field.read(e, r).map(|count| count as u32);
                EventKind::OsnoiseSample(OsnoiseSample {
                    runtime: whole_us(sample.runtime, e, r)?,
                    noise: whole_us(sample.noise, e, r)?,
                    max_sample: whole_us(sample.max_sample, e, r)?,
                    hw_count: count(sample.hw_count)?,
                    nmi_count: count(sample.nmi_count)?,
                    irq_count: count(sample.irq_count)?,
                    softirq_count: count(sample.softirq_count)?,
                    thread_count: count(sample.thread_count)?,
                })
            }
            Osnoise::Threshold { start, duration, interference } => EventKind::OsnoiseThreshold {
                start: Ns(start.read(e, r)?),
                duration: Ns(duration.read(e, r)?),
                interferences: interference.read(e, r)? as u32,
            },
            Osnoise::Hwlat { inner, outer } => {
                EventKind::Hwlat { inner: whole_us(*inner, e, r)?, outer: whole_us(*outer, e, r)? }
            }
        })
    }
}

fn whole_us(field: Int, e: Endian, r: &[u8]) -> Option<Ns> {
    Some(Ns(field.read(e, r)?.saturating_mul(1_000)))
}

/// What the kernel prints for a softirq's number (`show_softirq_name`, `include/trace/events/irq.h`).
fn softirq(vector: u32) -> Name {
    softirq_name(vector).map(Name::from).unwrap_or_default()
}
