//! A late wake-up with its explanation.

use std::fmt;
use whylate_base::Ns;
use whylate_ledger::Activation;
use whylate_probes::Spike;

/// A file with the trace around a spike, in the directory of the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Saved {
    /// Its name.
    pub name: String,
    /// Its size.
    pub bytes: u64,
}

/// Why a wake-up is listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpikeKind {
    /// At least as late as the threshold.
    OverThreshold,
    /// Among the worst.
    Worst,
    /// The thread had still not run when the measurement ended; its latency is a lower bound.
    Stuck,
}

/// A late wake-up with its explanation.
#[derive(Clone, Debug)]
pub struct ExplainedSpike {
    /// As its thread measured it, on CLOCK_MONOTONIC, the trace's clock. Of a stuck thread, `woken` is the end of the
    /// measurement.
    pub measured: Spike,
    /// Why it is listed.
    pub kind: SpikeKind,
    /// What the trace shows of it, with ledger and verdict, or why that is not known.
    pub answer: Result<Activation, NotExplained>,
    /// Where its trace is saved; `None`: it is not.
    pub saved: Option<Saved>,
}

impl ExplainedSpike {
    /// How late it was, as the thread itself measured it.
    pub fn latency(&self) -> Ns {
        self.measured.latency()
    }
}

/// Why a wake-up has no explanation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotExplained {
    /// No trace was recorded; [`MeasureReport::trace`](super::MeasureReport::trace) has the reason.
    NoTrace,
    /// It is not explained yet, while the measurement runs.
    NotYet,
    /// The kernel had overwritten the moment before it was read.
    Overwritten {
        /// From here on the CPU's events are known; `None` when there are none.
        begins: Option<Ns>,
    },
    /// The window is there, but shows no such wake-up.
    NotFound,
    /// Its window was dropped for those of worse wake-ups: memory stays bounded.
    GivenUp,
    /// The window could not be read.
    Unreadable(String),
}

impl fmt::Display for NotExplained {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NotExplained::NoTrace => f.write_str("no trace was recorded"),
            NotExplained::NotYet => f.write_str("it was not explained yet when this was written"),
            NotExplained::Overwritten { .. } => f.write_str(
                "the kernel overwrote this moment before it was read: use a larger buffer (--buffer), or leave the \
                 recorder a CPU that is not fully used",
            ),
            NotExplained::NotFound => f.write_str("the trace of this moment does not show the wake-up"),
            NotExplained::GivenUp => {
                f.write_str("its trace was dropped to bound memory: raise --threshold to keep fewer")
            }
            NotExplained::Unreadable(why) => write!(f, "the trace of this moment could not be read: {why}"),
        }
    }
}
