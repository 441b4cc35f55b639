//! Noise that the osnoise and hwlat tracers measured: no thread was late, but a thread that spins lost time.
//!
//! Sources: Documentation/trace/osnoise-tracer.rst, Documentation/trace/hwlat_detector.rst.

use super::timerlat::is_coarse;
use crate::timeline::Timeline;
use crate::timeline::thread::Thread;
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use whylate_base::{Cpu, Ns, Tid};
use whylate_events::{Breakdown, Event, Name, Noise, NoiseSource, OsnoiseSample, PartKind};

/// More different interferences than this on a CPU are not told apart.
const MAX_NAMES: usize = 4_096;

#[derive(Default)]
pub(crate) struct Noises {
    pub(crate) cpus: BTreeMap<Cpu, NoiseOfCpu>,
    pub(crate) hwlat: BTreeMap<Cpu, Gaps>,
    /// The idle task had a CPU.
    idled: bool,
    /// Another thread had.
    ran: bool,
    /// timerlat's thread, which sleeps in between, gave a sample.
    sampled: bool,
    /// A thread that spins summed a period up, or saw a single noise.
    spun: bool,
}

/// What osnoise measured on one CPU.
#[derive(Default)]
pub(crate) struct NoiseOfCpu {
    pub(crate) samples: u64,
    pub(crate) runtime: Ns,
    pub(crate) noise: Ns,
    pub(crate) hardware: u64,
    /// How many interferences there were: interrupts, softirqs, threads, NMIs.
    pub(crate) counts: [u64; 4],
    /// The most noise of one period, where a table has it.
    pub(crate) most_in_period: Ns,
    /// The longest single noise, and the end of its sample.
    pub(crate) longest: (Ns, Ns),
    /// That is only the longest interference: one noise may consist of several.
    pub(crate) is_least: bool,
    by: HashMap<Interference, InterferenceSum>,
}

/// What interfered.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Interference {
    pub(crate) source: NoiseSource,
    pub(crate) name: Name,
    /// An interrupt's line, a softirq's number, a thread's id.
    pub(crate) id: u32,
}

#[derive(Clone, Copy, Default)]
pub(crate) struct InterferenceSum {
    pub(crate) times: u64,
    pub(crate) total: Ns,
    pub(crate) longest: Ns,
    /// When the longest began.
    pub(crate) at: Ns,
}

/// What hwlat measured on one CPU.
#[derive(Default)]
pub(crate) struct Gaps {
    pub(crate) count: u64,
    pub(crate) longest: Ns,
    pub(crate) at: Ns,
}

impl Interference {
    /// The thread, where it is one.
    pub(crate) fn tid(&self) -> Tid {
        Tid(i32::try_from(self.id).unwrap_or(i32::MAX))
    }
}

impl Noises {
    pub(super) fn sample(&mut self, event: &Event, sample: &OsnoiseSample) {
        self.spun = true;
        let on = self.cpus.entry(event.cpu).or_default();
        on.samples += 1;
        on.runtime += sample.runtime.max(Ns::ZERO);
        on.noise += sample.noise.max(Ns::ZERO);
        on.hardware += u64::from(sample.hw_count);
        let counts = [sample.irq_count, sample.softirq_count, sample.thread_count, sample.nmi_count];
        on.counts.iter_mut().zip(counts).for_each(|(sum, count)| *sum += u64::from(count));
        on.longest = on.longest.max((sample.max_sample, event.ts));
    }

    /// One noise, as the spinning thread saw it.
    pub(super) fn threshold(&mut self, event: &Event, start: Ns, duration: Ns) {
        let on = self.cpus.entry(event.cpu).or_default();
        on.longest = on.longest.max((duration, start));
        self.spun = true;
    }

    /// timerlat's thread gave a sample.
    pub(super) fn timerlat(&mut self) {
        self.sampled = true;
    }

