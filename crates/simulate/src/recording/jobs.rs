//! From what a thread did to the jobs that are replayed.

use super::tape::{EndedJob, Mark, Sleep, State, Tape};
use crate::model::{Amount, Arrival, JobTrigger, RecordedJob, Script, Step, Task, TaskPolicy, WhenLate};
use whylate_base::{Cpu, CpuSet, Ns, Policy, Priority};

/// A thread in the middle of a job that has taken so many times as long as any before does not sleep any more.
const ENDLESS: i64 = 2;

/// How a priority is scheduled.
pub(super) fn scheduling(priority: Priority, policy: Option<Policy>, comm: &str, gap: Ns) -> TaskPolicy {
    match priority.0 {
        // Its parameters are not in a recording: it is never stopped, and goes before all others.
        ..0 => TaskPolicy::Deadline { runtime: gap, deadline: gap, period: gap },
        0 if comm.starts_with("migration/") || comm.starts_with("stopper") => TaskPolicy::Stop,
        0..100 => {
            let user = priority.realtime_user().unwrap_or(1).clamp(1, 99) as u8;
            if policy == Some(Policy::Rr) { TaskPolicy::Rr(user) } else { TaskPolicy::Fifo(user) }
        }
        _ if policy == Some(Policy::Idle) => TaskPolicy::Idle,
        _ => TaskPolicy::Other(priority.nice().unwrap_or(0).clamp(-20, 19) as i8),
    }
}

/// Writes a thread's jobs down.
struct Writer {
    script: Script,
    start: Ns,
    relative: bool,
    /// The work of the job in progress, and the most of one that is done.
    work: Ns,
    most: Ns,
    usual_dispatch: Ns,
    in_job: bool,
}

impl Writer {
    /// A job begins; `woken` counts from the recording's first instant.
    fn open(&mut self, trigger: JobTrigger, woken: Ns, cpu: Option<Cpu>, dispatch: Ns) {
        let job = RecordedJob { trigger, first_step: 0, cpu, dispatch, due: None, woken, response: None };
        self.script.push(job, []);
        self.work = Ns::ZERO;
        self.in_job = true;
    }

    /// The job in progress has ended: when it was due is known now.
    fn close(&mut self, ended: Option<EndedJob>) {
        self.in_job = false;
        let start = self.start;
        let relative = self.relative;
        let Some(job) = self.script.jobs.last_mut() else { return };
        let Some(ended) = ended else { return };
        job.response = ended.response;
        self.most = self.most.max(self.work);
        let due = ended.due - start;
        job.due = Some(due);
        job.trigger = match job.trigger {
            JobTrigger::At { released, .. } => {
                JobTrigger::At { due: due.min(released).max(Ns::ZERO), released }
            }
            // The length of its sleep is known; when it woke is in the lead until here.
            JobTrigger::Slept { sleep, lead: woken } if relative && ended.by_timer => {
                JobTrigger::Slept { sleep, lead: (woken - due).max(Ns::ZERO) }
            }
            JobTrigger::Slept { lead: woken, .. } => {
                JobTrigger::At { due: due.min(woken).max(Ns::ZERO), released: woken }
            }
            JobTrigger::Woken { by, lead: woken } => {
                JobTrigger::Woken { by, lead: (woken - due).max(Ns::ZERO) }
            }
            trigger @ (JobTrigger::AtOnce | JobTrigger::Paced { .. } | JobTrigger::Gap { .. }) => trigger,
        };
    }

    /// A job that was not seen to end has no lead.
    fn settle(&mut self) {
        if let Some(job) = self.script.jobs.last_mut() {
            job.trigger = match job.trigger {
                JobTrigger::Slept { lead: woken, .. } => JobTrigger::At { due: woken, released: woken },
                JobTrigger::Woken { by, .. } => JobTrigger::Woken { by, lead: Ns::ZERO },
                trigger => trigger,
            };
        }
    }

    fn sleep(&mut self, sleep: &Sleep) {
        if !self.in_job || sleep.ends.is_some() || sleep.woken.is_none() {
            if self.in_job {
                self.close(sleep.ends);
                if sleep.ends.is_none() {
                    self.settle();
                }
            }
            if let Some(woken) = sleep.woken {
                let at = (woken.at - self.start).max(Ns::ZERO);
                let is_first = self.script.jobs.is_empty();
                let trigger = match woken.by {
                    Some(by) => JobTrigger::Woken { by, lead: at },
                    None if is_first => JobTrigger::At { due: at, released: at },
                    None => JobTrigger::Slept { sleep: (woken.at - sleep.at).max(Ns::ZERO), lead: at },
                };
                self.open(trigger, at, Some(woken.cpu), woken.dispatch.unwrap_or(self.usual_dispatch));
            }
            return;
        }
        let Some(woken) = sleep.woken else { return };
        self.script.steps.push(match woken.by {
            Some(by) => Step::Await { by, seen: (woken.at - sleep.at).max(Ns::ZERO) },
            None => Step::Suspend(Amount::Fixed((woken.at - sleep.at).max(Ns::ZERO))),
        });
    }

    fn work(&mut self, length: Ns, step: fn(Amount) -> Step) {
        if length > Ns::ZERO {
            self.work += length;
            self.script.steps.push(step(Amount::Fixed(length)));
        }
    }
}

