//! A measurement as metrics. None is a counter, whose names differ between OpenMetrics and Prometheus' older text format:
//! node_exporter's textfile collector reads the older one only.

use whylate_base::Ns;
use whylate_metrics::{Family, Sample};
use whylate_stats::{Histogram, Measured, Run};

/// All families.
pub fn families(run: &Run) -> Vec<Family> {
    let of_threads = || run.threads.iter().map(|thread| (labels(run, thread), &thread.histogram));
    let samples = of_threads().map(|(labels, histogram)| Sample { labels, value: histogram.clone() });
    let mut families =
        vec![Family::histogram("whylate_latency_seconds", "How late each sample was", samples.collect())];
    type Extreme = fn(&Histogram) -> Option<Ns>;
    let extremes: [(&str, &str, Extreme); 2] = [
        ("whylate_latency_min_seconds", "The least late sample since the beginning", Histogram::min),
        ("whylate_latency_max_seconds", "The latest sample since the beginning", Histogram::max),
    ];
    for (name, help, of) in extremes {
        // Without samples there is none, and none is written.
        let samples = of_threads()
            .filter_map(|(labels, histogram)| Some(Sample { labels, value: of(histogram)?.as_secs_f64() }));
        families.push(Family::gauge(name, help, samples.collect()));
    }
    let of_run = |value: Ns| vec![Sample { labels: of_run(run), value: value.as_secs_f64() }];
    if let Some(elapsed) = run.elapsed {
        let help = "How long the measurement has taken so far";
        families.push(Family::gauge("whylate_elapsed_seconds", help, of_run(elapsed)));
    }
    if let Some(interval) = run.interval {
        let help = "From one sample of a thread to its next";
        families.push(Family::gauge("whylate_interval_seconds", help, of_run(interval)));
    }
    families
}

fn of_run(run: &Run) -> Vec<(&'static str, String)> {
    vec![("probe", run.probe.clone()), ("tool", run.tool.clone())]
}

fn labels(run: &Run, thread: &Measured) -> Vec<(&'static str, String)> {
    // Several threads may share a CPU: the name tells them apart.
    let name = [("thread", thread.name.clone())];
    let cpu = thread.cpu.map(|cpu| ("cpu", cpu.0.to_string()));
    of_run(run).into_iter().chain(name).chain(cpu).collect()
}
