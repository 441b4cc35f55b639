//! irqbalance, which moves interrupts every ten seconds: what it chose among the CPUs that an interrupt was given is
//! no user's decision, and neither drift nor a reason to leave the interrupt unchanged.

use crate::processes::processes;
use crate::{Target, TargetState};
use whylate_base::CpuSet;
use whylate_host::FsRoot;

/// As the kernel names its process.
const PROCESS: &str = "irqbalance";

/// Whether irqbalance has moved an interrupt within the CPUs that it was `left` with: it runs, and the interrupt has
/// some of them and no others. It takes an interrupt to the CPUs of one core, cache or node (irqbalance(1)), so what
/// it writes is narrower.
pub(crate) fn moved(target: &Target, left: &TargetState, now: &TargetState, tree: &FsRoot) -> bool {
    let (Target::Tunable { path }, TargetState::Value(left), TargetState::Value(now)) = (target, left, now)
    else {
        return false;
    };
    if !is_of_one_interrupt(path) {
        return false;
    }
    let (Ok(left), Ok(now)) = (left.trim().parse::<CpuSet>(), now.trim().parse::<CpuSet>()) else {
        return false;
    };
    !now.is_empty() && now.iter().all(|cpu| left.contains(cpu)) && runs(tree)
}

/// Whether a path is the CPUs of a single interrupt, which it moves. Where new ones go it leaves alone.
pub(crate) fn is_of_one_interrupt(path: &str) -> bool {
    let number = path.strip_prefix("/proc/irq/").and_then(|rest| rest.strip_suffix("/smp_affinity_list"));
    number.is_some_and(|number| number.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Whether it runs.
pub(crate) fn runs(tree: &FsRoot) -> bool {
    processes(tree).any(|(_, comm)| comm == PROCESS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_irqbalance_and_only_within_what_it_was_left_with() {
        let tree = |comm: &str| FsRoot::memory(&[("/proc/7/comm", &format!("{comm}\n"))]);
        let irq = "/proc/irq/24/smp_affinity_list";
        for (path, left, now, comm, expected) in [
            (irq, "0-1", "1", "irqbalance", true),
            (irq, "0-1\n", "0-1", "irqbalance", true),
            (irq, "0-1", "2", "irqbalance", false),
            (irq, "0-1", "1-2", "irqbalance", false),
            (irq, "0-1", "", "irqbalance", false),
            (irq, "0-1", "1", "tuned", false),
            ("/proc/irq/default_smp_affinity", "3", "1", "irqbalance", false),
            ("/proc/sys/kernel/watchdog_cpumask", "0-1", "1", "irqbalance", false),
        ] {
            let target = Target::Tunable { path: path.to_owned() };
            let value = |text: &str| TargetState::Value(text.to_owned());
            assert_eq!(
                moved(&target, &value(left), &value(now), &tree(comm)),
                expected,
                "{path} {left} {now} {comm}"
            );
        }
    }
}
