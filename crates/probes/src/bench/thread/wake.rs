//! How long it takes to wake a thread and to be woken by it, by each means, on one CPU and on two.

use super::gate::Gated;
use super::partner::Partner;
use crate::Ipc;
use crate::bench::BenchError;
use crate::bench::case::{Case, timed};
use crate::bench::rounds::Outcome;
use whylate_base::Cpu;

pub(super) const ONE_CPU: &str = "round trip on one CPU";
pub(super) const TWO_CPUS: &str = "round trip between two CPUs";

/// Without a message queue, which needs one more limit, and without a PI mutex, which has rows of its own.
pub(super) const MEANS: [Ipc; 6] =
    [Ipc::Futex, Ipc::Condvar, Ipc::Eventfd, Ipc::Pipe, Ipc::Socket, Ipc::Signal];

fn what(by: Ipc) -> &'static str {
    match by {
        Ipc::Futex => "futex",
        Ipc::Condvar => "condition variable",
        Ipc::Eventfd => "eventfd",
        Ipc::Pipe => "pipe",
        Ipc::Socket => "Unix socket",
        Ipc::Signal => "signal",
        Ipc::PiMutex => "PI mutex",
        Ipc::Mq => "message queue",
    }
}

/// The name of a row.
pub(super) fn row_name(group: &str, by: Ipc) -> String {
    let place = if group == ONE_CPU { "one CPU" } else { "two CPUs" };
    format!("{}, {place}", what(by))
}

/// Adds a case for each means, with the other thread on `cpu`.
pub(super) fn add<'a>(cases: &mut Vec<Case<'a>>, outcome: &mut Outcome, group: &'static str, cpu: Cpu) {
    for by in MEANS {
        let name = row_name(group, by);
        match Partner::start(by, cpu) {
            Ok(mut partner) => cases.push(Case::new(group, name, move |trips| {
                timed(|| (0..trips).try_for_each(|_| partner.round_trip()))
            })),
            Err(error) => outcome.skip(&name, &error),
        }
    }
    if group == ONE_CPU {
        let name = "sched_yield beside another thread, one CPU";
        match Gated::start(cpu, std::thread::yield_now) {
            Ok(other) => cases.push(Case::new(group, name, move |calls| {
                other.beside(|| {
                    timed(|| {
                        for _ in 0..calls {
                            std::thread::yield_now();
                        }
                        Ok::<(), BenchError>(())
                    })
                })
            })),
            Err(error) => outcome.skip(name, &error),
        }
    }
}
