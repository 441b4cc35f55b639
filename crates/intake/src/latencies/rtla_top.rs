//! The tables of `rtla timerlat top` and `rtla osnoise top` (tools/tracing/rtla/src/timerlat_top.c, osnoise_top.c): the largest
//! latency of each CPU. rtla prints a table again and again, each with the largest so far.

mod osnoise;
mod rows;
mod timerlat;

use super::error::Broken;
use whylate_stats::Run;

/// The table in a text; several are taken together.
pub(super) fn read(text: &str) -> Vec<Result<Run, Broken>> {
    timerlat::read(text).into_iter().chain(osnoise::read(text)).collect()
}

#[cfg(test)]
pub(super) mod tests;
