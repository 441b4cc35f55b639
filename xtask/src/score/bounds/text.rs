//! A task set as `whylate simulate` and as the peers read it.

use super::set::{CPUS, RandomSet, RandomTask, Section, SetKind};
use serde_json::{Value, json};
use std::fmt::Write;
use whylate_base::Ns;

/// The task set file. No costs and no throttling: the peers know neither.
pub(super) fn task_set(set: &RandomSet) -> String {
    let cpus = if set.kind == SetKind::Chains { CPUS } else { 1 };
    let mut text = format!("[machine]\nkernel = \"6.1\"\ncpus = {cpus}\nsched_rt_runtime_us = -1\n");
    for (at, task) in set.tasks.iter().enumerate() {
        let _ =
            write!(text, "[[task]]\nname = \"t{at}\"\ncpus = \"{}\"\nsteps = {}\n", task.cpu, steps(task));
        let _ = match task.after {
            Some(before) => writeln!(text, "after = \"t{before}\""),
            None => writeln!(text, "period = \"{}ns\"\njitter = \"0..{}ns\"", task.period.0, task.jitter.0),
        };
        let _ = match set.kind {
            SetKind::Deadline => writeln!(
                text,
                "policy = \"deadline\"\nruntime = \"{}ns\"\ndeadline = \"{}ns\"",
                task.cost.0, task.deadline.0
            ),
            _ => writeln!(text, "policy = \"fifo\"\npriority = {}", task.priority),
        };
    }
    for lock in 0..3 {
        let _ = writeln!(text, "[[lock]]\nname = \"m{lock}\"\nprotocol = \"protect\"");
    }
    text
}

fn steps(task: &RandomTask) -> String {
    let run = |length: Ns| format!("run {}ns", length.0);
    let mut steps = match task.section {
        Section::None => vec![run(task.cost)],
        Section::PreemptOff(length) => {
            vec![run(task.cost - length), format!("preempt-off {}ns", length.0)]
        }
        Section::Lock(lock, length) => {
            vec![run(task.cost - length), format!("lock m{lock}"), run(length), format!("unlock m{lock}")]
        }
    };
    if task.suspended > Ns::ZERO {
        let half = Ns(task.cost.0 / 2);
        steps = vec![run(half), format!("suspend {}ns", task.suspended.0), run(task.cost - half)];
    }
    format!("{steps:?}")
}

/// A line for the script that calls the peers.
pub(super) fn for_script(set: &RandomSet) -> Value {
    let tasks = set.tasks.iter().enumerate().map(|(at, task)| {
        // A job that sleeps may find lower tasks on the CPU when it comes back.
        let times = if task.suspended > Ns::ZERO { 2 } else { 1 };
        json!({"name": format!("t{at}"), "cost": task.cost.0, "period": task.period.0, "jitter": task.jitter.0,
               "suspended": task.suspended.0, "blocking": times * set.blocking(at).0, "priority": task.priority,
               "cpu": task.cpu, "after": task.after})
    });
    Value::Array(tasks.collect())
}

/// A line for the program with the peer's test of EDF.
pub(super) fn for_demand_test(set: &RandomSet) -> String {
    let words = set.tasks.iter().map(|task| format!("{} {} {}", task.cost.0, task.deadline.0, task.period.0));
    words.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use fastrand::Rng;

    #[test]
    fn both_sides_get_the_same_costs() {
        let mut rng = Rng::with_seed(2);
        for kind in [SetKind::Blocking, SetKind::Suspension, SetKind::Plain] {
            let set = RandomSet::draw(kind, &mut rng);
            let sent = for_script(&set);
            for (at, task) in set.tasks.iter().enumerate() {
                let words = steps(task);
                let runs = words.split('"').filter(|word| word.starts_with("run") || word.starts_with("pre"));
                let lengths = runs
                    .filter_map(|word| word.split(' ').nth(1)?.trim_end_matches("ns").parse::<i64>().ok());
                assert_eq!(Some(lengths.sum()), sent[at]["cost"].as_i64(), "{words}");
            }
        }
    }
}
