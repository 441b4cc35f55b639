//! What the renderers of an explanation share: the answer in one line, and its limits.

use crate::words;
use whylate_base::{Ns, Severity};
use whylate_events::TraceInfo;
use whylate_ledger::{
    Activation, CandidateKind, Candidates, Cause, Chain, ChainInstance, Chains, CpuProfile, Culprit,
    Explanation, GrownLine, Hop,
};

/// Threads that a sentence names.
const NAMED: usize = 3;

/// The answer in one line: the gravest finding, or else the worst activation.
pub(crate) fn title(explanation: &Explanation) -> String {
    let grave = explanation.findings.first().filter(|finding| finding.severity == Severity::Error);
    match (grave, worst(explanation)) {
        (Some(finding), _) => words::clean(&finding.title),
        (None, Some(worst)) => {
            format!("{} {}", words::thread(&worst.comm, worst.tid), words::lateness(worst))
        }
        (None, None) if !explanation.findings.is_empty() && explanation.concludes() => {
            explanation.findings.first().map_or_else(String::new, |finding| words::clean(&finding.title))
        }
        (None, None) if explanation.tasks.is_empty() => "No thread to explain".to_owned(),
        (None, None) => "No activation seen".to_owned(),
    }
}

/// How often a chain was seen, in what rhythm, and how long it took.
pub(crate) fn chain(chain: &Chain) -> String {
    let spread = chain.latency;
    let period = chain.period.map_or_else(String::new, |period| format!(", every {period}"));
    let late = match chain.late {
        0 => String::new(),
        late => format!("; {late} missed the deadline"),
    };
    format!(
        "{}{period}; end to end: median {}, 99 % {}, worst {}{late}",
        words::plural(chain.count, "time"),
        spread.p50,
        spread.p99,
        spread.max
    )
}

/// When one instance of a chain was, and what made it late.
pub(crate) fn chain_instance(instance: &ChainInstance) -> String {
    let why = match &instance.verdict {
        Some(verdict) => words::clean(&verdict.why),
        None => "no hop took much longer than usual".to_owned(),
    };
    format!("worst: {} from {} s on; {why}", instance.latency(), words::instant(instance.start))
}

/// What a part of a hop is charged to: `higher-priority-task hog:119 (rt 70) 6.74 ms`.
pub(super) fn charge((cause, by, time): &(Cause, Option<Culprit>, Ns)) -> String {
    let by = by.as_ref().map_or_else(String::new, |by| format!(" {}", words::culprit(by)));
    format!("{cause}{by} {time}")
}

/// How a hop lets the next one go on; with the error of its length where it begins by one clock and ends by another.
pub(crate) fn hop_by(hop: &Hop) -> String {
    if hop.error == Ns::ZERO { hop.kind.to_owned() } else { format!("{}, ± {}", hop.kind, hop.error) }
}

/// What a hop is charged to, most first; what is beyond `most` is summed up.
pub(crate) fn hop_charges(hop: &Hop, most: usize) -> Vec<String> {
    let charges = hop.charges();
    let mut lines: Vec<String> = charges.iter().take(most).map(charge).collect();
    let others = charges.len().saturating_sub(most);
    if others > 0 {
        let sum: Ns = charges.iter().skip(most).map(|(_, _, time)| *time).sum();
        lines.push(format!("{} {sum}", words::plural(others as u64, "other")));
    }
    lines
}

/// What else there is to report about chains.
pub(crate) fn chains(chains: &Chains) -> Vec<String> {
    let none = chains.found.is_empty() && chains.unmatched.is_empty();
    let none =
        none.then(|| "no chain of threads was seen three times from its beginning to its end".to_owned());
    let more = (chains.more > 0).then(|| {
        format!(
            "{} not listed: choose one with --chain 'HOP -> HOP'",
            words::plural(chains.more, "more chain")
        )
    });
    let unmatched =
        chains.unmatched.iter().map(|chain| format!("no instance of {chain} from its beginning to its end"));
    none.into_iter().chain(more).chain(unmatched.map(|line| words::clean(&line))).collect()
}

