//! The label: the fault, the threads and the late jobs of a run, as one JSON object.

use crate::options::Injection;
use crate::periodic::JobRecord;
use crate::role::Role;
use crate::setup::Setup;
use crate::threads::{Thread, ThreadLog};
use serde::Serialize;
use whylate_base::{Ns, Tid};

/// No run lists more late jobs than this; the first ones are kept.
const MOST_LATE_JOBS: usize = 200;

/// A late job, with its thread.
#[derive(Debug, Serialize)]
struct LateJob {
    tid: Tid,
    #[serde(flatten)]
    job: JobRecord,
}

/// The label of a run. Instants are of CLOCK_MONOTONIC.
#[derive(Debug, Serialize)]
pub(crate) struct RunLabel {
    schema: &'static str,
    fault: &'static str,
    seed: u64,
    start_ns: Ns,
    end_ns: Ns,
    threads: Vec<Thread>,
    /// How many jobs the victim did, or the victims.
    jobs: usize,
    /// How many of them were done later than `limit_ns` after they were due.
    late: usize,
    limit_ns: Ns,
    worst_latency_ns: Ns,
    worst_response_ns: Ns,
    late_jobs: Vec<LateJob>,
}

impl RunLabel {
    /// Of a run that has ended.
    pub(crate) fn new(fault: &Injection, setup: &Setup, logs: Vec<ThreadLog>) -> RunLabel {
        let jobs: Vec<LateJob> = logs
            .iter()
            .filter(|log| log.thread.part == Role::Victim)
            .flat_map(|log| log.log.jobs.iter().map(|&job| LateJob { tid: log.thread.tid, job }))
            .collect();
        let longest = |length: fn(&JobRecord) -> Ns| {
            jobs.iter().map(|late| length(&late.job)).max().unwrap_or_default()
        };
        let (worst_latency_ns, worst_response_ns) =
            (longest(|job| job.start.since(job.due)), longest(|job| job.done.since(job.due)));
        let number = jobs.len();
        let late: Vec<LateJob> =
            jobs.into_iter().filter(|late| late.job.done.since(late.job.due) > setup.limit).collect();
        RunLabel {
            schema: "whylate.inject/1",
            fault: fault.name(),
            seed: setup.seed,
            start_ns: setup.start,
            end_ns: setup.end,
            threads: logs.into_iter().map(|log| log.thread).collect(),
            jobs: number,
            late: late.len(),
            limit_ns: setup.limit,
            worst_latency_ns,
            worst_response_ns,
            late_jobs: late.into_iter().take(MOST_LATE_JOBS).collect(),
        }
    }
}
