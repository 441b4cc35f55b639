//! What the costs of threads and locks mean.

use super::creation::{FORK, SYSTEM_CALL, THREAD};
use super::locks::{INHERITS, INHERITS_CONTENDED, PLAIN, PLAIN_CONTENDED};
use super::wake::{ONE_CPU, TWO_CPUS};
use crate::bench::{BenchRow, BenchVerdict};
use whylate_base::Severity;

pub(super) fn verdict(rows: &[BenchRow]) -> Vec<BenchVerdict> {
    let p50 = |name: &str| rows.iter().find(|row| row.name == name).map(|row| row.per_operation.p50);
    let mut verdict = Vec::new();
    let mut say = |text: String| verdict.push(BenchVerdict::new(Severity::Info, text));
    for (group, place) in [(ONE_CPU, "on one CPU"), (TWO_CPUS, "between two CPUs")] {
        let trips = rows.iter().filter(|row| row.group == group && !row.name.starts_with("sched_yield"));
        let mut trips: Vec<&BenchRow> = trips.collect();
        trips.sort_by(|a, b| a.per_operation.p50.0.total_cmp(&b.per_operation.p50.0));
        if let [fastest, .., slowest] = trips[..] {
            let means = |row: &BenchRow| row.name.split(',').next().unwrap_or_default().to_owned();
            say(format!(
                "To wake a thread and be woken by it {place} takes {} by {}, and {} by {}.",
                fastest.per_operation.p50,
                means(fastest),
                slowest.per_operation.p50,
                means(slowest)
            ));
        }
    }
    if let (Some(plain), Some(inherits)) = (p50(PLAIN), p50(INHERITS)) {
        let mut text = format!(
            "Priority inheritance makes an uncontended mutex cost {inherits} instead of {plain} for lock and unlock"
        );
        if let (Some(plain), Some(inherits)) = (p50(PLAIN_CONTENDED), p50(INHERITS_CONTENDED)) {
            text += &format!("; contended {inherits} instead of {plain}");
        }
        say(text + ".");
    }
    if let (Some(thread), Some(fork), Some(call)) = (p50(THREAD), p50(FORK), p50(SYSTEM_CALL)) {
        say(format!(
            "A thread costs {thread} to create and join, a process {fork} (of whylate's size), a system call {call}: create \
             threads before the real-time work begins."
        ));
    }
    verdict
}
