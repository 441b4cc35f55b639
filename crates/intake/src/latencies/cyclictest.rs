//! cyclictest's text: the last line of each thread, the histogram of `-h`, each sample of `-v` (rt-tests,
//! src/cyclictest/cyclictest.c). It counts in us; with `-N` in ns, which only its own summary tells.

use super::Broken;
use super::counted::{Counted, notes};
use std::collections::BTreeMap;
use whylate_base::Ns;
use whylate_stats::{Measured, Run};

const TOOL: &str = "cyclictest";

pub(super) fn read(text: &str) -> Option<Result<Run, Broken>> {
    let threads = if text.lines().any(|line| line.trim_end() == "# Histogram") {
        histogram(text)?
    } else if text.lines().any(|line| line.starts_with("T:")) {
        summary(text)
    } else {
        each_sample(text)?
    };
    let intervals = intervals(text);
    let threads: Vec<Measured> =
        threads.into_iter().filter_map(|thread| thread.measured(Ns::from_us(1))).collect();
    if threads.is_empty() {
        return Some(Err(Broken { tool: TOOL, why: "there is no sample in it".to_owned() }));
    }
    let mut notes = notes(&threads, "1 us");
    if text.contains("cpu_dma_latency set to") {
        notes.push(
            "it held /dev/cpu_dma_latency while it measured: an application that does not will wake later"
                .to_owned(),
        );
    }
    let interval = intervals.first().copied();
    Some(Ok(Run {
        tool: TOOL.to_owned(),
        probe: "timer".to_owned(),
        interval,
        threads,
        notes,
        ..Run::default()
    }))
}

/// `000057 000041 000019`, then `# Max Latencies: 00744 22027`. With `-H` a last column sums the others up.
fn histogram(text: &str) -> Option<Vec<Counted>> {
    let mut threads: Vec<Counted> = Vec::new();
    let named = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name))?;
        Some(line.split_ascii_whitespace().filter_map(|word| word.parse().ok()).collect::<Vec<u64>>())
    };
    let (min, max) = (named("# Min Latencies:"), named("# Max Latencies:"));
    let (mean, overflow) = (named("# Avg Latencies:"), named("# Histogram Overflows:"));
    for line in text.lines().filter(|line| line.starts_with(|first: char| first.is_ascii_digit())) {
        let mut words = line.split_ascii_whitespace().map(str::parse::<u64>);
        let Some(Ok(class)) = words.next() else { continue };
        for (at, count) in words.enumerate() {
            let Ok(count) = count else { break };
            if at >= threads.len() {
                threads.push(Counted { name: format!("thread {at}"), ..Counted::default() });
            }
            threads[at].classes.push((class, count));
        }
    }
    // The minima have no column for the sum.
    let real = min.as_ref().or(mean.as_ref()).map_or(threads.len(), Vec::len);
    threads.truncate(real);
    let of = |all: &Option<Vec<u64>>, at: usize| all.as_ref().and_then(|all| all.get(at).copied());
    for (at, thread) in threads.iter_mut().enumerate() {
        (thread.min, thread.max) = (of(&min, at), of(&max, at));
        thread.overflow = of(&overflow, at).unwrap_or(0);
        thread.mean = of(&mean, at).map(|mean| mean as f64);
    }
    (!threads.is_empty()).then_some(threads)
}

/// `T: 0 ( 9066) P:80 I:1000 C:   2000 Min:     14 Act:   24 Avg:   34 Max:     744`, written over and over: the last
/// one of each thread counts.
fn summary(text: &str) -> Vec<Counted> {
    let mut threads = BTreeMap::new();
    // Without -q the lines are overwritten by moving the cursor up.
    let lines =
        text.split(['\n', '\r']).filter_map(|line| line.trim_start_matches("\x1b[1A").strip_prefix("T:"));
    for line in lines {
        let field = |name: &str| {
            let rest = line.split_once(name)?.1.trim_start();
            rest.split(|c: char| !c.is_ascii_digit()).next()?.parse::<u64>().ok()
        };
        let number =
            line.trim_start().split(|c: char| !c.is_ascii_digit()).next().and_then(|n| n.parse::<u32>().ok());
        if let (Some(number), Some(count), Some(max)) = (number, field("C:"), field("Max:")) {
            let thread = Counted {
                name: format!("thread {number}"),
                overflow: count,
                min: field("Min:"),
                max: Some(max),
                mean: field("Avg:").map(|mean| mean as f64),
                ..Counted::default()
            };
            threads.insert(number, thread);
        }
    }
    threads.into_values().collect()
}

/// `       0:       6:      40`: thread, cycle, latency.
fn each_sample(text: &str) -> Option<Vec<Counted>> {
    let mut threads: BTreeMap<u32, BTreeMap<u64, u64>> = BTreeMap::new();
    let (mut samples, mut others) = (0u64, 0u64);
    for line in text.lines() {
        let mut words = line.split(':').map(str::trim);
        let sample =
            (words.next().map(str::parse), words.next().map(str::parse::<u64>), words.next().map(str::parse));
        match sample {
            (Some(Ok(thread)), Some(Ok(_)), Some(Ok(latency))) if words.next().is_none() => {
                *threads.entry(thread).or_default().entry(latency).or_default() += 1;
                samples += 1;
            }
            _ => others += 1,
        }
    }
    let counted = |(thread, classes): (u32, BTreeMap<u64, u64>)| Counted {
        name: format!("thread {thread}"),
        classes: classes.into_iter().collect(),
        ..Counted::default()
    };
    (samples > others).then(|| threads.into_iter().map(counted).collect())
}

/// `I:1000` of a summary, `Thread 0 Interval: 1500` of `-v`, in us.
fn intervals(text: &str) -> Vec<Ns> {
    let of = |line: &str| {
        let rest = match line.starts_with("T:") {
            true => line.split_once(" I:")?.1,
            false => line.strip_prefix("Thread ")?.split_once("Interval:")?.1,
        };
        rest.split_ascii_whitespace().next()?.parse().ok().map(Ns::from_us)
    };
    text.lines().take(1000).filter_map(of).collect()
}
