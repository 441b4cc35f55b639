//! Arbitrary formats and arbitrary bytes of records: each is printed, and none panics.

use crate::common::{Machine, cases};
use crate::own_forms::own_forms;
use crate::print_fmt::FIELDS;
use crate::{recording, text};
use proptest::prelude::*;
use whylate_ftrace::dat::TraceFile;
use whylate_ftrace::print::Mode;

proptest! {
    #![proptest_config(cases(400))]

    /// Whatever a format file has and whatever a record holds: it is printed.
    #[test]
    fn nothing_makes_it_panic(
        words in prop::collection::vec(prop::sample::select(vec![
            "REC->a", "REC->name", "REC->many", "REC->mac", "(", ")", "[", "]", "{", "}", ",", ",", "?", ":", "+", "-", "*", "/", "%",
            "<<", ">>", "&", "&&", "!", "~", "==", "<", "0", "1", "0xffffffffffffffffULL", "-1", "\"%s\"", "\"x%*pbl\"", "(u8 *)", "(long)",
            "__print_flags(", "__print_symbolic(", "__print_array(", "__print_hex(", "__get_str(name)", "__get_bitmask(name)",
            "__get_dynamic_array(other)", "__get_dynamic_array_len(name)", "sizeof(", "name", "'c'", "jiffies", "->", ";",
        ]), 0..24),
        head in prop::sample::select(vec![
            "\"%d %s %p\"", "\"%*.*d%c\"", "\"%ps %pI4 %pM\"", "\"%-*s|%.*s\"", "\"%*ph %*pbl %pUb %pISpc\"", "\"%s%s%s\"", "\"%llx\"",
        ]),
        bytes in prop::collection::vec(any::<u8>(), 0..160),
    ) {
        let machine = Machine::PC;
        let format = machine.format("event", 900, &FIELDS, &format!("{head}, {}", words.join(" ")));
        let mut record = bytes;
        record.resize(record.len().max(8), 0);
        record[..2].copy_from_slice(&900u16.to_le_bytes());
        let file = TraceFile::from_bytes(recording(machine, &[("made", format)], &[record]).v6()).expect("a file");
        for mode in [Mode::Kernel, Mode::TraceCmd] {
            prop_assert!(text(&file, mode).contains("event:"));
        }
    }

    /// Records of real formats, filled with anything.
    #[test]
    fn no_record_makes_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..120), id in prop::sample::select(vec![1u16, 4, 5, 10, 11, 300, 301, 302, 303, 304, 305])) {
        let mut dat = own_forms(Machine::PC);
        let mut record = bytes;
        record.resize(record.len().max(8), 0);
        record[..2].copy_from_slice(&id.to_le_bytes());
        let data = Machine::PC.event(0, &record);
        dat.cpus = vec![Machine::PC.page(4096, 1, &data, None)];
        let file = TraceFile::from_bytes(dat.v6()).expect("a file");
        for mode in [Mode::Kernel, Mode::TraceCmd] {
            prop_assert!(text(&file, mode).lines().count() > 1);
        }
    }
}
