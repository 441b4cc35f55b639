//! The table of `rtla timerlat top`: of each CPU least, mean and largest latency of each stage of its wake-ups.
//!
//! ```text
//!   0 00:00:12   |          IRQ Timer Latency (us)        |         Thread Timer Latency (us)
//! CPU COUNT      |      cur       min       avg       max |      cur       min       avg       max
//!  23 #12320     |       28         0         1        28 |       41         3        11        41
//! ---------------|----------------------------------------|---------------------------------------
//! ALL #24638  e0 |                  0         1        28 |                  3        11        41
//! ```

use super::super::counted::{Counted, Unit};
use super::super::error::Broken;
use super::super::rtla::{STAGES, duration, stages};
use super::super::source::Source;
use super::rows::{Missing, without_rows};
use super::tables::{self, RunLine};
use crate::pasted;
use crate::text::{StageCell, StageLatencies, TimerlatRow};
use std::collections::BTreeMap;
use whylate_base::{Cpu, Ns};
use whylate_stats::Run;

/// Each run in a text.
pub(super) fn read(text: &str) -> Vec<Result<Run, Broken>> {
    let runs: Vec<_> = tables::runs(text, of_run).into_iter().filter_map(one).collect();
    let is_head = |line: &str| line.starts_with(HEAD) && line.contains("cur");
    let empty = || without_rows(text, is_head, source_of(Unit::US)).map(Err);
    if runs.is_empty() { empty().into_iter().collect() } else { runs }
}

/// The last table of a run.
fn one(text: &str) -> Option<Result<Run, Broken>> {
    let mut table = Table::default();
    text.lines().for_each(|line| table.line(line.trim()));
    (!table.rows.is_empty()).then(|| table.run())
}

/// What a line shows of its run: of each stage the least sample never rises, and the largest never falls.
fn of_run(line: &str) -> Option<RunLine> {
    if is_title(line) || line.starts_with(HEAD) {
        return Some(RunLine::Head(elapsed(line)));
    }
    let row = TimerlatRow::of(line)?;
    let extremes = |stage: StageLatencies| [u64::MAX - stage.min, stage.max];
    let known = row.stages.iter().map_while(|cell| match cell {
        StageCell::Latencies(latencies) => Some(extremes(*latencies)),
        StageCell::NoSample => Some([0; 2]),
        StageCell::Broken => None,
    });
    let numbers = [row.count].into_iter().chain(known.flatten()).collect();
    Some(RunLine::Row(row.cpu?.0, numbers))
}

/// How the line with the columns' titles begins.
const HEAD: &str = "CPU COUNT";

fn is_title(line: &str) -> bool {
    line.contains("Timer Latency (")
}

fn elapsed(title: &str) -> Option<Ns> {
    title.split('|').next().and_then(duration)
}

fn source_of(unit: Unit) -> Source {
    Source { tool: "rtla", probe: "timerlat", unit }
}

/// A stage's; `None`: it took no sample.
type Latencies = Option<StageLatencies>;

#[derive(Default)]
struct Table {
    has_head: bool,
    in_nanoseconds: bool,
    elapsed: Option<Ns>,
    /// Of each CPU the number of samples, and each stage.
    rows: BTreeMap<u32, (u64, Vec<Latencies>)>,
    /// The line ALL: the number of samples, and least and largest of each stage.
    of_all: Option<(u64, Vec<Latencies>)>,
    missing: Missing,
}

impl Table {
    fn line(&mut self, line: &str) {
        if is_title(line) {
            self.in_nanoseconds |= line.ends_with("(ns)");
            self.elapsed = elapsed(line).or(self.elapsed);
        } else if line.starts_with(HEAD) {
            self.has_head = true;
            self.of_all = None;
        } else if !self.has_head {
        } else if let Some(row) = TimerlatRow::of(line) {
            match (row.cpu, whole(&row)) {
                (None, stages) => self.of_all = stages.map(|stages| (row.count, stages)),
                // A later row has what the earlier ones had, or more.
                (Some(cpu), Some(stages)) => _ = self.rows.insert(cpu.0, (row.count, stages)),
                (Some(cpu), None) => _ = self.missing.broken.insert(cpu.0),
            }
        } else if pasted::leaves_out(line) {
            self.missing.is_cut = true;
        }
    }

    fn run(mut self) -> Result<Run, Broken> {
        let unit = if self.in_nanoseconds { Unit::NS } else { Unit::US };
        let source = source_of(unit);
        source.at_most(self.rows.len())?;
        let largest = |stages: &[Latencies]| stages.iter().flatten().map(|stage| stage.max).max();
        let most = self.rows.values().filter_map(|(_, stages)| largest(stages)).max();
        let of_all = self.of_all.take();
        let is_of_all = of_all.as_ref().is_some_and(|(_, all)| largest(all) >= most);
        let replaced = of_all.filter(|(_, all)| largest(all) > most);
        let samples = self.rows.values().map(|row| row.0).fold(0, u64::saturating_add);
        let of_cpu = |(cpu, (count, stages)): (&u32, &(u64, Vec<Latencies>))| {
            counted(Some(Cpu(*cpu)), &format!("CPU {cpu}"), *count, stages)
        };
        let mut columns: Vec<Counted> = match &replaced {
            // Older versions count in 32 bits, and then have fewer than their rows.
            Some((count, all)) => counted(None, "all CPUs", samples.max(*count), all),
            None => self.rows.iter().flat_map(of_cpu).collect(),
        };
        let main = stages(&mut columns);
        let mut run = source.run(columns)?;
        run.notes.extend(main.note().map(str::to_owned));
        if let Some(probe) = main.probe() {
            run.probe = probe.to_owned();
        }
        run.elapsed = self.elapsed;
        if replaced.is_some() {
            run.notes.push(
                "rows of the table are missing: the line ALL has a larger latency than all of them, so its figures are used"
                    .to_owned(),
            );
        }
        // With the line ALL the largest latency is known whichever rows are there.
        Ok(if is_of_all { run } else { self.missing.add_to(run) })
    }
}

fn counted(cpu: Option<Cpu>, name: &str, count: u64, stages: &[Latencies]) -> Vec<Counted> {
    let named = |(stage, latencies): (&str, &Latencies)| {
        let StageLatencies { min, mean, max } = (*latencies)?;
        Some(Counted {
            cpu,
            name: format!("{name}, {stage}"),
            overflow: count,
            min: Some(min),
            mean: mean.map(|mean| mean as f64),
            max: Some(max),
            ..Counted::default()
        })
    };
    STAGES.into_iter().zip(stages).filter_map(named).collect()
}

/// All stages of a row; `None` where a number of it is missing.
fn whole(row: &TimerlatRow) -> Option<Vec<Latencies>> {
    let of = |cell: &StageCell| match cell {
        StageCell::Latencies(latencies) => Some(Some(*latencies)),
        StageCell::NoSample => Some(None),
        StageCell::Broken => None,
    };
    let stages: Vec<Latencies> = row.stages.iter().map(of).collect::<Option<_>>()?;
    // That of the interrupt, that of the thread, and with `-u` that of the return to user space.
    (2..=STAGES.len()).contains(&stages.len()).then_some(stages)
}
