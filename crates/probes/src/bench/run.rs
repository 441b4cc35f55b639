//! Runs a bench on a thread of its own, which is bound to one CPU.

use super::{BenchError, BenchKind, BenchReport, clock, memory, socket, thread};
use std::net::SocketAddr;
use std::sync::atomic::AtomicBool;
use whylate_base::{Cpu, CpuSet, Ns, Tid};
use whylate_sys::{getaffinity, setaffinity};

/// What is measured, where and for how long.
#[derive(Clone, Debug)]
pub struct BenchOptions {
    /// About what.
    pub kind: BenchKind,
    /// For about how long.
    pub duration: Ns,
    /// The CPUs to measure on; `None`: those that this process may use. The last one measures.
    pub cpus: Option<CpuSet>,
    /// Of sockets: the server on another machine; `None`: between threads of this one.
    pub peer: Option<SocketAddr>,
}

/// Measures until the time is over, or until `stop`.
///
/// # Errors
/// When a CPU cannot be used, or something that was changed on the machine could not be restored.
pub fn bench(options: &BenchOptions, stop: &AtomicBool) -> Result<BenchReport, BenchError> {
    let allowed = getaffinity(Tid(0))?;
    let cpus = options.cpus.clone().unwrap_or(allowed);
    let last: Cpu = cpus
        .iter()
        .last()
        .ok_or_else(|| BenchError::Unavailable("no CPU to measure on: the list is empty".to_owned()))?;
    std::thread::scope(|scope| {
        let measure = || {
            setaffinity(Tid(0), &CpuSet::from_iter([last]))?;
            match options.kind {
                BenchKind::Clock => clock::measure(&cpus, options.duration, stop),
                BenchKind::Socket => socket::measure(options.peer, &cpus, options.duration, stop),
                BenchKind::Memory => Ok(memory::measure(options.duration, stop)),
                BenchKind::Thread => Ok(thread::measure(&cpus, options.duration, stop)),
            }
        };
        let thread = std::thread::Builder::new().name("bench".into());
        let thread = thread
            .spawn_scoped(scope, measure)
            .map_err(|error| BenchError::io("create the measuring thread", error))?;
        thread
            .join()
            .unwrap_or_else(|_| Err(BenchError::Thread("the measuring thread ended early".to_owned())))
    })
}
