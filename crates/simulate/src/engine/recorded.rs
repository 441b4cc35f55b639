//! Jobs of a recording: what lets each begin, and how its response is kept.

use super::state::{Doing, Job, Simulation};
use crate::model::{DrawnJobs, JobOrder, JobTrigger, Script};
use whylate_base::Ns;

/// More wake-ups than this do not wait for a thread.
const LONGEST_BACKLOG: usize = 4096;

/// When the job of this number is due and released, if time does that; `before` is when the one before it was due.
pub(super) fn recorded_release(script: &Script, job: usize, now: Ns, before: Ns) -> Option<(Ns, Ns)> {
    let drawn = match script.order {
        JobOrder::Drawn(drawn) => drawn,
        JobOrder::AsRecorded => DrawnJobs { seed: 0, first: Ns::ZERO, period: Ns::ZERO },
    };
    match script.job(job)?.trigger {
        JobTrigger::At { due, released } => Some((due, released)),
        JobTrigger::Slept { sleep, lead } => Some((now + sleep - lead, now + sleep)),
        JobTrigger::Paced { late, delay } => {
            let due = drawn.first + Ns(drawn.period.0.saturating_mul(job as i64)) + late;
            Some((due.max(Ns::ZERO), due.max(Ns::ZERO) + delay))
        }
        JobTrigger::Gap { gap, delay } => {
            let due = if job == 0 { drawn.first } else { before + gap };
            Some((due, due + delay))
        }
        JobTrigger::Woken { .. } | JobTrigger::AtOnce => None,
    }
}

impl<'m> Simulation<'m> {
    /// Another task wakes a thread of a recording.
    pub(super) fn signal_recorded(&mut self, cpu: usize, thread: usize, script: &'m Script, job: Job) {
        let state = &mut self.threads[thread];
        if state.awaits {
            state.awaits = false;
            self.wake(cpu, thread);
            return;
        }
        let next = script.job(state.started as usize).map(|job| job.trigger);
        match next {
            Some(JobTrigger::Woken { lead, .. }) if state.job.is_none() && state.doing == Doing::Asleep => {
                self.begin_job(thread, Job { due: job.due - lead, origin: job.origin - lead });
                self.wake(cpu, thread);
            }
            _ if state.backlog.len() < LONGEST_BACKLOG => state.backlog.push_back(job),
            _ => {}
        }
    }

    /// The next job is about to begin: what the recording has of its wake-up.
    pub(super) fn take_recorded(&mut self, thread: usize, script: &Script) {
        let cpus = self.cpus.len();
        let state = &mut self.threads[thread];
        if let Some(job) = script.job(state.started as usize) {
            state.hint = job.cpu.map(|cpu| cpu.index()).filter(|&cpu| cpu < cpus);
            state.dispatch = job.dispatch;
        }
    }

    /// A job is done.
    pub(super) fn finish_recorded(&mut self, thread: usize, script: &Script, job: Job) {
        let deadline = self.model.tasks[thread].deadline;
        let now = self.now;
        let state = &mut self.threads[thread];
        let Some(number) = (state.started as usize).checked_sub(1) else { return };
        if script.job(number).is_some_and(|recorded| recorded.response.is_some()) {
            state.tally.add(job.due, job.origin, now, deadline);
            state.responses.push((number, now - job.due));
        }
    }

    /// The next job, if nothing lets it wait: it follows at once, or its wake-up has come already.
    pub(super) fn next_at_once(&mut self, thread: usize, script: &Script) -> Option<Job> {
        let now = self.now;
        let state = &mut self.threads[thread];
        match script.job(state.started as usize)?.trigger {
            JobTrigger::AtOnce => Some(Job { due: now, origin: now }),
            JobTrigger::Woken { lead, .. } => {
                let signal = state.backlog.pop_front()?;
                Some(Job { due: signal.due - lead, origin: signal.origin - lead })
            }
            JobTrigger::At { .. }
            | JobTrigger::Slept { .. }
            | JobTrigger::Paced { .. }
            | JobTrigger::Gap { .. } => None,
        }
    }
}
