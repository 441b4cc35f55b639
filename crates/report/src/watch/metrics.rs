//! A watch in OpenMetrics text, for Prometheus.

use std::fmt::Write;
use whylate_investigate::watch::{WatchReport, WatchedName};
use whylate_stats::{Histogram, METRIC_BOUNDS, label_value};

/// A response is longer than a wake-up's latency: it needs no buckets below 10 us.
const BOUNDS: &[(i64, &str)] = METRIC_BOUNDS.split_at(3).1;

/// A distribution of each thread.
type OfThread = fn(&WatchedName) -> &Histogram;

/// The histograms: name, help, and which.
pub(super) const HISTOGRAMS: [(&str, &str, OfThread); 2] = [
    ("whylate_watch_latency_seconds", "Due to running, by thread", |thread| &thread.latency),
    ("whylate_watch_response_seconds", "Due to done, by thread", |thread| &thread.response),
];

/// A number of the watch itself.
pub(super) struct Number {
    pub(super) name: &'static str,
    pub(super) is_counter: bool,
    pub(super) help: &'static str,
    pub(super) values: Vec<(Vec<(&'static str, String)>, f64)>,
}

/// The watch as a whole text, up to `# EOF`.
pub fn render(report: &WatchReport) -> String {
    let mut text = String::new();
    for (name, help, of) in HISTOGRAMS {
        let _ = writeln!(text, "# TYPE {name} histogram\n# UNIT {name} seconds\n# HELP {name} {help}.");
        for thread in &report.threads {
            histogram(&mut text, name, &thread.name, of(thread));
        }
    }
    for number in numbers(report) {
        let kind = if number.is_counter { "counter" } else { "gauge" };
        let (name, help) = (number.name, number.help);
        let _ = writeln!(text, "# TYPE {name} {kind}\n# HELP {name} {help}.");
        let suffix = if number.is_counter { "_total" } else { "" };
        for (labels, value) in &number.values {
            let _ = writeln!(text, "{name}{suffix}{} {value}", braces(labels));
        }
    }
    text.push_str("# EOF\n");
    text
}

fn histogram(text: &mut String, name: &str, thread: &str, histogram: &Histogram) {
    let thread = label_value(thread);
    for &(at, bound) in BOUNDS {
        let upto = histogram.count() - histogram.beyond(whylate_base::Ns(at));
        let _ = writeln!(text, "{name}_bucket{{thread=\"{thread}\",le=\"{bound}\"}} {upto}");
    }
    let _ = writeln!(text, "{name}_bucket{{thread=\"{thread}\",le=\"+Inf\"}} {}", histogram.count());
    let _ = writeln!(text, "{name}_count{{thread=\"{thread}\"}} {}", histogram.count());
    let _ = writeln!(text, "{name}_sum{{thread=\"{thread}\"}} {}", histogram.sum() as f64 / 1e9);
}

/// The numbers that are no histograms.
pub(super) fn numbers(report: &WatchReport) -> Vec<Number> {
    let cost = &report.cost;
    let one = |value: f64| vec![(Vec::new(), value)];
    let counter = |name, help, values| Number { name, is_counter: true, help, values };
    let gauge = |name, help, values| Number { name, is_counter: false, help, values };
    let thread = |thread: &WatchedName| ("thread", thread.name.clone());
    let of_threads = |of: fn(&WatchedName) -> f64| {
        report.threads.iter().map(|one| (vec![thread(one)], of(one))).collect::<Vec<_>>()
    };
    let groups = report.groups.iter().map(|group| {
        let culprit = group.culprit.clone().unwrap_or_default();
        let labels =
            vec![("thread", group.thread.clone()), ("cause", group.cause.clone()), ("culprit", culprit)];
        (labels, group.count as f64)
    });
    let deadlines = report.threads.iter().filter_map(|one| {
        let limit = one.limit?;
        Some((vec![thread(one), ("from", limit.kind.name().to_owned())], limit.limit.as_secs_f64()))
    });
    let mut numbers = vec![
        counter(
            "whylate_watch_late_activations",
            "Late activations by thread, cause and culprit, with those of earlier watches of the same directory",
            groups.collect(),
        ),
        counter(
            "whylate_watch_late_by_thread",
            "Late activations by thread, also those not explained",
            of_threads(|one| one.late as f64),
        ),
        counter(
            "whylate_watch_activations",
            "Activations by thread",
            of_threads(|one| one.activations as f64),
        ),
        gauge("whylate_watch_deadline_seconds", "What a response is judged by", deadlines.collect()),
        counter(
            "whylate_watch_counted_only",
            "Late activations that were counted and not explained",
            one(report.counted_only as f64),
        ),
        counter("whylate_watch_cpu_seconds", "CPU time of the watch itself", one(cost.cpu.as_secs_f64())),
        gauge(
            "whylate_watch_max_cpu_ratio",
            "The bound on that CPU time, as a share of one CPU",
            one(cost.max_cpu),
        ),
        counter("whylate_watch_events", "Events that the kernel recorded", one(cost.events as f64)),
        counter(
            "whylate_watch_lost_events",
            "Events that were overwritten before they were read",
            one(cost.lost as f64),
        ),
        counter(
            "whylate_watch_paused_seconds",
            "Time in which nothing was recorded",
            one(cost.paused.as_secs_f64()),
        ),
        gauge(
            "whylate_watch_dropped_event_groups",
            "Groups of events that are not recorded, to keep the bound on CPU time",
            one(report.dropped.len() as f64),
        ),
        gauge("whylate_watch_windows_bytes", "Bytes of all windows", one(cost.disk_bytes as f64)),
        counter(
            "whylate_watch_elapsed_seconds",
            "How long the watch has run",
            one(report.elapsed.as_secs_f64()),
        ),
    ];
    if let Some(event) = cost.event_ns {
        numbers.push(gauge(
            "whylate_watch_event_cost_seconds",
            "What recording an event takes the thread that causes it",
            one(event / 1e9),
        ));
    }
    if let Some(memory) = cost.memory_kib {
        numbers.push(gauge(
            "whylate_watch_peak_memory_bytes",
            "The most memory that the watch had",
            one(memory as f64 * 1024.0),
        ));
    }
    numbers
}

fn braces(labels: &[(&str, String)]) -> String {
    if labels.is_empty() {
        return String::new();
    }
    let labels: Vec<String> =
        labels.iter().map(|(name, value)| format!("{name}=\"{}\"", label_value(value))).collect();
    format!("{{{}}}", labels.join(","))
}
