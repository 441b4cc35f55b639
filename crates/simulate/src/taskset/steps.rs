//! Steps as they are written: `run 100us`, `lock m`, `suspend 1ms`.

use super::error::TaskSetError;
use super::values;
use crate::model::Step;

/// Finds a lock or a task by its name; locks that are only used are made.
pub(super) trait Names {
    /// The lock of that name.
    fn lock(&mut self, name: &str) -> usize;
    /// The task of that name.
    fn task(&self, name: &str) -> Option<usize>;
}

/// Reads one step.
pub(super) fn step(at: &str, text: &str, names: &mut impl Names) -> Result<Step, TaskSetError> {
    let (verb, rest) = text.trim().split_once(char::is_whitespace).unwrap_or((text.trim(), ""));
    let rest = rest.trim();
    let wrong = |what: &str| TaskSetError::value(at, format!("step `{text}`: {what}"));
    if rest.is_empty() {
        return Err(wrong("write a word and what it is for, such as `run 100us` or `lock m`"));
    }
    Ok(match verb {
        "run" => Step::Run(values::amount(at, rest)?),
        "irqs-off" => Step::IrqsOff(values::amount(at, rest)?),
        "preempt-off" => Step::PreemptOff(values::amount(at, rest)?),
        "suspend" => Step::Suspend(values::amount(at, rest)?),
        "lock" => Step::Lock(names.lock(rest)),
        "unlock" => Step::Unlock(names.lock(rest)),
        "wake" => Step::Wake(names.task(rest).ok_or_else(|| wrong("no task has that name"))?),
        "cpus" => Step::SetCpus(values::cpus(at, rest)?),
        "policy" => {
            let (name, number) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
            let number = match number.trim() {
                "" => None,
                number => Some(number.parse().map_err(|_| wrong("the priority must be a number"))?),
            };
            Step::SetScheduling(values::scheduling(at, name, number)?)
        }
        _ => {
            return Err(wrong("use run, irqs-off, preempt-off, suspend, lock, unlock, wake, policy or cpus"));
        }
    })
}
