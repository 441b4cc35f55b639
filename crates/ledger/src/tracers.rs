//! What latency tracers and rtla measured, explained like any other lateness.
//!
//! ```text
//! wakeup, wakeup_rt, wakeup_dl      one activation, with the functions between as evidence    wakeup.rs
//! irqsoff, preemptoff, ...          one critical section, and where its time went             section.rs
//! timerlat samples                  activations of its thread                                 timerlat.rs
//! osnoise, hwlat samples            findings: no thread was late                               osnoise.rs, hwlat.rs
//! preemptirq events                 the longest critical section of each kind                  toggles.rs
//! calls of function_graph alone     a finding: the longest call, and where its time went       calls.rs
//! rtla's analysis                   an activation each                                        rtla.rs
//! ```
//!
//! Where the scheduler's events are in the trace as well, the ordinary ledger goes first.

pub(crate) mod actors;
pub(crate) mod calls;
pub(crate) mod console;
mod cut_off;
pub(crate) mod handlers;
mod hwlat;
mod interrupted;
mod intervals;
mod lines;
mod missing;
pub(crate) mod osnoise;
mod rtla;
mod section;
mod timerlat;
mod toggles;
mod wakeup;

use crate::assemble::Assembler;
use crate::causes::info::USE_PREEMPT_RT;
use crate::model::{Activation, Explanation};
use crate::options::{Judge, Options, Select};
use crate::scope::AppliedScope;
use crate::timeline::Timeline;
use calls::Calls;
use lines::Lines;
use missing::missing;
use osnoise::Noises;
use timerlat::Timerlats;
use toggles::Toggles;
use whylate_base::AdvisedFix;
use whylate_events::{Breakdown, Event, EventKind, Fact, Kind, KindSet, LatencyTrace, Tool, TraceInfo};

/// What to explain, where the user leaves it open: a tracer that kept one wake-up kept it for one thread.
pub(crate) fn options(options: &Options, info: &TraceInfo) -> Options {
    let mut options = options.clone();
    if let (true, Some(trace)) = (options.tasks.is_empty(), &info.latency)
        && let (true, Some(task)) = (trace.tracer.is_wakeup(), trace.task)
    {
        options.tasks.push(Select::Tid(task.tid));
        // Such a trace shows only the beginning of what the thread did.
        options.judge = Judge::Latency;
    }
    options
}

/// Takes in the events that other tools left, beside the engine.
pub(crate) struct Tracers {
    /// The trace of a latency tracer, with its lines.
    trace: Option<(LatencyTrace, Lines)>,
    timerlats: Timerlats,
    noises: Noises,
    toggles: Toggles,
    calls: Calls,
    /// True once the wake-up that the trace was kept for has ended: the rest is the tracer's own end.
    over: bool,
    /// Whether the kernel is a PREEMPT_RT one, where the trace shows it.
    preempt_rt: Option<bool>,
    /// The kinds of the events that concern them: of an ordinary recording nearly none.
    concerned: KindSet,
}

/// What tools other than the scheduler's events leave.
const MEASURED: KindSet = KindSet::of(&[
    Kind::Timerlat,
    Kind::Osnoise,
    Kind::Preemptirq,
    Kind::Lost,
    Kind::Hwlat,
    Kind::Stack,
    Kind::FunctionGraph,
    Kind::Marker,
]);

impl Tracers {
    pub(crate) fn new(info: &TraceInfo) -> Tracers {
        let trace = info.latency.clone().map(|trace| {
            let lines = Lines::of(trace.cpu);
            (trace, lines)
        });
        Tracers {
            concerned: if trace.is_some() { KindSet::ALL } else { MEASURED },
            trace,
            timerlats: Timerlats::default(),
            noises: Noises::default(),
            toggles: Toggles::default(),
            calls: Calls::default(),
            over: false,
            preempt_rt: None,
        }
    }

