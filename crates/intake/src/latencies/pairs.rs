//! What the tests of pairs of threads in rt-tests print: pmqtest, ptsematest, sigwaittest and svsematest
//! (src/pmqtest/pmqtest.c and its siblings). A sample is from the one thread's call to the other's return, in microseconds.
//!
//! ```text
//! #0: ID8672, P99, CPU0, I100; #1: ID8673, P99, CPU0, Cycles 1000000
//! #1 -> #0, Min    1, Cur    1, Avg    2, Max   11
//! ```
//!
//! None of them prints its name, and all but the numbers is the same.

use super::counted::{Counted, MOST_THREADS, Unit};
use super::error::Broken;
use super::source::Source;
use std::collections::BTreeMap;
use whylate_base::{Cpu, Ns};
use whylate_stats::Run;

const SOURCE: Source = Source { tool: "rt-tests", probe: "ipc", unit: Unit::US };

/// The measurement in a text. The lines are written over and over: of each pair the last one counts.
pub(super) fn read(text: &str) -> Vec<Result<Run, Broken>> {
    let mut pairs: BTreeMap<u32, Pair> = BTreeMap::new();
    for line in text.lines() {
        if let Some((sender, setup)) = Setup::of(line) {
            pairs.entry(sender).or_default().setup = setup;
        } else if let Some((sender, latency)) = Latency::of(line) {
            pairs.entry(sender).or_default().latency = Some(latency);
        }
        if pairs.len() > MOST_THREADS {
            return vec![Err(SOURCE.broken(format!("it has more than {MOST_THREADS} pairs of threads")))];
        }
    }
    if pairs.values().all(|pair| pair.latency.is_none()) {
        return Vec::new();
    }
    let interval = pairs.values().find_map(|pair| pair.setup.interval);
    let counted = pairs.into_iter().map(|(sender, pair)| pair.counted(sender));
    let run = counted.collect::<Result<Vec<Counted>, Broken>>().and_then(|threads| SOURCE.run(threads));
    vec![run.map(|run| Run { interval, ..run })]
}

#[derive(Default)]
struct Pair {
    setup: Setup,
    latency: Option<Latency>,
}

impl Pair {
    /// # Errors
    /// If its latencies are missing: they may be the largest of all.
    fn counted(self, sender: u32) -> Result<Counted, Broken> {
        let Pair { setup, latency } = self;
        let receiver = sender.saturating_sub(1);
        let missing =
            || SOURCE.broken(format!("the line with the latencies of #{sender} -> #{receiver} is missing"));
        let Latency { min, mean, max } = latency.ok_or_else(missing)?;
        Ok(Counted {
            cpu: setup.cpu,
            name: format!("#{sender} -> #{receiver}"),
            // A test that was ended has the line with its cycles further up, or not at all.
            overflow: setup.cycles.unwrap_or(1).max(1),
            min: Some(min),
            max: Some(max),
            mean: Some(mean as f64),
            ..Counted::default()
        })
    }
}

/// Of the line with both threads what is used.
#[derive(Default)]
struct Setup {
    /// Of the receiver, which wakes up.
    cpu: Option<Cpu>,
    interval: Option<Ns>,
    cycles: Option<u64>,
}

impl Setup {
    /// The sender's number, and what the line shows.
    fn of(line: &str) -> Option<(u32, Setup)> {
        let (receiver, sender) = line.split_once(';')?;
        let (_, receiver) = numbered(receiver)?;
        let (number, sender) = numbered(sender.trim_start())?;
        let setup = Setup {
            cpu: field(receiver, "CPU").map(Cpu),
            interval: field(receiver, "I").map(Ns::from_us),
            cycles: field(sender, "Cycles "),
        };
        Some((number, setup))
    }
}

struct Latency {
    min: u64,
    mean: u64,
    max: u64,
}

impl Latency {
    fn of(line: &str) -> Option<(u32, Latency)> {
        let (sender, rest) = line.strip_prefix('#')?.split_once(" -> #")?;
        let latency =
            Latency { min: field(rest, "Min ")?, mean: field(rest, "Avg ")?, max: field(rest, "Max ")? };
        Some((sender.parse().ok()?, latency))
    }
}

/// `#1: ID8673, P99` → 1, and the rest.
fn numbered(text: &str) -> Option<(u32, &str)> {
    let (number, rest) = text.strip_prefix('#')?.split_once(": ID")?;
    Some((number.parse().ok()?, rest))
}

/// A number behind its name, one of those between commas.
fn field<T: std::str::FromStr>(text: &str, name: &str) -> Option<T> {
    text.split(',').find_map(|part| part.trim_start().strip_prefix(name)?.trim().parse().ok())
}

#[cfg(test)]
mod tests {
    use super::read;
    use whylate_base::{Cpu, Ns};

    const TWO: &str = "#0: ID672, P99, CPU0, I100; #1: ID673, P99, CPU0, TO 0, Cycles 4000\n\
                       #2: ID674, P98, CPU3, I125; #3: ID675, P98, CPU3, Cycles 3000\n\
                       #1 -> #0, Min    1, Cur    1, Avg    2, Max   11\n\
                       #3 -> #2, Min    2, Cur   26, Avg    3, Max  142\n";

    #[test]
    fn each_pair_is_a_thread_and_the_last_of_its_lines_counts() {
        let text = format!("# ptsematest -a -t\n#1 -> #0, Min    1, Cur    1, Avg    2, Max    9\n{TWO}");
        let mut runs = read(&text);
        let run = runs.remove(0).unwrap_or_else(|broken| panic!("{}", broken.why));
        let shown: Vec<_> = run.threads.iter().map(|one| (one.cpu, one.histogram.count())).collect();
        assert_eq!(shown, [(Some(Cpu(0)), 4000), (Some(Cpu(3)), 3000)]);
        assert_eq!(run.threads[1].histogram.max(), Some(Ns::from_us(142)));
        assert_eq!(run.interval, Some(Ns::from_us(100)));
    }

    #[test]
    fn a_pair_without_its_latencies_is_no_measurement() {
        let cut = TWO.rsplit_once("#3 ->").map_or("", |(cut, _)| cut);
        let why = read(cut).remove(0).err().map(|broken| broken.why).unwrap_or_default();
        assert!(why.contains("#3 -> #2"), "{why}");
        assert!(read("#1 -> #0\n#0: ID1\n").is_empty());
    }
}
