//! Rows of the tables: how each begins, and which of them are missing.

use super::super::error::Broken;
use super::super::source::Source;
use super::super::unknown::with_unknown;
use std::collections::BTreeSet;
use whylate_base::CpuSet;
use whylate_stats::Run;

/// `3 #8123`: the CPU and the number of samples or periods with which a row begins.
pub(super) fn row_of(line: &str) -> Option<(u32, u64)> {
    let mut words = line.split_ascii_whitespace();
    let cpu = words.next()?.parse().ok()?;
    Some((cpu, words.next()?.strip_prefix('#')?.parse().ok()?))
}

/// Why nothing is read of a text with the head of a table and no row below it; `None` where it has rows, or no head.
pub(super) fn without_rows(text: &str, is_head: impl Fn(&str) -> bool, source: Source) -> Option<Broken> {
    let has = |is: &dyn Fn(&str) -> bool| text.lines().any(|line| is(line.trim()));
    let is_empty = has(&is_head) && !has(&|line| row_of(line).is_some());
    let why = "its table has no row: no CPU took a sample before it ended, or its workload did not run";
    is_empty.then(|| source.broken(why.to_owned()))
}

/// What shows that a table is not whole.
#[derive(Default)]
pub(super) struct Missing {
    /// CPUs with a row that is not whole.
    pub(super) broken: BTreeSet<u32>,
    /// A mark in place of rows.
    pub(super) is_cut: bool,
}

impl Missing {
    /// The measurement with a thread for each row that is missing or broken.
    pub(super) fn add_to(self, run: Run) -> Run {
        let named = |cpu: &u32| format!("CPU {cpu}, whose row is not whole");
        let cut = self.is_cut.then(|| "CPUs of rows that were left out".to_owned());
        let cpus: CpuSet = run.threads.iter().filter_map(|thread| thread.cpu).collect();
        let mut run = with_unknown(run, self.broken.iter().map(named).chain(cut));
        if self.is_cut || !self.broken.is_empty() {
            let note = "rows of the table are missing or broken: the largest latency of all may be in them";
            run.notes.push(note.to_owned());
        } else if cpus.to_string().contains(',') {
            run.notes.push(format!(
                "the table has the CPUs {cpus}: whether others were measured as well, and their rows left out, is not known"
            ));
        }
        run
    }
}