    /// What osnoise and hwlat measured.
    pub(crate) fn noises(&self) -> &Noises {
        &self.noises
    }

    /// The calls of a function_graph trace.
    pub(crate) fn calls(&self) -> &Calls {
        &self.calls
    }

    /// True when the engine has seen all that it is to see.
    pub(crate) fn is_over(&self) -> bool {
        self.over
    }

    /// Takes in the next event, which is of that `kind`, after the engine did.
    #[inline]
    pub(crate) fn see(&mut self, assembler: &mut Assembler<'_>, event: &Event, kind: Kind) {
        if self.concerned.contains(kind) {
            self.see_concerned(assembler, event);
        }
    }

    fn see_concerned(&mut self, assembler: &mut Assembler<'_>, event: &Event) {
        if let Some((trace, lines)) = &mut self.trace {
            if let (EventKind::Switch(switch), Some(task), true) =
                (&event.kind, trace.task, trace.tracer.is_wakeup())
                && switch.next_tid == task.tid
            {
                // A wake-up before the one that the tracer measured was shorter.
                let woken = lines.woken.get(&task.tid);
                self.over |=
                    woken.is_none_or(|&woken| (event.ts - woken) + (event.ts - woken) >= trace.latency);
            }
            lines.see(event);
        }
        if matches!(event.kind, EventKind::Switch(_)) && self.toggles.is_open() {
            self.toggles.switched(event.cpu);
        }
        if MEASURED.contains(event.kind.kind()) {
            self.see_measured(assembler, event);
        }
    }

    fn see_measured(&mut self, assembler: &mut Assembler<'_>, event: &Event) {
        let scope = assembler.scope();
        let in_scope =
            scope.is_none_or(|scope| scope.has_cpu(event.cpu) && scope.overlaps(event.ts, event.ts));
        if in_scope {
            self.calls.see(event);
        }
        match &event.kind {
            EventKind::Timerlat(sample) => {
                self.noises.timerlat();
                self.timerlats.sample(assembler, event, sample);
            }
            EventKind::Noise(noise) => {
                let noise = self.timerlats.noise(assembler, event, noise);
                if in_scope {
                    self.noises.noise(event, &noise);
                }
            }
            EventKind::OsnoiseSample(sample) if in_scope => self.noises.sample(event, sample),
            EventKind::OsnoiseThreshold { start, duration, .. } if in_scope => {
                self.noises.threshold(event, *start, *duration);
            }
            EventKind::Preemptirq { what, disables, caller } => {
                self.concerned.insert(Kind::Switch);
                self.toggles.see(scope, event, *what, *disables, *caller);
            }
            EventKind::Lost { .. } => self.toggles.lost(event.cpu),
            EventKind::Hwlat { inner, outer } if in_scope => self.noises.hwlat(event, *inner.max(outer)),
            EventKind::StackFrame { name } => self.timerlats.frame(event.cpu, *name),
            EventKind::Marker(text) => {
                if let Some(Fact::PreemptRt(is_rt)) = Fact::parse(text.as_str()) {
                    self.preempt_rt = Some(is_rt);
                }
            }
            _ => {}
        }
    }

    /// The stream ended: what other tools measured becomes activations, before the ordinary ones end.
    pub(crate) fn finish(&mut self, assembler: &mut Assembler<'_>, info: &TraceInfo) {
        self.timerlats.finish(assembler);
        self.noises.finish(assembler.timeline());
        let scope = assembler.scope().cloned();
        let in_scope =
            |breakdown: &&Breakdown| scope.as_ref().is_none_or(|scope| scope.has_cpu(breakdown.cpu));
        for breakdown in info.breakdowns.iter().filter(in_scope) {
            match breakdown.tool {
                Tool::RtlaOsnoise => self.noises.of_rtla(breakdown),
                Tool::RtlaTimerlat if self.timerlats.explained(breakdown.cpu) => {}
                Tool::RtlaTimerlat => rtla::record(assembler, breakdown),
                // Rows of a table are findings.
                Tool::RtlaTimerlatTop | Tool::Hwlatdetect => {}
            }
        }
    }

