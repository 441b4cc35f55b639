//! The figures that the reference guide of Red Hat Enterprise Linux for Real Time 7 gives for 10,000 messages, and what
//! they would be here.

use super::path::{LOOPBACK, row_name};
use super::sender::Means;
use crate::bench::{BenchRow, PublishedTime};
use whylate_base::Ns;

const MESSAGES: u64 = 10_000;
/// In milliseconds.
const TIMES: [(Means, i64); 3] = [(Means::Plain, 400_130), (Means::NoDelay, 1_650), (Means::Cork, 851)];

/// The figures beside those of loopback, or of the peer.
pub(super) fn compared(rows: &[BenchRow]) -> Vec<PublishedTime> {
    let row = |means: Means| {
        let on = |path: &str| rows.iter().find(|row| row.name == row_name(path, means.name()));
        on(LOOPBACK).or_else(|| on("peer"))
    };
    let time = |(means, milliseconds): (Means, i64)| PublishedTime {
        name: means.name().to_owned(),
        work: "10,000 messages".to_owned(),
        published: Ns::from_ms(milliseconds),
        published_split: None,
        here: row(means).map(|row| row.per_operation.mean.times(MESSAGES)),
        here_split: None,
    };
    TIMES.map(time).into()
}
