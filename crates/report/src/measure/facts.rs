//! What the renderers of a measurement share: the answer in one line, and facts in words.

use crate::{claims, words};
use whylate_base::Ns;
use whylate_investigate::measure::{
    DeadlineAnswer, MeasureReport, MeasuredPhase, Observed, RARE, SpikeGroup, TailEstimate, TraceState,
};
use whylate_ledger::Cause;
use whylate_probes::load::LoadReport;
use whylate_probes::{Counts, CpuResult, ProbeKind as Probe};
use whylate_stats::{FitRefusal, Histogram, Level};

/// The answer of a measurement in one line.
pub(crate) fn title(report: &MeasureReport) -> String {
    let stuck = report.cpus.iter().find(|cpu| cpu.stuck_since.is_some());
    let worst = report.cpus.iter().filter_map(|cpu| Some((cpu.histogram.max()?, cpu.cpu))).max();
    let mut answer = match (stuck, worst) {
        (Some(cpu), _) => format!("The measuring thread of CPU {} did not return", cpu.cpu),
        (None, Some((latency, cpu))) => match report.probe.kind {
            Probe::Busy { .. } | Probe::Hwlat { .. } => {
                format!("The longest gap was {latency}, on CPU {cpu}")
            }
            Probe::Deadline { .. } => format!("The worst period began {latency} late"),
            Probe::Timer(_) | Probe::Ipc { .. } | Probe::Timerlat(_) => {
                format!("The worst wake-up was {latency} late, on CPU {cpu}")
            }
        },
        (None, None) => format!("No {} was measured", report.probe.sample()),
    };
    let of = if is_of_gaps(report) { "of" } else { "late by" };
    if let (Some(over), Some(threshold)) = (report.over_threshold, report.probe.threshold) {
        answer.push_str(&match over {
            0 => format!("; none was {of} {threshold} or more"),
            1 => format!("; 1 was {of} {threshold} or more"),
            over => format!("; {} were {of} {threshold} or more", words::count(over)),
        });
    }
    answer
}

/// True where a sample is how long a thread was held up, not how late it came.
pub(crate) fn is_of_gaps(report: &MeasureReport) -> bool {
    matches!(report.probe.kind, Probe::Busy { .. } | Probe::Hwlat { .. })
}

/// What was measured and how, in parts to be joined by a separator.
pub(crate) fn facts(report: &MeasureReport) -> Vec<String> {
    let mut parts = vec![report.elapsed.to_string(), words::plural(report.cpus.len() as u64, "CPU")];
    let real = report.cpus.first().map(|cpu| cpu.sched);
    match real {
        Some(sched) if report.cpus.iter().all(|cpu| cpu.sched == sched) => parts.push(sched.to_string()),
        _ => parts.push(format!("{} asked for", report.probe.sched())),
    }
    parts.push(report.probe.rhythm());
    if let TraceState::Recorded { events, .. } = &report.trace {
        parts.push(format!("{} traced", words::plural(*events, "event")));
    }
    parts
}

/// What went wrong on a CPU while it was measured, in sentences.
pub(crate) fn trouble(cpu: &CpuResult) -> Vec<String> {
    let at = cpu.name();
    let mut notes = Vec::new();
    if let Some(since) = cpu.stuck_since {
        notes.push(format!("{at}: not woken since {}; its numbers end there", words::instant(since)));
    }
    if cpu.missed > 0 {
        let periods = words::plural(cpu.missed, "period");
        notes.push(format!(
            "{at}: {periods} passed while the thread was late from an earlier one, and not measured"
        ));
    }
    notes.extend(counts(cpu).map(|counts| format!("{at}: {counts}")));
    notes.extend(smis(cpu).map(|smis| format!("{at}: {smis}")));
    let faults = cpu.minor_faults.unwrap_or(0) + cpu.major_faults.unwrap_or(0);
    if faults > 0 {
        notes.push(format!("{at}: the measuring thread had {}", words::plural(faults, "page fault")));
    }
    if cpu.unreported_spikes > 0 {
        let spikes = words::plural(cpu.unreported_spikes, "late wake-up");
        notes.push(format!(
            "{at}: {spikes} came faster than they could be noted, and are in the numbers only"
        ));
    }
    notes
}

/// What only some kinds of probe count.
fn counts(cpu: &CpuResult) -> Option<String> {
    match cpu.counts {
        Counts::None => None,
        Counts::Busy { watched } => {
            let lost = cpu.histogram.sum();
            let share = lost as f64 / watched.0.max(1) as f64;
            let lost = Ns(i64::try_from(lost).unwrap_or(i64::MAX));
            Some(format!("{lost} of {watched} of spinning were lost to gaps ({})", words::percent(share)))
        }
        Counts::Deadline { overruns } => {
            Some(format!("the work of {} was not done by the deadline", words::plural(overruns, "period")))
        }
        Counts::Hwlat { watched, disturbed } => {
            let windows = words::plural(disturbed, "window");
            Some(format!("watched for {watched}; {windows} with an interrupt or a switch left out"))
        }
        Counts::Timerlat { ref irq, ref thread, lost } => {
            let part = |name: &str, latencies: &Histogram| {
                let (p50, max) = (latencies.median()?, latencies.max()?);
                Some(format!("{name} ran {p50} after it was due (p50), {max} at most"))
            };
            let thread = thread.as_ref().and_then(|thread| part("the thread", thread));
            let lost = (lost > 0)
                .then(|| format!("{} overwritten before they were read", words::plural(lost, "wake-up")));
            let parts: Vec<String> =
                part("the timer's interrupt", irq).into_iter().chain(thread).chain(lost).collect();
            (!parts.is_empty()).then(|| parts.join("; "))
        }
    }
}