    /// The ordinary activations have ended, too.
    pub(crate) fn complete(&mut self, assembler: &mut Assembler<'_>) {
        if let Some((trace, lines)) = self.trace.as_ref().filter(|(trace, _)| trace.tracer.is_wakeup()) {
            wakeup::by_header(assembler, trace, lines);
        }
    }

    /// Adds what the lines and samples show to an explanation.
    pub(crate) fn add_to(&self, timeline: &Timeline, asked: &Options, explanation: &mut Explanation) {
        match &self.trace {
            Some((trace, lines)) if trace.tracer.is_wakeup() => {
                let of_tracer = |activation: &&mut Activation| {
                    trace.task.is_none_or(|task| task.tid == activation.tid) && activation.latency().is_some()
                };
                if let Some(activation) = explanation.activations.iter_mut().find(of_tracer) {
                    let notes = wakeup::notes(timeline, &explanation.trace, trace, lines, activation);
                    activation.verdict.evidence.extend(notes);
                    if explanation.trace.excerpt().is_some() {
                        cut_off::describe(trace, lines, activation);
                    }
                }
            }
            Some((trace, lines)) => {
                let section = section::section(timeline, &explanation.trace, trace, lines, self.preempt_rt);
                let out_of_scope = |scope: &AppliedScope| {
                    !scope.has_cpu(section.cpu)
                        || !scope.overlaps(section.start, section.start + section.latency)
                };
                if !explanation.scope.as_ref().is_some_and(out_of_scope) {
                    let is_excerpt = explanation.trace.excerpt().is_some();
                    let mut finding = section::finding(asked.deadline, &section, Some(lines), is_excerpt);
                    if is_excerpt {
                        let end = section.start + section.latency;
                        finding.evidence.extend(wakeup::by_mark(trace, lines, section.start, end));
                    }
                    explanation.findings.push(finding);
                    explanation.sections.push(section);
                }
                if asked.tasks.is_empty() {
                    // The thread that was current in it was not late.
                    explanation.tasks.clear();
                    explanation.activations.clear();
                }
            }
            None => {
                let sections = self.toggles.sections(timeline, &explanation.trace, self.preempt_rt);
                let found =
                    sections.iter().map(|section| section::finding(asked.deadline, section, None, false));
                explanation.findings.extend(found);
                explanation.sections.extend(sections);
            }
        }
        explanation.findings.extend(hwlat::finding(&explanation.trace, &self.noises, asked.deadline));
        if self.trace.is_some() {
            // A latency tracer prints the switch that ends it, and no other.
            explanation.findings.retain(|finding| finding.code != "unseen-switches");
        }
        if self.preempt_rt == Some(true) {
            let taken = |advice: &AdvisedFix| USE_PREEMPT_RT.contains(&advice.text.as_str());
            let of_activations = explanation.activations.iter_mut().map(|one| &mut one.verdict.fix);
            let of_findings = explanation.findings.iter_mut().map(|finding| &mut finding.fix);
            of_activations.chain(of_findings).for_each(|fix| fix.retain(|advice| !taken(advice)));
        }
        explanation.findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
        if explanation.trace.span.is_none() {
            // Of lengths alone there are no instants.
            let of_activations = explanation.activations.iter_mut().flat_map(|one| &mut one.verdict.evidence);
            let of_findings = explanation.findings.iter_mut().flat_map(|one| &mut one.evidence);
            of_activations.chain(of_findings).for_each(|seen| seen.at = None);
        }
        let lines = self.trace.as_ref().map(|(_, lines)| lines);
        let shows_within = lines.is_some_and(|lines| {
            explanation.sections.iter().all(|section| section::shows_within(lines, section))
        });
        if let Some(missing) = missing(timeline, explanation, shows_within) {
            explanation.missing = missing;
        }
    }
}
