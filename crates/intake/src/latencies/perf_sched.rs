//! The table of `perf sched latency`: for each thread its mean and its largest delay from a wake-up to its switch in, and when that
//! was (`output_lat_thread` and `add_sched_in_event` in tools/perf/builtin-sched.c).
//!
//! ```text
//!  Task                  |   Runtime ms  |  Count   | Avg delay ms    | Max delay ms    | Max delay start      | Max delay end
//!  app:7040              |   2447.137 ms |        8 | avg:   6.546 ms | max:  10.674 ms | max start: 353.809487 s | max end: 353.820161 s
//!  app:7040              |   2447.137 ms |        8 | avg:   6.546 ms | max:  10.674 ms | max at: 353.820161 s     of older perf
//!  app:(17)              | ...                                                             17 threads of this name
//!  TOTAL:                |   4901.914 ms |       15 |
//!  INFO: 0.012% lost events (3 out of 25011, in 1 chunks)
//! ```
//!
//! Mails break its rows, and lack its title. A row is of the same table as the one before it where no prose is between them.
//! The rows are sorted by their means, so the largest delay of all may be in any. perf prints the sum below the last one, always: without
//! it rows may be missing.

use super::counted::{Counted, Unit};
use super::error::Broken;
use super::source::Source;
use super::unknown::with_unknown;
use crate::pasted;
use crate::sched_latency::{self as row, Row};
use std::collections::HashSet;
use whylate_stats::Run;

const SOURCE: Source = Source { tool: "perf sched latency", probe: "scheduling delay", unit: Unit::US };

/// Each table in a text.
pub(super) fn read(text: &str) -> Vec<Result<Run, Broken>> {
    let mut tables = vec![Table::default()];
    let mut begun: Option<String> = None;
    for line in text.lines() {
        let line = line.trim_start_matches(['#', ' ', '\t']).trim_end();
        if let Some(row) = begun.as_mut().filter(|row| !Row::is_whole(row) && row::may_continue(line)) {
            row.push(' ');
            row.push_str(line);
            continue;
        }
        if let Some(row) = begun.take() {
            add(&mut tables, &row);
        }
        if row::begins(line) {
            begun = Some(line.to_owned());
            continue;
        }
        let Some(table) = tables.last_mut() else { continue };
        if pasted::leaves_out(line) {
            table.is_cut |= table.has_title || !table.rows.is_empty();
        } else if line.starts_with("INFO: ") {
            table.warnings.push(line.to_owned());
        } else if row::is_title(line) {
            table.has_title = true;
        } else if row::is_sum(line) {
            table.has_sum |= !table.rows.is_empty();
        } else if !row::is_of_frame(line) && !table.rows.is_empty() {
            tables.push(Table::default());
        }
    }
    if let Some(row) = begun {
        add(&mut tables, &row);
    }
    tables.into_iter().filter(|table| !table.rows.is_empty()).map(Table::run).collect()
}

fn add(tables: &mut Vec<Table>, line: &str) {
    let row = Row::of(line).ok_or_else(|| row::name(line).to_owned());
    // A table has each thread once.
    let is_there = |table: &Table| row.as_ref().is_ok_and(|row| table.names.contains(&row.name));
    if tables.last().is_none_or(is_there) {
        tables.push(Table::default());
    }
    if let Some(table) = tables.last_mut() {
        table.names.extend(row.as_ref().ok().map(|row| row.name.clone()));
        table.rows.push(row);
    }
}

#[derive(Default)]
struct Table {
    /// Of a row that cannot be read the thread's name.
    rows: Vec<Result<Row, String>>,
    /// Of those that can be read.
    names: HashSet<String>,
    has_title: bool,
    /// Rows were left out.
    is_cut: bool,
    /// The line below the last row is there.
    has_sum: bool,
    /// What perf prints below the table of events that were lost.
    warnings: Vec<String>,
}

impl Table {
    fn run(self) -> Result<Run, Broken> {
        let whole = || self.rows.iter().filter_map(|row| row.as_ref().ok());
        let broken: Vec<&String> = self.rows.iter().filter_map(|row| row.as_ref().err()).collect();
        SOURCE.at_most(self.rows.len())?;
        let Some(worst) = whole().max_by_key(|row| row.max) else {
            let first = broken.first().map_or("", |name| name.as_str());
            return Err(SOURCE.broken(format!("no row of it is whole, as that of {first}")));
        };
        let counted = |row: &Row| Counted {
            name: row.name.clone(),
            overflow: row.count,
            mean: Some(row.mean as f64),
            max: Some(row.max),
            ..Counted::default()
        };
        let mut run = SOURCE.run(whole().map(counted))?;
        let mut notes = vec![
            format!("the largest delay is {}", worst.shown()),
            "perf counts a delay from a thread's wake-up to the next switch to it that was recorded: where events were lost, it is \
             too long"
                .to_owned(),
            "a table of sums has no cause: give the recording that it was made of (perf.data), or the output of `perf script`; or \
             record anew with whylate record"
                .to_owned(),
        ];
        if whole().any(Row::is_of_several) {
            notes.push("a name with a number in brackets stands for so many threads of that name".to_owned());
        }
        notes.extend(self.warnings.iter().map(|warning| format!("perf reports: {warning}")));
        if let Some(first) = broken.first() {
            notes.push(format!("{} of its rows are not whole, the first is that of {first}", broken.len()));
        }
        if self.is_cut {
            notes.push(
                "rows of the table were left out: the threads in them may have waited longer".to_owned(),
            );
        }
        if !self.is_cut && !self.has_sum {
            notes.push(
                "the line TOTAL, which stands below the table, is missing: the table may have been cut, and threads in rows that are \
                 missing may have waited longer"
                    .to_owned(),
            );
        }
        // The largest delay is what the table is read for.
        notes.append(&mut run.notes);
        run.notes = notes;
        let cut = match (self.is_cut, self.has_sum) {
            (true, _) => Some("threads of rows that were left out".to_owned()),
            (false, false) => Some("threads of rows below the last one, without the line TOTAL".to_owned()),
            (false, true) => None,
        };
        Ok(with_unknown(
            run,
            broken.into_iter().map(|name| format!("{name}, whose row is not whole")).chain(cut),
        ))
    }
}

#[cfg(test)]
pub(super) mod tests;
