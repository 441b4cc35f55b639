//! Recovers trace data whose index is gone: trace-cmd writes the index of a version 7 file last, so a file
//! that was cut has pages without their CPUs.
//!
//! ```text
//! section of pages ── chunk counts, or times ──> runs, one CPU's pages each
//! run ── how many events the kernel counted for each CPU ──> its CPU
//!     └─ or: the name of the idle task that was switched to
//! ```
//!
//! A run of unknown CPU is left out: its events are no evidence.

mod counts;
mod idle;
mod runs;

use super::blocks::Blocks;
use super::buffer::{Buffer, CpuData};
use super::compress::{Compression, LARGEST_CHUNK, Unpacker};
use super::container::Container;
use super::cpu::CpuRecords;
use super::error::Trouble;
use super::lost_index::PageSection;
use super::read_at::ReadAt;
use crate::decode::Decoders;
use counts::{Counted, Counts};
use runs::Run;
use std::sync::Arc;
use whylate_base::Cpu;
use whylate_events::Damage;

/// A run of pages and what it was found to hold.
struct Read {
    run: Run,
    events: u64,
    /// The CPU whose idle task it shows, where there is one and no other.
    idle: Option<Cpu>,
}

/// Adds the buffers that can be recovered without the index.
pub(super) fn recover(source: &Arc<dyn ReadAt>, container: &mut Container) -> Result<(), Trouble> {
    let Some(lost) = container.lost.take() else { return Ok(()) };
    let described = container.buffers.len();
    let cut = lost.at >= source.size();
    if lost.sections.is_empty() && described == 0 {
        return Err(match cut {
            true => Trouble::Cut { at: lost.at, what: "its descriptions, before the trace data" },
            false => Trouble::bad(lost.at, format!("{}, and no trace data is found", lost.what)),
        });
    }
    let page_size = container.page_size(lost.page_size, lost.at)?;
    let decoders = Decoders::new(&container.formats, container.endian);
    let mut counts = counts::parse(&lost.stats);
    let known: Vec<String> = container.buffers.iter().map(|buffer| buffer.name.clone()).collect();
    counts.retain(|counted| !known.contains(&counted.buffer));
    let mut counts = counts.into_iter();
    let (mut notes, mut recovered, mut left_out) = (Vec::new(), Vec::new(), 0);
    for (index, pages) in lost.sections.iter().enumerate() {
        let counted = counts.next();
        let name = match &counted {
            Some(counted) => counted.buffer.clone(),
            None if described + index == 0 => String::new(),
            None => format!("buffer-{}", described + index + 1),
        };
        let mut buffer = Buffer {
            name,
            clock: container.clock.clone(),
            page_size,
            compressed: pages.packed && container.compression != Compression::None,
            cpus: Vec::new(),
        };
        let counts = counted.as_ref().map(Counted::counts).unwrap_or_default();
        let (events, of_no_cpu) =
            buffer_of(source, container, &decoders, pages, &mut buffer, &counts, &mut notes);
        left_out += of_no_cpu;
        if !buffer.cpus.is_empty() {
            let cpus = cpu_list(buffer.cpus.iter().map(|data| data.cpu).collect());
            let name =
                if buffer.name.is_empty() { String::new() } else { format!(" of buffer {}", buffer.name) };
            recovered.push(format!("{events} events of {cpus}{name}"));
            container.buffers.push(buffer);
        }
    }
    for counted in counts.filter(|counted| counted.total() > 0) {
        let name = match counted.buffer.as_str() {
            "" => "the main buffer".to_owned(),
            name => format!("buffer {name}"),
        };
        notes.push(Damage::at(lost.at, format!("all {} events of {name} are gone", counted.total())));
    }
    let what = match recovered.is_empty() {
        true if lost.sections.is_empty() => lost.what,
        true => format!("{} (and no page shows its CPU)", lost.what),
        false => {
            format!("{}: {} were recovered from the pages themselves", lost.what, recovered.join(", "))
        }
    };
    if container.buffers.is_empty() {
        return Err(match cut && left_out == 0 {
            true => Trouble::Cut { at: lost.at, what: "the first of its trace data" },
            false => Trouble::bad(lost.at, what),
        });
    }
    container.damage.push(Damage::at(lost.at, what));
    container.damage.extend(notes);
    Ok(())
}

