//! On which CPUs a thread may run at each instant, as far as a trace shows.
//!
//! A recording has it in its facts, and a new thread inherits it (`sched_setaffinity(2)`). A call that
//! changes it shows without its mask: from then on only the CPUs the thread was seen to run on are known.

use super::recent::{forget_before, partition_from_end};
use std::collections::VecDeque;
use whylate_base::{Cpu, CpuSet, Ns};

/// No kernel supports more (`CONFIG_NR_CPUS`); a damaged recording may name any number.
const MOST_CPUS: usize = 8192;

/// The CPUs of one thread, from each change to the next.
#[derive(Clone, Debug, Default)]
pub(crate) struct Affinity {
    earlier: VecDeque<(Ns, Allowed)>,
    latest: Allowed,
    /// When it last changed; `None` where no change was seen.
    since: Option<Ns>,
}

/// What is known of a thread's CPUs between two changes.
#[derive(Clone, Debug, Default)]
struct Allowed {
    recorded: Option<CpuSet>,
    /// Those it has run on since.
    used: Vec<Cpu>,
}

impl Allowed {
    /// The CPUs it may use for certain, each with whether a fact of the recording has it.
    fn cpus(&self) -> impl Iterator<Item = (Cpu, bool)> {
        let recorded = self.recorded.iter().flat_map(CpuSet::iter).map(|cpu| (cpu, true));
        let used = self.used.iter().filter(|_| self.recorded.is_none()).map(|cpu| (*cpu, false));
        recorded.chain(used)
    }

    fn has(&self, cpu: Cpu) -> bool {
        self.recorded.as_ref().map_or_else(|| self.used.contains(&cpu), |recorded| recorded.contains(cpu))
    }
}

impl Affinity {
    /// What a thread is given that this one starts.
    pub(crate) fn inherited(&self) -> Affinity {
        Affinity { earlier: VecDeque::new(), latest: self.latest.clone(), since: None }
    }

    /// A fact of the recording has the CPUs.
    pub(crate) fn recorded(&mut self, cpus: CpuSet) {
        self.latest.used.retain(|cpu| cpus.contains(*cpu));
        self.latest.recorded = Some(cpus);
    }

    /// A call asks for other CPUs, or has set them: which was in force between the two is not known.
    pub(crate) fn change(&mut self, at: Ns) {
        let over = std::mem::take(&mut self.latest);
        self.earlier.push_back((self.since.unwrap_or(Ns(i64::MIN)), over));
        self.since = self.since.max(Some(at));
    }

    /// The thread ran on a CPU.
    pub(crate) fn used(&mut self, cpu: Cpu) {
        let used = &mut self.latest.used;
        if used.len() < MOST_CPUS && !used.contains(&cpu) {
            used.push(cpu);
        }
    }

    /// The CPUs that the thread was allowed for certain through all of `from..to`, each with whether a fact of the
    /// recording has it. A CPU that it used later counts as well, if nothing changed until then.
    pub(crate) fn cpus(&self, from: Ns, to: Ns) -> impl Iterator<Item = (Cpu, bool)> {
        let next = match self.since {
            Some(since) if from < since => partition_from_end(&self.earlier, |change| change.0 <= from),
            _ => self.earlier.len() + 1,
        };
        let all = |index: usize| match self.earlier.get(index) {
            Some((since, allowed)) => Some((*since, allowed)),
            None if index == self.earlier.len() => Some((self.since.unwrap_or(Ns(i64::MIN)), &self.latest)),
            None => None,
        };
        let first = all(next.saturating_sub(1)).map(|(_, allowed)| allowed);
        let throughout = move |cpu: Cpu| {
            (next..).map_while(all).take_while(|&(since, _)| since < to).all(|(_, allowed)| allowed.has(cpu))
        };
        first.into_iter().flat_map(Allowed::cpus).filter(move |&(cpu, _)| throughout(cpu))
    }

    /// True when a fact of the recording shows that the thread could use no other CPU than these through all of
    /// `from..to`.
    pub(crate) fn stays_within(&self, from: Ns, to: Ns, cpus: &CpuSet) -> bool {
        let latest = (self.since.unwrap_or(Ns(i64::MIN)), &self.latest);
        let mut periods =
            self.earlier.iter().map(|(since, allowed)| (*since, allowed)).chain([latest]).peekable();
        while let Some((since, allowed)) = periods.next() {
            let until = periods.peek().map_or(Ns::MAX, |next| next.0);
            let within = || allowed.recorded.as_ref().is_some_and(|all| all.without(cpus).is_empty());
            if since < to && until > from && !within() {
                return false;
            }
        }
        true
    }

