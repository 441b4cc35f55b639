//! Spin locks of the program that a real-time thread waits for.

use super::lines::by_line;
use super::purpose::is_spin_lock;
use super::rule::{DoctorRule, Needs, page};
use crate::doctor::facts::Observation;
use crate::doctor::finding::DoctorFinding;
use whylate_base::{Ns, Severity};

pub(super) const RULE: DoctorRule =
    DoctorRule { code: "spin-lock", page: page!("spin-lock"), needs: Needs::Faults, find };

/// One sample may have met the thread as it took a lock that was free.
const ENOUGH: usize = 3;

fn find(observation: &Observation) -> Vec<DoctorFinding> {
    let spins = observation.path_samples().filter(|(_, sample)| is_spin_lock(observation, sample.stack));
    let lines = by_line(observation, spins).into_iter().filter(|line| line.items.len() >= ENOUGH);
    lines
        .map(|line| {
            let spent = Ns(observation.stacks.period.0 * line.items.len() as i64);
            let title = format!("{} spins for a lock: about {spent} of CPU time", line.name());
            line.finding(RULE.code, Severity::Warning, title).because(WHY).fix(FIX)
        })
        .collect()
}

const WHY: &str = "the kernel knows nothing of a spin lock: it takes its holder off the CPU like any other thread, and the real-time thread \
     then spins until the holder runs again; where both share a CPU, that is never, or when RT throttling or the fair \
     server lets the holder in";

const FIX: &[&str] = &[
    "a pthread mutex with PTHREAD_PRIO_INHERIT: its uncontended lock costs no system call either",
    "pthread_spin_trylock(), and the work in a later period where it fails",
    "share no lock: pass data by a lock-free queue",
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::made_up::{PID, program};
    use std::sync::Arc;
    use whylate_base::{Cpu, Policy, Tid};
    use whylate_events::{SampleKind, StackId, StackSample};

    #[test]
    fn samples_in_the_lock_are_spins() {
        let sample = |tid: i32, time: i64, kind: SampleKind| StackSample {
            time: Ns(time),
            tid: Tid(tid),
            pid: PID,
            cpu: Cpu(0),
            kind,
            stack: StackId(7),
        };
        let clock = SampleKind::CpuClock;
        for (what, tid, kind, count, function, expected) in [
            ("spins", 11, clock, 3, "pthread_spin_lock", 1),
            ("by another name", 11, clock, 3, "__pthread_spin_lock", 1),
            ("twice", 11, clock, 2, "pthread_spin_lock", 0),
            ("other work", 11, clock, 9, "step", 0),
            ("not the clock", 11, SampleKind::SwitchOut, 9, "pthread_spin_lock", 0),
            ("not real-time", 12, clock, 9, "pthread_spin_lock", 0),
        ] {
            let mut observation = program(&[(11, Policy::Fifo, 50), (12, Policy::Other, 0)]);
            let stacks = Arc::get_mut(&mut observation.stacks).expect("one owner");
            stacks.samples = (0..count).map(|n| sample(tid, 5_000 + n, kind)).collect();
            stacks.addresses[7].locations[0].function = Some(function.into());
            stacks.period = Ns::from_ms(10);
            let found = find(&observation);
            assert_eq!(found.len(), expected, "{what}");
            assert!(found.iter().all(|finding| finding.title.contains("30.00 ms")), "{found:?}");
        }
        let mut early = program(&[(11, Policy::Fifo, 50)]);
        let stacks = Arc::get_mut(&mut early.stacks).expect("one owner");
        stacks.samples = (0..9).map(|n| sample(11, n, clock)).collect();
        stacks.addresses[7].locations[0].function = Some("pthread_spin_lock".into());
        assert_eq!(find(&early), [], "before the loop");
    }
}
