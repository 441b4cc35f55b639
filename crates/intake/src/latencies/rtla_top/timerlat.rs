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
use super::rows::Missing;
use crate::pasted;
use crate::text::{StageCell, StageLatencies, TimerlatRow};
use std::collections::BTreeMap;
use whylate_base::{Cpu, Ns};
use whylate_stats::Run;

/// The table in a text.
pub(super) fn read(text: &str) -> Option<Result<Run, Broken>> {
    let mut table = Table::default();
    text.lines().for_each(|line| table.line(line.trim()));
    (!table.rows.is_empty()).then(|| table.run())
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
    /// A later table is not that of the same measurement.
    has_several: bool,
}

impl Table {
    fn line(&mut self, line: &str) {
        if line.contains("Timer Latency (") {
            self.in_nanoseconds |= line.ends_with("(ns)");
            self.elapsed = line.split('|').next().and_then(duration).or(self.elapsed);
        } else if line.starts_with("CPU COUNT") {
            self.has_head = true;
            self.of_all = None;
        } else if !self.has_head {
        } else if let Some(row) = TimerlatRow::of(line) {
            match (row.cpu, whole(&row)) {
                (None, stages) => self.of_all = stages.map(|stages| (row.count, stages)),
                (Some(cpu), Some(stages)) => self.row(cpu.0, row.count, stages),
                (Some(cpu), None) => _ = self.missing.broken.insert(cpu.0),
            }
        } else if pasted::leaves_out(line) {
            self.missing.is_cut = true;
        }
    }

    /// A later row of the same measurement has what the earlier ones had, or more.
    fn row(&mut self, cpu: u32, count: u64, stages: Vec<Latencies>) {
        let Some((before, earlier)) = self.rows.get_mut(&cpu) else {
            self.rows.insert(cpu, (count, stages));
            return;
        };
        let pairs = || earlier.iter().zip(&stages);
        let goes_on = |(earlier, later): (&Latencies, &Latencies)| match (earlier, later) {
            (Some(earlier), Some(later)) => later.min <= earlier.min && later.max >= earlier.max,
            (earlier, _) => earlier.is_none(),
        };
        if count >= *before && stages.len() == earlier.len() && pairs().all(goes_on) {
            (*before, *earlier) = (count, stages);
            return;
        }
        self.has_several = true;
        *before = before.saturating_add(count);
        earlier.resize(earlier.len().max(stages.len()), None);
        for (earlier, later) in earlier.iter_mut().zip(stages) {
            *earlier = match (*earlier, later) {
                // Two means do not make one of both: this is none of either.
                (Some(a), Some(b)) => {
                    Some(StageLatencies { min: a.min.min(b.min), mean: None, max: a.max.max(b.max) })
                }
                (one, other) => one.or(other),
            };
        }
    }

    fn run(mut self) -> Result<Run, Broken> {
        let unit = if self.in_nanoseconds { Unit::NS } else { Unit::US };
        let source = Source { tool: "rtla", probe: "timerlat", unit };
        source.at_most(self.rows.len())?;
        let largest = |stages: &[Latencies]| stages.iter().flatten().map(|stage| stage.max).max();
        let most = self.rows.values().filter_map(|(_, stages)| largest(stages)).max();
        let of_all = self.of_all.take();
        let is_of_all = of_all.as_ref().is_some_and(|(_, all)| largest(all) >= most);
        let replaced = of_all.filter(|(_, all)| largest(all) > most && !self.has_several);
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
        run.elapsed = self.elapsed.filter(|_| !self.has_several);
        if replaced.is_some() {
            run.notes.push(
                "rows of the table are missing: the line ALL has a larger latency than all of them, so its figures are used"
                    .to_owned(),
            );
        }
        if self.has_several {
            run.notes.push(
                "the file holds several tables: of each CPU least and largest of all of them are used"
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
