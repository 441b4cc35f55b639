//! The counts of a guard as metrics, for node_exporter's textfile collector.

use whylate_metrics::{Family, Sample};
use whylate_threads::guard::GuardCounts;

/// All families.
pub fn families(counts: &GuardCounts) -> Vec<Family> {
    let counter = |name, help, value: f64| Family::counter(name, help, Sample::alone(value));
    let gauge = |name, help, value: f64| Family::gauge(name, help, Sample::alone(value));
    vec![
        counter("whylate_guard_looks", "Looks at all threads", counts.looks as f64),
        gauge("whylate_guard_threads", "Threads at the last look", counts.threads as f64),
        counter("whylate_guard_starving", "Starving threads found", counts.starving as f64),
        counter("whylate_guard_boosted", "Starving threads that were lent a policy", counts.boosted as f64),
        counter("whylate_guard_refused", "Starving threads that were not helped", counts.refused as f64),
        gauge("whylate_guard_lent_now", "Threads with a lent policy", counts.lent_now as f64),
        gauge(
            "whylate_guard_longest_wait_seconds",
            "The longest wait of a starving thread",
            counts.longest_wait.as_secs_f64(),
        ),
        counter(
            "whylate_guard_cpu_seconds",
            "CPU time of the guard itself",
            counts.own_cpu_time.as_secs_f64(),
        ),
        counter("whylate_guard_elapsed_seconds", "How long the guard has run", counts.elapsed.as_secs_f64()),
    ]
}
