//! One simulation: the run, its explanation, the bounds.

use crate::bounds::bounds;
use crate::engine::Tally;
use crate::findings;
use crate::model::{Machine, Model, TaskPolicy};
use crate::propose::proposal::Proposal;
use crate::replay_report::ReplayReport;
use crate::result::TaskResult;
use crate::source::SimulatedSource;
use crate::sweep::Sweep;
use crate::worst_case::WorstCase;
use whylate_base::{Finding, Ns, Tid};
use whylate_events::{Event, EventSource, TraceInfo};
use whylate_ledger::{Cause, Explanation, Options, Select, explain};

/// How a model is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunOptions {
    /// For how long.
    pub duration: Ns,
    /// The same seed gives the same run.
    pub seed: u64,
    /// How many activations of each task are explained, worst first.
    pub worst: usize,
}

impl Default for RunOptions {
    fn default() -> Self {
        RunOptions { duration: Ns::from_secs(10), seed: 0, worst: 3 }
    }
}

/// What a simulation shows.
#[derive(Clone, Debug)]
pub struct SimulationReport {
    /// The machine that was simulated.
    pub machine: Machine,
    /// How it was run.
    pub options: RunOptions,
    /// The tasks, in the order of the task set.
    pub tasks: Vec<TaskResult>,
    /// Late activations with their ledgers, verdicts and timelines, as of a recording.
    pub explanation: Explanation,
    /// What is wrong: first of the task set, then what the ledger finds.
    pub findings: Vec<Finding>,
    /// What the simulation leaves out or takes for granted.
    pub assumptions: Vec<String>,
    /// Of a recording: how far the model is from it, and what changes do.
    pub replay: Option<ReplayReport>,
    /// Of a recording, where they are asked for: the worst cases of threads.
    pub worst_cases: Vec<WorstCase>,
    /// Where it was asked for: priorities and CPUs that hold all deadlines; the rest of the report is of a run with them.
    pub proposal: Option<Proposal>,
    /// Of a sweep: all its combinations; the rest of the report is about the worst one.
    pub sweep: Option<Sweep>,
}

/// Lends the events of a source, and leaves the source to its owner.
struct Borrowed<'a, 'm>(&'a mut SimulatedSource<'m>);

impl EventSource for Borrowed<'_, '_> {
    fn next_event(&mut self) -> Option<&Event> {
        self.0.next_event()
    }

    fn next_batch(&mut self) -> &[Event] {
        self.0.next_batch()
    }

    fn info(&self) -> &TraceInfo {
        self.0.info()
    }

    fn comms(&self) -> Vec<(Tid, whylate_base::Comm)> {
        self.0.comms()
    }
}

/// Simulates a model that was checked, explains the run, and bounds what can be bounded.
pub fn simulate(model: &Model, options: RunOptions) -> SimulationReport {
    let all: Vec<usize> = (0..model.tasks.len()).collect();
    simulate_some(model, options, &all)
}

/// The same; these tasks are reported.
pub(crate) fn simulate_some(model: &Model, options: RunOptions, shown: &[usize]) -> SimulationReport {
    let mut source = SimulatedSource::new(model, options.duration, options.seed);
    let tids: Vec<Tid> = source.comms().into_iter().map(|(tid, _)| tid).collect();
    let ledger = Options {
        tasks: shown.iter().map(|&task| Select::Tid(tids[task])).collect(),
        worst: options.worst,
        ..Options::default()
    };
    let explanation = explain(Borrowed(&mut source), &ledger);
    let tallies: Vec<Tally> = source.simulation().tallies().cloned().collect();
    let bounds = bounds(model);
    let result = |&at: &usize| {
        let task = &model.tasks[at];
        TaskResult {
            name: task.name.clone(),
            tid: tids[at],
            scheduling: task.scheduling,
            deadline: task.deadline,
            tally: tallies[at].clone(),
            bound: bounds[at].clone(),
            causes: causes(&explanation, tids[at]),
        }
    };
    let tasks: Vec<TaskResult> = shown.iter().map(result).collect();
    let mut findings = findings::of(model, options.duration, &tasks, &source.simulation().deadlocked());
    let own: Vec<&str> = findings.iter().map(|finding| finding.code).collect();
    let ledgers = explanation.findings.iter().filter(|finding| !own.contains(&finding.code));
    findings.extend(ledgers.cloned().collect::<Vec<_>>());
    let assumptions = assumptions(model, source.simulation().counts_ticks());
    SimulationReport {
        machine: model.machine.clone(),
        options,
        tasks,
        explanation,
        findings,
        assumptions,
        replay: None,
        worst_cases: Vec::new(),
        proposal: None,
        sweep: None,
    }
}

fn causes(explanation: &Explanation, tid: Tid) -> Vec<(Cause, Ns)> {
    let summary = explanation.tasks.iter().find(|task| task.tid == tid);
    summary.map(|task| task.causes.clone()).unwrap_or_default()
}

/// What a reader must know of the numbers.
fn assumptions(model: &Model, counts_ticks: bool) -> Vec<String> {
    let mut all = Vec::new();
    let costs = model.machine.costs;
    let free: Vec<&str> = [
        ("switches", costs.switch),
        ("timer interrupts", costs.timer),
        ("ticks", costs.tick),
        ("the way out of idle states", costs.idle_exit),
    ]
    .into_iter()
    .filter(|&(_, cost)| cost == Ns::ZERO)
    .map(|(name, _)| name)
    .collect();
    if !free.is_empty() {
        all.push(format!("no time is taken by {} (machine.costs)", free.join(", ")));
    }
    all.push(
        "only the tasks and interrupts of the task set run: no kernel threads, no other programs".to_owned(),
    );
    if model.tasks.iter().any(|task| task.scheduling.is_fair()) {
        let kernel = model.machine.kernel;
        all.push(match kernel < crate::model::KernelSeries::new(6, 6) {
            true => format!("SCHED_OTHER threads take turns by EEVDF, although {kernel} has CFS"),
            false => {
                "SCHED_OTHER threads take turns by EEVDF; periodic load balancing is left out".to_owned()
            }
        });
    }
    let pinned = model.tasks.iter().any(|task| {
        matches!(task.scheduling, TaskPolicy::Deadline { .. })
            && !task.cpus.is_empty()
            && task.cpus.len() < model.machine.cpus as usize
    });
    if pinned {
        let pins = "a SCHED_DEADLINE task with fewer CPUs than the machine needs an exclusive cpuset (EPERM without)";
        all.push(pins.to_owned());
    }
    if counts_ticks {
        let first =
            "ticks are at multiples of the tick's length, on all CPUs at once; offsets are relative to that";
        all.push(first.to_owned());
    }
    all
}
