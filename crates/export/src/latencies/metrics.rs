//! OpenMetrics 1.0 (prometheus.io/docs/specs/om), kept to what Prometheus' older text format reads in the same way: no
//! counters, whose names differ between the two.

use std::fmt::Write as _;
use std::io::{self, Write};
use whylate_base::Ns;
use whylate_stats::{Histogram, METRIC_BOUNDS, Measured, Run, label_value};

const LATENCY: &str = "whylate_latency_seconds";

pub(super) fn write(run: &Run, out: &mut dyn Write) -> io::Result<()> {
    let labels: Vec<String> = run.threads.iter().map(|thread| labels(run, thread)).collect();
    let threads = || run.threads.iter().zip(&labels);

    head(out, LATENCY, "histogram", "How late each sample was")?;
    for (thread, labels) in threads() {
        let histogram = &thread.histogram;
        for ((_, bound), count) in METRIC_BOUNDS.iter().zip(upto(histogram)) {
            writeln!(out, "{LATENCY}_bucket{{{labels},le=\"{bound}\"}} {count}")?;
        }
        writeln!(out, "{LATENCY}_bucket{{{labels},le=\"+Inf\"}} {}", histogram.count())?;
        writeln!(out, "{LATENCY}_count{{{labels}}} {}", histogram.count())?;
        writeln!(out, "{LATENCY}_sum{{{labels}}} {}", histogram.sum() as f64 / 1e9)?;
    }
    type Sum = fn(&Histogram) -> Option<Ns>;
    let sums: [(&str, &str, Sum); 2] = [
        ("whylate_latency_min_seconds", "The least late sample since the beginning", Histogram::min),
        ("whylate_latency_max_seconds", "The latest sample since the beginning", Histogram::max),
    ];
    for (name, help, of) in sums {
        head(out, name, "gauge", help)?;
        for (thread, labels) in threads() {
            // Without samples there is none, and none is written.
            if let Some(latency) = of(&thread.histogram) {
                writeln!(out, "{name}{{{labels}}} {}", latency.as_secs_f64())?;
            }
        }
    }
    if let Some(elapsed) = run.elapsed {
        gauge(out, run, "whylate_elapsed_seconds", "How long the measurement has taken so far", elapsed)?;
    }
    if let Some(interval) = run.interval {
        gauge(out, run, "whylate_interval_seconds", "From one sample of a thread to its next", interval)?;
    }
    writeln!(out, "# EOF")
}

fn gauge(out: &mut dyn Write, run: &Run, name: &str, help: &str, value: Ns) -> io::Result<()> {
    head(out, name, "gauge", help)?;
    writeln!(out, "{name}{{{}}} {}", of_run(run), value.as_secs_f64())
}

fn head(out: &mut dyn Write, name: &str, kind: &str, help: &str) -> io::Result<()> {
    writeln!(out, "# TYPE {name} {kind}\n# UNIT {name} seconds\n# HELP {name} {help}.")
}

/// How many samples were surely no later than each bound: a bucket that a bound lies in is beyond it.
fn upto(histogram: &Histogram) -> impl Iterator<Item = u64> + '_ {
    let mut buckets = histogram.buckets().iter().peekable();
    let max = histogram.max().unwrap_or_default();
    let mut count = 0;
    METRIC_BOUNDS.iter().map(move |&(bound, _)| {
        while let Some(bucket) = buckets.next_if(|bucket| bucket.upto.min(max).0 <= bound) {
            count += bucket.count;
        }
        // Samples in no bucket are no later than the latest.
        let all = buckets.peek().is_none() && max.0 <= bound;
        if all { histogram.count() } else { count }
    })
}

fn of_run(run: &Run) -> String {
    format!("probe=\"{}\",tool=\"{}\"", label_value(&run.probe), label_value(&run.tool))
}

fn labels(run: &Run, thread: &Measured) -> String {
    let mut labels = of_run(run);
    let name = label_value(&thread.name);
    // Several threads may share a CPU: the name tells them apart.
    let _ = write!(labels, ",thread=\"{name}\"");
    if let Some(cpu) = thread.cpu {
        let _ = write!(labels, ",cpu=\"{}\"", cpu.0);
    }
    labels
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_counted_below_a_bound_that_may_be_above_it() {
        use whylate_stats::{Bucket, Exact};
        let bucket = |from, upto, count| Bucket { from: Ns(from), upto: Ns(upto), count };
        let exact = Exact { overflow: 3, sum: 0, min: Ns(900), max: Ns(3_000_000) };
        let histogram = Histogram::new([bucket(900, 999, 1), bucket(1_500, 2_499, 1)], exact);
        let counts: Vec<u64> = upto(&histogram).collect();
        assert_eq!(counts[..3], [1, 1, 2], "up to 1, 2 and 5 us");
        assert_eq!(counts[9..12], [2, 2, 5], "up to 1, 2 and 5 ms");
        assert_eq!(upto(&Histogram::default()).max(), Some(0));
    }
}
