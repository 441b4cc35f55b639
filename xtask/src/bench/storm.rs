//! A storm of context switches: on each CPU two threads that hand one byte to and fro, and one that sleeps
//! for short periods.
//!
//! One of each pair and the periodic one are FIFO, so that a recording of the storm has real-time
//! activations to explain. The first only ever answers the other one, which is SCHED_OTHER, and the periodic
//! one does no work: no CPU is kept from other threads. With `--all-fifo` both threads of a pair have one priority:
//! each hand-over is a sleep, and ends an activation. It is a program of its own (`bench storm`), so that
//! `whylate record -- COMMAND` records its system calls.

use super::threads::{make_fifo, pin};
use anyhow::{Context, Result};
use clap::Args;
use rustix::thread::{CpuSet, gettid, sched_getaffinity};
use std::io::{PipeReader, PipeWriter, Read, Write, pipe};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// The priority of the FIFO threads that answer.
const ANSWERING: &str = "10";
/// The periodic ones', and their sleep.
const PERIODIC: &str = "20";
const PERIOD: Duration = Duration::from_micros(200);

#[derive(Args)]
pub(crate) struct Blow {
    /// For how long, in milliseconds
    #[arg(long)]
    ms: u64,
    /// Both threads of a pair are FIFO, at one priority: an activation for about every 8 events
    #[arg(long)]
    all_fifo: bool,
}

impl Blow {
    pub(super) fn run(&self) -> Result<()> {
        let storm = Storm::start(self.all_fifo)?;
        thread::sleep(Duration::from_millis(self.ms));
        drop(storm);
        Ok(())
    }
}

/// A storm, from [`Storm::start`] until it is dropped.
struct Storm {
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Storm {
    /// Starts a pair on every CPU this process may use.
    ///
    /// # Errors
    /// If affinity cannot be read, or a pipe or thread cannot be made.
    fn start(all_fifo: bool) -> Result<Storm> {
        let allowed = sched_getaffinity(None).context("this process's CPUs cannot be read")?;
        let mut storm = Storm { stop: Arc::default(), threads: Vec::new() };
        for cpu in (0..CpuSet::MAX_CPU).filter(|cpu| allowed.is_set(*cpu)) {
            storm.add_pair(cpu, all_fifo).with_context(|| format!("no storm on CPU {cpu}"))?;
        }
        Ok(storm)
    }

    fn add_pair(&mut self, cpu: usize, all_fifo: bool) -> Result<()> {
        let (from_asker, to_answerer) = pipe()?;
        let (from_answerer, to_asker) = pipe()?;
        self.add(cpu, "storm-answer", Some(ANSWERING), move || answer(from_asker, to_asker))?;
        let stop = Arc::clone(&self.stop);
        let priority = all_fifo.then_some(ANSWERING);
        self.add(cpu, "storm-ask", priority, move || ask(&stop, to_answerer, from_answerer))?;
        let stop = Arc::clone(&self.stop);
        self.add(cpu, "storm-period", Some(PERIODIC), move || {
            while !stop.load(Ordering::Relaxed) {
                thread::sleep(PERIOD);
            }
        })
    }

    /// Starts a thread that does its `work` on `cpu` only. Its priority comes first and its CPU second, and
    /// both from outside: a thread that pins itself before it is real-time is a fault of its own.
    fn add(
        &mut self,
        cpu: usize,
        name: &str,
        priority: Option<&str>,
        work: impl FnOnce() + Send + 'static,
    ) -> Result<()> {
        let (sender, receiver) = mpsc::channel();
        let (go, gone) = mpsc::channel();
        self.threads.push(thread::Builder::new().name(name.to_owned()).spawn(move || {
            // Where nobody listens any more there is no storm, and no signal to go.
            let _ = sender.send(gettid());
            if gone.recv().is_ok() {
                work();
            }
        })?);
        let id = receiver.recv().context("the thread ended at once")?;
        if let Some(priority) = priority {
            make_fifo(id, priority);
        }
        pin(id, cpu);
        go.send(()).context("the thread ended at once")?;
        Ok(())
    }
}

impl Drop for Storm {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            // A thread that panicked has reported so on standard error.
            let _ = thread.join();
        }
    }
}

/// Asks until stopped. Dropping the pipe's end is what ends the other thread.
fn ask(stop: &AtomicBool, mut to: PipeWriter, mut from: PipeReader) {
    let mut byte = [0; 1];
    while !stop.load(Ordering::Relaxed) && to.write_all(&byte).is_ok() && from.read_exact(&mut byte).is_ok() {
    }
}

fn answer(mut from: PipeReader, mut to: PipeWriter) {
    let mut byte = [0; 1];
    while from.read_exact(&mut byte).is_ok() && to.write_all(&byte).is_ok() {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pair_hands_the_byte_over_until_it_is_stopped() {
        let (from_asker, to_answerer) = pipe().expect("a pipe");
        let (from_answerer, to_asker) = pipe().expect("a pipe");
        let stop = Arc::new(AtomicBool::new(false));
        let answerer = thread::spawn(move || answer(from_asker, to_asker));
        let asker = thread::spawn({
            let stop = Arc::clone(&stop);
            move || ask(&stop, to_answerer, from_answerer)
        });
        stop.store(true, Ordering::Relaxed);
        asker.join().expect("the asker ends");
        answerer.join().expect("the answerer ends with it");
    }
}
