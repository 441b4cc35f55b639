//! The tables of `rtla timerlat top`, `rtla osnoise top` and `rtla hwnoise` (tools/tracing/rtla/src/timerlat_top.c, osnoise_top.c): the largest
//! latency of each CPU. rtla prints a table again and again, each with the largest so far; tables of several runs are cut apart.

mod osnoise;
mod rows;
mod tables;
mod timerlat;

use super::command;
use super::error::Broken;
use super::unknown::with_unknown;
use whylate_base::{Cpu, CpuSet};
use whylate_stats::Run;

/// Each run in a text, by its last table.
pub(super) fn read(text: &str) -> Vec<Result<Run, Broken>> {
    let mut runs: Vec<_> = timerlat::read(text).into_iter().chain(osnoise::read(text)).collect();
    if let ([Ok(run)], Some(asked)) = (&mut runs[..], command::cpus(text)) {
        *run = with_those_asked_for(std::mem::take(run), &asked);
    }
    runs
}

/// The run, with a thread for each CPU that the command line asked for, and that has no row.
fn with_those_asked_for(run: Run, asked: &CpuSet) -> Run {
    let has_row = |cpu: Cpu| run.threads.iter().any(|thread| thread.cpu == Some(cpu) || thread.cpu.is_none());
    let missing: CpuSet = asked.iter().filter(|&cpu| !has_row(cpu)).collect();
    if missing.is_empty() {
        return run;
    }
    let names: Vec<String> = missing.iter().map(|cpu| format!("CPU {cpu}, which has no row")).collect();
    let mut run = with_unknown(run, names);
    let note = format!(
        "the command asks for CPUs {asked}, and the table has no row of {missing}: the largest latency may be there"
    );
    run.notes.push(note);
    run
}

#[cfg(test)]
pub(super) mod tests;
