//! Small messages: 15 writes of 2 bytes and a reply, with each option that decides when they leave.
//!
//! ```text
//! Server  reads a message, replies; of this process, of a namespace of its own, or of another machine   server.rs
//! Sender  one way to send a message                                                                     sender.rs
//! path    loopback, a veth pair between two namespaces, or a peer: all senders to one server            path.rs
//! ```

mod message;
mod path;
mod published;
mod sender;
mod server;
mod verdict;

pub use server::serve;

use super::report::BenchReport;
use super::rounds::Outcome;
use super::{BenchError, BenchKind};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering::Acquire};
use whylate_base::{CpuSet, Ns};
use whylate_sys::{Clock, now};

/// Measures for about `time`, or until `stop`: between threads of this machine, or with a peer alone. The server runs on
/// those of `cpus` that the measuring thread does not have.
///
/// # Errors
/// When a peer was asked for and does not answer.
pub(super) fn measure(
    peer: Option<SocketAddr>,
    cpus: &CpuSet,
    time: Ns,
    stop: &AtomicBool,
) -> Result<BenchReport, BenchError> {
    let start = now(Clock::Monotonic);
    let mut outcome = Outcome::default();
    match peer {
        Some(address) => path::peer(address, time, stop, &mut outcome)?,
        None => {
            path::loopback(cpus, Ns(time.0 / 2), stop, &mut outcome);
            path::namespaces(cpus, Ns(time.0 / 2), stop, &mut outcome);
        }
    }
    Ok(BenchReport {
        kind: BenchKind::Socket,
        elapsed: now(Clock::Monotonic) - start,
        interrupted: stop.load(Acquire),
        verdict: verdict::verdict(&outcome.rows),
        published: published::compared(&outcome.rows),
        rows: outcome.rows,
        skipped: outcome.skipped,
        notes: vec![
            "An operation is a message of 15 writes of 2 bytes (one write where the row names it) and its reply, from the first \
             write to the reply. `sent` is the median until the last write has returned."
                .to_owned(),
        ],
    })
}
