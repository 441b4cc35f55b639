//! Jobs that were done after their deadline.

use crate::result::TaskResult;
use whylate_base::{Evidence, Finding, Ns, Severity};

pub(super) fn findings(tasks: &[TaskResult]) -> Vec<Finding> {
    tasks.iter().filter(|task| task.tally.missed > 0).filter_map(of).collect()
}

fn of(task: &TaskResult) -> Option<Finding> {
    let deadline = task.deadline?;
    let unfinished = u64::from(task.tally.unfinished.is_some());
    let mut evidence = Vec::new();
    if let Some(worst) = task.tally.worst().filter(|&worst| worst > deadline) {
        let due = task.tally.worst_due.as_secs_f64();
        evidence.push(Evidence::general(format!("due at {due:.6}: done {worst} later")));
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
