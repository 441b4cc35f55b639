//! How much time osnoise's spinning threads lost, and what took it.

use super::info::{FindingInfo, page};
use super::subject::Subject;
use super::words::{severity, times};
use crate::causes::Cause;
use crate::causes::advised::{Advised, RECORD};
use crate::model::{Activation, Culprit};
use crate::timeline::Timeline;
use crate::tracers::actors;
use crate::tracers::osnoise::{Interference, InterferenceSum, NoiseOfCpu};
use std::cmp::Reverse;
use whylate_base::{AdvisedFix, Cpu, Evidence, Finding, Ns};
use whylate_events::NoiseSource;

pub(super) const INFO: FindingInfo = FindingInfo { code: "os-noise", page: page!("os-noise") };

/// Interferences that are listed.
const LISTED: usize = 3;

pub(super) fn findings(subject: &Subject<'_>) -> Vec<Finding> {
    let noisy = subject.noises.cpus.iter().filter(|(_, noise)| noise.samples > 0);
    let mut cpus: Vec<(Cpu, &NoiseOfCpu)> = noisy.map(|(&cpu, noise)| (cpu, noise)).collect();
    // Many short noises of one period delay a thread as a long one does.
    cpus.sort_by_key(|(cpu, noise)| (Reverse(noise.most_in_period.max(noise.longest.0)), *cpu));
    cpus.first().map(|&(cpu, noise)| finding(subject, &cpus, cpu, noise)).into_iter().collect()
}

fn finding(subject: &Subject<'_>, cpus: &[(Cpu, &NoiseOfCpu)], worst: Cpu, most: &NoiseOfCpu) -> Finding {
    let timeline = subject.timeline;
    let largest = most.largest();
    let worst_of = largest.iter().max_by_key(|(_, sum)| sum.longest);
    let largest_of = worst_of.map_or_else(String::new, |(by, sum)| {
        format!("; the largest recorded interference took {}: {}", sum.longest, culprit(timeline, sum.at, by))
    });
    let longest = cpus.iter().map(|(_, noise)| noise.longest.0).max();
    let mut evidence: Vec<Evidence> = Vec::new();
    for (by, sum) in largest.iter().take(LISTED) {
        let by = culprit(timeline, sum.at, by);
        let what = format!("{by}: {}, {} in all, {} at most", times(sum.times), sum.total, sum.longest);
        evidence.push(Evidence::at(sum.at, worst, what));
    }
    evidence.extend(cpus.iter().map(|(cpu, noise)| {
        let at = Some(noise.longest.1).filter(|&at| at > Ns::ZERO);
        Evidence {
            at,
            cpu: Some(*cpu),
            ..Evidence::general(format!("lost {}{}", lost(noise), in_all(noise)))
        }
    }));
    Finding {
        code: INFO.code,
        severity: severity(longest.unwrap_or(most.longest.0), subject.options.deadline),
        title: format!("CPU {worst} lost {}{largest_of}", lost(most)),
        why: format!(
            "a thread that spins on the CPU and never sleeps lost this time to interrupts, other threads and the machine; {}",
            match delayed(subject, worst, &largest) {
                Some(thread) => format!("part of it delayed {thread}, as explained there"),
                None => "it made no thread late, but a thread that is due in such a time is late".to_owned(),
            }
        ),
        evidence,
        fix: match worst_of {
            Some((by, sum)) => advice(timeline, sum.at, by, worst),
            None => vec![AdvisedFix::by_hand(
                "trace the osnoise events as well (rtla osnoise top -s US -t, which keeps the trace of a noise of US, or \
                 events/osnoise/enable): they name what interfered",
                RECORD,
            )],
        },
    }
}

/// The thread that was late by one of the interferences, of those that are explained.
fn delayed(subject: &Subject<'_>, cpu: Cpu, largest: &[(Interference, InterferenceSum)]) -> Option<Culprit> {
    let hits = |late: &&&Activation| {
        let until = late.running.unwrap_or(late.end);
        late.cpu == cpu && largest.iter().any(|(_, sum)| sum.at < until && sum.at + sum.longest > late.due)
    };
    let late =
        subject.worst.iter().filter(hits).max_by_key(|late| late.running.unwrap_or(late.end) - late.due)?;
    Some(Culprit::Task { tid: late.tid, comm: late.comm, priority: late.priority })
}

/// `: 90.00 us in all, by 12 interrupts, 6 softirqs and 1 thread`, from the samples.
fn in_all(noise: &NoiseOfCpu) -> String {
    let named = ["interrupt", "softirq", "thread", "NMI"].into_iter().zip(noise.counts);
    let counts: Vec<String> = named
        .filter(|&(_, count)| count > 0)
        .map(|(name, count)| format!("{count} {name}{}", if count == 1 { "" } else { "s" }))
        .collect();
    match counts.split_last() {
        _ if noise.noise == Ns::ZERO => String::new(),
        None => format!(": {} in all", noise.noise),
        Some((last, [])) => format!(": {} in all, by {last}", noise.noise),
        Some((last, others)) => format!(": {} in all, by {} and {last}", noise.noise, others.join(", ")),
    }
}

/// `1.20 % of 10.00 s to noise, 74.00 us at once`
fn lost(noise: &NoiseOfCpu) -> String {
    let in_period = match noise.most_in_period {
        Ns::ZERO => String::new(),
        most => format!(", up to {most} in one period"),
    };
    match noise.runtime {
        Ns::ZERO if noise.is_least => format!("at least {} at once to noise", noise.longest.0),
        Ns::ZERO => format!("up to {} at once to noise", noise.longest.0),
        runtime => {
            let share = share(noise.noise, runtime);
            format!("{share} of {runtime} to noise{in_period}, {} at once", noise.longest.0)
        }
    }
}

fn share(part: Ns, whole: Ns) -> String {
    let percent = part.0 as f64 / whole.0.max(1) as f64 * 100.0;
    if percent > 0.0 && percent < 0.01 { "<0.01 %".to_owned() } else { format!("{percent:.2} %") }
}

fn culprit(timeline: &Timeline, at: Ns, by: &Interference) -> String {
    by_of(timeline, at, by).map_or_else(|| "an NMI".to_owned(), |by| by.to_string())
}

fn by_of(timeline: &Timeline, at: Ns, by: &Interference) -> Option<Culprit> {
    let &Interference { source, name, id } = by;
    match source {
        NoiseSource::Nmi => None,
        NoiseSource::Irq => Some(actors::irq_named(name, Some(id))),
        NoiseSource::Softirq => Some(Culprit::Softirq { vec: id }),
        NoiseSource::Thread => Some(actors::task(timeline, at, by.tid(), name.as_str())),
    }
}

fn advice(timeline: &Timeline, at: Ns, by: &Interference, cpu: Cpu) -> Vec<AdvisedFix> {
    let culprit = by_of(timeline, at, by);
    let of = Advised::about(culprit.as_ref(), Some(cpu));
    match by.source {
        NoiseSource::Nmi => Cause::Nmi.advice(&of),
        NoiseSource::Irq => Cause::Irq.advice(&of),
        NoiseSource::Softirq => Cause::Softirq.advice(&of),
        NoiseSource::Thread => {
            let thread = of.the_culprit();
            let moved = of.moved(format!(
                "move {thread} to another CPU: taskset -pc CPUS TID; for a kernel thread that is bound to its CPU, move the work \
                 that it does"
            ));
            vec![
                moved,
                AdvisedFix::new(
                    "isolate the CPU: isolcpus=, nohz_full=, an isolated cpuset partition",
                    of.isolate(),
                ),
            ]
        }
    }
}
