//! The container of version 6: one header block after the other, then the pages
//! (`trace-cmd.dat.v6(5)`).

use super::buffer::{Buffer, CpuData, MOST_CPUS, clock_in_use};
use super::compress::Compression;
use super::container::{Container, Kallsyms};
use super::error::Trouble;
use super::input::Input;
use super::latency_text::TextAt;
use super::options as option;
use crate::bytes::until_nul;
use std::collections::BTreeSet;
use whylate_base::Cpu;
use whylate_events::Damage;

/// What stands for the CPU table where a latency tracer's text follows.
const LATENCY: &[u8] = b"latency  \0";

/// Reads everything behind the initial format; `said_page_size` comes from there.
pub(super) fn read(
    container: &mut Container,
    input: &mut Input<'_>,
    declared_page_size: u32,
) -> Result<(), Trouble> {
    container.read_headers(input)?;
    container.read_ftrace_formats(input)?;
    container.read_event_formats(input)?;
    let size = u64::from(input.u32("the kernel symbols")?);
    container.kallsyms = Some(Kallsyms::Plain { at: input.at, size });
    if size > input.left() {
        return Err(Trouble::Cut { at: input.at + input.left(), what: "the kernel symbols" });
    }
    input.at += size;
    let size = u64::from(input.u32("the printk formats")?);
    container.printk_formats = input.take(size, "the printk formats")?;
    let comms = input.sized64("the thread names")?;
    container.read_comms(until_nul(&comms));

    let at = input.place();
    let cpus = input.u32("the number of CPUs")?;
    if cpus > MOST_CPUS {
        return Err(Trouble::bad(at, format!("{cpus} CPUs make no sense")));
    }
    container.cpu_count = cpus;
    let page_size = container.page_size(declared_page_size, at)?;
    let mut kind = input.take(10, "the kind of trace data")?;
    let mut options = Options::default();
    if kind == b"options  \0" {
        options = read_options(container, input)?;
        kind = input.take(10, "the kind of trace data")?;
    }
    if kind == LATENCY {
        container.text = Some(TextAt { at: input.at, size: 0, compression: Compression::None });
        return Ok(());
    }
    let cpus_of_top = read_cpu_table(input, &kind, cpus)?;
    if options.clock_follows {
        let at = input.place();
        match input.sized64("the trace clock") {
            Ok(text) => container.clock = clock_in_use(&String::from_utf8_lossy(&text)),
            Err(trouble) => container.note(trouble.damage("the clock is not known").detail()),
        }
        // A clock that is not there must not be taken for damage of the events.
        if container.clock.is_none() && container.damage.is_empty() {
            container.note(Damage::at(at, "the trace clock was not understood").detail());
        }
    }
    let clock = container.clock.clone();
    let buffer = |name, cpus| Buffer { name, clock: clock.clone(), page_size, compressed: false, cpus };
    container.add_buffer(buffer(String::new(), cpus_of_top), at);
    let mut tables = BTreeSet::new();
    for (offset, name) in options.instances {
        // Many options that name one place could make reading take for ever.
        if !tables.insert(offset) {
            let what = format!("instance {name} is at the place of another one: skipped");
            container.note(Damage::at(offset, what));
            continue;
        }
        input.at = offset;
        let table =
            input.take(10, "the kind of trace data").and_then(|kind| read_cpu_table(input, &kind, cpus));
        match table {
            Ok(cpus) => {
                if !container.add_buffer(buffer(name, cpus), offset) {
                    break;
                }
            }
            Err(trouble) => {
                container.note(trouble.damage(&format!("nothing of instance {name} can be read")));
            }
        }
    }
    Ok(())
}

#[derive(Default)]
struct Options {
    /// Offset and name of each instance's CPU table.
    instances: Vec<(u64, String)>,
    clock_follows: bool,
}

fn read_options(container: &mut Container, input: &mut Input<'_>) -> Result<Options, Trouble> {
    let mut options = Options::default();
    loop {
        let id = input.u16("the options")?;
        if id == option::DONE {
            return Ok(options);
        }
        let size = u64::from(input.u32("the options")?);
        let at = input.place();
        let data = input.take(size, "an option")?;
        match id {
            option::BUFFER => {
                let name = String::from_utf8_lossy(until_nul(data.get(8..).unwrap_or_default())).into_owned();
                options.instances.extend(container.endian.u64(&data, 0).map(|offset| (offset, name)));
            }
            // An empty mark in this version: the clock's text stands behind the CPU table.
            option::TRACECLOCK => options.clock_follows = true,
            _ => option::take(container, id, &data, at),
        }
    }
}

fn read_cpu_table(input: &mut Input<'_>, kind: &[u8], cpus: u32) -> Result<Vec<CpuData>, Trouble> {
    match kind {
        b"flyrecord\0" => (0..cpus)
            .map(|cpu| {
                let (offset, size) = (input.u64("the table of CPUs")?, input.u64("the table of CPUs")?);
                Ok(CpuData { cpu: Cpu(cpu), offset, size })
            })
            .collect(),
        _ => Err(Trouble::bad(input.place() - 10, "the kind of trace data is not known")),
    }
}
