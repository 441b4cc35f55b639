//! What a recorded thread did, job by job: it is replayed as it was, or its jobs are drawn anew.

use super::step::Step;
use whylate_base::{Cpu, Ns};

/// The jobs of a recorded thread, in their order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Script {
    /// The jobs.
    pub jobs: Vec<RecordedJob>,
    /// The steps of all jobs, one job's after the other's.
    pub steps: Vec<Step>,
    /// Which of the jobs comes when.
    pub order: JobOrder,
}

/// Which of a script's jobs comes when.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum JobOrder {
    /// Each once, in their order.
    #[default]
    AsRecorded,
    /// Any of them again and again, all equally likely.
    Drawn(DrawnJobs),
}

/// How jobs are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DrawnJobs {
    /// The same seed draws the same jobs.
    pub seed: u64,
    /// When the first one is due, where time lets it begin.
    pub first: Ns,
    /// The distance of two that are [`JobTrigger::Paced`].
    pub period: Ns,
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
    /// When it was due in the recording; `None` where it was not seen to end.
    pub due: Option<Ns>,
    /// When it was woken in the recording.
    pub woken: Ns,
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
    /// A timer with a period, of jobs that are drawn.
    Paced {
        /// So much later than the period has it, it is due; or earlier.
        late: Ns,
        /// From there to the wake-up.
        delay: Ns,
    },
    /// Something outside of the threads, of jobs that are drawn.
    Gap {
        /// So long after the job before it is due.
        gap: Ns,
        /// From there to the wake-up.
        delay: Ns,
    },
}

impl Script {
    /// The `nth` job that is done.
    pub fn job(&self, nth: usize) -> Option<&RecordedJob> {
        self.jobs.get(self.index(nth)?)
    }

    /// Its steps.
    pub fn steps_of_nth(&self, nth: usize) -> &[Step] {
        self.index(nth).map_or(&[], |job| self.steps_of(job))
    }

    fn index(&self, nth: usize) -> Option<usize> {
        match self.order {
            JobOrder::AsRecorded => Some(nth),
            JobOrder::Drawn(_) if self.jobs.is_empty() => None,
            JobOrder::Drawn(DrawnJobs { seed, .. }) => {
                let mut random =
                    fastrand::Rng::with_seed(seed ^ (nth as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15));
                Some(random.usize(..self.jobs.len()))
            }
        }
    }

    /// The steps of one of its jobs.
    pub fn steps_of(&self, job: usize) -> &[Step] {
        let Some(first) = self.jobs.get(job).map(|job| job.first_step) else { return &[] };
        let end = self.jobs.get(job + 1).map_or(self.steps.len(), |next| next.first_step);
        self.steps.get(first..end).unwrap_or_default()
    }

    /// Adds a job with its steps.
    pub(crate) fn push(&mut self, job: RecordedJob, steps: impl IntoIterator<Item = Step>) {
        self.jobs.push(RecordedJob { first_step: self.steps.len(), ..job });
        self.steps.extend(steps);
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
