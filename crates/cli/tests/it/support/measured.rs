//! Documents of `whylate measure` whose numbers are known.

use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use whylate_base::Ns;
use whylate_stats::Histogram;

/// A minute at 1 ms is too long to be made up in a test; these are 20 s.
const SECONDS: usize = 20;
const PER_SECOND: usize = 1_000;

/// Two CPUs whose latencies lie above 5 us with an exponential tail of the mean `scale`; a CPU 1 that was once as late
/// as `rogue`, because of multipathd.
pub(crate) fn document(seed: u64, scale: f64, rogue: Option<i64>) -> Value {
    let sample = include_str!("../../../../report/tests/fixtures/measure.json");
    let mut document: Value = serde_json::from_str(sample).expect("the sample");
    let cpu = |cpu: u64| {
        let mut latencies = drawn(seed * 2 + cpu, scale);
        if let (1, Some(rogue)) = (cpu, rogue) {
            latencies[7_500] = Ns(rogue);
        }
        let histogram: Histogram = latencies.iter().copied().collect();
        let largest = latencies.chunks(PER_SECOND).map(|second| second.iter().max().map(|largest| largest.0));
        let mut result = document["cpus"][0].clone();
        let known = |ns: Option<Ns>| ns.map(|ns| ns.0);
        result["cpu"] = json!(cpu);
        result["samples"] = json!(histogram.count());
        result["latency_ns"] = json!({
            "min": known(histogram.min()), "mean": known(histogram.mean()), "p50": known(histogram.percentile(0.5)),
            "p99": known(histogram.tail(0.99)), "p99_99": known(histogram.tail(0.9999)), "max": known(histogram.max()),
        });
        let bucket =
            |bucket: &whylate_stats::Bucket| json!({"upto_ns": bucket.upto.0, "count": bucket.count});
        result["histogram"] = histogram.buckets().iter().map(bucket).collect();
        result["maxima"] = json!({"length_ns": 1_000_000_000, "largest_ns": largest.collect::<Vec<_>>()});
        result
    };
    document["cpus"] = json!([cpu(0), cpu(1)]);
    document["elapsed_ns"] = json!(SECONDS as i64 * 1_000_000_000);
    let mut spike = document["spikes"][0].clone();
    spike["latency_ns"] = json!(rogue);
    document["spikes"] = rogue.map_or(json!([]), |_| json!([spike]));
    document["machine"] = json!([
        {"name": "service multipathd", "value": if rogue.is_some() { "active" } else { "inactive" }},
        {"name": "/proc/sys/kernel/sched_rt_runtime_us", "value": "950000"},
    ]);
    document
}

/// A document in a file of that name.
pub(crate) fn file(directory: &Path, name: &str, document: &Value) -> PathBuf {
    let path = directory.join(name);
    std::fs::write(&path, document.to_string()).expect("a file");
    path
}

/// The same seed draws the same (xorshift64*, Vigna 2016).
fn drawn(seed: u64, scale: f64) -> Vec<Ns> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut uniform = || {
        state ^= state >> 12;
        state ^= state << 25;
        state ^= state >> 27;
        (state.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 11) as f64 / (1u64 << 53) as f64
    };
    // The generator's first values still resemble its seed.
    (0..100).for_each(|_| {
        uniform();
    });
    let latency = |uniform: f64| Ns((5_000.0 - scale * (1.0 - uniform).ln()) as i64);
    (0..SECONDS * PER_SECOND).map(|_| latency(uniform())).collect()
}