/// The worst activation that something else made late, or else the worst.
pub(crate) fn worst(explanation: &Explanation) -> Option<&Activation> {
    let late = |activation: &&Activation| activation.verdict.cause != Cause::OwnWork;
    explanation.activations.iter().find(late).or(explanation.activations.first())
}

/// What a report does not list, and what a recording cannot show, was lost, or could not be read.
pub(crate) fn limits(explanation: &Explanation) -> Vec<String> {
    let trace = &explanation.trace;
    let missing = explanation.missing.iter().map(|missing| {
        let points = missing.kind.tracepoints().join(" ");
        let remedy = if points.is_empty() { String::new() } else { format!(": record {points}") };
        format!("cannot tell {}{remedy}", missing.cannot_tell)
    });
    let lost = (trace.lost_events > 0).then(|| lost(trace.lost_events));
    let quality = words::quality(trace).map(str::to_owned);
    let damage = trace.damage.iter().map(|damage| format!("damage {}", words::clean(&damage.to_string())));
    let stacks = stacks(trace);
    unlisted(explanation)
        .into_iter()
        .chain(missing)
        .chain(lost)
        .chain(quality)
        .chain(damage)
        .chain(stacks)
        .collect()
}

/// What the sampled call stacks do not show.
pub(crate) fn stacks(trace: &TraceInfo) -> Vec<String> {
    let Some(stacks) = &trace.stacks else { return Vec::new() };
    let lost = (stacks.lost > 0).then(|| {
        format!("{} were lost: lines may be missing", words::plural(stacks.lost, "sampled call stack"))
    });
    lost.into_iter().chain(stacks.notes.iter().map(|note| words::clean(note))).collect()
}

/// What the flame graph of a thread compares.
pub(crate) fn compared(profile: &CpuProfile) -> String {
    let worst = words::plural(profile.activations.worst, "worst activation");
    let period = profile.period;
    match profile.activations.others {
        0 => format!("CPU time of the {worst}, sampled every {period}."),
        others => format!(
            "CPU time of the {worst} against the other {}, sampled every {period}.",
            words::count(others)
        ),
    }
}

/// The lines that took more time in the worst activations; `None` where there is none.
pub(crate) fn grown(profile: &CpuProfile) -> Option<String> {
    let line = |line: &GrownLine| {
        let place = words::clean(&line.location.to_string());
        format!("{place}: {} against {}", line.worst, line.others)
    };
    let lines: Vec<String> = profile.grown.iter().map(line).collect();
    (!lines.is_empty()).then(|| {
        format!("more CPU time in each of the worst activations than in the others: {}", lines.join("; "))
    })
}

/// How many threads are not listed, and which those are.
pub(crate) fn unlisted(explanation: &Explanation) -> Option<String> {
    let listed = words::plural(explanation.tasks.len() as u64, "thread");
    (explanation.unlisted > 0).then(|| {
        format!(
            "not listed: {}: the {listed} with the worst responses are, each counted from its first bad activation on; \
             --task NAME explains others",
            words::plural(explanation.unlisted, "more thread")
        )
    })
}

/// How many events the kernel lost, and what that means.
pub(crate) fn lost(events: u64) -> String {
    format!(
        "{} lost by the kernel: answers near the gaps are less sure; larger buffers lose less",
        words::plural(events, "event")
    )
}

