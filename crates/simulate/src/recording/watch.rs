//! What the worst case is composed of: each activation of some threads, charged, and when every thread was due and ran.

use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::collections::BTreeMap;
use whylate_base::{AdvisedFix, Cpu, CpuSet, Ns, Priority, Tid};
use whylate_events::Name;
use whylate_ledger::{Activation, Cause, Culprit, EndedTimes, LateJudge, Segment, Select};
use whylate_stats::{Bucket, Exact, Histogram, MeasuredLayout};

/// A time in which a thread had a CPU, without interrupts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RanSlice {
    /// Where it begins.
    pub start: Ns,
    /// Where it ends.
    pub end: Ns,
    /// The CPU.
    pub cpu: Cpu,
    /// The thread's own priority then.
    pub priority: Priority,
}

/// A job as others see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SeenJob {
    /// When it was due.
    pub due: Ns,
    /// Its CPU time.
    pub work: Ns,
    /// By how much its own sleeps may have put its work off.
    pub put_off: Ns,
    /// The thread's own priority then.
    pub priority: Priority,
    /// It was seen from its beginning to its end.
    pub is_whole: bool,
}

/// What a thread did to others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SeenThread {
    /// When it ran, in order.
    pub slices: Vec<RanSlice>,
    /// Its jobs, in the order of their ends.
    pub jobs: Vec<SeenJob>,
}

/// What goes first.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SourceKey {
    /// A thread.
    Thread(Tid),
    /// The interrupt of a line.
    Line(u32),
    /// A vector of the architecture, by its name.
    Vector(String),
    /// A softirq, by its number.
    Softirq(u32),
}

impl SourceKey {
    /// Of what a segment is charged to.
    pub(crate) fn of(culprit: &Culprit) -> SourceKey {
        match culprit {
            Culprit::Task { tid, .. } => SourceKey::Thread(*tid),
            Culprit::Irq { irq: Some(irq), .. } => SourceKey::Line(*irq),
            Culprit::Irq { irq: None, name } => SourceKey::vector(name),
            Culprit::Softirq { vec } => SourceKey::Softirq(*vec),
        }
    }

    fn vector(name: &Name) -> SourceKey {
        SourceKey::Vector(name.as_str().to_owned())
    }
}

/// Time charged to a cause, and to what did it where that is one thing.
pub type Charge = (Cause, Option<SourceKey>);

/// A source of interference as a thread's activations show it.
#[derive(Clone, Debug)]
pub struct SeenSource {
    /// As it is written.
    pub name: String,
    /// The cause of most of it.
    pub cause: Cause,
    /// The times charged to it.
    pub intervals: Vec<(Ns, Ns)>,
}

/// The charged activations of one thread.
#[derive(Clone, Debug)]
pub struct ChargedJobs {
    /// How many were seen whole.
    pub jobs: u64,
    /// The longest response of one.
    pub worst: Ns,
    /// When that one was due.
    pub worst_due: Ns,
    /// What was charged in it.
    pub in_worst: Vec<(Charge, Ns)>,
    /// When each was due.
    pub dues: Vec<Ns>,
    /// Of causes without a source of their own: the most in one activation, and what did it.
    pub most: BTreeMap<Cause, (Ns, Option<String>)>,
    /// What goes first.
    pub sources: BTreeMap<SourceKey, SeenSource>,
    /// Its CPUs.
    pub cpus: CpuSet,
    /// Its least urgent real-time priority.
    pub priority: Option<Priority>,
    /// Activations in which it was not a real-time thread: they are left out.
    pub not_realtime: u64,
    /// What verdicts advise.
    pub fixes: Vec<(Charge, Vec<AdvisedFix>)>,
    responses: FxHashMap<usize, u64>,
    least: Ns,
    sum: u64,
}

impl Default for ChargedJobs {
    fn default() -> Self {
        ChargedJobs {
            jobs: 0,
            worst: Ns::ZERO,
            worst_due: Ns::ZERO,
            in_worst: Vec::new(),
            dues: Vec::new(),
            most: BTreeMap::new(),
            sources: BTreeMap::new(),
            cpus: CpuSet::new(),
            priority: None,
            not_realtime: 0,
            fixes: Vec::new(),
            responses: FxHashMap::default(),
            least: Ns::ZERO,
            sum: 0,
        }
    }
}

