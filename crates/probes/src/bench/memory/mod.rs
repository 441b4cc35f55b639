//! What memory costs: page faults of each kind, locking, growing the heap and the stack, copying.

mod copying;
mod faults;
mod files;
mod growth;
mod pages;
mod verdict;

use super::BenchKind;
use super::report::BenchReport;
use super::rounds::{self, Outcome};
use std::sync::atomic::{AtomicBool, Ordering::Acquire};
use whylate_base::Ns;
use whylate_sys::{Clock, now};

/// Measures for about `time`, or until `stop`.
pub(super) fn measure(time: Ns, stop: &AtomicBool) -> BenchReport {
    let start = now(Clock::Monotonic);
    let mut outcome = Outcome::default();
    let page = rustix::param::page_size();
    let mut cases = faults::cases(page);
    cases.extend(growth::cases(page));
    cases.extend(copying::cases());
    match files::cases(page) {
        Ok(of_files) => cases.extend(of_files),
        Err(error) => outcome.skip("file", &error),
    }
    outcome.add(rounds::run(cases, time, stop));
    BenchReport {
        kind: BenchKind::Memory,
        elapsed: now(Clock::Monotonic) - start,
        interrupted: stop.load(Acquire),
        verdict: verdict::verdict(&outcome.rows, page),
        published: Vec::new(),
        rows: outcome.rows,
        skipped: outcome.skipped,
        notes: vec![format!("An operation is one page of {page} bytes where the row names no other size.")],
    }
}
