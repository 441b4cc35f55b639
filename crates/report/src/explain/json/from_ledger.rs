//! From the ledger's types to the wire's.

use super::actors::{Rank, by, rank, softirq, spread};
use super::chain;
use super::confidence::confidence;
use super::document::{
    Activation, By, Candidate, CandidateKind, Candidates, Document, Entry, Evidence, Finding, Fix, Gap,
    Missing, PartTimes, SCHEMA, Scope, Section, SectionPart, Severity, Task, Trigger, TriggerKind, Verdict,
};
use super::host;
use super::location::Where;
use super::peer;
use super::profile;
use super::recording::{Damage, Quality, StackFacts, Trace};
use crate::explain::facts;
use crate::words;
use whylate_base::{Cpu, Ns, SourceLocation};
use whylate_events::TraceInfo;
use whylate_ledger as ledger;

impl From<&ledger::Explanation> for Document {
    fn from(explanation: &ledger::Explanation) -> Document {
        Document {
            schema: SCHEMA.to_owned(),
            trace: trace(&explanation.trace),
            tasks: explanation.tasks.iter().map(task).collect(),
            unlisted_tasks: explanation.unlisted,
            activations: explanation.activations.iter().map(activation).collect(),
            sections: explanation.sections.iter().map(section).collect(),
            profiles: profile::all(explanation),
            findings: explanation.findings.iter().map(finding).collect(),
            missing: explanation.missing.iter().map(missing).collect(),
            chains: explanation.chains.iter().flat_map(|chains| &chains.found).map(chain::chain).collect(),
            more_chains: explanation.chains.as_ref().map_or(0, |chains| chains.more),
            candidates: explanation.candidates.as_ref().map(candidates),
            waits_beside: explanation.waits_beside.as_ref().map(candidate),
            scope: explanation.scope.as_ref().map(scope),
            host: explanation.host.as_ref().map(host::host),
            peer: explanation.peer.as_ref().map(peer::peer),
        }
    }
}

fn trace(info: &TraceInfo) -> Trace {
    Trace {
        format: info.format.clone(),
        events: info.events,
        lost_events: info.lost_events,
        cpus: info.cpus,
        clock: info.clock.clone(),
        kernel_release: info.kernel_release.clone(),
        machine: info.machine.clone(),
        start_ns: info.span.map(|(start, _)| start.0),
        end_ns: info.span.map(|(_, end)| end.0),
        quality: Some(match info.quality() {
            whylate_events::Quality::Whole => Quality::Whole,
            whylate_events::Quality::Damaged => Quality::Damaged,
            whylate_events::Quality::Poor => Quality::Poor,
        }),
        damage: info
            .damage
            .iter()
            .map(|damage| Damage { offset: damage.offset, what: damage.what.clone() })
            .collect(),
        stacks: info.stacks.as_ref().map(|stacks| StackFacts {
            samples: stacks.samples.len() as u64,
            lost: stacks.lost,
            period_ns: stacks.period.0,
            cost_ns: stacks.cost.map(|cost| cost.0),
            notes: stacks.notes.clone(),
        }),
    }
}

fn task(task: &ledger::TaskSummary) -> Task {
    Task {
        tid: task.tid.0,
        comm: task.comm.to_string(),
        policy: task.policy.map(|policy| policy.name().to_owned()),
        rank: rank(task.priority),
        activations: task.activations,
        latency_ns: task.latency.map(spread),
        response_ns: task.response.map(spread),
        causes: task.causes.iter().map(|(cause, total)| (cause.code().to_owned(), total.0)).collect(),
    }
}

fn candidates(candidates: &ledger::Candidates) -> Candidates {
    let [why, ..] = facts::candidates(candidates);
    Candidates {
        why,
        shows_policies: candidates.shows_policies,
        threads: candidates.threads.iter().map(candidate).collect(),
        more: candidates.more,
    }
}

fn candidate(candidate: &ledger::Candidate) -> Candidate {
    Candidate {
        tid: candidate.tid.0,
        comm: candidate.comm.to_string(),
        policy: candidate.policy.map(|policy| policy.name().to_owned()),
        rank: rank(candidate.priority),
        activations: candidate.activations,
        max_latency_ns: candidate.latency.map(|latency| latency.0),
        max_wait_ns: candidate.wait.map(|wait| wait.0),
        kind: match candidate.kind {
            ledger::CandidateKind::Command => CandidateKind::Command,
            ledger::CandidateKind::Program => CandidateKind::Program,
            ledger::CandidateKind::Recorder => CandidateKind::Recorder,
            ledger::CandidateKind::Kernel => CandidateKind::Kernel,
        },
        explained: candidate.is_explained,
    }
}

fn scope(scope: &ledger::AppliedScope) -> Scope {
    Scope {
        from_ns: scope.from.map(|from| from.0),
        to_ns: scope.to.map(|to| to.0),
        cpus: scope.cpus.as_ref().map(ToString::to_string),
    }
}

/// An activation as it stands in the document.
pub fn activation(activation: &ledger::Activation) -> Activation {
    let instant = |at: Option<Ns>| at.map(|at| at.0);
    Activation {
        tid: activation.tid.0,
        comm: activation.comm.to_string(),
        rank: rank(activation.priority),
        cpu: activation.cpu.known(),
        trigger: trigger(&activation.trigger),
        due_ns: activation.due.0,
        woken_ns: instant(activation.woken),
        running_ns: instant(activation.running),
        done_ns: instant(activation.done),
        latency_ns: instant(activation.latency()),
        response_ns: activation.response().0,
        starts_program: activation.starts_program,
        ends_program: activation.ends_program,
        ledger: (activation.ledger.iter().enumerate())
            .map(|(index, segment)| Entry {
                host: host::parts(&activation.host, index),
                ..entry(segment, activation.place(index))
            })
            .collect(),
        verdict: verdict(&activation.verdict),
    }
}

