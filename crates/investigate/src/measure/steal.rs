//! What the hypervisor took from each CPU while it was measured.
//!
//! The kernel of a guest counts the time in which a CPU was runnable and did not run, where the hypervisor reports it
//! (`steal` in proc_stat(5), in ticks of USER_HZ). No event of a trace shows it.

use whylate_base::{Cpu, CpuSet, Ns};

const STAT: &str = "/proc/stat";
/// user nice system idle iowait irq softirq, and then it.
const COLUMN: usize = 7;
/// USER_HZ is 100 on all architectures that Debian builds a kernel for (`include/asm-generic/param.h`).
const TICK: Ns = Ns::from_ms(10);

/// Each CPU's stolen time since boot.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Steal(Vec<(Cpu, Ns)>);

impl Steal {
    /// Now; of no CPU where it cannot be read.
    pub(super) fn now() -> Steal {
        Steal::parse(&std::fs::read_to_string(STAT).unwrap_or_default())
    }

    fn parse(stat: &str) -> Steal {
        let line = |line: &str| {
            let (cpu, counts) = line.strip_prefix("cpu")?.split_once(' ')?;
            let ticks: i64 = counts.split_ascii_whitespace().nth(COLUMN)?.parse().ok()?;
            Some((Cpu(cpu.parse().ok()?), Ns(TICK.0.checked_mul(ticks)?)))
        };
        Steal(stat.lines().filter_map(line).collect())
    }

    /// A sentence on what was taken of these CPUs since then; `None`: nothing that was counted.
    pub(super) fn since(&self, before: &Steal, cpus: &CpuSet) -> Option<String> {
        let at = |steal: &Steal, cpu| steal.0.iter().find(|entry| entry.0 == cpu).map(|entry| entry.1);
        let taken =
            |cpu: Cpu| Some((at(self, cpu)? - at(before, cpu)?, cpu)).filter(|taken| taken.0 > Ns::ZERO);
        let taken: Vec<String> =
            cpus.iter().filter_map(taken).map(|(time, cpu)| format!("{time} of CPU {cpu}")).collect();
        (!taken.is_empty()).then(|| {
            format!(
                "the hypervisor took {} while they were measured (steal in {STAT}, which counts in {TICK}): latencies up to \
                 that length may be its, whatever was running",
                taken.join(", ")
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_taken_of_the_measured_cpus_is_stated() {
        let stat = |of_0: u32, of_1: u32| {
            format!(
                "cpu  9 9 9 9 9 9 9 99 0 0\ncpu0 1 2 3 4 5 6 7 {of_0} 0 0\ncpu1 1 2 3 4 5 6 7 {of_1} 0 0\nintr 5 8\n"
            )
        };
        let (before, after) = (Steal::parse(&stat(3, 5)), Steal::parse(&stat(15, 5)));
        let both: CpuSet = [Cpu(0), Cpu(1), Cpu(7)].into_iter().collect();
        let text = after.since(&before, &both).expect("some was taken");
        assert!(text.starts_with("the hypervisor took 120.0 ms of CPU 0 while"), "{text}");
        assert_eq!(after.since(&before, &[Cpu(1)].into_iter().collect()), None);
        assert_eq!(before.since(&before, &both), None);
        assert_eq!(after.since(&Steal::parse(""), &both), None, "it could not be read");
    }
}
