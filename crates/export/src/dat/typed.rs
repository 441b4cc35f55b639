//! Typed events of any source as a trace.dat.

use super::copy::{chosen, thread_names, uname};
use super::spool::Spool;
use crate::cut::Cut;
use crate::sink::{Written, each};
use std::collections::BTreeMap;
use std::io::{self, Seek, Write};
use std::path::Path;
use whylate_base::Cpu;
use whylate_events::{ContextFlags, Event, EventKind, EventSource, Kind, KindSet, Symbol};
use whylate_ftrace::dat::write::Description;
use whylate_ftrace::encode::{Encoder, HEADER_EVENT, header_page};
use whylate_ftrace::page::LostBefore;

/// The page of most kernels.
const PAGE: usize = 4096;
/// A stack is no deeper: what is beyond is part of another one's record.
const DEEPEST: usize = 256;

/// Writes the events of `source` that `cut` keeps; pages wait in files without a name in `directory`.
///
/// # Errors
/// What `out` and `directory` answer.
pub fn write(
    source: &mut (impl EventSource + ?Sized),
    cut: &Cut,
    directory: &Path,
    out: &mut (impl Write + Seek),
) -> io::Result<Written> {
    let info = source.info().clone();
    let clock = info.clock.clone().unwrap_or_default();
    let spool = Spool::new(directory, PAGE, vec![(String::new(), clock.clone())]);
    let mut records = Records { encoder: None, spool, stacks: BTreeMap::new(), bytes: Vec::new(), events: 0 };
    let mut written = Written::default();
    let release = info.kernel_release.as_deref();
    let selected = each(source, cut, &mut written, |event, _| records.add(event, release))?;
    records.end_stacks()?;
    let Records { encoder, spool, events, .. } = records;
    let encoder = encoder.unwrap_or_else(|| Encoder::new(release, true));
    let recorded: KindSet = info
        .recorded
        .unwrap_or(KindSet::NONE)
        .iter()
        .filter(|&kind| cut.events.is_empty() || cut.events.contains(&crate::Choice::Kind(kind)))
        .filter(|&kind| kind != Kind::Vector)
        .collect();
    let (ftrace_formats, event_formats) = encoder.formats(recorded);
    let symbols = encoder.kallsyms();
    let cpus = source.info().cpus;
    let description = Description {
        page_size: PAGE,
        header_page: header_page(PAGE),
        header_event: HEADER_EVENT.to_owned(),
        ftrace_formats,
        event_formats,
        kernel_symbols: (!symbols.is_empty()).then_some(symbols),
        printk_formats: None,
        thread_names: thread_names(&selected.threads().comms()),
        clock: chosen(&clock),
        uname: uname(release, info.machine.as_deref()),
        cpus,
        stacks: source.info().stacks.clone(),
    };
    spool.write(&description, out)?;
    Ok(Written { events, ..written })
}

struct Records<'p> {
    encoder: Option<Encoder>,
    spool: Spool<'p>,
    /// Stacks whose frames are still coming, by CPU.
    stacks: BTreeMap<Cpu, (Event, Vec<Symbol>)>,
    bytes: Vec<u8>,
    events: u64,
}

impl Records<'_> {
    fn add(&mut self, event: &Event, release: Option<&str>) -> io::Result<()> {
        let known = !event.context.flags.contains(ContextFlags::IRQS_UNKNOWN);
        let has_flags = known || event.context.preempt_depth.is_some();
        self.encoder.get_or_insert_with(|| Encoder::new(release, has_flags));
        self.events += 1;
        if let EventKind::StackFrame { name } = event.kind {
            let (_, frames) = self.stacks.entry(event.cpu).or_insert_with(|| (*event, Vec::new()));
            frames.push(name);
            return if frames.len() >= DEEPEST { self.end_stack(event.cpu) } else { Ok(()) };
        }
        self.end_stack(event.cpu)?;
        if let EventKind::Lost { count, .. } = event.kind {
            return self.spool.lose(0, event.cpu, LostBefore { count });
        }
        if let Some(encoder) = &mut self.encoder
            && encoder.record(event, &mut self.bytes)
        {
            self.spool.push(0, event.cpu, event.ts, &self.bytes)?;
        }
        Ok(())
    }

    fn end_stack(&mut self, cpu: Cpu) -> io::Result<()> {
        let Some((event, frames)) = self.stacks.remove(&cpu) else { return Ok(()) };
        if let Some(encoder) = &mut self.encoder {
            encoder.stack(&event.context, &frames, &mut self.bytes);
            self.spool.push(0, cpu, event.ts, &self.bytes)?;
        }
        Ok(())
    }

    fn end_stacks(&mut self) -> io::Result<()> {
        let cpus: Vec<Cpu> = self.stacks.keys().copied().collect();
        cpus.into_iter().try_for_each(|cpu| self.end_stack(cpu))
    }
}
