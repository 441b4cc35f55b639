//! Jobs that were done after their deadline.

use crate::result::TaskResult;
use whylate_base::{Evidence, Finding, Ns, Severity};

pub(super) fn findings(duration: Ns, tasks: &[TaskResult]) -> Vec<Finding> {
    tasks.iter().filter(|task| task.tally.missed > 0).filter_map(|task| of(task, duration)).collect()
}

fn of(task: &TaskResult, duration: Ns) -> Option<Finding> {
    let deadline = task.deadline?;
    let unfinished = u64::from(task.tally.unfinished.is_some());
    let mut evidence = Vec::new();
    if let Some(worst) = task.tally.worst().filter(|&worst| worst > deadline) {
        let due = task.tally.worst_due.as_secs_f64();
        evidence.push(Evidence::general(format!("due at {due:.6}: done {worst} later")));
    }
    if let Some(due) = task.tally.unfinished.filter(|&due| duration - due > deadline) {
        let (at, since) = (due.as_secs_f64(), duration - due);
        evidence.push(Evidence::general(format!(
            "due at {at:.6}: not done at the end of the run, {since} later"
        )));
    }
    let main = task.causes.iter().find(|(_, time)| *time > Ns::ZERO);
    evidence.extend(main.map(|(cause, time)| {
        Evidence::general(format!("most of the time of its activations, {time}, is {cause}"))
    }));
    Some(Finding {
        code: "simulated-deadline-missed",
        severity: Severity::Error,
        title: format!(
            "{} misses its deadline of {deadline} in {} of {} jobs",
            task.name,
            task.tally.missed,
            task.tally.jobs + unfinished
        ),
        why: "its response, from due to done, is longer than the deadline".to_owned(),
        evidence,
        fix: Vec::new(),
    })
}