/// True where what has the CPU goes first by the rules, as often as it likes: it is bounded by its own arrivals.
fn is_interference(segment: &Segment) -> bool {
    let goes_first = matches!(
        segment.cause,
        Cause::HigherPriorityTask
            | Cause::EqualPriorityTask
            | Cause::DeadlineTask
            | Cause::StopTask
            | Cause::Irq
            | Cause::Softirq
    );
    goes_first && segment.by.is_some()
}

impl ChargedJobs {
    pub(crate) fn add(&mut self, activation: &Activation) {
        if !activation.priority.is_realtime() {
            self.not_realtime += 1;
            return;
        }
        let least_urgent =
            self.priority.map_or(activation.priority, |before| match before.outranks(activation.priority) {
                true => activation.priority,
                false => before,
            });
        self.priority = Some(least_urgent);
        self.cpus.insert(activation.cpu);
        let mut charges: Vec<(Charge, Ns)> = Vec::new();
        let mut causes: BTreeMap<Cause, (Ns, Option<(Ns, String)>)> = BTreeMap::new();
        for segment in &activation.ledger {
            let source = segment.by.as_ref().filter(|_| is_interference(segment));
            let charge = (segment.cause, source.map(SourceKey::of));
            match charges.iter_mut().find(|(before, _)| *before == charge) {
                Some((_, sum)) => *sum += segment.length(),
                None => charges.push((charge, segment.length())),
            }
            match source {
                Some(culprit) => {
                    let source = self.sources.entry(SourceKey::of(culprit)).or_insert_with(|| SeenSource {
                        name: culprit.to_string(),
                        cause: segment.cause,
                        intervals: Vec::new(),
                    });
                    source.intervals.push((segment.start, segment.end));
                }
                None => {
                    let entry = causes.entry(segment.cause).or_default();
                    entry.0 += segment.length();
                    if let Some(by) = &segment.by
                        && entry.1.as_ref().is_none_or(|(longest, _)| *longest < segment.length())
                    {
                        entry.1 = Some((segment.length(), by.to_string()));
                    }
                }
            }
        }
        // One that was not seen whole has no response; what was charged in it took its time all the same.
        for (cause, (time, by)) in causes {
            let most = self.most.entry(cause).or_default();
            if time > most.0 {
                *most = (time, by.map(|(_, by)| by));
            }
        }
        self.dues.push(activation.due);
        let verdict = &activation.verdict;
        let blamed = (verdict.cause, verdict.by.as_ref().map(SourceKey::of));
        if !verdict.fix.is_empty() && self.fixes.iter().all(|(charge, _)| *charge != blamed) {
            self.fixes.push((blamed, verdict.fix.clone()));
        }
        if !activation.is_whole() {
            return;
        }
        let response = activation.end - activation.due;
        *self.responses.entry(MeasuredLayout::index(response)).or_default() += 1;
        self.sum = self.sum.saturating_add(response.0.max(0).unsigned_abs());
        self.least = if self.jobs == 0 { response } else { self.least.min(response) };
        self.jobs += 1;
        if response > self.worst {
            (self.worst, self.worst_due, self.in_worst) = (response, activation.due, charges);
        }
    }

    /// The distribution of the responses.
    pub fn responses(&self) -> Histogram {
        let mut indices: Vec<(usize, u64)> = self.responses.iter().map(|(&at, &count)| (at, count)).collect();
        indices.sort_unstable();
        let buckets = indices.into_iter().map(|(at, count)| Bucket {
            from: MeasuredLayout::lower(at),
            upto: MeasuredLayout::upper(at),
            count,
        });
        Histogram::new(buckets, Exact { overflow: 0, sum: self.sum, min: self.least, max: self.worst })
    }
}

/// What is watched while a recording is read.
#[derive(Clone, Debug, Default)]
pub struct Watched {
    /// The charged activations of the selected threads.
    pub charged: BTreeMap<Tid, ChargedJobs>,
    /// Every thread, in the order of the model's tasks.
    pub threads: Vec<SeenThread>,
}

/// Keeps what the ledger ends, and has the selected threads charged.
#[derive(Default)]
pub(super) struct Collector<'a> {
    pub(super) ended: RefCell<Vec<EndedTimes>>,
    pub(super) selected: &'a [Select],
}

impl LateJudge for Collector<'_> {
    fn is_late(&self, ended: &EndedTimes) -> bool {
        self.ended.borrow_mut().push(*ended);
        self.selected.iter().any(|select| select.is(ended.tid, ended.comm.as_str()))
    }
}
