//! The rows of an explanation: threads, causes, activations, segments, findings.

use super::Rows;
use crate::batch::Cell;
use std::io;
use whylate_base::SourceLocation;
use whylate_report::explain::json::document::{
    Activation, By, Class, Confidence, Document, Entry, Finding, Severity, Task, TriggerKind, Verdict,
};
use whylate_report::explain::json::location::Where;

/// What `by` of a document means in columns.
struct Columns<'a> {
    name: Option<&'a str>,
    kind: Option<&'static str>,
    id: Option<i64>,
    priority: Option<i32>,
}

impl<'a> Columns<'a> {
    fn of(by: Option<&'a By>) -> Columns<'a> {
        match by {
            None => Columns { name: None, kind: None, id: None, priority: None },
            Some(By::Task { tid, comm, rank }) => Columns {
                name: Some(comm),
                kind: Some("thread"),
                id: Some((*tid).into()),
                priority: rank.priority.filter(|_| rank.class == Some(Class::Realtime)),
            },
            Some(By::Softirq { softirq, name }) => Columns {
                name: Some(name),
                kind: Some("softirq"),
                id: Some((*softirq).into()),
                priority: None,
            },
            Some(By::Irq { irq, name }) => {
                Columns { name: Some(name), kind: Some("irq"), id: irq.map(Into::into), priority: None }
            }
        }
    }
}

impl Rows<'_> {
    /// All of an explanation but the facts about its recording; the activations of a thread in the order of time.
    pub(crate) fn explanation(&mut self, document: &Document) -> io::Result<()> {
        document.tasks.iter().for_each(|task| self.task(task));
        let mut activations: Vec<&Activation> = document.activations.iter().collect();
        activations.sort_by_key(|activation| (activation.tid, activation.due_ns));
        for activation in activations {
            self.activation(activation, true)?;
        }
        document.findings.iter().for_each(|finding| self.finding(finding));
        self.relieve()
    }

    fn task(&mut self, task: &Task) {
        let of = |spread: Option<whylate_report::explain::json::document::Spread>| match spread {
            Some(spread) => [spread.p50, spread.p99, spread.max].map(Cell::from),
            None => [Cell::Null, Cell::Null, Cell::Null],
        };
        let who =
            [task.tid.into(), Cell::from(&task.comm), task.policy.as_ref().into(), task.rank.priority.into()];
        self.thread(who, task.activations.into(), of(task.latency_ns), of(task.response_ns));
        for (cause, &ns) in &task.causes {
            self.push("causes", [task.tid.into(), Cell::from(&task.comm), cause.into(), ns.into()]);
        }
    }

    /// An activation with its ledger; one that `is_judged` with its verdict.
    pub(crate) fn activation(&mut self, activation: &Activation, is_judged: bool) -> io::Result<()> {
        let verdict = Some(&activation.verdict).filter(|_| is_judged);
        self.count(verdict, activation.response_ns);
        let judged = verdict_cells(verdict);
        self.push_activation(
            [
                activation.tid.into(),
                Cell::from(&activation.comm),
                activation.rank.class.map(class).into(),
                activation.rank.priority.into(),
                activation.cpu.into(),
                trigger(activation.trigger.kind).into(),
                activation.due_ns.into(),
                activation.woken_ns.into(),
                activation.running_ns.into(),
                activation.done_ns.into(),
                activation.latency_ns.into(),
                activation.response_ns.into(),
                activation.starts_program.into(),
                activation.ends_program.into(),
            ],
            judged,
        );
        let (tid, comm, due) = (activation.tid, &activation.comm, activation.due_ns);
        activation.ledger.iter().for_each(|entry| self.segment(tid, comm, due, entry));
        self.relieve()
    }

    /// Sums a verdict up.
    pub(super) fn count(&mut self, verdict: Option<&Verdict>, response_ns: i64) {
        if let Some(verdict) = verdict {
            let culprit = Columns::of(verdict.by.as_ref());
            self.count_cause(&verdict.cause, culprit.name, verdict.charged_ns, response_ns);
        }
    }

