//! Call stacks of the kernel.

use crate::SYMBOLS;
use crate::common::Machine;
use crate::common::Value::{Int, Longs};
use std::sync::Arc;
use whylate_events::Kind;
use whylate_ftrace::decode::Decoders;
use whylate_ftrace::format::{EventFormat, EventFormats};
use whylate_ftrace::symbols::{SymbolCache, Symbols};

/// The format has had room for eight callers, and has none since 6.3; before 3.2 there was no number of them.
#[test]
fn stacks_of_every_layout() {
    let (schedule, sleep, main) = (0xc000_0110, 0xc000_0204, 0xc000_0000);
    let all: Vec<u64> = [schedule, sleep, main, schedule, sleep, main, schedule, sleep, main].to_vec();
    let fixed = [schedule, sleep, u64::MAX, 0, 0, 0, 0, 0];
    for machine in Machine::ALL {
        let long = if machine.long == 8 { u64::MAX } else { u64::from(u32::MAX) };
        let fixed: Vec<u64> = fixed.iter().map(|address| address & long).collect();
        let cases = [
            (["int size", "unsigned long caller[]"].as_slice(), Some(9), all.as_slice(), 9),
            (["int size", "unsigned long caller[8]"].as_slice(), Some(3), &all[..8], 3),
            (["unsigned long caller[8]"].as_slice(), None, fixed.as_slice(), 2),
        ];
        for (declarations, size, callers, expected) in cases {
            let text = machine.format("kernel_stack", 4, declarations, "\"\"");
            let format = EventFormat::parse("ftrace", &text).expect("a format");
            let values = size.map(|size| ("size", Int(size))).into_iter().chain([("caller", Longs(callers))]);
            let record = machine.record(&format, &values.collect::<Vec<_>>());
            let mut formats = EventFormats::default();
            formats.insert(format);
            let decoders = Decoders::new(&formats, machine.endian);
            let mut names = SymbolCache::new(Arc::new(Symbols::parse(SYMBOLS.to_vec())));
            assert_eq!(decoders.kind(4), Some(Kind::Stack));
            for length in 0..record.len() {
                let _ = decoders.stack(4, &record[..length], &mut names);
            }
            let stack = decoders.stack(4, &record, &mut names);
            let stack: Vec<&str> = stack.iter().map(|name| name.as_str()).collect();
            let functions = ["hrtimer_wakeup", "process_timeout", "_stext"];
            let expected: Vec<&str> = functions.iter().cycle().take(expected).copied().collect();
            assert_eq!(stack, expected, "{declarations:?}");
        }
    }
}
