//! The program that `bench stacks` has observed: a periodic FIFO thread with a fixed amount of work, or two threads that hand
//! a byte to each other as fast as they can. It measures itself.

use crate::bench::threads::make_fifo;
use anyhow::{Context, Result};
use clap::{Args, ValueEnum};
use rustix::thread::{Timespec, clock_nanosleep_absolute, gettid};
use rustix::time::{ClockId, clock_gettime};
use serde_json::json;
use std::fs::{File, OpenOptions};
use std::hint::black_box;
use std::io::{PipeReader, PipeWriter, Read, Write, pipe};
use std::path::PathBuf;
use std::thread;
use whylate_base::Ns;
use whylate_stats::Histogram;

/// Of the periodic thread.
const PERIOD: i64 = 1_000_000;
const PRIORITY: &str = "50";
/// Steps of its work in each period, some 200 us of a build without optimisation.
const STEPS: u64 = 20_000;
/// It wakes another thread every so many periods.
const WAKES: u64 = 4;

#[derive(Args)]
pub(crate) struct Workload {
    /// What it does
    #[arg(long, value_enum)]
    kind: Kind,
    /// Periods, or hand-overs
    #[arg(long)]
    rounds: u64,
    /// Where it leaves its numbers
    #[arg(long)]
    output: PathBuf,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Kind {
    Periodic,
    HandOver,
}

impl Workload {
    pub(in crate::bench) fn run(&self) -> Result<()> {
        let _awake = keep_cpus_awake();
        let (from, to) = pipe()?;
        let (answers, answer) = pipe()?;
        let other = match self.kind {
            Kind::Periodic => thread::spawn(move || receive(from)),
            Kind::HandOver => thread::spawn(move || hand_back(from, answer)),
        };
        let before = now(ClockId::ProcessCPUTime);
        let responses = match self.kind {
            Kind::Periodic => periodic(self.rounds, to)?,
            Kind::HandOver => hand_over(self.rounds, to, answers)?,
        };
        let cpu = now(ClockId::ProcessCPUTime) - before;
        other.join().map_err(|_| anyhow::anyhow!("the other thread panicked"))?;
        let of = |quantile: Option<Ns>| quantile.map_or(0, |ns| ns.0);
        let numbers = json!({
            "rounds": self.rounds,
            "cpu_ns": cpu,
            "p50_ns": of(responses.median()),
            "p99_ns": of(responses.percentile(0.99)),
        });
        std::fs::write(&self.output, numbers.to_string())
            .with_context(|| format!("cannot write {}", self.output.display()))
    }
}

/// Has idle CPUs wait without a halt for as long as the file is open, as real-time programs do: how fast a CPU is after a halt
/// depends on what else ran, and this differs by more than what is measured here (Documentation/power/pm_qos_interface.rst).
fn keep_cpus_awake() -> Option<File> {
    let device = "/dev/cpu_dma_latency";
    let request = OpenOptions::new().write(true).open(device);
    let held = request.and_then(|mut file| file.write_all(&0i32.to_ne_bytes()).map(|()| file));
    held.inspect_err(|error| eprintln!("bench: {device}: {error}: the times include those of idle states"))
        .ok()
}

/// Responses, due to done.
fn periodic(periods: u64, mut to: PipeWriter) -> Result<Histogram> {
    make_fifo(gettid(), PRIORITY);
    let mut responses = Vec::new();
    let mut due = now(ClockId::Monotonic);
    for period in 0..periods {
        due += PERIOD;
        let at = Timespec { tv_sec: due / 1_000_000_000, tv_nsec: due % 1_000_000_000 };
        clock_nanosleep_absolute(rustix::thread::ClockId::Monotonic, &at).context("cannot sleep")?;
        black_box(work(period));
        if period % WAKES == 0 {
            to.write_all(&[0])?;
        }
        responses.push(Ns(now(ClockId::Monotonic) - due));
    }
    Ok(responses.into_iter().collect())
}

fn work(seed: u64) -> u64 {
    (0..STEPS).fold(seed, |value, step| black_box(value.rotate_left(7) ^ step.wrapping_mul(0x9e37_79b9)))
}

fn receive(mut from: PipeReader) {
    let mut byte = [0; 1];
    while from.read_exact(&mut byte).is_ok() {}
}

/// Times of a byte to the other thread and back.
fn hand_over(rounds: u64, mut to: PipeWriter, mut answers: PipeReader) -> Result<Histogram> {
    let mut times = Vec::new();
    let mut byte = [0; 1];
    for _ in 0..rounds {
        let start = now(ClockId::Monotonic);
        to.write_all(&byte)?;
        answers.read_exact(&mut byte)?;
        times.push(Ns(now(ClockId::Monotonic) - start));
    }
    Ok(times.into_iter().collect())
}

fn hand_back(mut from: PipeReader, mut answer: PipeWriter) {
    let mut byte = [0; 1];
    while from.read_exact(&mut byte).is_ok() && answer.write_all(&byte).is_ok() {}
}

fn now(clock: ClockId) -> i64 {
    let time = clock_gettime(clock);
    time.tv_sec * 1_000_000_000 + time.tv_nsec
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_leaves_its_numbers() {
        for kind in [Kind::Periodic, Kind::HandOver] {
            let output = std::env::temp_dir().join(format!("whylate-{kind:?}-{}", std::process::id()));
            Workload { kind, rounds: 20, output: output.clone() }.run().expect("it ran");
            let text = std::fs::read_to_string(&output).expect("its numbers");
            std::fs::remove_file(&output).expect("removed");
            let numbers: serde_json::Value = serde_json::from_str(&text).expect("JSON");
            for name in ["rounds", "cpu_ns", "p50_ns", "p99_ns"] {
                assert!(numbers[name].as_u64().is_some_and(|value| value > 0), "{kind:?}: {numbers}");
            }
        }
    }
}
