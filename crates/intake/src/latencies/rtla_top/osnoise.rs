//! The tables of `rtla osnoise top` and `rtla hwnoise`: of each CPU the largest single noise.

use super::super::counted::{Counted, Unit};
use super::super::error::Broken;
use super::super::rtla::duration;
use super::super::source::Source;
use super::rows::{Missing, row_of, without_rows};
use super::tables::{self, RunLine};
use crate::pasted;
use crate::text::Analyses;
use std::collections::{BTreeMap, BTreeSet};
use whylate_base::{Cpu, Ns};
use whylate_events::Tool;
use whylate_stats::Run;

const SOURCE: Source = Source { tool: "rtla", probe: "osnoise", unit: Unit::US };
/// Interrupts are disabled as it runs: there is no column of them.
const HARDWARE: Source = Source { probe: "hwnoise", ..SOURCE };

/// Each run in a text.
pub(super) fn read(text: &str) -> Vec<Result<Run, Broken>> {
    let runs: Vec<_> = tables::runs(text, of_run).into_iter().filter_map(one).collect();
    let is_head = |line: &str| line.starts_with(HEAD) && line.contains("Runtime");
    let empty = || without_rows(text, is_head, SOURCE).map(Err);
    if runs.is_empty() { empty().into_iter().collect() } else { runs }
}

/// What a line shows of its run: of a row the whole numbers before the share of noise and the two largest noises behind it, of
/// which a mail program may have broken off the last ones.
fn of_run(line: &str) -> Option<RunLine> {
    if TITLES.iter().any(|&title| line.starts_with(title)) || line.starts_with(HEAD) {
        return Some(RunLine::Head(None));
    }
    if let Some(time) = line.strip_prefix("duration:") {
        return Some(RunLine::Head(elapsed(time)));
    }
    let (cpu, periods) = row_of(line)?;
    let sums = line.split_ascii_whitespace().skip(2).take(5).filter(|word| !word.contains('.'));
    let sums = sums.map_while(|word| word.parse().ok());
    Some(RunLine::Row(cpu, [periods].into_iter().chain(sums).collect()))
}

const TITLES: [&str; 2] = ["Operating System Noise", "Hardware-related Noise"];

/// How the line with the columns' titles begins.
const HEAD: &str = "CPU Period";

fn elapsed(title: &str) -> Option<Ns> {
    title.split('|').next().and_then(duration)
}

/// The tables of a run: of each CPU the largest of all its rows.
fn one(text: &str) -> Option<Result<Run, Broken>> {
    let mut analyses = Analyses::default();
    let mut rows: BTreeMap<Cpu, Ns> = BTreeMap::new();
    let mut begun: BTreeSet<u32> = BTreeSet::new();
    let (mut has_head, mut is_cut, mut duration) = (false, false, None);
    let mut source = SOURCE;
    for (number, line) in (1..).zip(text.lines().map(str::trim)) {
        analyses.line(number, line);
        has_head |= line.starts_with(HEAD);
        if line.starts_with(HEAD) && line.ends_with(" NMI") || line.starts_with(TITLES[1]) {
            source = HARDWARE;
        }
        if let Some(time) = line.strip_prefix("duration:") {
            duration = elapsed(time).or(duration);
        }
        begun.extend(row_of(line).filter(|_| has_head).map(|(cpu, _)| cpu));
        is_cut |= has_head && pasted::leaves_out(line);
        // The latest row is the last one.
        if let Some(row) = analyses.breakdowns.last().filter(|row| row.tool == Tool::RtlaOsnoise) {
            let most = rows.entry(row.cpu).or_default();
            *most = row.total.max(*most);
        }
    }
    let broken = begun.into_iter().filter(|cpu| !rows.contains_key(&Cpu(*cpu))).collect();
    let counted = |(cpu, most): (&Cpu, &Ns)| Counted {
        cpu: Some(*cpu),
        name: format!("CPU {}", cpu.0),
        overflow: 1,
        is_largest_only: true,
        max: u64::try_from(most.0 / 1_000).ok(),
        ..Counted::default()
    };
    let run = (!rows.is_empty()).then(|| source.run(rows.iter().map(counted)))?;
    Some(run.map(|run| {
        let mut run = Missing { broken, is_cut }.add_to(run);
        run.notes.push(
            "the table has the largest single noise of each CPU, and not how many noises there were"
                .to_owned(),
        );
        Run { elapsed: duration, ..run }
    }))
}