    /// The trace ended: where it has no summary of a period, the single noises are all there is. Without those, the
    /// longest interference is the least that was lost at once.
    pub(super) fn finish(&mut self, timeline: &Timeline) {
        // Without the workload (NO_OSNOISE_WORKLOAD) the events are of all threads, and none of them is noise.
        let is_measured = || self.sampled || timeline.threads.iter().any(measures);
        if !self.spun && (self.idled || self.ran && !is_measured()) {
            self.cpus.clear();
        }
        for on in self.cpus.values_mut().filter(|on| on.samples == 0 && on.is_measured()) {
            on.samples = 1;
            if on.longest.0 == Ns::ZERO {
                let longest = on.by.values().max_by_key(|sum| (sum.longest, sum.at));
                on.longest = longest.map_or(on.longest, |sum| (sum.longest, sum.at));
                on.is_least = true;
            }
        }
    }

    /// rtla's table, which has the sums and the longest noise of each CPU.
    pub(super) fn of_rtla(&mut self, breakdown: &Breakdown) {
        // A CPU that lost nothing is no finding.
        if breakdown.is_without_noise() {
            return;
        }
        let on = self.cpus.entry(breakdown.cpu).or_default();
        let count = |kind| breakdown.part(kind).and_then(|part| part.id).map_or(0, u64::from);
        on.samples += count(PartKind::Noise).max(1);
        on.runtime += breakdown.time_of(PartKind::Measured).unwrap_or_default();
        on.noise += breakdown.time_of(PartKind::Noise).unwrap_or_default();
        on.hardware += count(PartKind::Hardware);
        let kinds = [PartKind::Irq, PartKind::Softirq, PartKind::Thread, PartKind::Nmi];
        on.counts.iter_mut().zip(kinds).for_each(|(sum, kind)| *sum += count(kind));
        on.most_in_period =
            on.most_in_period.max(breakdown.time_of(PartKind::LargestNoise).unwrap_or_default());
        on.longest = on.longest.max((breakdown.total, Ns::ZERO));
    }

    pub(super) fn noise(&mut self, event: &Event, noise: &Noise) {
        // Between two periods the CPU may idle; of a coarse clock the length is not known.
        let idles = noise.source == NoiseSource::Thread && noise.id == 0;
        self.idled |= idles;
        self.ran |= noise.source == NoiseSource::Thread;
        if idles || is_coarse(noise) {
            return;
        }
        let on = self.cpus.entry(event.cpu).or_default();
        let key = Interference { source: noise.source, name: noise.name, id: noise.id };
        if on.by.len() >= MAX_NAMES && !on.by.contains_key(&key) {
            return;
        }
        let sum = on.by.entry(key).or_default();
        sum.times += 1;
        sum.total += noise.duration.max(Ns::ZERO);
        if noise.duration > sum.longest {
            (sum.longest, sum.at) = (noise.duration, noise.start);
        }
    }

    pub(super) fn hwlat(&mut self, event: &Event, gap: Ns) {
        let on = self.hwlat.entry(event.cpu).or_default();
        on.count += 1;
        if gap > on.longest {
            (on.longest, on.at) = (gap, event.ts);
        }
    }
}

/// True of the threads of osnoise and timerlat, the kernel's and rtla's: `osnoise/3`, `timerlat/3`, `timerlatu/3`.
fn measures(thread: &Thread) -> bool {
    thread.comm().as_str().split_once('/').is_some_and(|(name, cpu)| {
        matches!(name, "osnoise" | "timerlat" | "timerlatu") && cpu.parse::<u32>().is_ok()
    })
}

impl NoiseOfCpu {
    /// True where anything was measured: a summary, a single noise or an interference.
    fn is_measured(&self) -> bool {
        self.samples > 0 || self.longest.0 > Ns::ZERO || !self.by.is_empty()
    }

    /// What interfered, by its time in all, most first.
    pub(crate) fn largest(&self) -> Vec<(Interference, InterferenceSum)> {
        let mut all: Vec<_> = self.by.iter().map(|(&by, &sum)| (by, sum)).collect();
        all.sort_by_key(|(by, sum)| (Reverse(sum.total), by.source, by.name.as_str().to_owned(), by.id));
        all
    }
}
