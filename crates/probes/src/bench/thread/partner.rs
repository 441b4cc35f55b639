//! The other thread of a round trip.

use crate::Ipc;
use crate::bench::BenchError;
use crate::meter::channel::Channel;
use std::sync::Arc;
use std::sync::atomic::{
    AtomicBool,
    Ordering::{Acquire, Release},
};
use std::sync::mpsc::channel;
use std::thread::JoinHandle;
use whylate_base::{Cpu, CpuSet, Tid};
use whylate_sys::{SysError, setaffinity};

/// A thread that waits to be woken, and then wakes the thread that created it. It ends when it is dropped.
pub(super) struct Partner {
    ways: Arc<Ways>,
    turn: u32,
    thread: Option<JoinHandle<()>>,
}

struct Ways {
    there: Channel,
    back: Channel,
    is_over: AtomicBool,
}

impl Partner {
    /// A partner on a CPU.
    pub(super) fn start(by: Ipc, cpu: Cpu) -> Result<Partner, BenchError> {
        let ways =
            Ways { there: Channel::open(by)?, back: Channel::open(by)?, is_over: AtomicBool::new(false) };
        ways.back.prepare_woken()?;
        let ways = Arc::new(ways);
        let (ready, is_ready) = channel();
        let own = Arc::clone(&ways);
        let run = move || {
            let prepared =
                setaffinity(Tid(0), &CpuSet::from_iter([cpu])).and_then(|()| own.there.prepare_woken());
            let is_prepared = prepared.is_ok();
            if ready.send(prepared).is_ok() && is_prepared {
                // What fails there fails for the other thread as well, which reports it.
                let _ = own.answer();
            }
        };
        let thread = std::thread::Builder::new().name("bench-partner".into()).spawn(run);
        let thread = thread.map_err(|error| BenchError::io("create a thread", error))?;
        is_ready.recv().map_err(|_| BenchError::Thread("the other thread ended early".to_owned()))??;
        Ok(Partner { ways, turn: 0, thread: Some(thread) })
    }

    /// Wakes it, and waits until it has woken this thread.
    #[inline]
    pub(super) fn round_trip(&mut self) -> Result<(), SysError> {
        let Ways { there, back, .. } = &*self.ways;
        there.before_wake(self.turn)?;
        there.wake(self.turn)?;
        back.wait(self.turn)?;
        back.after_wait(self.turn)?;
        self.turn = self.turn.wrapping_add(1);
        Ok(())
    }
}

impl Ways {
    fn answer(&self) -> Result<(), SysError> {
        for turn in (0..=u32::MAX).cycle() {
            self.there.wait(turn)?;
            self.there.after_wait(turn)?;
            if self.is_over.load(Acquire) {
                break;
            }
            self.back.before_wake(turn)?;
            self.back.wake(turn)?;
        }
        Ok(())
    }
}

impl Drop for Partner {
    fn drop(&mut self) {
        self.ways.is_over.store(true, Release);
        let woken = self.ways.there.before_wake(self.turn).and_then(|()| self.ways.there.wake(self.turn));
        if let Some(thread) = self.thread.take().filter(|_| woken.is_ok()) {
            // It does not panic.
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_means_makes_round_trips_and_ends() {
        let cpu = whylate_sys::current_cpu();
        for by in super::super::wake::MEANS {
            std::thread::spawn(move || {
                let mut partner = Partner::start(by, cpu).expect("a partner");
                for _ in 0..50 {
                    partner.round_trip().expect("a round trip");
                }
            })
            .join()
            .expect("thread");
        }
    }
}
