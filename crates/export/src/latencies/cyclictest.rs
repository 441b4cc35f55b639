//! `cyclictest --json` (rt-tests, src/lib/rt-utils.c and src/cyclictest/cyclictest.c); also what is odd about it: the
//! colons in two keys, which scripts rely on. One key is ours, `whylate`: whose measurement it is, and of what.

use super::classes::{Classes, us};
use serde_json::{Map, Value, json};
use std::io::{self, Write};
use whylate_base::Ns;
use whylate_stats::{Measured, Run};

pub(super) fn write(run: &Run, out: &mut dyn Write) -> io::Result<()> {
    let threads: Map<String, Value> =
        run.threads.iter().enumerate().map(|(at, thread)| (at.to_string(), of(thread))).collect();
    let setting = |name: &str| run.machine.iter().find(|(own, _)| own == name).map(|(_, value)| value);
    let mut info = Map::new();
    for (key, name) in [("release", "/proc/sys/kernel/osrelease"), ("version", "/proc/sys/kernel/version")] {
        if let Some(value) = setting(name) {
            info.insert(key.to_owned(), json!(value));
        }
    }
    let document = json!({
        "file_version": 1,
        "cmdline:": run.tool,
        "rt_test_version:": env!("CARGO_PKG_VERSION"),
        "return_code": 0,
        "sysinfo": info,
        "num_threads": run.threads.len(),
        // 0: microseconds.
        "resolution_in_ns": 0,
        "thread": threads,
        "whylate": {"tool": run.tool, "probe": run.probe},
    });
    serde_json::to_writer_pretty(&mut *out, &document)?;
    writeln!(out)
}

fn of(thread: &Measured) -> Value {
    let classes = Classes::of(&thread.histogram);
    let counts: Map<String, Value> =
        classes.counts.iter().map(|(class, count)| (class.to_string(), json!(count))).collect();
    let known = |latency: Option<Ns>| us(latency.unwrap_or_default());
    let mean = thread.histogram.mean().unwrap_or_default().as_us_f64();
    json!({
        "histogram": counts,
        "cycles": thread.histogram.count(),
        "min": known(thread.histogram.min()),
        "max": known(thread.histogram.max()),
        "avg": (mean * 100.0).round() / 100.0,
        // As cyclictest prints of threads that are bound to none.
        "cpu": thread.cpu.map_or(-1, |cpu| i64::from(cpu.0)),
        "node": -1,
    })
}
