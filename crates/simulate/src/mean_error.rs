//! How far a mean model is from the recording that it is made of.

use crate::model::{Arrival, JobOrder, Script};
use crate::recording::Recording;
use crate::replay_report::MeanError;
use whylate_base::Ns;

/// Of some threads; `responses` has, of all threads, the numbers of jobs and their responses in a run of `length`.
pub(crate) fn of(
    threads: &[usize],
    recording: &Recording,
    length: Ns,
    responses: &[Vec<(usize, Ns)>],
) -> Option<MeanError> {
    let mut most = MeanError::default();
    for &thread in threads {
        let Some(Arrival::Recorded(script)) = recording.model.tasks.get(thread).map(|task| &task.arrival)
        else {
            continue;
        };
        let seen = sorted(script.jobs.iter().filter_map(|job| job.response));
        let drawn = sorted(responses[thread].iter().map(|&(_, response)| response));
        let error = |percent: usize| share(at(&seen, percent) as f64, at(&drawn, percent) as f64);
        let Some(jobs) = expected(script, length) else { continue };
        most.threads += 1;
        most.median = further(most.median, error(50));
        most.p90 = further(most.p90, error(90));
        most.worst = further(most.worst, error(100));
        most.jobs = further(most.jobs, share(jobs, drawn.len() as f64));
    }
    (most.threads > 0).then_some(most)
}

/// How many whole jobs there would be if the thread had gone on to the end as it did between its first job and its last; where
/// it does what it did, as many as there were.
fn expected(script: &Script, length: Ns) -> Option<f64> {
    let whole = script.jobs.iter().filter(|job| job.response.is_some());
    let due: Vec<Ns> = whole.filter_map(|job| job.due).collect();
    if script.order == JobOrder::AsRecorded {
        return (!due.is_empty()).then_some(due.len() as f64);
    }
    let (first, last) = (*due.iter().min()?, *due.iter().max()?);
    let seen = (last - first).0.max(1) as f64;
    Some(1.0 + (due.len() - 1) as f64 * ((length - first).0 as f64 / seen).max(1.0))
}

fn sorted(responses: impl Iterator<Item = Ns>) -> Vec<i64> {
    let mut all: Vec<i64> = responses.map(|response| response.0).collect();
    all.sort_unstable();
    all
}

fn at(sorted: &[i64], percent: usize) -> i64 {
    let place = (sorted.len() * percent / 100).min(sorted.len().saturating_sub(1));
    sorted.get(place).copied().unwrap_or(0)
}

fn share(seen: f64, drawn: f64) -> f64 {
    (drawn - seen) / seen.max(1.0)
}

fn further(most: f64, one: f64) -> f64 {
    if one.abs() > most.abs() { one } else { most }
}
