//! The work items that workers had begun when the watchdog of workqueues reported a pool (`show_pwq()` in `kernel/workqueue.c`).
//!
//! ```text
//! workqueue events: flags=0x0
//!   pwq 6: cpus=3 node=0 flags=0x0 nice=0 active=2/256 refcnt=3
//!     in-flight: 14164:drain_fn, 29532:other_fn BAR(3)
//!     pending: late_fn
//! ```
//!
//! The kernel prints those of all pools, so the line of a pool above them decides whose they are.

use super::pool_name::PoolName;

/// So many work items are named.
const MOST_NAMED: usize = 6;
/// More are not kept.
const MOST: usize = 64;

/// The work items that the lines below a report show as begun.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct BegunWork {
    /// The pool of the lines that follow.
    pool: Option<PoolName>,
    works: Vec<Work>,
}

/// A work item that workers had begun.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Work {
    pool: Option<PoolName>,
    function: String,
    /// The workers, by their PIDs.
    workers: Vec<u64>,
}

impl BegunWork {
    /// Takes in a line.
    pub(super) fn line(&mut self, message: &str) {
        if message.contains("workqueue lockup - pool") || message.contains("Showing busy workqueues") {
            self.pool = None;
        }
        if let Some((_, pool)) = message.split_once("pwq ") {
            self.pool = PoolName::of(pool);
        }
        let Some((_, list)) = message.split_once("in-flight: ") else { return };
        for (worker, function) in works(list) {
            let is_same = |work: &&mut Work| work.pool == self.pool && work.function == function;
            let has_room = self.works.len() < MOST;
            match self.works.iter_mut().find(is_same) {
                Some(work) => {
                    let worker =
                        worker.filter(|pid| work.workers.len() < MOST && !work.workers.contains(pid));
                    work.workers.extend(worker);
                }
                None if has_room => self.works.push(Work {
                    pool: self.pool.clone(),
                    function: function.to_owned(),
                    workers: worker.into_iter().collect(),
                }),
                None => {}
            }
        }
    }

    /// What it shows of the stuck pools, of which `is_stuck` is true.
    pub(super) fn shown(&self, is_stuck: impl Fn(&PoolName) -> bool) -> Option<String> {
        let of_stuck = self.named(|pool| pool.is_some_and(&is_stuck));
        let of_unknown = self.named(|pool| pool.is_none());
        match (of_stuck.is_empty(), of_unknown.is_empty()) {
            (false, _) => Some(format!("the work that had begun is {}", of_stuck.join(", "))),
            (true, false) => Some(format!(
                "the work that had begun, in a pool that these lines do not show, is {}",
                of_unknown.join(", ")
            )),
            (true, true) if self.works.is_empty() => None,
            (true, true) => Some("only work of other pools is shown as begun".to_owned()),
        }
    }

    /// The functions with their workers, in their order, of pools of which `is_of` is true.
    fn named(&self, is_of: impl Fn(Option<&PoolName>) -> bool) -> Vec<String> {
        let mut named: Vec<(&str, Vec<u64>)> = Vec::new();
        for work in self.works.iter().filter(|work| is_of(work.pool.as_ref())) {
            match named.iter_mut().find(|(function, _)| *function == work.function) {
                Some((_, workers)) => workers.extend(&work.workers),
                None => named.push((&work.function, work.workers.clone())),
            }
        }
        let shown = |(function, workers): &(&str, Vec<u64>)| match workers.as_slice() {
            [] => (*function).to_owned(),
            pids => {
                let shown: Vec<String> = pids.iter().take(MOST_NAMED).map(u64::to_string).collect();
                let more = pids.len().saturating_sub(MOST_NAMED);
                let more = if more > 0 { format!(" and {more} more") } else { String::new() };
                format!("{function} (worker {}{more})", shown.join(", "))
            }
        };
        let mut all: Vec<String> = named.iter().take(MOST_NAMED).map(shown).collect();
        match named.len().saturating_sub(MOST_NAMED) {
            0 => {}
            more => all.push(format!("and {more} more")),
        }
        all
    }
}

/// `3760137:psi_avgs_work, 67:other BAR(3)`: the workers and the functions.
fn works(list: &str) -> impl Iterator<Item = (Option<u64>, &str)> {
    let works = list.split(", ").filter_map(|work| work.split_whitespace().next());
    works.map(|work| match work.split_once(':') {
        Some((worker, function)) => (worker.parse().ok(), function),
        None => (None, work),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the lines show where the pool of CPU 3 of nice 0 is stuck.
    fn shown(lines: &[&str]) -> Option<String> {
        let mut begun = BegunWork::default();
        lines.iter().for_each(|line| begun.line(line));
        let stuck = PoolName::of("pool cpus=3 node=0 flags=0x1 nice=0 stuck for 30s!").expect("a pool");
        begun.shown(|pool| pool.may_be(&stuck))
    }

    #[test]
    fn only_work_of_the_stuck_pool_is_named() {
        let own =
            ["pwq 6: cpus=3 node=0 flags=0x0 nice=0 active=1/256", "in-flight: 71:drain_fn, 72:drain_fn"];
        let other =
            ["  pwq 8: cpus=4 node=0 flags=0x0 nice=0 active=1/256", "in-flight: 5:balloon_fn [balloon]"];
        let urgent = ["  pwq 7: cpus=3 node=0 flags=0x0 nice=-20 active=1/256", "in-flight: 9:urgent_fn"];
        let all = [own, other, urgent].concat();
        assert_eq!(shown(&all).as_deref(), Some("the work that had begun is drain_fn (worker 71, 72)"));
        let others = [&own[..1], &other, &urgent].concat();
        assert_eq!(shown(&others).as_deref(), Some("only work of other pools is shown as begun"));
        let unknown =
            "the work that had begun, in a pool that these lines do not show, is drain_fn (worker 71, 72)";
        assert_eq!(shown(&own[1..]).as_deref(), Some(unknown));
        // A later report begins without a pool.
        let later = [other[0], "Showing busy workqueues and worker pools:", own[1]];
        assert_eq!(shown(&later).as_deref(), Some(unknown));
        assert_eq!(shown(&own[..1]), None);
        // A line of a pool that is not whole is of a pool that is not known.
        assert_eq!(shown(&[other[0], "  pwq 6:", own[1]]).as_deref(), Some(unknown));
    }
}
