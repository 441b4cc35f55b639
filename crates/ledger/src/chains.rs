//! Chains of threads: from a timer, a device's interrupt or a packet from thread to thread, found in what lets each
//! thread go on.
//!
//! ```text
//! engine ──> links (waking, begun, sent, queued, ended) ──> tracker ──> paths: count, period, latency, the worst
//!                                                              └──> charge: each hop's part of its thread's ledger
//! ```
//!
//! A hop is the time of one thread, from where it was due to where it lets the next one go on; of what comes before a
//! thread (a timer, an interrupt, a packet, a work item) the time until that thread is woken. So hops tile a chain, and
//! each is charged by the ledger of its thread.

mod across;
mod finish;
mod hops;
mod node;
mod paths;
mod pattern;
mod tracker;

pub use across::ChainsAcross;
pub use pattern::{ChainPattern, ChainPatternError};
pub(crate) use tracker::Tracker;

use whylate_base::Ns;

/// What the user asks about chains.
#[derive(Clone, Debug, Default)]
pub struct ChainOptions {
    /// The chains to report; empty for those that are found.
    pub chosen: Vec<ChainPattern>,
    /// An end-to-end latency longer than this is a missed deadline and becomes a finding.
    pub deadline: Option<Ns>,
}
