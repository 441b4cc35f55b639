//! Waits of a real-time thread in a loop that reads a clock.

use super::lines::by_line;
use super::purpose::is_clock_read;
use super::rule::{DoctorRule, Needs, page};
use crate::doctor::facts::Observation;
use crate::doctor::finding::DoctorFinding;
use std::collections::HashMap;
use whylate_base::{Ns, Severity, Tid};

pub(super) const RULE: DoctorRule =
    DoctorRule { code: "busy-wait", page: page!("busy-wait"), needs: Needs::Faults, find };

/// A program that notes the time of each step has single samples in the clock's code.
const ENOUGH: usize = 5;
/// The part of the thread's CPU time from which on reading the clock is what it does.
const ONE_IN: usize = 3;

fn find(observation: &Observation) -> Vec<DoctorFinding> {
    let mut all: HashMap<Tid, usize> = HashMap::new();
    observation.path_samples().for_each(|(thread, _)| *all.entry(thread.tid).or_default() += 1);
    let reads = observation.path_samples().filter(|(_, sample)| is_clock_read(observation, sample.stack));
    let lines = by_line(observation, reads).into_iter().filter(|line| {
        let all = all.get(&line.thread.tid).copied().unwrap_or(0);
        line.items.len() >= ENOUGH && line.items.len() * ONE_IN >= all
    });
    lines
        .map(|line| {
            let spent = Ns(observation.stacks.period.0 * line.items.len() as i64);
            let title = format!("{} reads a clock again and again: about {spent} of CPU time", line.name());
            // A wait that is short and meant, or a load that is made up, looks the same.
            line.finding(RULE.code, Severity::Info, title).because(WHY).fix(FIX)
        })
        .collect()
}

const WHY: &str = "a real-time thread that waits in a loop has its CPU: no thread of lower priority runs there, not even one \
     whose work it waits for, and RT throttling may stop it";

const FIX: &[&str] = &[
    "sleep until the instant: clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, ...)",
    "sleep until shortly before it, and read the clock only for the rest",
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::made_up::{PID, program};
    use std::sync::Arc;
    use whylate_base::{Cpu, Policy};
    use whylate_events::{SampleKind, StackId, StackSample};

    #[test]
    fn a_thread_that_mostly_reads_the_clock_waits() {
        let sample = |time: i64, line: u32| StackSample {
            time: Ns(time),
            tid: Tid(11),
            pid: PID,
            cpu: Cpu(0),
            kind: SampleKind::CpuClock,
            stack: StackId(line),
        };
        for (what, policy, reads, others, expected) in [
            ("it waits", Policy::Fifo, 5, 3, 1),
            ("seldom", Policy::Fifo, 4, 0, 0),
            ("it works", Policy::Fifo, 5, 11, 0),
            ("no real-time thread", Policy::Other, 9, 0, 0),
        ] {
            let mut observation = program(&[(11, policy, 50)]);
            let stacks = Arc::get_mut(&mut observation.stacks).expect("one owner");
            stacks.samples = (0..reads).map(|n| sample(5_000 + n, 7)).collect();
            stacks.samples.extend((0..others).map(|n| sample(6_000 + n, 8)));
            stacks.addresses[7].locations[0].function = Some("__vdso_clock_gettime".into());
            let found = find(&observation);
            assert_eq!(found.len(), expected, "{what}");
            assert!(found.iter().all(|finding| finding.severity == Severity::Info), "{what}");
        }
    }
}