    /// The CPUs on which it was seen to run since it first chose them; without a choice, all.
    pub(crate) fn used_cpus(&self) -> CpuSet {
        let chosen = self.earlier.iter().skip(1).map(|(_, allowed)| allowed);
        chosen.chain([&self.latest]).flat_map(|allowed| &allowed.used).copied().collect()
    }

    /// True when a fact of the recording has it.
    pub(crate) fn is_recorded(&self) -> bool {
        self.latest.recorded.is_some()
    }

    /// True when it holds what was before the last change.
    pub(crate) fn has_past(&self) -> bool {
        !self.earlier.is_empty()
    }

    /// Forgets what was over by `horizon`.
    pub(crate) fn forget(&mut self, horizon: Ns) {
        if self.since.is_some_and(|since| since <= horizon) {
            self.earlier.clear();
        } else {
            forget_before(&mut self.earlier, |change| change.0 <= horizon);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(affinity: &Affinity, from: i64, to: i64) -> Vec<(u32, bool)> {
        affinity.cpus(Ns(from), Ns(to)).map(|(cpu, recorded)| (cpu.0, recorded)).collect()
    }

    #[test]
    fn a_change_leaves_only_what_is_seen_since() {
        let mut affinity = Affinity::default();
        assert_eq!(known(&affinity, 0, 9), []);
        affinity.recorded("0-1".parse().expect("a list"));
        affinity.used(Cpu(1));
        assert_eq!(known(&affinity.inherited(), 0, 9), [(0, true), (1, true)]);
        affinity.change(Ns(10));
        affinity.used(Cpu(3));
        affinity.used(Cpu(3));
        assert_eq!(known(&affinity, 10, 19), [(3, false)]);
        affinity.recorded("2-3".parse().expect("a list"));
        assert_eq!(known(&affinity, 10, 19), [(2, true), (3, true)]);
    }

    #[test]
    fn cpus_of_the_start_are_not_those_that_a_thread_chose() {
        let used = |affinity: &Affinity| affinity.used_cpus().to_string();
        let mut affinity = Affinity::default();
        affinity.used(Cpu(3));
        assert_eq!(used(&affinity), "3");
        affinity.change(Ns(10));
        affinity.used(Cpu(0));
        assert_eq!(used(&affinity), "0");
        affinity.change(Ns(20));
        affinity.used(Cpu(1));
        assert_eq!(used(&affinity), "0-1", "it goes to and fro");
    }

    #[test]
    fn only_a_recorded_list_shows_where_a_thread_cannot_be() {
        let cpus = |list: &str| list.parse::<CpuSet>().expect("a list");
        let mut affinity = Affinity::default();
        affinity.used(Cpu(2));
        assert!(!affinity.stays_within(Ns(0), Ns(9), &cpus("2")), "it may use others");
        affinity.recorded(cpus("2-3"));
        assert!(affinity.stays_within(Ns(0), Ns(9), &cpus("1-3")));
        assert!(!affinity.stays_within(Ns(0), Ns(9), &cpus("2")));
        affinity.change(Ns(10));
        assert!(affinity.stays_within(Ns(0), Ns(10), &cpus("2-3")));
        assert!(!affinity.stays_within(Ns(0), Ns(11), &cpus("2-3")));
        affinity.recorded(cpus("3"));
        assert!(affinity.stays_within(Ns(0), Ns(11), &cpus("2-3")));
        assert!(affinity.stays_within(Ns(10), Ns(11), &cpus("3")));
    }

    #[test]
    fn what_is_allowed_now_was_not_before_the_change() {
        let mut affinity = Affinity::default();
        affinity.recorded("0".parse().expect("a list"));
        affinity.change(Ns(10));
        affinity.change(Ns(12));
        affinity.used(Cpu(0));
        affinity.used(Cpu(1));
        assert_eq!(known(&affinity, 5, 9), [(0, true)]);
        assert_eq!(known(&affinity, 5, 10), [(0, true)]);
        assert_eq!(known(&affinity, 5, 15), [], "between call and return nothing is certain");
        assert_eq!(known(&affinity, 12, 15), [(0, false), (1, false)]);
        affinity.forget(Ns(12));
        assert_eq!(known(&affinity, 12, 15), [(0, false), (1, false)]);
    }
}
