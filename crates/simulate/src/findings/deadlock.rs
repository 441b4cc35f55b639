//! Tasks that wait for each other's locks.

use super::advice::TASK_SET;
use crate::model::Model;
use whylate_base::{AdvisedFix, Evidence, Finding, Severity};

pub(super) fn findings(model: &Model, deadlocked: &[(usize, usize)]) -> Vec<Finding> {
    let Some((first, _)) = deadlocked.first() else { return Vec::new() };
    let name = |task: &usize| model.tasks[*task].name.as_str();
    let evidence = deadlocked.iter().map(|(task, lock)| {
        Evidence::general(format!("{} waits for `{}`", name(task), model.locks[*lock].name))
    });
    vec![Finding {
        code: "deadlock",
        severity: Severity::Error,
        title: format!("{} and others wait for each other's locks for ever", name(first)),
        why: "each holds a lock that the next one waits for".to_owned(),
        evidence: evidence.collect(),
        fix: vec![AdvisedFix::by_hand("take the locks in the same order in all tasks", TASK_SET)],
    }]
}