    /// A thread: id, name, policy and priority; its activations; median, 99th percentile and largest value of latency and
    /// response.
    pub(super) fn thread(
        &mut self,
        who: [Cell<'_>; 4],
        activations: Cell<'_>,
        latency: [Cell<'_>; 3],
        response: [Cell<'_>; 3],
    ) {
        let mut cells = who.into_iter().chain([activations]).chain(latency).chain(response);
        self.push::<11>("threads", std::array::from_fn(|_| cells.next().unwrap_or(Cell::Null)));
    }

    /// A row of `activations`: what happened, and the verdict.
    pub(super) fn push_activation(&mut self, what: [Cell<'_>; 14], judged: [Cell<'_>; 8]) {
        let mut judged = judged.into_iter();
        let mut what = what.into_iter();
        self.push::<22>(
            "activations",
            std::array::from_fn(|_| what.next().or_else(|| judged.next()).unwrap_or(Cell::Null)),
        );
    }

    pub(super) fn segment(&mut self, tid: i32, comm: &str, due_ns: i64, entry: &Entry) {
        let culprit = Columns::of(entry.by.as_ref());
        self.push(
            "segments",
            [
                tid.into(),
                Cell::from(comm),
                due_ns.into(),
                entry.start_ns.into(),
                entry.ns.into(),
                Cell::from(&entry.cause),
                culprit.name.into(),
                entry.location.as_ref().map(place).into(),
                culprit.kind.into(),
                culprit.id.into(),
                culprit.priority.into(),
                entry.cpu.into(),
                Columns::of(entry.owner.as_ref()).name.into(),
                confidence(entry.confidence).into(),
            ],
        );
    }

    pub(crate) fn finding(&mut self, finding: &Finding) {
        self.push(
            "findings",
            [
                Cell::from(&finding.code),
                severity(finding.severity).into(),
                Cell::from(&finding.title),
                Cell::from(&finding.why),
                finding.fix.join("\n").into(),
                Cell::Null,
                Cell::Null,
                Cell::Null,
                Cell::Null,
                Cell::Null,
            ],
        );
    }
}

/// The columns of a verdict; without one all are null.
pub(super) fn verdict_cells(verdict: Option<&Verdict>) -> [Cell<'_>; 8] {
    let culprit = Columns::of(verdict.and_then(|verdict| verdict.by.as_ref()));
    [
        verdict.map(|verdict| &verdict.cause).into(),
        culprit.name.into(),
        culprit.kind.into(),
        culprit.id.into(),
        verdict.map(|verdict| verdict.charged_ns).into(),
        verdict.map(|verdict| verdict.share).into(),
        verdict.map(|verdict| confidence(verdict.confidence)).into(),
        verdict.map(|verdict| &verdict.why).into(),
    ]
}

pub(super) fn class(class: Class) -> &'static str {
    match class {
        Class::Deadline => "deadline",
        Class::Realtime => "realtime",
        Class::Fair => "fair",
    }
}

fn trigger(kind: TriggerKind) -> &'static str {
    match kind {
        TriggerKind::Timer => "timer",
        TriggerKind::Thread => "thread",
        TriggerKind::Irq => "irq",
        TriggerKind::Softirq => "softirq",
        TriggerKind::Marker => "marker",
        TriggerKind::Wakeup => "wakeup",
        TriggerKind::TraceStart => "trace-start",
        TriggerKind::Running => "running",
    }
}

fn confidence(confidence: Confidence) -> &'static str {
    match confidence {
        Confidence::Low => "low",
        Confidence::Medium => "medium",
        Confidence::High => "high",
    }
}

pub(super) fn severity(severity: Severity) -> &'static str {
    match severity {
        Severity::Info => "info",
        Severity::Warning => "warning",
        Severity::Error => "error",
    }
}

/// A place in a program in a few words.
pub(super) fn place(place: &Where) -> String {
    let Where { function, file, line, module, offset } = place.clone();
    SourceLocation { function, file, line, module, offset }.to_string()
}
