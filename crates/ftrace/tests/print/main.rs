//! Events as text: whole lines compared with `trace-cmd report`, and forms of every kind by table.

mod arbitrary;
#[path = "../common/mod.rs"]
mod common;
mod own_forms;
mod print_fmt;
mod trace_cmd;

use common::{Dat, Machine};
use whylate_ftrace::dat::TraceFile;
use whylate_ftrace::format::EventFormat;
use whylate_ftrace::print::{Lines, Mode};

const KALLSYMS: &str = "ffffffff81000000 T first\nffffffff81000100 T second\nffffffff81000200 T third\n\
    ffffffff81000300 T _end\n";

fn text(file: &TraceFile, mode: Mode) -> String {
    all(Lines::new(file, mode))
}

fn all(mut lines: Lines<'_>) -> String {
    let mut out = Vec::new();
    while lines.next_line(&mut out) {}
    String::from_utf8_lossy(&out).into_owned()
}

/// A file with one CPU's records of one event after the other.
fn recording(machine: Machine, formats: &[(&str, String)], records: &[Vec<u8>]) -> Dat {
    let data: Vec<u8> = records.iter().flat_map(|record| machine.event(1500, record)).collect();
    let mut systems: Vec<(String, Vec<String>)> = Vec::new();
    let of = |system: &str| -> Vec<String> {
        formats.iter().filter(|(name, _)| *name == system).map(|(_, text)| text.clone()).collect()
    };
    for (system, _) in formats.iter().filter(|(system, _)| *system != "ftrace") {
        if !systems.iter().any(|(name, _)| name == system) {
            systems.push(((*system).to_owned(), of(system)));
        }
    }
    Dat {
        machine,
        page_size: 4096,
        ftrace: of("ftrace"),
        systems,
        kallsyms: KALLSYMS.to_owned(),
        comms: "7 worker\n".to_owned(),
        clock: "mono".to_owned(),
        cpus: vec![machine.page(4096, 5_000_000_000, &data, None)],
        counts: vec![],
        options: vec![],
        instances: vec![],
    }
}

fn parsed(text: &str) -> EventFormat {
    EventFormat::parse("made", text).expect("a format")
}
