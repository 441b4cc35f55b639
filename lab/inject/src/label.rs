//! The label: what was done to whom, as one JSON object.

use crate::crew::{Member, Part};
use crate::options::Injection;
use crate::periodic::Job;
use crate::setup::Setup;
use serde::Serialize;
use whylate_base::{Cpu, Ns, Policy, Tid};

/// No run lists more late jobs than this; the first ones are kept.
const MOST_LATE_JOBS: usize = 200;

/// One thread of the run.
#[derive(Debug, Serialize)]
struct Thread {
    part: Part,
    name: String,
    tid: Tid,
    policy: Policy,
    /// The user's real-time priority, 0 for other policies.
    priority: u32,
    cpu: Option<Cpu>,
    /// When it had its policy and CPU.
    placed_ns: Ns,
}

/// All that is known of a run. Instants are of CLOCK_MONOTONIC.
#[derive(Debug, Serialize)]
pub(crate) struct Label {
    schema: &'static str,
    fault: &'static str,
    seed: u64,
    start_ns: Ns,
    end_ns: Ns,
    threads: Vec<Thread>,
    /// How many jobs the victim did.
    jobs: usize,
    /// How many of them were done later than `limit_ns` after they were due.
    late: usize,
    limit_ns: Ns,
    worst_latency_ns: Ns,
    worst_response_ns: Ns,
    late_jobs: Vec<Job>,
}

impl Label {
    /// Of a run that has ended.
    pub(crate) fn new(fault: &Injection, setup: &Setup, members: Vec<Member>) -> Label {
        let jobs: Vec<Job> = members
            .iter()
            .filter(|member| member.role.part == Part::Victim)
            .flat_map(|member| member.log.jobs.iter().copied())
            .collect();
        let late: Vec<Job> =
            jobs.iter().copied().filter(|job| job.done.since(job.due) > setup.limit).collect();
        Label {
            schema: "whylate.inject/1",
            fault: fault.name(),
            seed: setup.seed,
            start_ns: setup.start,
            end_ns: setup.end,
            threads: members
                .into_iter()
                .map(|member| Thread {
                    part: member.role.part,
                    name: member.role.name,
                    tid: member.tid,
                    policy: member.role.sched.policy,
                    priority: member.role.sched.priority,
                    cpu: member.role.cpu,
                    placed_ns: member.placed,
                })
                .collect(),
            jobs: jobs.len(),
            late: late.len(),
            limit_ns: setup.limit,
            worst_latency_ns: jobs.iter().map(|job| job.start.since(job.due)).max().unwrap_or_default(),
            worst_response_ns: jobs.iter().map(|job| job.done.since(job.due)).max().unwrap_or_default(),
            late_jobs: late.into_iter().take(MOST_LATE_JOBS).collect(),
        }
    }
}
