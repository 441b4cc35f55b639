//! What the thread that takes the samples out shares with those that choose what is sampled.

use crate::source::SampleSource;
use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;
use whylate_base::Ns;
use whylate_sys::PerfEvent;

/// The state of one sampling.
#[derive(Debug, Default)]
pub(crate) struct Shared {
    /// Set at the end.
    pub(crate) is_over: AtomicBool,
    pub(crate) events: Mutex<Vec<PerfEvent>>,
    pub(crate) sources: Vec<SampleSource>,
    /// The spans whose samples are taken, where not all are.
    pub(crate) spans: Mutex<Vec<(Ns, Ns)>>,
    /// The source of each event, an index, by the event's number.
    pub(crate) source_of: Mutex<HashMap<u64, usize>>,
}