/// Finds each CPU's pages in a section; gives how many events they hold, and how many are
/// left out.
fn buffer_of(
    source: &Arc<dyn ReadAt>,
    container: &mut Container,
    decoders: &Decoders,
    pages: &PageSection,
    buffer: &mut Buffer,
    counts: &Counts,
    notes: &mut Vec<Damage>,
) -> (u64, u64) {
    let layout = container.page_layout();
    let (found, add_up) = match buffer.compressed {
        true => (runs::packed(&**source, container.endian, buffer.page_size, pages, notes), true),
        false => match runs::by_counts(&**source, layout, buffer.page_size, pages, counts) {
            Some(runs) => (runs, true),
            None => (runs::by_time(&**source, layout, buffer.page_size, pages), false),
        },
    };
    let unpacker = Unpacker::new(container.compression, LARGEST_CHUNK);
    let read: Vec<Read> = found
        .into_iter()
        .map(|run| {
            let data = CpuData { cpu: Cpu(0), offset: run.start, size: run.end - run.start };
            let blocks = match buffer.compressed {
                true => Blocks::chunks(source.clone(), container.endian, data, unpacker),
                false => Blocks::plain(source.clone(), container.endian, data, buffer.page_size),
            };
            let records = CpuRecords::new(Cpu(0), layout, buffer.page_size, blocks, buffer.compressed);
            let (events, damaged, idle) = idle::read(records, decoders, container);
            Read { run: Run { whole: run.whole && !damaged, ..run }, events, idle }
        })
        .collect();
    // What has no events behind the last that has may be no run at all.
    let runs = read.iter().rposition(|read| read.events > 0).map_or(0, |last| last + 1);
    let sizes: Vec<_> = read.iter().take(runs).map(|read| (read.events, read.run.whole)).collect();
    let by_counts = counts.assign(&sizes).filter(|_| add_up);
    let (mut events, mut left_out, mut by_name) = (0, 0, false);
    let mut gone = Vec::new();
    for (index, read) in read.iter().enumerate().filter(|(_, read)| read.events > 0) {
        let counted = by_counts.as_ref().and_then(|cpus| cpus.get(index).copied());
        // The kernel's counts and its idle task must not disagree.
        let cpu = match (counted, read.idle) {
            (Some(counted), Some(idle)) if counted != idle => None,
            (counted, idle) => counted.or(idle),
        };
        let bytes = read.run.end - read.run.start;
        let Some(cpu) = cpu.filter(|&cpu| buffer.cpus.iter().all(|data| data.cpu != cpu)) else {
            left_out += read.events;
            let what =
                format!("{} events in {bytes} bytes are left out: their CPU is not known", read.events);
            notes.push(Damage::at(read.run.start, what).unread(bytes));
            continue;
        };
        by_name |= counted.is_none();
        events += read.events;
        buffer.cpus.push(CpuData { cpu, offset: read.run.start, size: bytes });
        let missing = counts.of(cpu).unwrap_or(0).saturating_sub(read.events);
        if missing > 0 && counted.is_some() {
            let at = if pages.cut { pages.end } else { read.run.end };
            let what = format!("CPU {cpu}: {missing} of its events are gone");
            gone.push((Damage::at(at, what), missing));
            container.gone.push((cpu, missing));
        }
    }
    if by_name {
        let what = "the CPUs of these pages were inferred from the idle tasks' names: a page without one may be \
                    another CPU's";
        notes.push(Damage::at(pages.start, what).doubt());
    }
    for (cpu, count) in counts.without(&buffer.cpus) {
        let what = format!("CPU {cpu}: all {count} of its events are gone");
        gone.push((Damage::at(pages.end, what), count));
        container.gone.push((cpu, count));
    }
    let bytes = buffer.cpus.iter().fold(0, |sum: u64, data| sum.saturating_add(data.size));
    for (damage, count) in gone {
        // As large as those that are there.
        let size = u128::from(count) * u128::from(bytes) / u128::from(events.max(1));
        let size = u64::try_from(size).unwrap_or(u64::MAX);
        container.gone_bytes = container.gone_bytes.saturating_add(size);
        notes.push(damage.unread(size));
    }
    (events, left_out)
}

/// `CPU 3`, `CPUs 0-1`, `CPUs 0,2,5`.
fn cpu_list(mut cpus: Vec<Cpu>) -> String {
    cpus.sort();
    cpus.dedup();
    let mut parts = Vec::new();
    for run in cpus.chunk_by(|a, b| a.0 + 1 == b.0) {
        match run {
            [first, .., last] => parts.push(format!("{first}-{last}")),
            [one] => parts.push(one.to_string()),
            [] => {}
        }
    }
    let word = if cpus.len() == 1 { "CPU" } else { "CPUs" };
    format!("{word} {}", parts.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpus_are_listed_in_runs() {
        let list = |cpus: &[u32]| cpu_list(cpus.iter().copied().map(Cpu).collect());
        assert_eq!(list(&[3]), "CPU 3");
        assert_eq!(list(&[1, 0, 1]), "CPUs 0-1");
        assert_eq!(list(&[0, 1, 2, 5, 7, 8]), "CPUs 0-2,5,7-8");
    }
}
