//! What the stressor `cyclic` of stress-ng prints: percentiles, and with `--cyclic-dist` a table of classes (stress-cyclic.c,
//! versions 0.08.05 to 0.22).
//!
//! ```text
//! stress-ng: info:  [9] cyclic: sched SCHED_FIFO: 100000 ns delay, 10000 samples
//! stress-ng: info:  [9] cyclic:   min: 9534 ns, max: 444392 ns, std.dev. 7591.76
//! stress-ng: info:  [9] cyclic:   99.00%:      26428 ns
//! stress-ng: info:  [9] cyclic: latency distribution (1000 ns intervals):
//! stress-ng: info:  [9] cyclic: (for the first 250 buckets of 445)
//! stress-ng: info:  [9] cyclic:        13000        271
//! ```
//!
//! The prefix depends on its options and its version. Versions before 0.09.19 print ns and call some of them us (its commit
//! "stress-cyclic: fix typo in time measurement, us should be ns").

use super::counted::{Counted, Unit};
use super::error::Broken;
use super::ranked::Ranked;
use super::sections;
use super::source::Source;
use whylate_stats::{Measured, Run};

const SOURCE: Source = Source { tool: "stress-ng", probe: "timer", unit: Unit::NS };
/// So many classes has its table at most where it does not print their number (0.08).
const CLASSES_OF_0_08: u64 = 100;

/// Each measurement in a text.
pub(super) fn read(text: &str) -> Vec<Result<Run, Broken>> {
    let mut begun = false;
    let parts = sections::cut(text, |line| {
        let is_first = content(line).is_some_and(|line| Head::of(line).is_some());
        is_first && std::mem::replace(&mut begun, true)
    });
    parts.into_iter().filter_map(one).collect()
}

/// What the stressor itself printed: before 0.09 it calls itself `stress-ng-cyclic`.
fn content(line: &str) -> Option<&str> {
    line.split_once("cyclic: ").map(|(_, rest)| rest.trim())
}

/// `sched SCHED_FIFO: 100000 ns delay, 10000 samples`; since 0.19.06 also `sched SCHED_EXT (simple): ...`.
struct Head<'a> {
    policy: &'a str,
    sleep: u64,
    samples: u64,
}

impl Head<'_> {
    fn of(line: &str) -> Option<Head<'_>> {
        let (policy, rest) = line.strip_prefix("sched ")?.split_once(": ")?;
        let (sleep, rest) = rest.split_once(" ns delay, ")?;
        let samples = rest.strip_suffix(" samples")?.parse().ok()?;
        Some(Head { policy, sleep: sleep.parse().ok()?, samples })
    }
}

fn one(text: &str) -> Option<Result<Run, Broken>> {
    let lines: Vec<&str> = text.lines().filter_map(content).collect();
    let Some(head) = lines.iter().find_map(|line| Head::of(line)) else {
        let is_empty = lines.iter().any(|line| line.ends_with("no latency information available"));
        return is_empty.then(|| Err(SOURCE.broken("there is no sample in it".to_owned())));
    };
    Some(figures(&head, &lines).and_then(|ranked| run(&head, &lines, ranked)))
}

/// Minimum, mean, maximum and percentiles.
fn figures(head: &Head<'_>, lines: &[&str]) -> Result<Ranked, Broken> {
    let between = |line: &str, from: &str, to: &str| -> Option<f64> {
        line.split_once(from)?.1.split_once(to)?.0.trim().parse().ok()
    };
    let find = |from: &str, to: &str| lines.iter().find_map(|line| between(line, from, to));
    let extremes = lines.iter().find_map(|line| {
        let (min, max) = (between(line, "min: ", " ns,")?, between(line, "max: ", " ns, std.dev.")?);
        Some((min, max))
    });
    let Some((min, max)) = extremes else { return Err(SOURCE.without_end("min and max")) };
    let percentile = |line: &&str| {
        let (share, value) = line.split_once("%:")?;
        let value = value.trim().strip_suffix(" ns").or_else(|| value.trim().strip_suffix(" us"))?;
        let percent = share.trim().parse::<f64>().ok()?;
        Some((head.samples as f64 * percent / 100.0, whole(value.trim().parse().ok()?)))
    };
    let mut percentiles: Vec<(f64, u64)> = lines.iter().filter_map(percentile).collect();
    percentiles.sort_by(|one, other| one.0.total_cmp(&other.0));
    let ranked = Ranked {
        name: "thread 0".to_owned(),
        samples: head.samples,
        min: whole(min),
        max: whole(max),
        mean: find("mean: ", " ns,").unwrap_or(min),
        percentiles,
        ..Ranked::default()
    };
    ranked.check().map_err(|why| SOURCE.broken(why))?;
    Ok(ranked)
}

/// Of nanoseconds. A sleep that ended early has no latency.
fn whole(ns: f64) -> u64 {
    ns.max(0.0) as u64
}