fn trigger(trigger: &ledger::Trigger) -> Trigger {
    let (kind, by) = match *trigger {
        ledger::Trigger::Timer => (TriggerKind::Timer, None),
        // The text has the wake-up without its thread.
        ledger::Trigger::Thread { tid, .. } if tid.0 < 0 => (TriggerKind::Wakeup, None),
        ledger::Trigger::Thread { tid, comm } => {
            let rank = Rank { class: None, priority: None, nice: None };
            (TriggerKind::Thread, Some(By::Task { tid: tid.0, comm: comm.to_string(), rank }))
        }
        ledger::Trigger::Irq { irq, name } => {
            (TriggerKind::Irq, Some(By::Irq { irq: Some(irq), name: name.to_string() }))
        }
        ledger::Trigger::Softirq { vec } => (TriggerKind::Softirq, Some(softirq(vec))),
        ledger::Trigger::Marker => (TriggerKind::Marker, None),
        // Or an interrupt that came upon it.
        ledger::Trigger::Upon { .. } | ledger::Trigger::Wakeup => (TriggerKind::Wakeup, None),
        ledger::Trigger::TraceStart => (TriggerKind::TraceStart, None),
        ledger::Trigger::Running => (TriggerKind::Running, None),
    };
    Trigger { kind, by }
}

fn entry(segment: &ledger::Segment, location: Option<&SourceLocation>) -> Entry {
    Entry {
        cause: segment.cause.code().to_owned(),
        ns: segment.length().0,
        start_ns: segment.start.0,
        cpu: segment.cpu.known(),
        by: segment.by.map(by),
        owner: segment.owner.map(by),
        confidence: confidence(segment.confidence),
        location: location.map(Where::from),
        host: Vec::new(),
    }
}

fn verdict(verdict: &ledger::Verdict) -> Verdict {
    Verdict {
        cause: verdict.cause.code().to_owned(),
        by: verdict.by.map(by),
        charged_ns: verdict.charged.0,
        // JSON has no NaN.
        share: if verdict.share.is_finite() { verdict.share } else { 0.0 },
        confidence: confidence(verdict.confidence),
        why: verdict.why.clone(),
        fix: texts(&verdict.fix),
        fixes: verdict.fix.iter().map(Fix::from).collect(),
        evidence: verdict.evidence.iter().map(evidence).collect(),
    }
}

/// The words of fixes.
pub(crate) fn texts(fixes: &[whylate_base::AdvisedFix]) -> Vec<String> {
    fixes.iter().map(|fix| fix.text.clone()).collect()
}

impl From<&whylate_base::AdvisedFix> for Fix {
    fn from(fix: &whylate_base::AdvisedFix) -> Fix {
        Fix { text: fix.text.clone(), action: Some(fix.action.clone()) }
    }
}

fn evidence(evidence: &whylate_base::Evidence) -> Evidence {
    Evidence {
        at_ns: evidence.at.map(|at| at.0),
        cpu: evidence.cpu.and_then(Cpu::known),
        what: evidence.what.clone(),
        location: evidence.location.as_ref().map(Where::from),
    }
}

pub(crate) fn finding(finding: &whylate_base::Finding) -> Finding {
    Finding {
        code: finding.code.to_owned(),
        severity: finding.severity.into(),
        title: finding.title.clone(),
        why: finding.why.clone(),
        evidence: finding.evidence.iter().map(evidence).collect(),
        fix: texts(&finding.fix),
        fixes: finding.fix.iter().map(Fix::from).collect(),
    }
}

fn section(section: &ledger::CriticalSection) -> Section {
    Section {
        tracer: section.tracer.name().to_owned(),
        cpu: section.cpu.known(),
        thread: section.thread.map(by),
        of_interrupt: section.context != ledger::CpuContext::Thread,
        delays: section.delays,
        opened_by: section.opened_by.clone(),
        closed_by: section.closed_by.clone(),
        start_ns: section.start.0,
        latency_ns: section.latency.0,
        parts: section
            .parts
            .iter()
            .map(|part| SectionPart {
                function: part.function.clone(),
                context: part.within.name().to_owned(),
                ns: part.time.0,
                calls: part.calls,
            })
            .collect(),
        rest_ns: section.rest.0,
        unexplained_ns: section.unexplained.0,
        times: match section.times {
            ledger::FunctionTimes::Own => Some(PartTimes::Own),
            ledger::FunctionTimes::UntilNext => Some(PartTimes::UntilNext),
            ledger::FunctionTimes::None => None,
        },
        gaps: section
            .gaps
            .iter()
            .map(|gap| Gap {
                start_ns: gap.start.0,
                ns: gap.length.0,
                after: gap.after.clone(),
                before: gap.before.clone(),
            })
            .collect(),
        stack: section.stack.clone(),
        confidence: confidence(section.confidence),
        why: section.why.clone(),
        fix: section.fix.clone(),
    }
}

fn missing(missing: &ledger::Missing) -> Missing {
    Missing {
        kind: words::kind(missing.kind).to_owned(),
        tracepoints: missing.kind.tracepoints().iter().map(|&name| name.to_owned()).collect(),
        cannot_tell: missing.cannot_tell.to_owned(),
    }
}

impl From<whylate_base::Severity> for Severity {
    fn from(severity: whylate_base::Severity) -> Self {
        match severity {
            whylate_base::Severity::Info => Severity::Info,
            whylate_base::Severity::Warning => Severity::Warning,
            whylate_base::Severity::Error => Severity::Error,
        }
    }
}
