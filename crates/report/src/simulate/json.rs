//! A simulation as JSON, schema `whylate.simulate/1`.

use crate::explain::json::document::{Activation, Finding};
use crate::explain::json::from_ledger;
use crate::json::ns;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use whylate_simulate::bounds::Bound;
use whylate_simulate::{SimulationReport, TaskResult};

/// The name and version of this schema.
pub const SCHEMA: &str = "whylate.simulate/1";

/// What a task set does by a model of the scheduler.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "whylate.simulate/1")]
pub struct Document {
    /// Always `whylate.simulate/1`. Fields may be added within the version: ignore unknown ones.
    pub schema: String,
    /// What was simulated.
    pub model: ModelFacts,
    /// The tasks, in the order of the task set.
    pub tasks: Vec<Task>,
    /// The worst activations of each task, as in `whylate.explain/1`.
    pub activations: Vec<Activation>,
    /// What is wrong: first of the task set, then what the ledger finds.
    pub findings: Vec<Finding>,
    /// What the simulation leaves out or takes for granted.
    pub assumptions: Vec<String>,
    /// Of a recording: how far the model is from it, and what changes do; absent for a task set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replay: Option<super::replay_json::Replay>,
    /// Of a recording: the worst cases of the threads that they were asked for of; absent where they were not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub worst_cases: Vec<super::worst_case_json::ThreadWorstCase>,
    /// Where it was asked for: priorities and CPUs that hold all deadlines; the rest of the document is of a run with them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proposal: Option<super::proposal_json::ProposalDocument>,
    /// Of a sweep: all its combinations, and the rest of the document is about the worst one; absent without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sweep: Option<super::sweep_json::SweepDocument>,
}

/// The machine, and how it was run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ModelFacts {
    /// The kernel's version.
    pub kernel: String,
    /// Whether it is PREEMPT_RT.
    pub preempt_rt: bool,
    /// How many CPUs.
    pub cpus: u32,
    /// The length of the run.
    pub duration_ns: i64,
    /// The same seed gives the same run.
    pub seed: u64,
}

/// A task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Task {
    /// Its name.
    pub name: String,
    /// Its id among the activations.
    pub tid: i32,
    /// `fifo`, `rr`, `deadline`, `other`, `idle`.
    pub policy: String,
    /// The real-time priority, 1 to 99; null of other policies.
    pub priority: Option<u8>,
    /// Jobs that are done.
    pub activations: u64,
    /// Their response times; null where none is done.
    pub response_ns: Option<Responses>,
    /// No response is longer than this, whatever the phases; null where no analysis bounds it.
    pub bound_ns: Option<i64>,
    /// Why there is no bound; null where there is one.
    pub no_bound: Option<String>,
    /// Its deadline; null where it has none.
    pub deadline_ns: Option<i64>,
    /// Jobs that were done after it.
    pub misses: u64,
    /// Jobs that were left out because the one before was late.
    pub skipped: u64,
    /// CPU time in all.
    pub ran_ns: i64,
    /// The longest time in which it was runnable and did not run.
    pub longest_wait_ns: i64,
    /// From the due instant of the first task of its chain to the end of its job, at most; null where nothing is before it.
    pub end_to_end_ns: Option<i64>,
    /// All charged time of its activations by cause.
    pub causes: BTreeMap<String, i64>,
}

/// A distribution of response times.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Responses {
    /// The median.
    pub p50: i64,
    /// The 99th percentile; null with too few jobs.
    pub p99: Option<i64>,
    /// The longest.
    pub max: i64,
}

/// A simulation as a document of schema [`SCHEMA`].
pub fn render(report: &SimulationReport) -> Value {
    crate::json::value(&Document {
        schema: SCHEMA.to_owned(),
        model: ModelFacts {
            kernel: report.machine.kernel.to_string(),
            preempt_rt: report.machine.preempt_rt,
            cpus: report.machine.cpus,
            duration_ns: report.options.duration.0,
            seed: report.options.seed,
        },
        tasks: report.tasks.iter().map(task).collect(),
        activations: report.explanation.activations.iter().map(from_ledger::activation).collect(),
        findings: report.findings.iter().map(from_ledger::finding).collect(),
        assumptions: report.assumptions.clone(),
        replay: report.replay.as_ref().map(super::replay_json::replay),
        worst_cases: report.worst_cases.iter().map(super::worst_case_json::worst_case).collect(),
        proposal: report.proposal.as_ref().map(super::proposal_json::proposal),
        sweep: report.sweep.as_ref().map(super::sweep_json::sweep),
    })
}

/// The JSON Schema of [`render`]'s documents.
pub fn schema() -> Value {
    crate::json::schema::<Document>()
}

fn task(task: &TaskResult) -> Task {
    let responses = task.tally.responses();
    Task {
        name: task.name.clone(),
        tid: task.tid.0,
        policy: task.scheduling.policy().name().to_owned(),
        priority: task.scheduling.rt_priority(),
        activations: task.tally.jobs,
        response_ns: responses.median().zip(task.tally.worst()).map(|(p50, max)| Responses {
            p50: p50.0,
            p99: ns(responses.tail(0.99)),
            max: max.0,
        }),
        bound_ns: ns(task.bound.response()),
        no_bound: match &task.bound {
            Bound::Unknown { reason } => Some(reason.clone()),
            Bound::AtMost { .. } => None,
        },
        deadline_ns: ns(task.deadline),
        misses: task.tally.missed,
        skipped: task.tally.skipped,
        ran_ns: task.tally.ran.0,
        longest_wait_ns: task.tally.longest_wait.0,
        end_to_end_ns: ns(task.tally.end_to_end),
        causes: task.causes.iter().map(|(cause, time)| (cause.code().to_owned(), time.0)).collect(),
    }
}
