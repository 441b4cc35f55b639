//! What a watch reports: while it runs, and at its end. Plain data for the renderers.

use super::groups::LateGroup;
use super::late::{LateActivation, LateLimit};
use whylate_base::{Cpu, Ns};
use whylate_stats::{Histogram, Late, Measured, Run};

/// Something that happens while a watch runs.
#[derive(Debug)]
pub enum WatchEvent<'a> {
    /// It runs; sentences about the machine and the recording.
    Started(Vec<String>),
    /// An activation was late.
    Late(&'a LateActivation),
    /// Other kinds of events are recorded than before, to keep the bound on CPU time.
    Recording {
        /// The groups that are not recorded now.
        dropped: Vec<&'static str>,
        /// For how long nothing at all is recorded.
        paused: Option<Ns>,
    },
    /// The rules were read again; the error is why the old ones stay.
    Reloaded(Result<usize, String>),
    /// How it stands, every few seconds.
    Progress(&'a WatchReport),
}

/// A watch, so far or at its end.
#[derive(Clone, Debug, Default)]
pub struct WatchReport {
    /// When it began, by CLOCK_REALTIME.
    pub began: Ns,
    /// How long it has run.
    pub elapsed: Ns,
    /// The watched threads by name, those with the most late activations first.
    pub threads: Vec<WatchedName>,
    /// Late activations by thread, cause and culprit, the most frequent first; with those of earlier watches of the same
    /// directory.
    pub groups: Vec<LateGroup>,
    /// The windows in the directory, the oldest first.
    pub kept: Vec<KeptWindow>,
    /// How many activations were late.
    pub late: u64,
    /// How many of them were counted only, to keep the bound on CPU time.
    pub counted_only: u64,
    /// Late activations of earlier watches of the same directory.
    pub late_before: u64,
    /// What the watch itself took.
    pub cost: WatchCost,
    /// The groups of events that are not recorded, at the end or now.
    pub dropped: Vec<String>,
    /// What a reader must know, in sentences.
    pub notes: Vec<String>,
    /// False for a look at a watch that goes on.
    pub is_complete: bool,
}

/// The threads of one name, over all restarts.
#[derive(Clone, Debug, Default)]
pub struct WatchedName {
    /// The name.
    pub name: String,
    /// How many activations were seen.
    pub activations: u64,
    /// How many of them were late.
    pub late: u64,
    /// What its last activation was judged by; `None`: there is no deadline, no period, and not enough history yet.
    pub limit: Option<LateLimit>,
    /// Due to running.
    pub latency: Histogram,
    /// Due to done.
    pub response: Histogram,
}

/// A window on disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptWindow {
    /// The file's name.
    pub name: String,
    /// Its size.
    pub bytes: u64,
    /// The late thread's name.
    pub thread: String,
    /// The cause's code.
    pub cause: String,
    /// The culprit, by a name that is the same each time.
    pub culprit: Option<String>,
    /// When the activation was due, by CLOCK_REALTIME.
    pub at: Ns,
    /// Due to done.
    pub response: Ns,
    /// The verdict's sentence.
    pub why: String,
}

/// What a watch took.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WatchCost {
    /// Own CPU time.
    pub cpu: Ns,
    /// The bound, as a share of one CPU.
    pub max_cpu: f64,
    /// Events that the kernel recorded.
    pub events: u64,
    /// Those of them that it overwrote before they were read.
    pub lost: u64,
    /// What recording one event costs the thread that causes it, in nanoseconds; `None`: not measured.
    pub event_ns: Option<f64>,
    /// The most memory that this process had, in KiB; `None`: it cannot be read.
    pub memory_kib: Option<u64>,
    /// Bytes of all windows.
    pub disk_bytes: u64,
    /// For how long nothing was recorded.
    pub paused: Ns,
}

impl WatchCost {
    /// The own CPU time as a share of one CPU.
    pub fn share(&self, elapsed: Ns) -> f64 {
        self.cpu.0 as f64 / elapsed.0.max(1) as f64
    }

    /// The kernel's time for the events, all CPUs together; `None`: not measured.
    pub fn of_events(&self) -> Option<Ns> {
        self.event_ns.map(|event| Ns((event * self.events as f64) as i64))
    }
}

impl WatchReport {
    /// As a run that can be compared: the responses of each thread.
    pub fn run(&self) -> Run {
        let thread = |thread: &WatchedName| Measured {
            name: thread.name.clone(),
            histogram: thread.response.clone(),
            ..Measured::default()
        };
        let late = |window: &KeptWindow| Late {
            cpu: None::<Cpu>,
            latency: window.response,
            cause: Some(window.cause.clone()),
            culprit: window.culprit.clone(),
        };
        Run {
            tool: "whylate watch".to_owned(),
            probe: "response".to_owned(),
            elapsed: Some(self.elapsed),
            threads: self.threads.iter().map(thread).filter(|thread| thread.histogram.count() > 0).collect(),
            spikes: Some(self.kept.iter().map(late).collect()),
            ..Run::default()
        }
    }
}
