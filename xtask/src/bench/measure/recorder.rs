//! What the flight recorder costs while a measurement goes on: the CPU time of each of its threads, with the recorder and
//! without, once the time that may be spent on explanations at the beginning is used up.

use anyhow::{Context, Result};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Until then a run may explain more than its share (`crates/investigate/src/measure/trace.rs`).
const SETTLED: Duration = Duration::from_secs(20);
/// A run's end is another matter: what is left is explained then.
const BEFORE_END: Duration = Duration::from_secs(3);

/// CPU time of each second, in ms.
struct Cost {
    controller: f64,
    measuring: f64,
}

pub(super) fn compare(whylate: &Path, rounds: u32, seconds: u32, interval: u32) -> Result<()> {
    println!(
        "CPU time in ms a second, after the first {} s; every {interval} us on every CPU",
        SETTLED.as_secs()
    );
    println!("{:<24} {:>16} {:>24}", "", "the controller", "all measuring threads");
    for round in 1..=rounds {
        for (name, more) in [("without a trace", vec!["--no-trace"]), ("every 400 us explained", vec![])] {
            let arguments = ["measure", "--quiet", "--threshold", "400us"].map(str::to_owned);
            let mut command = Command::new(whylate);
            command.args(arguments).args(more).arg("-i").arg(format!("{interval}us"));
            command
                .arg("-D")
                .arg(format!("{}s", SETTLED.as_secs() + u64::from(seconds) + BEFORE_END.as_secs()));
            let cost = cost(command.stdout(Stdio::null()).stderr(Stdio::null()), seconds)?;
            println!("{round}: {name:<21} {:>16.1} {:>24.1}", cost.controller, cost.measuring);
        }
    }
    Ok(())
}

fn cost(command: &mut Command, seconds: u32) -> Result<Cost> {
    let mut child = command.spawn().context("whylate could not be started")?;
    let looked = between(&child, seconds);
    if looked.is_err() {
        let _ = child.kill();
    }
    child.wait().context("whylate did not end")?;
    looked
}

fn between(child: &Child, seconds: u32) -> Result<Cost> {
    sleep(SETTLED);
    let (first, started) = (times(child.id())?, Instant::now());
    sleep(Duration::from_secs(seconds.into()));
    let (last, took) = (times(child.id())?, started.elapsed().as_secs_f64());
    let mut cost = Cost { controller: 0.0, measuring: 0.0 };
    for (tid, ns) in last {
        let ms = (ns - first.get(&tid).copied().unwrap_or(0)) as f64 / 1e6 / took;
        if tid == child.id() { cost.controller += ms } else { cost.measuring += ms }
    }
    Ok(cost)
}

/// The CPU time of each thread, in ns: the first number of `schedstat` (Documentation/scheduler/sched-stats.rst).
fn times(pid: u32) -> Result<BTreeMap<u32, u64>> {
    let tasks = format!("/proc/{pid}/task");
    let mut times = BTreeMap::new();
    for task in
        std::fs::read_dir(&tasks).with_context(|| format!("cannot read {tasks}: whylate has ended"))?
    {
        let path = task?.path();
        let tid: Option<u32> =
            path.file_name().and_then(|name| name.to_str()).and_then(|name| name.parse().ok());
        let text = std::fs::read_to_string(path.join("schedstat"))?;
        let time: Option<u64> = text.split_ascii_whitespace().next().and_then(|time| time.parse().ok());
        times.extend(tid.zip(time));
    }
    Ok(times)
}
