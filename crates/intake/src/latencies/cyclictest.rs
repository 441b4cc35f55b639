//! cyclictest's text: the last line of each thread, the histogram of `-h`, each sample of `-v` (rt-tests,
//! src/cyclictest/cyclictest.c); and the same lines of its siblings. They count in us; cyclictest with `-N` in ns,
//! which only the lines of its threads show. A histogram that whylate wrote has comments above it
//! (`# whylate: probe=timer`).

use super::counted::{Counted, MOST_THREADS, Source, Unit};
use super::error::Broken;
use std::collections::BTreeMap;
use whylate_base::Ns;
use whylate_stats::Run;

pub(super) fn read(text: &str) -> Option<Result<Run, Broken>> {
    let source = source(text);
    let threads = if text.lines().any(|line| line.trim_end() == "# Histogram") {
        histogram(text)?
    } else if statuses(text).next().is_some() {
        summary(text)
    } else {
        each_sample(text)?
    };
    Some(source.at_most(threads.len()).and_then(|()| source.run(threads)).map(|run| told(text, source, run)))
}

/// True of a thread's line without its maximum: a mail program broke it.
pub(super) fn ends_early(line: &str) -> bool {
    let maximum = || line.rsplit_once("Max:").map_or("", |(_, maximum)| maximum.trim_start());
    line.starts_with("T:")
        && line.contains("P:")
        && !maximum().starts_with(|first: char| first.is_ascii_digit())
}

/// True of a line that is not the rest of another one.
pub(super) fn is_own(line: &str) -> bool {
    line.starts_with(['T', '#', '/', 'p'])
}

/// Adds what the rest of the text has.
fn told(text: &str, source: Source, mut run: Run) -> Run {
    run.notes.extend(unit_in_doubt(&run, source.unit));
    if text.contains("cpu_dma_latency set to") {
        run.notes.push(
            "it held /dev/cpu_dma_latency while it measured: an application that does not will wake later"
                .to_owned(),
        );
    }
    let ours = |name: &str| {
        let comments = text.lines().take_while(|line| line.starts_with('#'));
        comments.filter_map(|line| line.strip_prefix("# whylate: ")).find_map(|rest| rest.strip_prefix(name))
    };
    for (name, own) in [("tool=", &mut run.tool), ("probe=", &mut run.probe)] {
        if let Some(told) = ours(name) {
            told.clone_into(own);
        }
    }
    run.interval = intervals(text).first().copied();
    run
}

/// The lines that are written over and over, one of each thread, without their `T:`.
fn statuses(text: &str) -> impl Iterator<Item = &str> {
    // Without -q they are overwritten by moving the cursor up.
    let lines = text.split(['\n', '\r']);
    lines.filter_map(|line| line.trim_start_matches("\x1b[1A").strip_prefix("T:"))
}

/// Whose lines they are, and what its samples are: cyclictest's tell priority and interval, signaltest's have no
/// interval, and cyclicdeadline's no priority.
fn source(text: &str) -> Source {
    let status = statuses(text).next();
    let (tool, probe) = match status.map(|line| (line.contains(" P:"), line.contains(" I:"))) {
        Some((true, false)) => ("signaltest", "ipc signal"),
        Some((false, true)) => ("cyclicdeadline", "deadline"),
        _ => ("cyclictest", "timer"),
    };
    let unit = if statuses(text).any(in_nanoseconds) { Unit::NS } else { Unit::US };
    Source { tool, probe, unit }
}

/// `-N` makes two columns wider: `Act:   25531` has room for eight digits, where `Act:   24` has room for five.
fn in_nanoseconds(status: &str) -> bool {
    let padded = |from: &str, to: &str| {
        let column = status.split_once(from).and_then(|(_, rest)| rest.split_once(to));
        column.is_some_and(|(column, _)| column.len() == 8 && column.starts_with(' '))
    };
    padded("Act:", " Avg:") || padded("Avg:", " Max:")
}

/// Histograms and samples look the same with `-N` as without.
fn unit_in_doubt(run: &Run, unit: Unit) -> Option<String> {
    let least = run.threads.iter().filter_map(|thread| thread.histogram.min()).min()?;
    (unit == Unit::US && least >= Ns::from_ms(1)).then(|| {
        format!(
            "no sample is less than {least} late: was this cyclictest -N, which counts in ns and does not print the unit? \
             Then all latencies are a thousandth of those shown here. cyclictest's --json has the unit"
        )
    })
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
        // One more than there may be is enough to refuse them.
        for (at, count) in words.take(MOST_THREADS + 1).enumerate() {
            let Ok(count) = count else { break };
            if at >= threads.len() {
                threads.push(Counted::default());
            }
            threads[at].classes.push((class, count));
        }
    }
    // The minima have no column for the sum, and one for a thread whose samples are all beyond the classes.
    let real = min.as_ref().or(mean.as_ref()).map_or(threads.len(), Vec::len);
    threads.resize_with(real.min(MOST_THREADS + 1), Counted::default);
    let of = |all: &Option<Vec<u64>>, at: usize| all.as_ref().and_then(|all| all.get(at).copied());
    for (at, thread) in threads.iter_mut().enumerate() {
        thread.name = format!("thread {at}");
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
    for line in statuses(text) {
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
