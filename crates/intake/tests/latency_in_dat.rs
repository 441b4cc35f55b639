//! A trace.dat that was recorded with a latency tracer holds its text: it reads as that text does.

use std::io::Cursor;
use std::path::Path;
use whylate_events::{Event, KindSet, TraceInfo, drain};

fn read(bytes: Vec<u8>) -> (Vec<Event>, TraceInfo) {
    let mut source = whylate_intake::from_reader(Cursor::new(bytes), "a trace", KindSet::ALL).expect("opens");
    let events = drain(&mut *source).collect();
    (events, source.info().clone())
}

#[test]
fn the_text_in_a_trace_dat_reads_as_the_text_alone() {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read(own.join("tests/fixtures/wakeup_rt_6.12.txt")).expect("the fixture");
    let mut dat = std::fs::read(own.join("../../fuzz/corpus/trace_dat/v6-latency.dat")).expect("the corpus");
    let word = b"latency  \0";
    let at = dat.windows(word.len()).position(|window| window == word).expect("where the text begins");
    dat.truncate(at + word.len());
    dat.extend(&text);
    let (events, info) = read(dat);
    assert!(!events.is_empty() && info.latency.is_some(), "{info:?}");
    assert_eq!((events, info), read(text));
}