/// Why there are candidates, which of them are explained, and how to choose others; one sentence each.
pub(crate) fn candidates(candidates: &Candidates) -> [String; 3] {
    let but = if candidates.kernel_realtime { ", apart from the kernel's own threads" } else { "" };
    let why = match &candidates.idle_realtime[..] {
        _ if !candidates.shows_policies => "This trace does not show scheduling policies.".to_owned(),
        [] => format!("No thread of this trace has a real-time policy{but}."),
        idle => {
            let named = idle.iter().take(NAMED).map(|(tid, comm)| words::thread(comm, *tid));
            let named: Vec<String> = named.collect();
            let more = match idle.len() - named.len() {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            format!(
                "No program's real-time thread was active in this trace: {}{more} never ran.",
                named.join(", ")
            )
        }
    };
    let explained = candidates.threads.iter().filter(|candidate| candidate.is_explained).count();
    let what = match explained {
        0 => "This report explains no thread.".to_owned(),
        1 => "This report explains the first thread of this list instead.".to_owned(),
        n => format!("This report explains the first {n} threads of this list instead."),
    };
    let more = match candidates.more {
        0 => String::new(),
        1 => " 1 more thread is not listed.".to_owned(),
        more => format!(" {more} more threads are not listed."),
    };
    let has_command = candidates.threads.iter().any(|candidate| candidate.kind == CandidateKind::Command);
    let first = if has_command {
        "the recorded command first, then those of other programs"
    } else {
        "programs first"
    };
    let from_kernel_on = candidates.threads.iter().skip_while(|one| one.kind != CandidateKind::Kernel);
    let behind_kernel = |kind| from_kernel_on.clone().any(|one| one.kind == kind);
    let of_kernel = if behind_kernel(CandidateKind::Program) {
        " Late threads of the kernel come before programs that were not late."
    } else if behind_kernel(CandidateKind::Recorder) {
        " Late threads of the kernel come before recorders."
    } else {
        ""
    };
    let by = if candidates.shows_wakeups { "worst latency" } else { "longest wait for a CPU" };
    let how = format!(
        "Choose threads with --task COMM|TID. The list has threads of {first}, then those of recorders such as \
         trace-cmd, then the kernel's own; each by its {by}.{of_kernel}{more}"
    );
    [why, what, how]
}

/// The part of the trace that the report is about, in words; `None` where that is all of it.
pub(crate) fn scope(explanation: &Explanation) -> Option<String> {
    let scope = explanation.scope.as_ref()?;
    let mut parts = Vec::new();
    match (scope.from, scope.to) {
        (Some(from), Some(to)) => {
            parts.push(format!("from {} to {}", words::instant(from), words::instant(to)))
        }
        (Some(from), None) => parts.push(format!("from {} on", words::instant(from))),
        (None, Some(to)) => parts.push(format!("up to {}", words::instant(to))),
        (None, None) => {}
    }
    parts.extend(scope.cpus.as_ref().map(|cpus| match cpus.len() {
        1 => format!("on CPU {cpus}"),
        _ => format!("on CPUs {cpus}"),
    }));
    Some(format!("This report is about activations {}.", parts.join(", ")))
}

/// What the recording of another machine is: `slave.dat: kernel 6.12.0, clock mono`.
pub(super) fn of_other(file: &str, trace: &TraceInfo) -> String {
    let about = [&trace.kernel_release, &trace.clock].map(|text| text.as_deref().unwrap_or("unknown"));
    let [release, clock] = about.map(words::clean);
    format!("{}: kernel {release}, clock {clock}", words::clean(file))
}

/// How far another machine's clock is from this one's, and runs away from it.
pub(super) fn clocks_apart(offset: Ns, drift_ppb: i64) -> String {
    format!("offset {} s, drift {:.1} ppm", words::instant(offset), drift_ppb as f64 / 1e3)
}

/// How the recording of the host was joined, one sentence each; nothing where there is none.
pub(crate) fn host(explanation: &Explanation) -> Vec<String> {
    let Some(host) = &explanation.host else { return Vec::new() };
    let join = &host.join;
    let vcpus: Vec<String> = (host.vcpus.iter())
        .map(|vcpu| format!("CPU {} is {}", vcpu.cpu, words::thread(&vcpu.comm, vcpu.tid)))
        .collect();
    vec![
        format!("{}; {}", of_other(&host.file, &host.trace), vcpus.join(", ")),
        format!(
            "its clock is joined with the guest's within {}: all {} times at which it shows these threads away lie between two \
             events of the guest ({})",
            join.error,
            words::count(join.agreeing),
            clocks_apart(join.offset, join.drift_ppb)
        ),
        format!(
            "it covers {} to {} of the guest's time; the sums by thread above are the guest's own view",
            words::instant(join.covered.0),
            words::instant(join.covered.1)
        ),
    ]
}
