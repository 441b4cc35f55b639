//! The table of `rtla osnoise top`: of each CPU the largest single noise.

use super::super::counted::{Counted, Unit};
use super::super::error::Broken;
use super::super::rtla::duration;
use super::super::source::Source;
use super::rows::{Missing, row_of};
use crate::pasted;
use crate::text::Analyses;
use std::collections::{BTreeMap, BTreeSet};
use whylate_base::{Cpu, Ns};
use whylate_events::Tool;
use whylate_stats::Run;

const SOURCE: Source = Source { tool: "rtla", probe: "osnoise", unit: Unit::US };

/// The table in a text: of each CPU the largest of all its rows.
pub(super) fn read(text: &str) -> Option<Result<Run, Broken>> {
    let mut analyses = Analyses::default();
    let mut rows: BTreeMap<Cpu, Ns> = BTreeMap::new();
    let mut begun: BTreeSet<u32> = BTreeSet::new();
    let (mut has_head, mut is_cut, mut elapsed) = (false, false, None);
    for (number, line) in (1..).zip(text.lines().map(str::trim)) {
        analyses.line(number, line);
        has_head |= line.starts_with("CPU Period");
        if let Some(time) = line.strip_prefix("duration:") {
            elapsed = time.split('|').next().and_then(duration).or(elapsed);
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
    let run = (!rows.is_empty()).then(|| SOURCE.run(rows.iter().map(counted)))?;
    Some(run.map(|run| {
        let mut run = Missing { broken, is_cut }.add_to(run);
        run.notes.push(
            "the table has the largest single noise of each CPU, and not how many noises there were"
                .to_owned(),
        );
        Run { elapsed, ..run }
    }))
}
