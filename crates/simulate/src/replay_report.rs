//! What a replay of a recording shows.

use crate::recording::Losses;
use whylate_base::{Ns, Tid};

/// Percentiles need so many responses.
const ENOUGH: usize = 100;

/// What a replay shows beside the simulation of the changed recording.
#[derive(Clone, Debug, PartialEq)]
pub struct ReplayReport {
    /// The length of the recording.
    pub length: Ns,
    /// The changes as they were written.
    pub changes: Vec<String>,
    /// What the recording lost.
    pub losses: Losses,
    /// The CPU time of all CPUs in the recording.
    pub cpu_time: Ns,
    /// The error of the replay without a change, over all shown threads; `None`: no job was seen whole, or jobs are drawn.
    pub error: Option<ReplayError>,
    /// Of a mean model: how it was run, and how far it is from the recording.
    pub mean: Option<MeanReplay>,
    /// The threads: chosen and changed ones, then others that the change affects.
    pub threads: Vec<ReplayedThread>,
    /// How many other threads there are.
    pub unlisted: usize,
}

/// A mean model beside the recording that it is made of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeanReplay {
    /// The same seed draws the same jobs.
    pub seed: u64,
    /// The length of the run that the report is about.
    pub run: Ns,
    /// The error of a run without a change, as long as the recording; `None`: no job was seen whole.
    pub error: Option<MeanError>,
}

/// How far the response times of a mean model are from those of the recording, each as a share of the recorded one; of several
/// threads, that of the thread where it is largest.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MeanError {
    /// Threads that were compared.
    pub threads: u64,
    /// Of the medians.
    pub median: f64,
    /// Of the 90th percentiles.
    pub p90: f64,
    /// Of the longest ones.
    pub worst: f64,
    /// Of the number of jobs, as if each thread had gone on to the end of the recording.
    pub jobs: f64,
}

/// How far a replay without a change is from the recording.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReplayError {
    /// Jobs that were compared.
    pub jobs: u64,
    /// The median of the differences of the response times.
    pub median: Ns,
    /// Nine of ten differences are at most this.
    pub p90: Ns,
    /// The largest difference.
    pub most: Ns,
    /// Of the worst response: replayed less recorded, as a share of the recorded one; of several threads, that of the thread
    /// where it is largest.
    pub worst_share: f64,
    /// Jobs of the recording that the replay does not come to the end of.
    pub not_reached: u64,
}

/// A thread in the recording, the replay, and the replay with the changes.
#[derive(Clone, Debug, PartialEq)]
pub struct ReplayedThread {
    /// Its name; with its id where two have that name.
    pub name: String,
    /// Its id.
    pub tid: Tid,
    /// It was chosen, or a change names it.
    pub chosen: bool,
    /// Responses in the recording.
    pub recorded: Option<ResponseSummary>,
    /// In the replay without a change.
    pub replayed: Option<ResponseSummary>,
    /// With the changes; `None` without changes, or where no job is done.
    pub predicted: Option<ResponseSummary>,
    /// CPU time in the recording, the replay and with the changes.
    pub ran: [Ns; 3],
    /// The longest time in which it was runnable and did not run, in the replay and with the changes.
    pub longest_wait: [Ns; 2],
    /// All such time.
    pub waited: [Ns; 2],
    /// The error of its replay.
    pub error: Option<ReplayError>,
    /// Activations that were not seen whole.
    pub cut_off: u64,
}

/// A distribution of response times, in short.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResponseSummary {
    /// Jobs.
    pub jobs: u64,
    /// The median.
    pub p50: Ns,
    /// The 99th percentile; `None` with too few jobs.
    pub p99: Option<Ns>,
    /// The longest.
    pub max: Ns,
}

impl ResponseSummary {
    pub(crate) fn of(responses: impl Iterator<Item = Ns>) -> Option<ResponseSummary> {
        let mut sorted: Vec<Ns> = responses.collect();
        sorted.sort_unstable();
        let max = *sorted.last()?;
        let at = |percent: usize| sorted.get(sorted.len() * percent / 100).copied();
        Some(ResponseSummary {
            jobs: sorted.len() as u64,
            p50: at(50).unwrap_or(max),
            p99: at(99).filter(|_| sorted.len() >= ENOUGH),
            max,
        })
    }
}
