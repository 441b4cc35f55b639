//! What a job does by itself, apart from what came before and after it in the recording.

use super::arrivals::ArrivalKind;
use crate::model::{Amount, JobTrigger, Script, Step, Task, TaskPolicy};
use rustc_hash::FxHashMap;
use std::collections::VecDeque;
use whylate_base::CpuSet;

/// Which wake-ups of a thread begin a job of another, and which end a sleep in the middle of one: of each waker and thread that
/// it wakes, in their order.
pub(super) struct WakeUps {
    begins: FxHashMap<(usize, usize), Vec<bool>>,
}

impl WakeUps {
    /// Of all threads.
    pub(super) fn of(scripts: &[&Script]) -> WakeUps {
        let mut begins: FxHashMap<(usize, usize), Vec<bool>> = FxHashMap::default();
        for (thread, script) in scripts.iter().enumerate() {
            for (number, job) in script.jobs.iter().enumerate() {
                if let JobTrigger::Woken { by, .. } = job.trigger {
                    begins.entry((by, thread)).or_default().push(true);
                }
                for step in script.steps_of(number) {
                    if let Step::Await { by, .. } = step {
                        begins.entry((*by, thread)).or_default().push(false);
                    }
                }
            }
        }
        WakeUps { begins }
    }

    /// Those that one thread makes.
    fn made_by(&self, thread: usize) -> FxHashMap<usize, VecDeque<bool>> {
        let own = self.begins.iter().filter(|((by, _), _)| *by == thread);
        own.map(|((_, woken), begins)| (*woken, begins.iter().copied().collect())).collect()
    }
}

/// The bodies of a thread's jobs.
pub(super) struct Bodies<'m> {
    pub(super) thread: usize,
    pub(super) kinds: &'m [ArrivalKind],
    pub(super) wake_ups: &'m WakeUps,
}

impl Bodies<'_> {
    /// The steps of each job of the recording.
    pub(super) fn all(&self, script: &Script) -> Vec<Vec<Step>> {
        let is_drawn = self.kinds.get(self.thread) != Some(&ArrivalKind::AsRecorded);
        let mut made = self.wake_ups.made_by(self.thread);
        let mut bodies = Vec::with_capacity(script.jobs.len());
        for number in 0..script.jobs.len() {
            let mut body = Vec::new();
            for step in script.steps_of(number) {
                match step {
                    // Its waker is drawn by itself: the wait is as long as it was.
                    Step::Await { seen, .. } => body.push(Step::Suspend(Amount::Fixed(*seen))),
                    Step::Wake(woken) => {
                        let begins = made.get_mut(woken).and_then(VecDeque::pop_front).unwrap_or(true);
                        if begins && matches!(self.kinds.get(*woken), Some(ArrivalKind::Woken { .. })) {
                            body.push(step.clone());
                        }
                    }
                    // The thread has from the beginning what it has in most jobs.
                    Step::SetScheduling(_) | Step::SetCpus(_) if is_drawn => {}
                    other => body.push(other.clone()),
                }
            }
            if is_drawn {
                keep_whole_sections(&mut body);
            }
            bodies.push(body);
        }
        bodies
    }
}

/// Leaves out locks that are held beyond the job.
fn keep_whole_sections(body: &mut Vec<Step>) {
    let mut open: Vec<usize> = Vec::new();
    let mut broken: Vec<usize> = Vec::new();
    for step in body.iter() {
        match step {
            Step::Lock(lock) if open.contains(lock) => broken.push(*lock),
            Step::Lock(lock) => open.push(*lock),
            Step::Unlock(lock) => match open.iter().rposition(|held| held == lock) {
                Some(at) => drop(open.remove(at)),
                None => broken.push(*lock),
            },
            _ => {}
        }
    }
    broken.extend(open);
    body.retain(|step| !matches!(step, Step::Lock(lock) | Step::Unlock(lock) if broken.contains(lock)));
}

/// The policy and the CPUs that a thread has in most of its jobs.
pub(super) fn usual_place(task: &Task, script: &Script) -> (TaskPolicy, CpuSet) {
    let (mut scheduling, mut cpus) = (task.scheduling, task.cpus.clone());
    let mut policies: Vec<(TaskPolicy, usize)> = Vec::new();
    let mut places: Vec<(CpuSet, usize)> = Vec::new();
    for number in 0..script.jobs.len() {
        for step in script.steps_of(number) {
            match step {
                Step::SetScheduling(to) => scheduling = *to,
                Step::SetCpus(to) => cpus = to.clone(),
                _ => {}
            }
        }
        count(&mut policies, &scheduling);
        count(&mut places, &cpus);
    }
    (most(policies).unwrap_or(scheduling), most(places).unwrap_or(cpus))
}

fn count<T: Clone + PartialEq>(all: &mut Vec<(T, usize)>, one: &T) {
    match all.iter_mut().find(|(known, _)| known == one) {
        Some((_, count)) => *count += 1,
        None => all.push((one.clone(), 1)),
    }
}

fn most<T>(all: Vec<(T, usize)>) -> Option<T> {
    all.into_iter().max_by_key(|(_, count)| *count).map(|(value, _)| value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::RecordedJob;
    use whylate_base::Ns;

    fn job(trigger: JobTrigger) -> RecordedJob {
        RecordedJob {
            trigger,
            first_step: 0,
            cpu: None,
            dispatch: Ns::ZERO,
            due: Some(Ns::ZERO),
            woken: Ns::ZERO,
            response: Some(Ns(1)),
        }
    }

    #[test]
    fn a_wake_up_that_ends_a_wait_begins_no_job() {
        // Thread 0 begins a job of thread 1, which asks thread 0 for something in the middle of it.
        let (mut waker, mut woken) = (Script::default(), Script::default());
        let timer = JobTrigger::At { due: Ns::ZERO, released: Ns::ZERO };
        waker.push(job(timer), [Step::Wake(1), Step::Run(Amount::Fixed(Ns(3))), Step::Wake(1)]);
        let wait = Step::Await { by: 0, seen: Ns(9) };
        woken.push(job(JobTrigger::Woken { by: 0, lead: Ns::ZERO }), [wait]);
        let scripts = [&waker, &woken];
        let wake_ups = WakeUps::of(&scripts);
        let kinds = [ArrivalKind::Slept { usual: Ns(1) }, ArrivalKind::Woken { by: 0 }];
        let of = |thread| Bodies { thread, kinds: &kinds, wake_ups: &wake_ups };
        assert_eq!(of(0).all(&waker), [vec![Step::Wake(1), Step::Run(Amount::Fixed(Ns(3)))]]);
        assert_eq!(of(1).all(&woken), [vec![Step::Suspend(Amount::Fixed(Ns(9)))]]);
    }

    #[test]
    fn locks_that_are_held_beyond_a_job_are_left_out() {
        let run = || Step::Run(Amount::Fixed(Ns(1)));
        let mut body = vec![Step::Unlock(2), Step::Lock(0), run(), Step::Unlock(0), Step::Lock(1), run()];
        keep_whole_sections(&mut body);
        assert_eq!(body, [Step::Lock(0), run(), Step::Unlock(0), run()]);
    }
}
