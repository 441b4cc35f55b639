//! Tasks that are runnable and hardly run.

use super::advice::TASK_SET;
use crate::result::TaskResult;
use whylate_base::{AdvisedFix, Evidence, Finding, Ns, Severity};

pub(super) fn findings(duration: Ns, tasks: &[TaskResult]) -> Vec<Finding> {
    tasks.iter().filter(|task| task.starves(duration)).map(|task| of(task, duration)).collect()
}

fn of(task: &TaskResult, duration: Ns) -> Finding {
    let tally = &task.tally;
    Finding {
        code: "starving",
        severity: Severity::Warning,
        title: format!(
            "{} starves: it waits for a CPU for {} of {duration}, {} at a time",
            task.name, tally.waited, tally.longest_wait
        ),
        why: "it is runnable, and threads that go before it by the rules leave it hardly any time".to_owned(),
        evidence: vec![Evidence::general(format!("it ran for {} in all", tally.ran))],
        fix: vec![AdvisedFix::by_hand("let the threads before it sleep, or give it another CPU", TASK_SET)],
    }
}
