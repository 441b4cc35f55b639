//! What the timerlat, osnoise and hwlat tracers measured. Perfetto has no messages of their own for it: they are
//! generic events, with the kernel's names (`include/trace/events/osnoise.h`, `kernel/trace/trace_entries.h`).
//! The summaries of osnoise and hwlat are in whole microseconds, as in the kernel's records.

use crate::perfetto::generic::Generic;
use whylate_base::Ns;
use whylate_events::{
    EventKind, Name, Noise, NoiseSource, OsnoiseSample, Timerlat, TimerlatContext, softirq_name,
};

/// `None` for another event, and for one that lacks a field.
pub(super) fn decode(name: &str, event: &Generic<'_>) -> Option<EventKind> {
    let u32 = |name| event.int(name).map(|value| value as u32);
    let whole_us = |name| event.int(name).map(|us| Ns(us.saturating_mul(1_000)));
    Some(match name {
        "timerlat" | "timerlat_sample" => {
            let context = match event.int("context")? {
                0 => TimerlatContext::Irq,
                1 => TimerlatContext::Thread,
                2 => TimerlatContext::UserReturn,
                _ => return None,
            };
            let latency = Ns(event.int("timer_latency")?);
            EventKind::Timerlat(Timerlat { seq: u32("seqnum")?, context, latency })
        }
        "osnoise" | "osnoise_sample" => EventKind::OsnoiseSample(OsnoiseSample {
            runtime: whole_us("runtime")?,
            noise: whole_us("noise")?,
            max_sample: whole_us("max_sample")?,
            hw_count: u32("hw_count")?,
            nmi_count: u32("nmi_count")?,
            irq_count: u32("irq_count")?,
            softirq_count: u32("softirq_count")?,
            thread_count: u32("thread_count")?,
        }),
        "hwlat" => EventKind::Hwlat { inner: whole_us("duration")?, outer: whole_us("outer_duration")? },
        "nmi_noise" | "irq_noise" | "softirq_noise" | "thread_noise" => {
            let (start, duration) = (Ns(event.int("start")?), Ns(event.int("duration")?));
            let (source, name, id) = match name {
                "nmi_noise" => (NoiseSource::Nmi, Name::default(), 0),
                "irq_noise" => (NoiseSource::Irq, event.text("desc")?, u32("vector")?),
                "softirq_noise" => {
                    let vector = u32("vector")?;
                    (NoiseSource::Softirq, softirq_name(vector).map(Name::from).unwrap_or_default(), vector)
                }
                _ => (NoiseSource::Thread, event.text("comm")?, u32("pid")?),
            };
            EventKind::Noise(Noise { source, name, id, start, duration })
        }
        _ => return None,
    })
}
