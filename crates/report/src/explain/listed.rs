//! Which threads are listed one by one: of very many with one name, as the programs that a shell starts, the worst few.

use std::collections::HashMap;
use whylate_base::{Comm, Ns, Policy, Priority};
use whylate_ledger::{Spread, TaskSummary};

/// Fewer threads of one name are the threads of a program: each has its row.
const MANY: usize = 12;
/// So many of them are listed.
const OF_ONE_NAME: usize = 3;

/// The threads of a report.
pub(super) struct Listed<'a> {
    /// Those with a row of their own, in the report's order.
    pub(super) tasks: Vec<&'a TaskSummary>,
    /// The others.
    pub(super) rest: Vec<Rest>,
}

/// Threads of one name and one priority that have one row together.
pub(super) struct Rest {
    comm: Comm,
    pub(super) policy: Option<Policy>,
    pub(super) priority: Priority,
    count: u64,
    pub(super) activations: u64,
    /// The longest of all.
    pub(super) latency: Option<Ns>,
    pub(super) response: Option<Ns>,
}

impl Rest {
    /// `147 more sleep`
    pub(super) fn name(&self) -> String {
        format!("{} more {}", self.count, crate::words::clean(self.comm.as_str()))
    }

    fn add(&mut self, task: &TaskSummary) {
        let longest = |spread: Option<Spread>| spread.map(|spread| spread.max);
        self.count += 1;
        self.activations += task.activations;
        self.latency = self.latency.max(longest(task.latency));
        self.response = self.response.max(longest(task.response));
    }
}

/// Splits the threads of a report, which are in the order of how late they were.
pub(super) fn listed(tasks: &[TaskSummary]) -> Listed<'_> {
    let key = |task: &TaskSummary| (task.comm, task.priority);
    let mut of_name: HashMap<(Comm, Priority), usize> = HashMap::new();
    tasks.iter().for_each(|task| *of_name.entry(key(task)).or_default() += 1);
    of_name.retain(|_, count| *count >= MANY);
    let mut left: HashMap<(Comm, Priority), usize> =
        of_name.into_keys().map(|key| (key, OF_ONE_NAME)).collect();
    let mut listed = Listed { tasks: Vec::new(), rest: Vec::new() };
    for task in tasks {
        let has_row = match left.get_mut(&key(task)) {
            Some(0) => false,
            Some(left) => {
                *left -= 1;
                true
            }
            None => true,
        };
        if has_row {
            listed.tasks.push(task);
            continue;
        }
        let known = listed.rest.iter().position(|rest| (rest.comm, rest.priority) == key(task));
        let index = known.unwrap_or_else(|| {
            let (comm, policy, priority) = (task.comm, task.policy, task.priority);
            let none =
                Rest { comm, policy, priority, count: 0, activations: 0, latency: None, response: None };
            listed.rest.push(none);
            listed.rest.len() - 1
        });
        listed.rest[index].add(task);
    }
    listed
}
