//! A watch as metrics, for Prometheus.

use whylate_investigate::watch::{WatchReport, WatchedName};
use whylate_metrics::{Family, Sample};
use whylate_stats::Histogram;

/// A distribution of each thread.
type OfThread = fn(&WatchedName) -> &Histogram;

/// The histograms: name, help, and which.
const HISTOGRAMS: [(&str, &str, OfThread); 2] = [
    ("whylate_watch_latency_seconds", "Due to running, by thread", |thread| &thread.latency),
    ("whylate_watch_response_seconds", "Due to done, by thread", |thread| &thread.response),
];

/// All families.
pub fn families(report: &WatchReport) -> Vec<Family> {
    let histograms = HISTOGRAMS.iter().map(|&(name, help, of)| {
        let samples = report.threads.iter().map(|thread| sample(vec![of_thread(thread)], of(thread).clone()));
        Family::histogram(name, help, samples.collect())
    });
    histograms.chain(numbers(report)).collect()
}

fn sample<T>(labels: Vec<(&'static str, String)>, value: T) -> Sample<T> {
    Sample { labels, value }
}

fn of_thread(thread: &WatchedName) -> (&'static str, String) {
    ("thread", thread.name.clone())
}

/// The numbers that are no histograms.
fn numbers(report: &WatchReport) -> Vec<Family> {
    let cost = &report.cost;
    let of_threads = |of: fn(&WatchedName) -> f64| {
        report.threads.iter().map(|thread| sample(vec![of_thread(thread)], of(thread))).collect::<Vec<_>>()
    };
    let groups = report.groups.iter().map(|group| {
        let culprit = group.culprit.clone().unwrap_or_default();
        let labels =
            vec![("thread", group.thread.clone()), ("cause", group.cause.clone()), ("culprit", culprit)];
        sample(labels, group.count as f64)
    });
    let deadlines = report.threads.iter().filter_map(|one| {
        let limit = one.limit?;
        let labels = vec![of_thread(one), ("from", limit.kind.name().to_owned())];
        Some(sample(labels, limit.limit.as_secs_f64()))
    });
    let mut numbers = vec![
        Family::counter(
            "whylate_watch_late_activations",
            "Late activations by thread, cause and culprit, with those of earlier watches of the same directory",
            groups.collect(),
        ),
        Family::counter(
            "whylate_watch_late_by_thread",
            "Late activations by thread, also those not explained",
            of_threads(|one| one.late as f64),
        ),
        Family::counter(
            "whylate_watch_activations",
            "Activations by thread",
            of_threads(|one| one.activations as f64),
        ),
        Family::gauge("whylate_watch_deadline_seconds", "What a response is judged by", deadlines.collect()),
        Family::counter(
            "whylate_watch_counted_only",
            "Late activations that were counted and not explained",
            Sample::alone(report.counted_only as f64),
        ),
        Family::counter(
            "whylate_watch_cpu_seconds",
            "CPU time of the watch itself",
            Sample::alone(cost.cpu.as_secs_f64()),
        ),
        Family::gauge(
            "whylate_watch_max_cpu_ratio",
            "The bound on that CPU time, as a share of one CPU",
            Sample::alone(cost.max_cpu),
        ),
        Family::counter(
            "whylate_watch_events",
            "Events that the kernel recorded",
            Sample::alone(cost.events as f64),
        ),
        Family::counter(
            "whylate_watch_lost_events",
            "Events that were overwritten before they were read",
            Sample::alone(cost.lost as f64),
        ),
        Family::counter(
            "whylate_watch_paused_seconds",
            "Time in which nothing was recorded",
            Sample::alone(cost.paused.as_secs_f64()),
        ),
        Family::gauge(
            "whylate_watch_dropped_event_groups",
            "Groups of events that are not recorded, to keep the bound on CPU time",
            Sample::alone(report.dropped.len() as f64),
        ),
        Family::gauge(
            "whylate_watch_windows_bytes",
            "Bytes of all windows",
            Sample::alone(cost.disk_bytes as f64),
        ),
        Family::counter(
            "whylate_watch_elapsed_seconds",
            "How long the watch has run",
            Sample::alone(report.elapsed.as_secs_f64()),
        ),
    ];
    if let Some(event) = cost.event_ns {
        numbers.push(Family::gauge(
            "whylate_watch_event_cost_seconds",
            "What recording an event takes the thread that causes it",
            Sample::alone(event / 1e9),
        ));
    }
    if let Some(memory) = cost.memory_kib {
        numbers.push(Family::gauge(
            "whylate_watch_peak_memory_bytes",
            "The most memory that the watch had",
            Sample::alone(memory as f64 * 1024.0),
        ));
    }
    numbers
}