fn run(head: &Head<'_>, lines: &[&str], ranked: Ranked) -> Result<Run, Broken> {
    let mut notes = Vec::new();
    let table = Table::of(lines, &ranked);
    if let Some(table) = &table {
        table.check(&ranked).map_err(|why| SOURCE.broken(why))?;
    }
    // The table has at most 250 classes: with narrow ones the percentiles show more of the latest samples.
    let of_p99 = head.samples as f64 * 0.99;
    let p99 =
        ranked.percentiles.iter().find(|(rank, _)| *rank >= of_p99).map_or(ranked.max, |&(_, value)| value);
    let mut run = match table {
        Some(table) if table.is_usable(&ranked) && p99 < table.limit() => {
            SOURCE.run([table.counted(&ranked)])?
        }
        table => {
            if let Some(table) = table {
                notes.push(match table.is_usable(&ranked) {
                    true => format!(
                        "its table ends at {} ns, below the 99th percentile, so it is not used: measure with a larger \
                         --cyclic-dist",
                        table.limit()
                    ),
                    false => "lines of its table are missing, so it is not used".to_owned(),
                });
            }
            notes.push(
                "minimum, mean, maximum and percentiles are in the file: between two of them a latency is known by these two \
                 alone, and behind the last percentile only the maximum is known (a table: stress-ng --cyclic-dist 1000)"
                    .to_owned(),
            );
            let threads: Vec<Measured> =
                ranked.measured().map_err(|why| SOURCE.broken(why))?.into_iter().collect();
            if threads.is_empty() {
                return Err(SOURCE.broken("there is no sample in it".to_owned()));
            }
            Run { tool: SOURCE.tool.to_owned(), probe: SOURCE.probe.to_owned(), threads, ..Run::default() }
        }
    };
    run.notes.extend(notes);
    let (policy, sleep) = (head.policy, head.sleep);
    let method = lines.iter().find_map(|line| line.strip_prefix("using method '")?.split('\'').next());
    let method = method.map(|method| format!(", method {method}")).unwrap_or_default();
    run.notes.push(format!("a sample is a sleep of {sleep} ns by {policy}{method}"));
    let needed = lines.iter().find_map(|line| {
        line.split_once("--cyclic-samples needed to be ")?.1.split_once(' ')?.0.parse::<u64>().ok()
    });
    run.notes.extend(needed.map(|needed| {
        format!(
            "it took {needed} samples and kept the first {}: nothing is known of the others. To keep all, measure with \
             --cyclic-samples {needed}",
            head.samples
        )
    }));
    Ok(run)
}

/// The table of `--cyclic-dist`.
struct Table {
    width: u64,
    /// How many classes it has.
    size: u64,
    rows: Vec<(u64, u64)>,
    /// No line of it is missing.
    is_whole: bool,
    /// How many samples it holds.
    held: u64,
    /// It has a class for each sample.
    is_of_all: bool,
}

impl Table {
    fn of(lines: &[&str], ranked: &Ranked) -> Option<Table> {
        let start = lines.iter().position(|line| line.starts_with("latency distribution ("))?;
        let width: u64 =
            lines[start].split_once('(')?.1.split_once(' ')?.0.parse().ok().filter(|width| *width > 0)?;
        let of_all = ranked.max / width + 1;
        let printed = lines
            .iter()
            .find_map(|line| line.strip_prefix("(for the first ")?.split_once(' ')?.0.parse::<u64>().ok());
        let size = printed.unwrap_or(CLASSES_OF_0_08).min(of_all);
        let (mut rows, mut is_whole, mut is_elided) = (Vec::new(), true, false);
        let mut next = 0;
        for line in &lines[start + 1..] {
            let mut words = line.split_ascii_whitespace();
            let (Some(class), Some(count)) = (words.next(), words.next()) else { continue };
            // Where the last classes are empty it prints only three of them.
            is_elided |= class == "..";
            let (Ok(class), Ok(count)) = (class.parse::<u64>(), count.parse::<u64>()) else { continue };
            let is_next = class == next || (is_elided && count == 0 && class > next);
            is_whole &= is_next;
            next = class.saturating_add(width);
            rows.push((class, count));
        }
        is_whole &= next == size.saturating_mul(width);
        let held = rows.iter().map(|row| row.1).fold(0, u64::saturating_add);
        Some(Table { width, size, rows, is_whole, held, is_of_all: size == of_all })
    }

    /// Refuses a count that was changed. A sample below 0 is in no class.
    fn check(&self, ranked: &Ranked) -> Result<(), String> {
        let (held, samples) = (self.held, ranked.samples);
        let is_short = self.is_whole && self.is_of_all && held < samples && ranked.min > 0;
        match held > samples || is_short {
            true => {
                Err(format!("its classes hold {held} of {samples} samples: numbers are missing or changed"))
            }
            false => Ok(()),
        }
    }

    /// Each sample is in a class, or later than all of them.
    fn is_usable(&self, ranked: &Ranked) -> bool {
        self.is_whole && (!self.is_of_all || self.held == ranked.samples)
    }

    fn limit(&self) -> u64 {
        self.size.saturating_mul(self.width)
    }

    /// What is in no class was later.
    fn counted(self, ranked: &Ranked) -> Counted {
        Counted {
            name: ranked.name.clone(),
            limit: self.limit(),
            width: self.width,
            classes: self.rows,
            overflow: ranked.samples.saturating_sub(self.held),
            min: Some(ranked.min),
            max: Some(ranked.max),
            mean: Some(ranked.mean),
            ..Counted::default()
        }
    }
}
