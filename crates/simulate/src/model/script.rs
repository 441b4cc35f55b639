//! What a recorded thread did, job by job: it is replayed as it was.

use super::step::Step;
use whylate_base::{Cpu, Ns};

/// The jobs of a recorded thread, in their order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Script {
    /// The jobs.
    pub jobs: Vec<RecordedJob>,
    /// The steps of all jobs, one job's after the other's.
    pub steps: Vec<Step>,
}

/// One job of a recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordedJob {
    /// What lets it begin.
    pub trigger: JobTrigger,
    /// The index of its first step; its last is before the first of the next job.
    pub first_step: usize,
    /// The CPU that its wake-up chose.
    pub cpu: Option<Cpu>,
    /// From its wake-up to its CPU, where nothing else had that: the kernel's way, the way out of an idle state.
    pub dispatch: Ns,
    /// From due to done in the recording; `None` where it was not seen whole.
    pub response: Option<Ns>,
}

/// What lets a recorded job begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobTrigger {
    /// Something outside of the threads: a timer for an instant, a device.
    At {
        /// When it was due.
        due: Ns,
        /// When it was woken.
        released: Ns,
    },
    /// The thread's own sleep for a time, from the end of the job before.
    Slept {
        /// From there to the wake-up.
        sleep: Ns,
        /// So long before its wake-up it was due.
        lead: Ns,
    },
    /// Another task wakes it.
    Woken {
        /// That task.
        by: usize,
        /// So long before its wake-up it was due.
        lead: Ns,
    },
    /// The end of the job before.
    AtOnce,
}

impl Script {
    /// The steps of a job.
    pub fn steps_of(&self, job: usize) -> &[Step] {
        let Some(first) = self.jobs.get(job).map(|job| job.first_step) else { return &[] };
        let end = self.jobs.get(job + 1).map_or(self.steps.len(), |next| next.first_step);
        self.steps.get(first..end).unwrap_or_default()
    }

    /// The CPU time of all steps; [`Ns::MAX`] where one never ends.
    pub fn work(&self) -> Ns {
        let works = self.steps.iter().filter_map(|step| match step {
            Step::Run(amount) | Step::IrqsOff(amount) | Step::PreemptOff(amount) => Some(amount),
            _ => None,
        });
        works.fold(Ns::ZERO, |sum, amount| {
            amount.most().map_or(Ns::MAX, |most| Ns(sum.0.saturating_add(most.0)))
        })
    }
}
