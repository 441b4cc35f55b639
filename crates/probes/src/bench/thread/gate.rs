//! A thread that works only while another one measures.

use crate::bench::BenchError;
use std::sync::Arc;
use std::sync::atomic::{
    AtomicU32, AtomicU64,
    Ordering::{Acquire, Relaxed, Release},
};
use std::thread::JoinHandle;
use whylate_base::{Cpu, CpuSet, Ns, Tid};
use whylate_sys::{futex_wait, futex_wake, setaffinity};

const SHUT: u32 = 0;
const OPEN: u32 = 1;
const OVER: u32 = 2;

/// The thread. It ends when this is dropped.
pub(super) struct Gated {
    gate: Arc<Gate>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Gate {
    state: AtomicU32,
    /// How often it has worked.
    rounds: AtomicU64,
}

impl Gated {
    /// One on a CPU that does `work` again and again.
    pub(super) fn start(cpu: Cpu, work: impl Fn() + Send + 'static) -> Result<Gated, BenchError> {
        let gate = Arc::new(Gate::default());
        let own = Arc::clone(&gate);
        let run = move || {
            // A CPU that went offline: then it works where it can.
            let _ = setaffinity(Tid(0), &CpuSet::from_iter([cpu]));
            own.work(&work);
        };
        let thread = std::thread::Builder::new().name("bench-beside".into()).spawn(run);
        let thread = thread.map_err(|error| BenchError::io("create a thread", error))?;
        Ok(Gated { gate, thread: Some(thread) })
    }

    /// Measures while it works.
    pub(super) fn beside(&self, measure: impl FnOnce() -> Result<Ns, BenchError>) -> Result<Ns, BenchError> {
        let before = self.gate.rounds.load(Acquire);
        self.gate.set(OPEN);
        while self.gate.rounds.load(Acquire) == before {
            std::thread::yield_now();
        }
        let took = measure();
        self.gate.set(SHUT);
        took
    }
}

impl Gate {
    fn set(&self, state: u32) {
        self.state.store(state, Release);
        // No thread that sleeps is no fault.
        let _ = futex_wake(&self.state);
    }

    fn work(&self, work: &impl Fn()) {
        loop {
            match self.state.load(Acquire) {
                SHUT if futex_wait(&self.state, SHUT).is_err() => return,
                SHUT => {}
                OVER => return,
                _ => {
                    work();
                    self.rounds.store(self.rounds.load(Relaxed) + 1, Release);
                }
            }
        }
    }
}

impl Drop for Gated {
    fn drop(&mut self) {
        self.gate.set(OVER);
        if let Some(thread) = self.thread.take() {
            // It does not panic.
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_works_while_it_is_measured_and_ends() {
        let cpu = whylate_sys::current_cpu();
        let count = Arc::new(AtomicU64::new(0));
        let own = Arc::clone(&count);
        let gated = Gated::start(cpu, move || {
            own.fetch_add(1, Relaxed);
        })
        .expect("a thread");
        for _ in 0..3 {
            let before = count.load(Relaxed);
            gated.beside(|| Ok(Ns(1))).expect("measured");
            assert!(count.load(Relaxed) > before);
        }
        drop(gated);
        assert_eq!(Arc::strong_count(&count), 1);
    }
}
