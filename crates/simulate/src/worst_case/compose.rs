//! The bound: what occurs once in a job, and what comes again and again until the job is done.
//!
//! A job that is not done when a window has passed since it was due has had, in that window, less than all of its own parts, and
//! of each source no more than its curve allows. So the job is done in the first window that has room for all of them. The jobs
//! of one busy period follow each other as in response-time analysis (`bounds/fixed_priority.rs`).

use super::curve::least_distance;
use super::sources::InterferingSource;
use crate::bounds::Interference;
use whylate_base::Ns;

/// The search gives up after so many steps.
const STEPS: usize = 10_000;
/// No more jobs of one busy period are looked at.
const JOBS: usize = 1_000;

/// What a bound is composed of.
pub(super) struct Parts<'a> {
    /// What occurs once in each job, in sum.
    pub(super) once: Ns,
    pub(super) sources: &'a [InterferingSource],
    /// Throttling, and the fair server.
    pub(super) periodic: &'a [Interference],
    /// When the thread's own jobs were due, in order.
    pub(super) dues: &'a [Ns],
    /// No response beyond this is looked for.
    pub(super) limit: Ns,
}

/// A bound, and the window in which it was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Composed {
    pub(super) response: Ns,
    /// The length of the busy period until that job is done.
    pub(super) window: Ns,
    /// How many jobs it has.
    pub(super) jobs: i64,
}

/// The longest response; `None`: it is longer than the limit.
pub(super) fn compose(parts: &Parts<'_>, without: Option<usize>) -> Option<Composed> {
    let mut worst: Option<Composed> = None;
    let mut window = Ns::ZERO;
    for job in 1..=JOBS {
        window = busy_window(parts, without, job as i64, window)?;
        let before = if job == 1 { Some(Ns::ZERO) } else { least_distance(parts.dues, job) };
        let Some(before) = before else { return worst };
        let found = Composed { response: window - before, window, jobs: job as i64 };
        if worst.is_none_or(|worst| worst.response < found.response) {
            worst = Some(found);
        }
        match least_distance(parts.dues, job + 1) {
            Some(next) if next < window => {}
            _ => return worst,
        }
    }
    None
}

/// The first window that has room for so many jobs and for all that comes in it.
fn busy_window(parts: &Parts<'_>, without: Option<usize>, jobs: i64, from: Ns) -> Option<Ns> {
    let own = Ns(parts.once.0.saturating_mul(jobs));
    let mut window = from.max(own).max(Ns(1));
    for _ in 0..STEPS {
        let sources = parts.sources.iter().enumerate().filter(|&(at, _)| Some(at) != without);
        let sources: Ns = sources.map(|(_, source)| source.curve.within(window)).sum();
        let periodic: Ns = parts.periodic.iter().map(|other| other.within(window)).sum();
        let next = Ns(own.0.saturating_add(sources.0).saturating_add(periodic.0));
        if next <= window {
            return Some(window);
        }
        if next > parts.limit {
            return None;
        }
        window = next;
    }
    None
}
