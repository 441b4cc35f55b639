//! What recording an event costs on this machine: system calls of our own, recorded and not recorded.

use super::stream::EventStream;
use std::time::Instant;
use whylate_ftrace::tracefs::TracefsError;

const CALLS: u32 = 400;
const ROUNDS: usize = 7;
const EVENTS: [&str; 2] = ["raw_syscalls:sys_enter", "raw_syscalls:sys_exit"];

/// The cost of one event in nanoseconds: the least of some rounds, which had the fewest interrupts in them. `None`: it
/// cannot be told.
pub(super) fn measure(stream: &EventStream) -> Option<f64> {
    if !stream.has_calls() {
        return None;
    }
    let main = stream.recorder().session().main();
    let with_filter = |filter: &str| -> Result<f64, TracefsError> {
        EVENTS.iter().try_for_each(|event| main.set_filter(event, filter))?;
        Ok((0..ROUNDS).map(|_| round()).fold(f64::MAX, f64::min))
    };
    let recorded = with_filter(&format!("common_pid == {}", whylate_sys::gettid()));
    let without = with_filter("common_pid == -1");
    let cost = (recorded.ok()? - without.ok()?) / EVENTS.len() as f64;
    (cost > 0.0).then_some(cost)
}

/// Nanoseconds for a system call that does nothing.
fn round() -> f64 {
    let begun = Instant::now();
    for _ in 0..CALLS {
        std::hint::black_box(rustix::process::getppid());
    }
    begun.elapsed().as_nanos() as f64 / f64::from(CALLS)
}
