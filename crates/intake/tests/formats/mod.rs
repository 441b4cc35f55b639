//! What the tests of binary formats share.
#![allow(dead_code, reason = "each test file uses some of it")]

use std::io::{Cursor, Read};
use std::path::{Path, PathBuf};
use whylate_events::{Event, EventKind, EventSource, KindSet, TraceInfo};
use whylate_intake::{from_reader, open};

pub(crate) fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

/// A fixture that is kept packed.
pub(crate) fn unpacked(name: &str) -> Vec<u8> {
    let packed = std::fs::read(fixture(name)).expect("a fixture");
    let mut bytes = Vec::new();
    flate2::read::GzDecoder::new(&packed[..]).read_to_end(&mut bytes).expect("gzip");
    bytes
}

pub(crate) fn drain(mut source: Box<dyn EventSource>) -> (Vec<Event>, TraceInfo) {
    let events = whylate_events::drain(&mut source).collect();
    (events, source.info().clone())
}

pub(crate) fn read(name: &str) -> (Vec<Event>, TraceInfo) {
    drain(open(&fixture(name), KindSet::ALL).unwrap_or_else(|error| panic!("{error}")))
}

pub(crate) fn read_bytes(bytes: Vec<u8>) -> (Vec<Event>, TraceInfo) {
    let source = from_reader(Cursor::new(bytes), "the bytes", KindSet::ALL);
    drain(source.unwrap_or_else(|error| panic!("{error}")))
}

/// Numbers that do not change from run to run (Knuth's multiplier).
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit.max(1)
    }
}

/// Flips bits, overwrites and cuts, then reads what is left to its end: in time order, and no more of it
/// than there can be.
pub(crate) fn survives_harm(bytes: &[u8], rounds: u64, most_events: usize) {
    for round in 0..rounds {
        let mut random = Random(round);
        let mut harmed = bytes.to_vec();
        for _ in 0..=random.below(4) {
            let at = random.below(harmed.len());
            match random.below(4) {
                0 => harmed[at] ^= 1 << random.below(8),
                1 => harmed[at] = 0xff,
                2 => harmed.iter_mut().skip(at).take(random.below(300)).for_each(|byte| *byte = 0),
                _ => harmed.truncate(at.max(1)),
            }
        }
        let Ok(source) = from_reader(Cursor::new(harmed), "harmed", KindSet::ALL) else { continue };
        let (events, _) = drain(source);
        assert!(events.windows(2).all(|pair| pair[0].ts <= pair[1].ts), "round {round}: not in order");
        let real = events.iter().filter(|event| !matches!(event.kind, EventKind::Lost { .. })).count();
        assert!(real <= most_events, "round {round}: {real} events");
    }
}