/// A thread as a task; `gap` stands for the parameters of a reservation.
pub(super) fn task(tape: &Tape, name: String, start: Ns, gap: Ns, cpus: u32) -> Task {
    let mut dispatches: Vec<Ns> = tape.marks.iter().filter_map(dispatch_of).collect();
    dispatches.sort_unstable();
    let usual_dispatch = dispatches.get(dispatches.len() / 2).copied().unwrap_or(Ns::ZERO);
    let relative = match tape.relative_calls + tape.absolute_calls {
        0 => tape.timers.are_relative(),
        _ => tape.relative_calls > tape.absolute_calls,
    };
    let mut writer = Writer {
        script: Script::default(),
        start,
        relative,
        work: Ns::ZERO,
        most: Ns::ZERO,
        usual_dispatch,
        in_job: false,
    };
    if !matches!(tape.marks.first(), Some(Mark::Sleep(_))) {
        writer.open(JobTrigger::At { due: Ns::ZERO, released: Ns::ZERO }, Ns::ZERO, None, Ns::ZERO);
    }
    let comm = tape.comm.as_str();
    for mark in &tape.marks {
        match mark {
            Mark::Run(length) => writer.work(*length, Step::Run),
            Mark::NonPreemptible(length) => writer.work(*length, Step::PreemptOff),
            Mark::Wake(to) | Mark::Release { to, .. } => writer.script.steps.push(Step::Wake(*to)),
            Mark::Lock(lock) => writer.script.steps.push(Step::Lock(*lock)),
            Mark::Unlock(lock) => writer.script.steps.push(Step::Unlock(*lock)),
            Mark::Priority(priority) => {
                let scheduling = scheduling(*priority, tape.policy, comm, gap);
                writer.script.steps.push(Step::SetScheduling(scheduling));
            }
            Mark::SetsCpus(calls) => {
                let set = within(&tape.affinity_after(*calls).cpus().unwrap_or_default(), cpus);
                writer.script.steps.push(Step::SetCpus(set));
            }
            Mark::Sleep(sleep) => writer.sleep(sleep),
            Mark::Boundary(ended) => {
                writer.close(Some(*ended));
                let end = ended.due + ended.response.unwrap_or(Ns::ZERO);
                writer.open(JobTrigger::AtOnce, (end - start).max(Ns::ZERO), None, Ns::ZERO);
            }
        }
    }
    if writer.in_job {
        writer.settle();
        let is_runnable = !matches!(tape.state, State::Asleep | State::Unknown);
        if is_runnable && writer.work.0 > writer.most.0.saturating_mul(ENDLESS) {
            writer.script.steps.push(Step::Run(Amount::Forever));
        }
    }
    let first = tape.affinity_after(0).cpus();
    let bound = cpu_in_name(comm).map(|cpu| [cpu].into_iter().collect());
    Task {
        name,
        tid: Some(tape.tid),
        scheduling: scheduling(tape.first_priority.unwrap_or(Priority::DEFAULT), tape.policy, comm, gap),
        cpus: within(&first.or(bound).unwrap_or_default(), cpus),
        arrival: Arrival::Recorded(writer.script),
        start: Vec::new(),
        steps: Vec::new(),
        deadline: None,
        when_late: WhenLate::CatchUp,
        group: None,
    }
}

fn dispatch_of(mark: &Mark) -> Option<Ns> {
    match mark {
        Mark::Sleep(sleep) => sleep.woken?.dispatch,
        _ => None,
    }
}

/// The CPU in the name of a kernel's thread (`ksoftirqd/1`, `kworker/0:2`).
pub(super) fn cpu_in_name(comm: &str) -> Option<Cpu> {
    const BOUND: [&str; 10] = [
        "ksoftirqd/",
        "ktimers/",
        "migration/",
        "kworker/",
        "cpuhp/",
        "rcuc/",
        "rcuop/",
        "irq_work/",
        "idle_inject/",
        "backlog_napi/",
    ];
    let rest = BOUND.iter().find_map(|prefix| comm.strip_prefix(prefix))?;
    let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok().map(Cpu)
}

/// The CPUs of a list that the machine has; all of them for none.
fn within(cpus: &CpuSet, count: u32) -> CpuSet {
    let usable: CpuSet = cpus.iter().filter(|cpu| cpu.0 < count).collect();
    if usable.len() == count as usize { CpuSet::new() } else { usable }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bound_threads_of_the_kernel_have_their_cpu_in_their_name() {
        assert_eq!(cpu_in_name("ksoftirqd/1"), Some(Cpu(1)));
        assert_eq!(cpu_in_name("kworker/12:0H"), Some(Cpu(12)));
        assert_eq!(cpu_in_name("kworker/u4:1"), None);
        assert_eq!(cpu_in_name("irq/16-eth0"), None);
    }

    #[test]
    fn priorities_are_policies() {
        let gap = Ns(5);
        assert_eq!(scheduling(Priority(49), None, "t", gap), TaskPolicy::Fifo(50));
        assert_eq!(scheduling(Priority(49), Some(Policy::Rr), "t", gap), TaskPolicy::Rr(50));
        assert_eq!(scheduling(Priority(0), None, "migration/0", gap), TaskPolicy::Stop);
        assert_eq!(scheduling(Priority(110), None, "t", gap), TaskPolicy::Other(-10));
        assert!(matches!(scheduling(Priority(-1), None, "t", gap), TaskPolicy::Deadline { .. }));
    }
}
