//! Response-time analysis for fixed priorities on one CPU, with blocking, jitter and deadlines beyond periods.
//!
//! The recurrence is that of M. Joseph and P. Pandya, "Finding response times in a real-time system" (1986), with the
//! release jitter of N. Audsley, A. Burns, M. Richardson, K. Tindell and A. Wellings (1993), and the busy period of
//! J. Lehoczky (1990) and of K. Tindell, A. Burns and A. Wellings (1994) for deadlines beyond periods.

use whylate_base::Ns;

/// What goes before a task: at most `ceil((w + jitter) / period)` times `cost` in any window of length w.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interference {
    /// Of each time.
    pub cost: Ns,
    /// The least distance of two.
    pub period: Ns,
    /// How much nearer than the period two may come.
    pub jitter: Ns,
}

impl Interference {
    /// All it can take of a window.
    pub fn within(self, window: Ns) -> Ns {
        let period = i128::from(self.period.0.max(1));
        let times = (i128::from(window.0) + i128::from(self.jitter.0) + period - 1).div_euclid(period).max(0);
        clamp(times * i128::from(self.cost.0))
    }

    /// Its share of a CPU.
    pub fn utilisation(self) -> f64 {
        self.cost.0 as f64 / self.period.0.max(1) as f64
    }
}

/// Where an analysis gives up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResponseLimit {
    /// A response longer than this is none.
    pub response: Ns,
    /// No more jobs of one busy period than this.
    pub jobs: u64,
}

impl Default for ResponseLimit {
    fn default() -> Self {
        ResponseLimit { response: Ns::from_secs(3600), jobs: 100_000 }
    }
}

fn clamp(value: i128) -> Ns {
    Ns(i64::try_from(value).unwrap_or(i64::MAX))
}

/// The longest response of a task, from its nominal arrival; `None` where there is no bound within `limit`.
///
/// `own` is the task itself: its cost, its period and its release jitter. `blocking` is the longest time for which
/// something that comes later by the rules keeps the CPU.
pub fn response_time(
    own: Interference,
    blocking: Ns,
    before: &[Interference],
    limit: ResponseLimit,
) -> Option<Ns> {
    response_times_of_jobs(own, blocking, before, limit)?.into_iter().max()
}

/// The same for each job of the longest busy period, in its order.
pub fn response_times_of_jobs(
    own: Interference,
    blocking: Ns,
    before: &[Interference],
    limit: ResponseLimit,
) -> Option<Vec<Ns>> {
    // With a whole CPU in use there is no end, but for single jobs.
    let utilisation: f64 = before.iter().copied().map(Interference::utilisation).sum();
    if utilisation > 1.0 || utilisation + own.utilisation() > 1.0 + 1e-12 {
        return None;
    }
    let mut responses = Vec::new();
    let mut finished = Ns::ZERO;
    loop {
        let job = responses.len() as i64;
        let needed = blocking + clamp(i128::from(job + 1) * i128::from(own.cost.0));
        let mut window = finished.max(needed);
        loop {
            let next = needed + before.iter().map(|other| other.within(window)).sum();
            if next <= window {
                break;
            }
            window = next;
            if window > limit.response {
                return None;
            }
        }
        finished = window;
        let arrival = clamp(i128::from(job) * i128::from(own.period.0));
        responses.push(finished + own.jitter - arrival);
        // The next job comes after this one is done: the busy period is over.
        if finished + own.jitter <= arrival + own.period {
            return Some(responses);
        }
        if responses.len() as u64 >= limit.jobs {
            return None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task(cost: i64, period: i64) -> Interference {
        Interference { cost: Ns(cost), period: Ns(period), jitter: Ns::ZERO }
    }

    /// The responses of tasks that are given highest priority first.
    fn responses(tasks: &[(i64, i64)]) -> Vec<Option<i64>> {
        let tasks: Vec<Interference> = tasks.iter().map(|&(cost, period)| task(cost, period)).collect();
        let of = |at: usize| response_time(tasks[at], Ns::ZERO, &tasks[..at], ResponseLimit::default());
        (0..tasks.len()).map(|at| of(at).map(|response| response.0)).collect()
    }

    /// A. Burns and A. Wellings, "Real-Time Systems and Programming Languages", the task sets of the chapter on
    /// scheduling: B (which misses 50), C and D.
    #[test]
    fn task_sets_of_burns_and_wellings() {
        assert_eq!(responses(&[(5, 20), (10, 40), (40, 80)]), [Some(5), Some(15), Some(80)]);
        assert_eq!(responses(&[(3, 7), (3, 12), (5, 20)]), [Some(3), Some(6), Some(20)]);
        let missing = responses(&[(10, 30), (10, 40), (12, 50)]);
        assert_eq!(missing[..2], [Some(10), Some(20)]);
        assert!(missing[2].is_none_or(|response| response > 50), "{missing:?}");
    }

    /// J. Lehoczky, "Fixed priority scheduling of periodic task sets with arbitrary deadlines" (RTSS 1990): the longest
    /// response is that of the fifth job, not of the first.
    #[test]
    fn lehoczky_with_deadlines_beyond_periods() {
        let jobs = response_times_of_jobs(task(62, 100), Ns::ZERO, &[task(26, 70)], ResponseLimit::default());
        let jobs: Vec<i64> = jobs.expect("it has an end").into_iter().map(|response| response.0).collect();
        assert_eq!(jobs, [114, 102, 116, 104, 118, 106, 94]);
    }

    /// G. Buttazzo, "Hard Real-Time Computing Systems", the example of deadline-monotonic response times: the fourth task.
    #[test]
    fn deadline_monotonic_of_buttazzo() {
        assert_eq!(responses(&[(1, 4), (1, 5), (2, 6), (1, 11)])[3], Some(10));
    }

    #[test]
    fn jitter_and_blocking_add_up() {
        let higher = Interference { jitter: Ns(3), ..task(2, 10) };
        let own = Interference { jitter: Ns(4), ..task(5, 50) };
        // 1 of blocking, 5 of its own, and two jobs of the other in a window of 10: ceil((10 + 3) / 10) = 2.
        assert_eq!(response_time(own, Ns(1), &[higher], ResponseLimit::default()), Some(Ns(14)));
    }

    #[test]
    fn overload_has_no_bound() {
        assert_eq!(responses(&[(6, 10), (5, 10)]), [Some(6), None]);
        let whole = response_time(task(1, 100), Ns::ZERO, &[task(10, 10)], ResponseLimit::default());
        assert_eq!(whole, None);
    }
}
