//! Which work items kworkers executed, when, and which threads had queued them.

use super::names::NameId;
use super::recent::drop_while;
use std::collections::VecDeque;
use whylate_base::{Ns, Tid};

/// So many are remembered; what is beyond is of longer ago than any activation that a user looks at.
const MOST: usize = 1 << 16;
/// So many others may begin while one is executed.
const MOST_MEANWHILE: usize = 256;
/// A wake-up that a work item makes may be seen shortly after its end.
const SHORTLY: Ns = Ns::from_us(200);

/// The execution of a work item.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ItemRun {
    pub(crate) kworker: Tid,
    pub(crate) from: Ns,
    /// `None`: not over, or its end was not seen.
    pub(crate) to: Option<Ns>,
    pub(crate) function: NameId,
    /// The thread that queued it, where one did, and that was seen.
    pub(crate) queued_by: Option<Tid>,
}

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct ItemRuns(VecDeque<ItemRun>);

impl ItemRuns {
    /// A kworker begins a work item.
    pub(crate) fn begins(&mut self, run: ItemRun) {
        if self.0.len() >= MOST {
            self.0.pop_front();
        }
        self.0.push_back(run);
    }

    /// A kworker has executed its work item.
    pub(crate) fn ends(&mut self, at: Ns, kworker: Tid) {
        let mut latest = self.0.iter_mut().rev().take(MOST_MEANWHILE);
        if let Some(run) = latest.find(|run| run.kworker == kworker) {
            run.to.get_or_insert(at);
        }
    }

    /// The work item that a kworker was at.
    pub(crate) fn at(&self, kworker: Tid, at: Ns) -> Option<ItemRun> {
        let last = self.0.iter().rev().find(|run| run.kworker == kworker && run.from <= at)?;
        Some(*last).filter(|run| run.to.is_none_or(|to| at <= to + SHORTLY))
    }

    /// The work items that were executed in `from..to`, all or in part.
    pub(crate) fn between(&self, from: Ns, to: Ns) -> impl Iterator<Item = &ItemRun> {
        let begun = self.0.partition_point(|run| run.from < to);
        self.0.range(..begun).filter(move |run| run.to.is_none_or(|end| end > from))
    }

    /// Nothing before `horizon` is asked for any more.
    pub(crate) fn forget(&mut self, horizon: Ns) {
        drop_while(&mut self.0, |run| run.to.is_none_or(|to| to < horizon) && run.from < horizon);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::timeline::names::Names;

    #[test]
    fn a_kworker_is_at_the_item_that_it_began_last() {
        let function = Names::default().id("flush_to_ldisc".into());
        let run = |kworker, from| ItemRun {
            kworker: Tid(kworker),
            from: Ns::from_us(from),
            to: None,
            function,
            queued_by: Some(Tid(7)),
        };
        let mut runs = ItemRuns::default();
        runs.begins(run(20, 10));
        runs.begins(run(21, 12));
        runs.ends(Ns::from_us(15), Tid(20));
        let at = |runs: &ItemRuns, us| runs.at(Tid(20), Ns::from_us(us)).map(|run| run.from);
        assert_eq!((at(&runs, 9), at(&runs, 14)), (None, Some(Ns::from_us(10))));
        assert_eq!((at(&runs, 16), at(&runs, 900)), (Some(Ns::from_us(10)), None));
        let between = |from, to| runs.between(Ns::from_us(from), Ns::from_us(to)).count();
        assert_eq!((between(0, 10), between(0, 11), between(14, 20), between(15, 20)), (0, 1, 2, 1));
    }
}
