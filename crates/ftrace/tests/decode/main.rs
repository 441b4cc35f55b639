//! Format files and records to typed events, on every kind of machine.

#[path = "../common/mod.rs"]
mod common;
mod events;
mod stacks;
mod tracers;

use common::{Machine, Value};
use std::sync::Arc;
use whylate_events::{EventKind, Kind};
use whylate_ftrace::decode::Decoders;
use whylate_ftrace::format::{EventFormat, EventFormats};
use whylate_ftrace::symbols::{SymbolCache, Symbols};

const SYMBOLS: &[u8] = b"c0000000 T _stext\nc0000100 T hrtimer_wakeup\nc0000200 t process_timeout\n";

type Fields<'v> = &'v [(&'v str, Value<'v>)];

/// System, name, declarations and values of a made-up event, and what it is decoded to.
type Case = (&'static str, &'static str, &'static [&'static str], Fields<'static>, EventKind);

/// Decodes a made-up record on all machines; the result must be the same on each.
fn decode(system: &str, name: &str, declarations: &[&str], values: Fields<'_>) -> (Option<Kind>, EventKind) {
    let mut results = Machine::ALL.iter().map(|&machine| {
        let text = machine.format(name, 77, declarations, "\"\"");
        let format = EventFormat::parse(system, &text).expect("a format");
        let record = machine.record(&format, values);
        let mut formats = EventFormats::default();
        formats.insert(format);
        let decoders = Decoders::new(&formats, machine.endian);
        let mut names = SymbolCache::new(Arc::new(Symbols::parse(SYMBOLS.to_vec())));
        let id = decoders.id(&record).expect("an id");
        assert_eq!(id, 77);
        for length in 0..record.len() {
            // Too short for its fields, or an `Other`, or a string that lies outside: never a panic.
            let _ = decoders.decode(id, &record[..length], &mut names);
        }
        let kind = decoders.decode(id, &record, &mut names).expect("long enough");
        (decoders.kind(id), kind)
    });
    let first = results.next().expect("a machine");
    for other in results {
        assert_eq!(other, first, "{name}");
    }
    first
}

#[test]
fn what_has_no_type_or_lacks_a_field_is_other() {
    for (system, name, declarations) in [
        ("net", "netif_rx", &["int len"][..]),
        ("sched", "sched_waking", &["pid_t pid"]),
        ("mine", "sched_process_exit", &["pid_t pid"]),
        ("irq_vectors", "vector_alloc", &["int irq"]),
        ("ftrace", "bprint", &["unsigned long ip", "char buf[]"]),
        ("ftrace", "funcgraph_exit", &["unsigned long func", "int depth"]),
        ("ftrace", "timerlat", &["unsigned int seqnum", "int context"]),
        ("osnoise", "no_such_noise", &["u64 start", "u64 duration", "u64 interference"]),
        ("osnoise", "irq_noise", &["u64 start", "u64 duration", "int vector"]),
    ] {
        assert_eq!(decode(system, name, declarations, &[]), (Some(Kind::Other), EventKind::Other), "{name}");
    }
}

#[test]
fn an_unknown_id_has_no_kind() {
    let decoders = Decoders::new(&EventFormats::default(), whylate_ftrace::bytes::Endian::Little);
    assert_eq!(decoders.id(&[7, 1]), Some(0x107));
    assert_eq!((decoders.id(&[7]), decoders.kind(0x107)), (None, None));
}
