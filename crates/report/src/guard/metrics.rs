//! The counts of a guard in Prometheus' text format, for node_exporter's textfile collector.

use std::fmt::Write;
use whylate_threads::guard::GuardCounts;

/// The counts as a whole file.
pub fn render(counts: &GuardCounts) -> String {
    let mut text = String::new();
    for (name, kind, help, value) in [
        ("looks_total", "counter", "Looks at all threads", counts.looks as f64),
        ("threads", "gauge", "Threads at the last look", counts.threads as f64),
        ("starving_total", "counter", "Starving threads found", counts.starving as f64),
        ("boosted_total", "counter", "Starving threads that were lent a policy", counts.boosted as f64),
        ("refused_total", "counter", "Starving threads that were not helped", counts.refused as f64),
        ("lent_now", "gauge", "Threads with a lent policy", counts.lent_now as f64),
        (
            "longest_wait_seconds",
            "gauge",
            "The longest wait of a starving thread",
            counts.longest_wait.as_secs_f64(),
        ),
        ("cpu_seconds_total", "counter", "CPU time of the guard itself", counts.own_cpu_time.as_secs_f64()),
        ("elapsed_seconds_total", "counter", "How long the guard has run", counts.elapsed.as_secs_f64()),
    ] {
        let _ = writeln!(
            text,
            "# HELP whylate_guard_{name} {help}.\n# TYPE whylate_guard_{name} {kind}\nwhylate_guard_{name} {value}"
        );
    }
    text
}
