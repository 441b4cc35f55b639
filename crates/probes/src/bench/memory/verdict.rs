//! What the costs of memory mean.

use super::faults::{COPY_ON_WRITE, FIRST_WRITE, HUGE, LOCKED, PREFAULTED};
use super::files::MAJOR;
use super::growth::{HEAP, MAPPING};
use crate::bench::{BenchRow, BenchVerdict};
use whylate_base::Severity;

pub(super) fn verdict(rows: &[BenchRow], page: usize) -> Vec<BenchVerdict> {
    let p50 = |name: &str| rows.iter().find(|row| row.name == name).map(|row| row.per_operation.p50);
    let mut verdict = Vec::new();
    let mut say = |text: String| verdict.push(BenchVerdict::new(Severity::Info, text));
    if let (Some(first), Some(prefaulted)) = (p50(FIRST_WRITE), p50(PREFAULTED)) {
        let locked = p50(LOCKED).map(|locked| format!(", locked {locked}")).unwrap_or_default();
        let megabyte = first.times((1 << 20) / page.max(1) as u64);
        say(format!(
            "The first write to a page costs {first}, a write to a prefaulted one {prefaulted}{locked}: a fresh buffer of \
             1 MiB costs {megabyte} of page faults. Touch it, or lock it, before the real-time work begins."
        ));
    }
    if let Some(major) = p50(MAJOR) {
        say(format!(
            "A page that is not in memory costs {major} (major fault): lock code and data (mlockall) to exclude that."
        ));
    }
    if let (Some(copied), Some(first)) = (p50(COPY_ON_WRITE), p50(FIRST_WRITE)) {
        say(format!(
            "After a fork each page costs {copied} at its first write, {:.1} times as much as a fresh one: do not fork in a \
             real-time program.",
            copied.ratio(first)
        ));
    }
    if let Some(huge) = p50(HUGE) {
        say(format!(
            "The first write to a transparent huge page takes {huge} at once: the kernel clears all of it."
        ));
    }
    if let (Some(heap), Some(mapping)) = (p50(HEAP), p50(MAPPING)) {
        say(format!(
            "Memory that is taken, written and given back costs {heap} a page by brk, {mapping} by mmap: page faults are most \
             of both."
        ));
    }
    verdict
}
