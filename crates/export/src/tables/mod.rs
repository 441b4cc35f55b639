//! Parquet tables for data frames: events, activations, and the segments of their ledgers.
//!
//! Every column may be null: an event fills those that it has. Times are nanoseconds of the trace clock.
//! `segments.activation` is the number of the row in `activations`, from 0.

mod rows;
mod table;

use crate::cut::Cut;
use crate::sink::{Written, explained};
use std::io::{self, Write};
use table::Table;
use whylate_events::EventSource;
use whylate_ledger::{Explanation, Options};

/// The three tables' names, in the order in which [`write()`] takes their files.
pub const TABLES: [&str; 3] = ["events", "activations", "segments"];

/// Writes the events of `source` that `cut` keeps, and the explanation of the whole trace within the cut's
/// time, to one file for each of [`TABLES`].
///
/// # Errors
/// What a file answers.
pub fn write<W: Write + Send>(
    source: &mut dyn EventSource,
    cut: &Cut,
    options: &Options,
    [events, activations, segments]: [W; 3],
) -> io::Result<(Written, Explanation)> {
    let mut written = Written::default();
    let mut table = Table::new(TABLES[0], rows::EVENTS, events)?;
    let mut count = 0;
    let (explanation, selected) = explained(source, cut, options, &mut written, |event, selected| {
        count += 1;
        rows::event(event, selected.threads(), &mut table)
    })?;
    table.finish()?;

    let mut table = Table::new(TABLES[1], rows::ACTIVATIONS, activations)?;
    let mut ledger = Table::new(TABLES[2], rows::SEGMENTS, segments)?;
    let within = explanation.activations.iter().filter(|a| selected.overlaps(a.due, a.end));
    for (number, activation) in within.enumerate() {
        written.activations += 1;
        rows::activation(activation, &mut table)?;
        for segment in &activation.ledger {
            rows::segment(number, segment, &mut ledger)?;
        }
    }
    table.finish()?;
    ledger.finish()?;
    Ok((Written { events: count, ..written }, explanation))
}
