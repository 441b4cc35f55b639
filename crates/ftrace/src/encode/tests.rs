//! Pages written here, read back record by record.

use super::*;
use crate::bytes::Endian;
use crate::page::{LostBefore, PageLayout};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

/// Times, losses and bytes of the records of pages, and how full they are.
fn read(pages: &[u8], page_size: usize) -> Vec<(u64, Option<LostBefore>, Vec<u8>)> {
    let layout = PageLayout::of_long_size(Endian::NATIVE, 8);
    let mut found = Vec::new();
    for page in pages.chunks(page_size) {
        let mut cursor = layout.open(page).expect("a page");
        let mut lost = cursor.lost();
        while let Some(record) = cursor.next(page) {
            found.push((record.timestamp, lost.take(), page[record.bytes].to_vec()));
        }
        assert_eq!(cursor.damage(), None);
        assert_eq!(lost, None, "a page has a record");
    }
    found
}

#[test]
fn times_of_every_distance() {
    let mut writer = PageWriter::new(Vec::new(), 4096);
    let times = [5, 5, 6, 6 + (1 << 27), 1 << 40, 1 << 62, (1 << 62) + 1];
    for (at, &time) in times.iter().enumerate() {
        writer.push(time, &[at as u8; 12]).expect("written");
    }
    // Time does not run backwards in a page.
    writer.push(3, &[7; 12]).expect("written");
    let (pages, bytes) = writer.finish().expect("written");
    assert_eq!(bytes, pages.len() as u64);
    let found = read(&pages, 4096);
    let expected: Vec<u64> = times.into_iter().chain([(1 << 62) + 1]).collect();
    assert_eq!(found.iter().map(|record| record.0).collect::<Vec<_>>(), expected);
    assert!(found.iter().enumerate().all(|(at, record)| record.2 == [at as u8; 12]));
}

#[test]
fn losses_stand_before_the_next_record() {
    let mut writer = PageWriter::new(Vec::new(), 4096);
    let lost = |count| LostBefore { count };
    writer.push(1, &[1; 8]).expect("written");
    writer.lose(lost(Some(3))).expect("written");
    writer.lose(lost(Some(4))).expect("written");
    writer.push(2, &[2; 8]).expect("written");
    writer.push(3, &[3; 8]).expect("written");
    writer.lose(lost(None)).expect("written");
    writer.lose(lost(Some(1))).expect("written");
    writer.push(4, &[4; 8]).expect("written");
    let found = read(&writer.finish().expect("written").0, 4096);
    let losses: Vec<_> = found.iter().map(|record| record.1).collect();
    assert_eq!(losses, [None, Some(lost(Some(7))), None, Some(lost(None))]);
}

#[test]
fn a_loss_behind_the_last_record_has_a_page_of_its_own() {
    for count in [Some(7), None] {
        let mut writer = PageWriter::new(Vec::new(), 4096);
        writer.push(1 << 40, &[1; 8]).expect("written");
        writer.lose(LostBefore { count }).expect("written");
        let (pages, bytes) = writer.finish().expect("written");
        assert_eq!((bytes, pages.len()), (8192, 8192));
        assert_eq!(read(&pages[..4096], 4096).len(), 1);
        let last = PageLayout::of_long_size(Endian::NATIVE, 8).open(&pages[4096..]).expect("a page");
        assert_eq!((last.timestamp(), last.lost()), (1 << 40, Some(LostBefore { count })));
        assert!(last.is_empty() && last.damage().is_none());
    }
}

#[test]
fn a_record_that_no_page_holds_is_refused() {
    let mut writer = PageWriter::new(Vec::new(), 4096);
    assert!(writer.push(1, &[0; 4080]).is_err());
    writer.push(1, &[0; 4072]).expect("as long as can be");
    writer.lose(LostBefore { count: Some(1) }).expect("written");
    assert!(writer.push(2, &[0; 4072]).is_err(), "the count needs room");
    assert_eq!(read(&writer.finish().expect("written").0[..4096], 4096).len(), 1);
}

#[test]
fn formats_are_written_as_they_were_read() {
    let text = "name: made_up\nID: 372\nformat:\n\
        \tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\
        \tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n\
        \tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;\n\
        \tfield:__data_loc char[] name;\toffset:24;\tsize:4;\tsigned:0;\n\
        \tfield:unsigned long args[6];\toffset:32;\tsize:48;\tsigned:0;\n\
        \tfield:char buf[];\toffset:80;\tsize:0;\tsigned:0;\n\nprint fmt: \"x=%s\", REC->comm\n";
    let format = crate::format::EventFormat::parse("sys", text).expect("a format");
    assert_eq!(format_text(&format), text);
}

