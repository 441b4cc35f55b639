//! The tables of `rtla timerlat top`, `rtla osnoise top` and `rtla hwnoise` (tools/tracing/rtla/src/timerlat_top.c, osnoise_top.c): the largest
//! latency of each CPU. rtla prints a table again and again, each with the largest so far; tables of several runs are cut apart.

mod osnoise;
mod rows;
mod tables;
mod timerlat;

use super::error::Broken;
use whylate_stats::Run;

/// Each run in a text, by its last table.
pub(super) fn read(text: &str) -> Vec<Result<Run, Broken>> {
    timerlat::read(text).into_iter().chain(osnoise::read(text)).collect()
}

#[cfg(test)]
pub(super) mod tests;
