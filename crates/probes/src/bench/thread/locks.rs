//! Mutexes with and without priority inheritance, and barriers.

use super::gate::Gated;
use super::only_cpu::only_one;
use crate::bench::BenchError;
use crate::bench::case::{Case, timed};
use crate::bench::rounds::Outcome;
use std::sync::Arc;
use std::sync::atomic::{
    AtomicBool,
    Ordering::{Acquire, Release},
};
use std::thread::JoinHandle;
use whylate_base::{Cpu, CpuSet, Tid};
use whylate_sys::{PthreadBarrier, PthreadMutex, SysError, setaffinity};

const GROUP: &str = "locks";
pub(super) const PLAIN: &str = "mutex, uncontended";
pub(super) const INHERITS: &str = "PI mutex, uncontended";
pub(super) const PLAIN_CONTENDED: &str = "mutex, contended by a thread on another CPU";
pub(super) const INHERITS_CONTENDED: &str = "PI mutex, contended by a thread on another CPU";
/// Locks of a sample: of fewer the other thread may have taken none meanwhile.
const CONTENDED: u32 = 512;
const BARRIER: &str = "barrier of two threads on two CPUs";

/// Adds a case for each; `other` is another CPU, or the only one.
pub(super) fn add<'a>(cases: &mut Vec<Case<'a>>, outcome: &mut Outcome, other: Result<Cpu, Cpu>) {
    for (inherits, alone, contended) in
        [(false, PLAIN, PLAIN_CONTENDED), (true, INHERITS, INHERITS_CONTENDED)]
    {
        match PthreadMutex::new(inherits) {
            Ok(mutex) => cases.push(Case::new(GROUP, alone, move |times| timed(|| lock(&mutex, times)))),
            Err(error) => outcome.skip(alone, &error.into()),
        }
        match other.map_err(only_one).and_then(|cpu| contender(inherits, cpu)) {
            Ok((mutex, thread)) => cases.push(
                Case::new(GROUP, contended, move |times| thread.beside(|| timed(|| lock(&mutex, times))))
                    .at_least(CONTENDED),
            ),
            Err(error) => outcome.skip(contended, &error),
        }
    }
    match other.map_err(only_one).and_then(Meeting::start) {
        Ok(meeting) => cases.push(Case::new(GROUP, BARRIER, move |times| {
            timed(|| (0..times).try_for_each(|_| meeting.barrier.wait()))
        })),
        Err(error) => outcome.skip(BARRIER, &error),
    }
}

fn lock(mutex: &PthreadMutex, times: u32) -> Result<(), SysError> {
    (0..times).try_for_each(|_| mutex.lock().and_then(|()| mutex.unlock()))
}

fn contender(inherits: bool, cpu: Cpu) -> Result<(Arc<PthreadMutex>, Gated), BenchError> {
    let mutex = Arc::new(PthreadMutex::new(inherits)?);
    let own = Arc::clone(&mutex);
    let thread = Gated::start(cpu, move || {
        // What fails here fails for the measuring thread as well, which reports it.
        let _ = lock(&own, 16);
    })?;
    Ok((mutex, thread))
}

/// A thread that waits at a barrier, and ends when this is dropped.
struct Meeting {
    barrier: Arc<PthreadBarrier>,
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Meeting {
    fn start(cpu: Cpu) -> Result<Meeting, BenchError> {
        let (barrier, is_over) = (Arc::new(PthreadBarrier::new(2)?), Arc::new(AtomicBool::new(false)));
        let (own, over) = (Arc::clone(&barrier), Arc::clone(&is_over));
        let run = move || {
            // A CPU that went offline: then it waits where it can.
            let _ = setaffinity(Tid(0), &CpuSet::from_iter([cpu]));
            while own.wait().is_ok() && !over.load(Acquire) {}
        };
        let thread = std::thread::Builder::new().name("bench-barrier".into()).spawn(run);
        let thread = thread.map_err(|error| BenchError::io("create a thread", error))?;
        Ok(Meeting { barrier, is_over, thread: Some(thread) })
    }
}

impl Drop for Meeting {
    fn drop(&mut self) {
        self.is_over.store(true, Release);
        if let Some(thread) = self.thread.take().filter(|_| self.barrier.wait().is_ok()) {
            // It does not panic.
            let _ = thread.join();
        }
    }
}
