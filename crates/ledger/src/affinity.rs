//! On which CPUs a thread may run, as far as a trace tells.
//!
//! A recording says it in its facts, and a new thread inherits it (`sched_setaffinity(2)`). A call that
//! changes it shows without its mask: from then on only the CPUs the thread was seen to run on are known.

use whylate_base::{Cpu, CpuSet};

/// No kernel supports more (`CONFIG_NR_CPUS`); a damaged recording may name any number.
const MOST_CPUS: usize = 8192;

/// What is known of one thread.
#[derive(Clone, Debug, Default)]
pub(crate) struct Allowed {
    told: Option<CpuSet>,
    /// Those it has run on since its last change.
    used: Vec<Cpu>,
}

impl Allowed {
    /// The recording says which they are.
    pub(crate) fn told(&mut self, cpus: CpuSet) {
        self.used.retain(|cpu| cpus.contains(*cpu));
        self.told = Some(cpus);
    }

    /// Somebody asked for other CPUs.
    pub(crate) fn change(&mut self) {
        *self = Allowed::default();
    }

    /// What was asked for is in force: until then it may still have run on a CPU of before.
    pub(crate) fn changed(&mut self) {
        self.used.clear();
    }

    /// The thread ran on a CPU.
    pub(crate) fn used(&mut self, cpu: Cpu) {
        if self.used.len() < MOST_CPUS && !self.used.contains(&cpu) {
            self.used.push(cpu);
        }
    }

    /// The CPUs it may use for certain, each with whether the recording says so itself.
    pub(crate) fn cpus(&self) -> impl Iterator<Item = (Cpu, bool)> {
        let told = self.told.iter().flat_map(CpuSet::iter).map(|cpu| (cpu, true));
        let used = self.used.iter().filter(|_| self.told.is_none()).map(|cpu| (*cpu, false));
        told.chain(used)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(allowed: &Allowed) -> Vec<(u32, bool)> {
        allowed.cpus().map(|(cpu, told)| (cpu.0, told)).collect()
    }

    #[test]
    fn a_change_leaves_only_what_is_seen_since() {
        let mut allowed = Allowed::default();
        assert_eq!(known(&allowed), []);
        allowed.told("0-1".parse().expect("a list"));
        allowed.used(Cpu(1));
        assert_eq!(known(&allowed.clone()), [(0, true), (1, true)]);
        allowed.change();
        allowed.used(Cpu(3));
        allowed.used(Cpu(3));
        assert_eq!(known(&allowed), [(3, false)]);
        allowed.told("2-3".parse().expect("a list"));
        assert_eq!(known(&allowed), [(2, true), (3, true)]);
    }
}