/// System management interrupts stop a CPU without a trace. Where the answer is about these, it says that it cannot tell.
fn smis(cpu: &CpuResult) -> Option<String> {
    match (cpu.smis, &cpu.counts) {
        (Some(0), counts) if !matches!(counts, Counts::Hwlat { .. }) => None,
        (Some(smis), _) => Some(words::plural(smis, "SMI")),
        (None, Counts::Hwlat { .. }) => {
            Some("SMIs: cannot tell, the processor's counter cannot be read".to_owned())
        }
        (None, _) => None,
    }
}

/// A load that ran, and, where it did not to the end, what became of it.
pub(crate) fn load(load: &LoadReport) -> (String, Option<String>) {
    let what = words::clean(&format!("{} on CPUs {}: {}", load.name, load.cpus, load.what));
    let died = load.died.as_ref();
    (what, died.map(|died| words::clean(&format!("{died}; what was measured after that is without it"))))
}

/// A deadline: the answer in a sentence, and the reasons.
pub(crate) fn deadline(answer: &DeadlineAnswer) -> (String, &[String]) {
    let kept = match answer.is_kept {
        Some(true) => "was kept",
        Some(false) => "was missed",
        None => "may be kept or not: cannot tell",
    };
    let approach = answer.approach.words();
    let sentence =
        format!("the deadline of {} (class {}) {kept}; {approach} suits it", answer.deadline, answer.class);
    (sentence, &answer.reasons)
}

/// The columns of [`phase`]; the distribution's follow.
pub(crate) const PHASE: [&str; 2] = ["phase", "samples"];

/// A phase: its name, the numbers of all its CPUs, and what its worst sample and its loads were.
pub(crate) fn phase(phase: &MeasuredPhase) -> (String, String) {
    let worst = phase.worst_cause.as_deref().unwrap_or("not explained");
    let loads = if phase.loads.is_empty() { "no load".to_owned() } else { phase.loads.join(", ") };
    let about = format!("{}: {}, {loads}; the worst: {worst}", phase.phase, phase.elapsed);
    (phase.phase.to_string(), words::clean(&about))
}

/// The columns of [`group`].
pub(crate) const GROUP: [&str; 6] = ["spikes", "worst", "first due at", "last due at", "every", "cause"];

/// Spikes by cause; none where there are too few of them to be put together.
pub(crate) fn groups(report: &MeasureReport) -> &[SpikeGroup] {
    let spikes: u64 = report.groups.iter().map(|group| group.count).sum();
    if spikes < 2 { &[] } else { &report.groups }
}

/// The spikes of one cause.
pub(crate) fn group(group: &SpikeGroup) -> [String; 6] {
    let because = match (group.cause.map(Cause::code), &group.culprit) {
        (None, _) => "not explained".to_owned(),
        (Some(cause), None) => cause.to_owned(),
        // `softirq BLOCK` names its cause itself.
        (Some(cause), Some(culprit)) if culprit.starts_with(cause) => words::clean(culprit),
        (Some(cause), Some(culprit)) => format!("{cause}: {}", words::clean(culprit)),
    };
    [
        words::count(group.count),
        group.worst.to_string(),
        words::instant(group.first),
        words::instant(group.last),
        group.rhythm.map_or_else(String::new, |rhythm| rhythm.period.to_string()),
        because,
    ]
}

/// What the samples support beyond themselves: by which fit, and its levels or why there are none.
pub(crate) fn beyond(report: &MeasureReport, beyond: &TailEstimate) -> Vec<(&'static str, String)> {
    let sample = report.probe.sample();
    let level = |(p, level): (f64, &Option<Level>)| match level {
        Some(Level { estimate, upper }) => {
            let most = upper.map_or_else(|| "with no bound".to_owned(), |upper| format!("at most {upper}"));
            format!("{estimate} in 1 of {:.0e} {sample}s, {most} (95 %)", 1.0 / p)
        }
        None => format!("1 of {:.0e} {sample}s was measured", 1.0 / p),
    };
    let sentence = |fit: &Result<Vec<Option<Level>>, FitRefusal>| match fit {
        Ok(levels) => RARE.into_iter().zip(levels).map(level).collect::<Vec<_>>().join("; "),
        Err(refusal) => format!("cannot tell: {refusal}"),
    };
    let mut all =
        vec![("by the tail", sentence(&beyond.by_tail)), ("by maxima", sentence(&beyond.by_blocks))];
    if beyond.by_tail.is_ok() || beyond.by_blocks.is_ok() {
        all.push(("limitation", claims::unseen(beyond.unseen_at_most)));
    }
    all
}

/// What the measurement did to the machine, and what its trace lacks.
pub(crate) fn notes(report: &MeasureReport) -> Vec<String> {
    let trace: &[String] = match &report.trace {
        TraceState::Recorded { notes, .. } => notes,
        TraceState::Off | TraceState::Unavailable(_) => &[],
    };
    let observed = report.observed.as_ref().map(Observed::sentence);
    trace.iter().chain(&report.observer).chain(&observed).map(|note| words::clean(note)).collect()
}
