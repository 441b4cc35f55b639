//! gzip and zstd around traces of every kind.

mod formats;

use flate2::Compression;
use flate2::write::GzEncoder;
use formats::{fixture, read_bytes, survives_harm, unpacked};
use std::io::{Cursor, Write};
use whylate_events::KindSet;
use whylate_intake::{OpenError, from_reader, open};

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).expect("packed");
    encoder.finish().expect("packed")
}

fn zstd(bytes: &[u8]) -> Vec<u8> {
    zstd::encode_all(bytes, 1).expect("packed")
}

#[test]
fn whatever_is_inside_is_read_as_if_it_were_not_packed() {
    let text = std::fs::read(fixture("throttled_excerpt.txt")).expect("a fixture");
    let perfetto = std::fs::read(fixture("perfetto_plain.pftrace")).expect("a fixture");
    for plain in [text, perfetto, unpacked("perf_pipe_zstd.data.gz")] {
        let (events, info) = read_bytes(plain.clone());
        for (packed, how) in
            [(gzip(&plain), "gzip"), (zstd(&plain), "zstd"), (zstd(&gzip(&plain)), "gzip in zstd")]
        {
            let (again, packed_info) = read_bytes(packed);
            assert_eq!(again, events);
            assert_eq!(packed_info.format, format!("{} in {how}", info.format));
            assert_eq!((packed_info.events, &packed_info.damage), (info.events, &info.damage));
        }
    }
}

#[test]
fn utf_16_is_read_as_utf_8() {
    let bytes = std::fs::read(fixture("throttled_excerpt.txt")).expect("a fixture");
    let text = String::from_utf8(bytes.clone()).expect("UTF-8");
    let (events, info) = read_bytes(bytes);
    for mark in ["\u{feff}", ""] {
        let units: Vec<u16> = format!("{mark}{text}").replace('\n', "\r\n").encode_utf16().collect();
        let little: Vec<u8> = units.iter().flat_map(|unit| unit.to_le_bytes()).collect();
        let big = units.iter().flat_map(|unit| unit.to_be_bytes()).collect();
        for encoded in [little.clone(), big, gzip(&little)] {
            let (again, encoded_info) = read_bytes(encoded);
            assert_eq!(again, events);
            assert!(encoded_info.format.starts_with(&format!("{} in UTF-16", info.format)));
            assert_eq!(encoded_info.damage, info.damage);
        }
    }
}

#[test]
fn a_file_is_unpacked_as_a_pipe_is() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let path = directory.path().join("trace.txt");
    let text = std::fs::read(fixture("throttled_excerpt.txt")).expect("a fixture");
    std::fs::write(&path, zstd(&text)).expect("written");
    let source = open(&path, KindSet::ALL).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(formats::drain(source).0, read_bytes(text).0);
}

#[test]
fn a_stream_that_is_cut_gives_what_comes_before_and_says_so() {
    let perfetto = std::fs::read(fixture("perfetto_plain.pftrace")).expect("a fixture");
    let text = std::fs::read(fixture("throttled_excerpt.txt")).expect("a fixture");
    for plain in [perfetto, text] {
        let (all, _) = read_bytes(plain.clone());
        for packed in [gzip(&plain), zstd(&plain)] {
            // zstd gives a block at a time, and these are of one: only its end mark is missing.
            let cut = if packed[0] == 0x1f { packed.len() * 2 / 3 } else { packed.len() - 2 };
            match from_reader(Cursor::new(packed[..cut].to_vec()), "cut", KindSet::ALL) {
                Ok(source) => {
                    let (events, info) = formats::drain(source);
                    assert!(!events.is_empty() && events.len() <= all.len());
                    let told = info.damage.iter().any(|damage| damage.what.contains("stream is cut off"));
                    assert!(told, "{:?}", info.damage);
                }
                Err(error) => assert!(matches!(error, OpenError::Unpack { .. }), "{error}"),
            }
        }
    }
}

#[test]
fn packing_without_end_is_refused() {
    let mut packed = b"a-1 [000] 1.5: x: y\n".to_vec();
    for _ in 0..5 {
        packed = gzip(&packed);
    }
    let error = from_reader(Cursor::new(packed), "it", KindSet::ALL).err();
    assert!(matches!(error, Some(OpenError::Layers { .. })), "{error:?}");
}

#[test]
fn harm_is_survived() {
    let perfetto = std::fs::read(fixture("perfetto_compact.pftrace")).expect("a fixture");
    survives_harm(&gzip(&perfetto), 100, 2000);
    survives_harm(&zstd(&perfetto), 100, 2000);
}

/// A recording of the command line's tests.
fn trace_dat() -> Vec<u8> {
    std::fs::read(fixture("../../../cli/tests/fixtures/6.1-higher.dat")).expect("a fixture")
}

#[test]
fn a_trace_dat_is_read_from_a_pipe_and_packed() {
    let plain = fixture("../../../cli/tests/fixtures/6.1-higher.dat");
    let source = open(&plain, KindSet::ALL).unwrap_or_else(|error| panic!("{error}"));
    let (events, info) = formats::drain(source);
    assert!(events.len() > 100);
    let (piped, piped_info) = read_bytes(trace_dat());
    assert_eq!((&piped, &piped_info), (&events, &info));
    let (packed, packed_info) = read_bytes(gzip(&trace_dat()));
    assert_eq!(packed, events);
    assert_eq!(packed_info.format, format!("{} in gzip", info.format));
}

#[test]
fn a_packed_trace_dat_that_is_cut_gives_what_is_left() {
    let (all, _) = read_bytes(trace_dat());
    let packed = gzip(&trace_dat());
    let (events, info) = read_bytes(packed[..packed.len() - packed.len() / 8].to_vec());
    assert!(!events.is_empty() && events.len() < all.len(), "{} of {}", events.len(), all.len());
    assert!(info.damage.iter().any(|damage| damage.what.contains("the gzip stream is cut off")));
}
