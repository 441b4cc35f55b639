//! Noise that the osnoise and hwlat tracers measured: no thread was late, but one that spins lost time.
//!
//! Sources: Documentation/trace/osnoise-tracer.rst, Documentation/trace/hwlat_detector.rst.

use super::people;
use crate::causes::Cause;
use crate::engine::Engine;
use crate::model::softirq_name;
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use whylate_base::{Cpu, Evidence, Finding, Ns, Priority, Severity, Tid};
use whylate_events::{Breakdown, Event, Name, Noise, NoiseSource, OsnoiseSample};

/// The code of what osnoise's samples add up to.
pub(super) const OS_NOISE: &str = "os-noise";
/// The code of noise no interference explains.
pub(super) const HARDWARE_NOISE: &str = "hardware-noise";
/// A single noise of this length makes threads late.
const NOTABLE: Ns = Ns::from_us(50);
/// More different interferences than this on a CPU are not told apart.
const MAX_NAMES: usize = 4_096;
/// Interferences that are listed.
const LISTED: usize = 3;

#[derive(Default)]
pub(super) struct Noises {
    cpus: BTreeMap<Cpu, OnCpu>,
    hwlat: BTreeMap<Cpu, Hwlat>,
}

#[derive(Default)]
struct OnCpu {
    samples: u64,
    runtime: Ns,
    noise: Ns,
    hardware: u64,
    /// The longest single noise, and when the sample that tells of it ended.
    longest: (Ns, Ns),
    by: HashMap<(NoiseSource, Name, u32), Sum>,
}

#[derive(Clone, Copy, Default)]
struct Sum {
    times: u64,
    total: Ns,
    longest: Ns,
    at: Ns,
}

#[derive(Default)]
struct Hwlat {
    gaps: u64,
    longest: Ns,
    at: Ns,
}

impl Noises {
    pub(super) fn sample(&mut self, event: &Event, sample: &OsnoiseSample) {
        let on = self.cpus.entry(event.cpu).or_default();
        on.samples += 1;
        on.runtime += sample.runtime.max(Ns::ZERO);
        on.noise += sample.noise.max(Ns::ZERO);
        on.hardware += u64::from(sample.hw_count);
        on.longest = on.longest.max((sample.max_sample, event.ts));
    }

    /// rtla's table, which tells the longest noise of each CPU.
    pub(super) fn of_rtla(&mut self, breakdown: &Breakdown) {
        let on = self.cpus.entry(breakdown.cpu).or_default();
        on.samples += 1;
        on.longest = on.longest.max((breakdown.total, Ns::ZERO));
    }

    pub(super) fn noise(&mut self, event: &Event, noise: &Noise) {
        // Between two periods the CPU may idle.
        if noise.source == NoiseSource::Thread && noise.id == 0 {
            return;
        }
        let on = self.cpus.entry(event.cpu).or_default();
        // An interrupt's number tells it from its namesakes, a softirq's is its name.
        let key = (noise.source, noise.name, noise.id);
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
        on.gaps += 1;
        if gap > on.longest {
            (on.longest, on.at) = (gap, event.ts);
        }
    }

    pub(super) fn findings(&self, engine: &Engine<'_>) -> Vec<Finding> {
        let mut findings: Vec<Finding> = self.osnoise(engine).into_iter().collect();
        findings.extend(self.hardware(engine));
        findings.extend(self.stolen(engine));
        findings
    }

    /// How much each spinning thread lost, and to whom.
    fn osnoise(&self, engine: &Engine<'_>) -> Option<Finding> {
        let mut cpus: Vec<(Cpu, &OnCpu)> =
            self.cpus.iter().filter(|(_, on)| on.samples > 0).map(|(&cpu, on)| (cpu, on)).collect();
        cpus.sort_by_key(|(cpu, on)| (Reverse(on.longest.0), *cpu));
        let &(worst, most) = cpus.first()?;
        let longest = most.longest.0;
        let culprit = most.worst_of().map_or_else(String::new, |(by, sum)| {
            format!(", the largest interference {} by {}", sum.longest, named(engine, by))
        });
        let mut evidence: Vec<Evidence> = Vec::new();
        for (by, sum) in most.largest().into_iter().take(LISTED) {
            let what = format!(
                "{}: {}, {} in all, {} at most",
                named(engine, by),
                times(sum.times),
                sum.total,
                sum.longest
            );
            evidence.push(Evidence::at(sum.at, worst, what));
        }
        evidence.extend(cpus.iter().map(|(cpu, on)| {
            let what = format!("lost {}", on.lost());
            Evidence { at: Some(on.longest.1).filter(|&at| at > Ns::ZERO), cpu: Some(*cpu), what }
        }));
        let fix = match most.worst_of() {
            Some((by, _)) => advice_for(engine, by),
            None => vec!["trace the osnoise events as well (rtla osnoise -T, or events/osnoise/enable): they name what interfered".to_owned()],
        };
        Some(Finding {
            code: OS_NOISE,
            severity: severity(engine, longest),
            title: format!("CPU {worst} lost {}{culprit}", most.lost()),
            why: "a thread that spins on the CPU and never sleeps lost this time to interrupts, other threads and the \
                  machine; nobody was late by it, but a thread due then would have been"
                .to_owned(),
            evidence,
            fix,
        })
    }