#[test]
fn what_latency_tracers_write_comes_back() {
    use crate::decode::Decoders;
    use crate::format::{EventFormat, EventFormats};
    use crate::symbols::{SymbolCache, Symbols};
    use whylate_base::{Cpu, Ns, Tid};
    use whylate_events::{
        Context, ContextFlags, Event, EventKind, KindSet, Noise, NoiseSource, OsnoiseSample, Timerlat,
        TimerlatContext,
    };

    let timerlat =
        |context| EventKind::Timerlat(Timerlat { seq: u32::MAX, context, latency: Ns(1_234_567_890_123) });
    let noise = |source, name: &str, id| {
        let (start, duration) = (Ns(5_000_000_123), Ns(20_896));
        EventKind::Noise(Noise { source, name: name.into(), id, start, duration })
    };
    let kinds = [
        timerlat(TimerlatContext::Irq),
        timerlat(TimerlatContext::Thread),
        timerlat(TimerlatContext::UserReturn),
        noise(NoiseSource::Nmi, "", 0),
        noise(NoiseSource::Irq, "local_timer", 236),
        noise(NoiseSource::Softirq, "NET_RX", 3),
        noise(NoiseSource::Thread, "kworker/1:2", 4711),
        EventKind::OsnoiseSample(OsnoiseSample {
            runtime: Ns(1_000_000_000),
            noise: Ns(190_000),
            max_sample: Ns(12_000),
            hw_count: 1,
            nmi_count: 2,
            irq_count: 3,
            softirq_count: 4,
            thread_count: 5,
        }),
        EventKind::OsnoiseThreshold { start: Ns(5_000_000_123), duration: Ns(34_531), interferences: 5 },
        EventKind::Hwlat { inner: Ns(84_000), outer: Ns(124_000) },
        EventKind::Function { name: "schedule".into(), caller: "do_nanosleep".into() },
        EventKind::FunctionEntry { name: "schedule".into(), depth: 3 },
        EventKind::FunctionExit { name: "try_to_wake_up".into(), depth: 2, duration: Ns(1_454) },
    ];
    let context = Context { tid: Tid(7), flags: ContextFlags::IRQS_OFF, preempt_depth: Some(1) };
    let mut encoder = Encoder::new(Some("6.12.0"), true);
    let mut records = Vec::new();
    for kind in kinds {
        let mut record = Vec::new();
        assert!(encoder.record(&Event { ts: Ns(6_000_000_000), cpu: Cpu(1), context, kind }, &mut record));
        records.push(record);
    }
    let mut formats = EventFormats::default();
    let (ftrace, others) = encoder.formats(KindSet::NONE);
    let ftrace = ftrace.into_iter().map(|text| ("ftrace".to_owned(), text));
    for (group, text) in ftrace.chain(others.into_iter().map(|event| (event.group, event.text))) {
        formats.insert(EventFormat::parse(&group, &text).expect("a format"));
    }
    let decoders = Decoders::of_kernel(&formats, Endian::NATIVE, Some("6.12.0"));
    let symbols = Symbols::parse(encoder.kallsyms().into_bytes());
    let mut names = SymbolCache::new(std::sync::Arc::new(symbols));
    for (record, kind) in records.iter().zip(kinds) {
        let id = decoders.id(record).expect("an id");
        assert_eq!(decoders.decode(id, record, &mut names), Some(kind));
        assert_eq!(decoders.kind(id), Some(kind.kind()));
        assert_eq!(decoders.context(record), context);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { rng_seed: RngSeed::Fixed(0x656e_636f), cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn any_records_come_back(
        records in prop::collection::vec((0u64..1 << 30, prop::collection::vec(any::<u8>(), 1..300)), 1..200),
        page_size in prop::sample::select(vec![512usize, 4096, 65536]),
    ) {
        let mut writer = PageWriter::new(Vec::new(), page_size);
        let mut time = 0;
        let mut expected = Vec::new();
        for (delta, bytes) in &records {
            time += delta;
            writer.push(time, bytes).expect("fits");
            let mut padded = bytes.clone();
            padded.resize(bytes.len().next_multiple_of(4), 0);
            expected.push((time, None, padded));
        }
        let (pages, _) = writer.finish().expect("written");
        prop_assert_eq!(read(&pages, page_size), expected);
    }
}
