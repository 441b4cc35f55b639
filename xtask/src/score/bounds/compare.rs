//! Answers of both sides, counted.

use super::set::RandomSet;
use whylate_base::Ns;

/// How often both sides agree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Agreement {
    /// To the nanosecond.
    pub(super) same: usize,
    /// Both give no bound.
    pub(super) neither: usize,
    /// whylate's bound is longer, so less exact.
    pub(super) longer: usize,
    /// whylate's bound is shorter: one of them is wrong.
    pub(super) shorter: usize,
    /// One of them gives none.
    pub(super) one_sided: usize,
    /// The peer's test does not apply, as a response is longer than its period.
    pub(super) outside: usize,
    /// The first few differences.
    pub(super) examples: Vec<String>,
}

/// Differences that are printed.
const EXAMPLES: usize = 5;

impl Agreement {
    /// True where nothing differs.
    pub(super) fn whole(&self) -> bool {
        self.longer + self.shorter + self.one_sided == 0
    }

    /// How many answers were compared.
    pub(super) fn compared(&self) -> usize {
        self.same + self.neither + self.longer + self.shorter + self.one_sided
    }

    /// Adds the answers about one set. `constrained`: the peer's answers hold only up to the period.
    pub(super) fn add(
        &mut self,
        set: &RandomSet,
        ours: &[Option<Ns>],
        theirs: &[Option<Ns>],
        constrained: bool,
    ) {
        let mut differs = false;
        // Once a task is beyond what the peer's test is for, those below it may depend on its response.
        let mut outside = false;
        for (task, (&ours, &theirs)) in set.tasks.iter().zip(ours.iter().zip(theirs)) {
            outside |= constrained && theirs.is_none_or(|response| response > task.period);
            let count = match (ours, theirs) {
                _ if outside => &mut self.outside,
                (Some(ours), Some(theirs)) if ours == theirs => &mut self.same,
                (Some(ours), Some(theirs)) if ours > theirs => &mut self.longer,
                (Some(_), Some(_)) => &mut self.shorter,
                (None, None) => &mut self.neither,
                _ => &mut self.one_sided,
            };
            *count += 1;
            differs |= !outside && ours != theirs;
        }
        if differs && self.examples.len() < EXAMPLES {
            let numbers = |all: &[Option<Ns>]| {
                all.iter()
                    .map(|ns| ns.map_or("-".to_owned(), |ns| ns.0.to_string()))
                    .collect::<Vec<_>>()
                    .join(" ")
            };
            self.examples.push(format!("whylate {}\npeer    {}", numbers(ours), numbers(theirs)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::set::SetKind;
    use super::*;
    use fastrand::Rng;

    #[test]
    fn each_difference_has_its_count() {
        let mut set = RandomSet::draw(SetKind::Plain, &mut Rng::with_seed(3));
        while set.tasks.len() < 6 {
            set.tasks.push(set.tasks[0].clone());
        }
        set.tasks.truncate(6);
        set.tasks.iter_mut().for_each(|task| task.period = Ns(100));
        let some = |ns| Some(Ns(ns));
        let ours = [some(5), some(6), some(4), None, some(7), some(300)];
        let theirs = [some(5), some(5), some(5), None, None, some(200)];
        let mut agreement = Agreement::default();
        agreement.add(&set, &ours, &theirs, false);
        let counts = |of: &Agreement| [of.same, of.longer, of.shorter, of.neither, of.one_sided, of.outside];
        assert_eq!(counts(&agreement), [1, 2, 1, 1, 1, 0]);
        assert!(!agreement.whole() && agreement.examples.len() == 1);
        let mut agreement = Agreement::default();
        agreement.add(&set, &ours, &theirs, true);
        assert_eq!(counts(&agreement), [1, 1, 1, 0, 0, 3]);
    }
}
