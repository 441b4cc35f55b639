//! What lets the jobs of a thread begin, as far as its jobs in a recording show it.

use crate::model::{JobTrigger, RecordedJob, Script};
use whylate_base::Ns;

/// Fewer whole jobs than this are no distribution.
const FEWEST: usize = 5;
/// Of ten jobs so many begin in the same way.
const MOST_OF_TEN: usize = 9;
/// Of ten jobs of a thread with a period nine are no farther than this share of it from where it has them.
const LATEST_SHARE: i64 = 10;

/// What lets a thread's jobs begin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ArrivalKind {
    /// A timer with a period.
    Paced {
        /// When the first one is due.
        first: Ns,
        /// The period.
        period: Ns,
        /// So much later each whole job was due than the period has it; or earlier.
        late: Vec<Ns>,
    },
    /// Something outside of the threads, or several threads and timers in turn.
    Apart {
        /// When the first one is due.
        first: Ns,
        /// The distance of each whole job to the one before.
        gaps: Vec<Ns>,
    },
    /// The thread's own sleep after each job.
    Slept {
        /// The usual one.
        usual: Ns,
    },
    /// Other threads.
    Woken {
        /// The one that does it the most.
        by: usize,
    },
    /// Too few jobs were seen.
    AsRecorded,
}

/// The jobs that were seen from due to done, with their numbers.
pub(super) fn whole(script: &Script) -> impl Iterator<Item = (usize, &RecordedJob)> {
    script.jobs.iter().enumerate().filter(|(_, job)| job.response.is_some() && job.due.is_some())
}

/// What lets the jobs of a script begin.
pub(super) fn kind(script: &Script) -> ArrivalKind {
    let whole: Vec<&RecordedJob> = whole(script).map(|(_, job)| job).collect();
    if whole.len() < FEWEST {
        return ArrivalKind::AsRecorded;
    }
    // A job that follows at once shows nothing about the others.
    let count = |is: fn(&JobTrigger) -> bool| whole.iter().filter(|job| is(&job.trigger)).count();
    let all = count(|trigger| *trigger != JobTrigger::AtOnce).max(1);
    let most = |count: usize| 10 * count >= MOST_OF_TEN * all;
    if most(count(|trigger| matches!(trigger, JobTrigger::Woken { .. }))) {
        return ArrivalKind::Woken { by: usual_waker(&whole) };
    }
    if most(count(|trigger| matches!(trigger, JobTrigger::Slept { .. }))) {
        let mut sleeps: Vec<Ns> = whole.iter().filter_map(|job| slept(job)).collect();
        sleeps.sort_unstable();
        return ArrivalKind::Slept { usual: sleeps.get(sleeps.len() / 2).copied().unwrap_or(Ns::ZERO) };
    }
    let due: Vec<Ns> = whole.iter().filter_map(|job| job.due).collect();
    paced(&due).unwrap_or_else(|| apart(&due))
}

fn slept(job: &RecordedJob) -> Option<Ns> {
    match job.trigger {
        JobTrigger::Slept { sleep, .. } => Some(sleep),
        _ => None,
    }
}

fn usual_waker(whole: &[&RecordedJob]) -> usize {
    let mut by: Vec<usize> = whole
        .iter()
        .filter_map(|job| match job.trigger {
            JobTrigger::Woken { by, .. } => Some(by),
            _ => None,
        })
        .collect();
    by.sort_unstable();
    let groups = by.chunk_by(|a, b| a == b);
    groups.max_by_key(|group| group.len()).and_then(|group| group.first()).copied().unwrap_or(0)
}

/// A period that has nearly all of these instants, if there is one.
fn paced(due: &[Ns]) -> Option<ArrivalKind> {
    let mut gaps: Vec<Ns> = due.windows(2).map(|pair| pair[1] - pair[0]).collect();
    gaps.sort_unstable();
    let usual = gaps.get(gaps.len() / 2).copied().filter(|&usual| usual > Ns::ZERO)?;
    let mut numbers: Vec<i64> = vec![0];
    for pair in due.windows(2) {
        let steps = ((pair[1] - pair[0]).0 as f64 / usual.0 as f64).round() as i64;
        numbers.push(numbers.last()? + steps);
    }
    let last = *numbers.last()?;
    // With many missing, they come when something else has them come.
    if numbers.windows(2).any(|pair| pair[1] <= pair[0])
        || 10 * numbers.len() < MOST_OF_TEN * (last as usize + 1)
    {
        return None;
    }
    // Medians: the first job, or one that something held up, is often far from the others.
    let half = (numbers.len() / 2).max(1);
    let slopes = (0..numbers.len() - half)
        .map(|at| (due[at + half] - due[at]).0 as f64 / (numbers[at + half] - numbers[at]) as f64);
    let period = median(slopes.collect())?;
    let origin = median(
        numbers.iter().zip(due).map(|(number, due)| due.0 as f64 - period * *number as f64).collect(),
    )?;
    let late: Vec<Ns> = numbers
        .iter()
        .zip(due)
        .map(|(number, due)| Ns(due.0 - (origin + period * *number as f64).round() as i64))
        .collect();
    let mut away: Vec<i64> = late.iter().map(|late| late.0.abs()).collect();
    away.sort_unstable();
    if away[away.len() * 9 / 10] > usual.0 / LATEST_SHARE {
        return None;
    }
    let (first, period) = (Ns(origin.round() as i64), Ns(period.round() as i64));
    Some(ArrivalKind::Paced { first, period, late })
}

fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_unstable_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

fn apart(due: &[Ns]) -> ArrivalKind {
    let mut gaps: Vec<Ns> = due.windows(2).map(|pair| (pair[1] - pair[0]).max(Ns::ZERO)).collect();
    let mut sorted = gaps.clone();
    sorted.sort_unstable();
    // Nothing was seen before the first one.
    gaps.insert(0, sorted.get(sorted.len() / 2).copied().unwrap_or(Ns::ZERO));
    ArrivalKind::Apart { first: due.first().copied().unwrap_or(Ns::ZERO).max(Ns::ZERO), gaps }
}

impl ArrivalKind {
    /// What lets a job begin that is drawn: the whole one of this place in the recording.
    pub(super) fn trigger(&self, job: &RecordedJob, place: usize) -> JobTrigger {
        let delay = match job.trigger {
            JobTrigger::At { due, released } => (released - due).max(Ns::ZERO),
            JobTrigger::Slept { lead, .. } | JobTrigger::Woken { lead, .. } => lead,
            JobTrigger::Paced { delay, .. } | JobTrigger::Gap { delay, .. } => delay,
            JobTrigger::AtOnce => Ns::ZERO,
        };
        match (self, job.trigger) {
            (ArrivalKind::Paced { late, .. }, _) => {
                JobTrigger::Paced { late: late.get(place).copied().unwrap_or(Ns::ZERO), delay }
            }
            (ArrivalKind::Apart { gaps, .. }, _) => {
                JobTrigger::Gap { gap: gaps.get(place).copied().unwrap_or(Ns::ZERO), delay }
            }
            (ArrivalKind::Slept { .. }, trigger @ JobTrigger::Slept { .. })
            | (ArrivalKind::Woken { .. }, trigger @ JobTrigger::Woken { .. }) => trigger,
            (ArrivalKind::Slept { usual }, _) => JobTrigger::Slept { sleep: *usual, lead: Ns::ZERO },
            (ArrivalKind::Woken { by }, _) => JobTrigger::Woken { by: *by, lead: Ns::ZERO },
            (ArrivalKind::AsRecorded, trigger) => trigger,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn script(jobs: &[(i64, JobTrigger)]) -> Script {
        let mut script = Script::default();
        for &(due, trigger) in jobs {
            let due = Ns(due);
            let job = RecordedJob {
                trigger,
                first_step: 0,
                cpu: None,
                dispatch: Ns::ZERO,
                due: Some(due),
                woken: due,
                response: Some(Ns(5)),
            };
            script.push(job, []);
        }
        script
    }

    fn at(due: i64) -> (i64, JobTrigger) {
        (due, JobTrigger::At { due: Ns(due), released: Ns(due + 2) })
    }

    #[test]
    fn a_period_is_found_with_its_jitter_and_a_job_that_is_missing() {
        let mut jobs: Vec<_> = (0..30)
            .filter(|&n| n != 7)
            .map(|n| at(1_000 + 10_000 * n + [0, 30, -30][n as usize % 3]))
            .collect();
        jobs[0] = at(4_000);
        let script = script(&jobs);
        let ArrivalKind::Paced { first, period, late } = kind(&script) else { panic!("{:?}", kind(&script)) };
        assert!((period - Ns(10_000)).0.abs() <= 3 && (first - Ns(1_000)).0.abs() < 40, "{first} {period}");
        assert!(
            late.len() == 29 && late[0] > Ns(2_900) && late[1..].iter().all(|late| late.0.abs() < 70),
            "{late:?}"
        );
        let JobTrigger::Paced { delay, .. } = kind(&script).trigger(&script.jobs[3], 3) else {
            panic!("no period")
        };
        assert_eq!(delay, Ns(2));
    }

    #[test]
    fn distances_without_a_period_are_drawn() {
        let mut due = 0;
        let jobs: Vec<_> = (0..40)
            .map(|n| {
                due += [3_000, 17_000, 5_500, 41_000][n % 4];
                at(due)
            })
            .collect();
        let script = script(&jobs);
        let found = kind(&script);
        assert!(matches!(found, ArrivalKind::Apart { .. }), "{found:?}");
        assert_eq!(found.trigger(&script.jobs[1], 1), JobTrigger::Gap { gap: Ns(17_000), delay: Ns(2) });
    }

    #[test]
    fn few_jobs_are_no_distribution_and_others_go_by_what_most_of_them_do() {
        assert_eq!(kind(&script(&[at(1), at(2)])), ArrivalKind::AsRecorded);
        let woken = |n: i64| (n, JobTrigger::Woken { by: 4, lead: Ns(1) });
        let mut jobs: Vec<_> = (0..20).map(woken).collect();
        jobs.push((21, JobTrigger::AtOnce));
        let script_of = script(&jobs);
        assert_eq!(kind(&script_of), ArrivalKind::Woken { by: 4 });
        assert_eq!(
            kind(&script_of).trigger(&script_of.jobs[20], 20),
            JobTrigger::Woken { by: 4, lead: Ns::ZERO }
        );
        let slept = |n: i64| (n, JobTrigger::Slept { sleep: Ns(100 + n), lead: Ns::ZERO });
        assert_eq!(
            kind(&script(&(0..5).map(slept).collect::<Vec<_>>())),
            ArrivalKind::Slept { usual: Ns(102) }
        );
    }
}