    /// Noise that osnoise counts as the hardware's: the clock jumped and the kernel saw nobody.
    fn hardware(&self, engine: &Engine<'_>) -> Option<Finding> {
        let (cpu, most) = self
            .cpus
            .iter()
            .filter(|(_, on)| on.hardware > 0)
            .max_by_key(|(cpu, on)| (on.hardware, Reverse(**cpu)))?;
        let samples: u64 = self.cpus.values().map(|on| on.samples).sum();
        let total: u64 = self.cpus.values().map(|on| on.hardware).sum();
        Some(Finding {
            code: HARDWARE_NOISE,
            severity: Severity::Info,
            title: format!("{total} noises without any interference the kernel saw, {} of them on CPU {cpu}", most.hardware),
            why: format!("{}; how long each was, osnoise does not tell", suspect(engine)),
            evidence: vec![Evidence::general(format!("in {samples} samples of {} CPUs", self.cpus.len()))],
            fix: vec!["the hwlat tracer measures their length: it spins with interrupts off, so that only the machine can interfere".to_owned()],
        })
    }

    /// Gaps of a CPU that spun with interrupts off.
    fn stolen(&self, engine: &Engine<'_>) -> Option<Finding> {
        let (cpu, most) = self.hwlat.iter().max_by_key(|(cpu, on)| (on.longest, Reverse(**cpu)))?;
        let gaps: u64 = self.hwlat.values().map(|on| on.gaps).sum();
        let evidence = self.hwlat.iter().map(|(&cpu, on)| {
            Evidence::at(on.at, cpu, format!("{} at once, the longest of {}", on.longest, on.gaps))
        });
        Some(Finding {
            code: Cause::Stolen.code(),
            severity: severity(engine, most.longest),
            title: format!(
                "CPU {cpu} stood still for {} while it spun with interrupts off: {gaps} gaps in all",
                most.longest
            ),
            why: format!("nothing but an NMI could run there; {}", suspect(engine)),
            evidence: evidence.collect(),
            fix: Cause::Stolen.advice(None, Priority::DEFAULT),
        })
    }
}

impl OnCpu {
    /// `1.20 % of 10.00 s to noise, 74.00 us at once`
    fn lost(&self) -> String {
        match self.runtime {
            Ns::ZERO => format!("up to {} at once to noise", self.longest.0),
            runtime => {
                format!("{} of {runtime} to noise, {} at once", share(self.noise, runtime), self.longest.0)
            }
        }
    }

    /// By what they cost in all, most first.
    fn largest(&self) -> Vec<((NoiseSource, Name, u32), Sum)> {
        let mut all: Vec<_> = self.by.iter().map(|(&by, &sum)| (by, sum)).collect();
        all.sort_by_key(|&((source, name, id), sum)| {
            (Reverse(sum.total), source, name.as_str().to_owned(), id)
        });
        all
    }

    fn worst_of(&self) -> Option<((NoiseSource, Name, u32), Sum)> {
        self.largest().into_iter().max_by_key(|&(_, sum)| sum.longest)
    }
}

fn severity(engine: &Engine<'_>, longest: Ns) -> Severity {
    match engine.options.deadline {
        Some(deadline) if longest > deadline => Severity::Error,
        _ if longest >= NOTABLE => Severity::Warning,
        _ => Severity::Info,
    }
}

fn suspect(engine: &Engine<'_>) -> &'static str {
    match engine.hypervisor {
        Some(true) => "the machine is a guest: its hypervisor is the first suspect",
        Some(false) => "the machine is no guest: firmware (SMI) is the first suspect",
        None => {
            "firmware (SMI) does this on a machine, the hypervisor on a guest; which this is, the recording does not tell"
        }
    }
}

fn share(part: Ns, whole: Ns) -> String {
    let percent = part.0 as f64 / whole.0.max(1) as f64 * 100.0;
    if percent > 0.0 && percent < 0.01 { "<0.01 %".to_owned() } else { format!("{percent:.2} %") }
}

fn named(engine: &Engine<'_>, (source, name, id): (NoiseSource, Name, u32)) -> String {
    match source {
        NoiseSource::Nmi => "an NMI".to_owned(),
        NoiseSource::Irq => people::irq_named(name, Some(id)).to_string(),
        NoiseSource::Softirq => format!("softirq {}", softirq_name(id)),
        NoiseSource::Thread => people::task(engine, thread(id), name.as_str()).to_string(),
    }
}

fn thread(id: u32) -> Tid {
    Tid(i32::try_from(id).unwrap_or(i32::MAX))
}

fn advice_for(engine: &Engine<'_>, (source, name, id): (NoiseSource, Name, u32)) -> Vec<String> {
    use crate::model::Culprit;
    match source {
        NoiseSource::Nmi => Cause::Nmi.advice(None, Priority::DEFAULT),
        NoiseSource::Irq => Cause::Irq.advice(Some(&people::irq_named(name, Some(id))), Priority::DEFAULT),
        NoiseSource::Softirq => Cause::Softirq.advice(Some(&Culprit::Softirq { vec: id }), Priority::DEFAULT),
        NoiseSource::Thread => {
            let who = people::task(engine, thread(id), name.as_str()).to_string();
            vec![
                format!(
                    "move {who} to another CPU: taskset -pc CPUS TID; a kernel thread bound to its CPU needs what it serves moved"
                ),
                "isolate the CPU: isolcpus=, nohz_full=, an isolated cpuset partition".to_owned(),
            ]
        }
    }
}

fn times(n: u64) -> String {
    if n == 1 { "once".to_owned() } else { format!("{n} times") }
}
