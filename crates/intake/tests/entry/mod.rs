//! What every reader must hold to on any bytes at all: the entry points of the fuzz targets (`fuzz/`), and of
//! the mutation test here, which needs no nightly toolchain.
//!
//! A reader does not panic, gives its events in time order, and no more of them than the bytes can hold. It does
//! not hang either: what it reads back and forth, it reads a bounded number of times over.

use std::io::{self, Cursor};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use whylate_events::{EventSource, KindSet};
use whylate_ftrace::bytes::Endian;
use whylate_ftrace::dat::{Compression, ReadAt, TraceFile};
use whylate_ftrace::page::PageLayout;

/// An entry point, by the name of its fuzz target and of its folder in the corpus. It gives how many events
/// there were.
pub(crate) type Entry = fn(&[u8]) -> u64;

/// All entry points.
pub(crate) const ENTRIES: [(&str, Entry); 6] = [
    ("page", page),
    ("trace_dat", trace_dat),
    ("text", any),
    ("perf_data", any),
    ("perfetto", any),
    ("packed", any),
];

/// No packed format gains more: zlib cannot, and zstd's readers are bounded.
const LARGEST_GAIN: u64 = 1100;
/// What is small may unpack to this many bytes all the same.
const SMALL: u64 = 64 << 20;
/// An event has a word that is its header and one of data at least; of text, a few letters.
const SMALLEST_EVENT: u64 = 8;

/// A ring-buffer page; the first byte chooses the machine.
pub(crate) fn page(bytes: &[u8]) -> u64 {
    let Some((&machine, page)) = bytes.split_first() else { return 0 };
    let endian = if machine & 1 == 0 { Endian::Little } else { Endian::Big };
    let layout = PageLayout::of_long_size(endian, if machine & 2 == 0 { 8 } else { 4 });
    let Some(mut cursor) = layout.open(page) else { return 0 };
    let (mut events, mut end) = (0, 0);
    while let Some(record) = cursor.next(page) {
        assert!(
            record.bytes.start >= end && record.bytes.end <= page.len(),
            "{record:?} overlaps or leaves the page"
        );
        assert!(page.get(record.bytes.clone()).is_some());
        end = record.bytes.end;
        events += 1;
    }
    assert!(events * 4 <= page.len() as u64, "{events} events in {} bytes", page.len());
    events
}

/// A trace.dat of either version, typed and raw.
pub(crate) fn trace_dat(bytes: &[u8]) -> u64 {
    let counted = Arc::new(Counted { bytes: bytes.to_vec(), read: AtomicU64::new(0) });
    let source: Arc<dyn ReadAt> = counted.clone();
    let events = recording(source, bytes.len());
    counted.assert_bounded();
    events
}

fn recording(source: Arc<dyn ReadAt>, size: usize) -> u64 {
    let Ok(file) = TraceFile::from_source(source, Path::new("fuzz")) else { return 0 };
    let gain = if file.compression() == Compression::None { 1 } else { LARGEST_GAIN };
    let most = most_events(size as u64, gain);
    let events = drain(&mut file.events(KindSet::ALL), most);
    let (mut raw, mut count) = (file.raw_events(), 0);
    while let Some(event) = raw.next() {
        assert!(event.payload.len() <= size * gain as usize + SMALL as usize);
        count += 1;
        assert!(count <= most, "{count} raw events in {size} bytes");
    }
    events
}

/// A file that counts what is read of it, empty reads too: a reader that goes in circles asks again and again.
struct Counted {
    bytes: Vec<u8>,
    read: AtomicU64,
}

impl Counted {
    /// Descriptions are read once or twice, pages by each of two readers, and all of it to look for what damage
    /// has hidden: four times over is the most that was seen.
    fn assert_bounded(&self) {
        let (read, size) = (self.read.load(Ordering::Relaxed), self.bytes.len() as u64);
        assert!(read <= 100 * size + 100_000, "{read} bytes are read of a file of {size}");
    }
}

impl ReadAt for Counted {
    fn size(&self) -> u64 {
        self.bytes.size()
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let read = self.bytes.read_at(buffer, offset)?;
        self.read.fetch_add(read as u64 + 1, Ordering::Relaxed);
        Ok(read)
    }
}

/// Whatever it is: text, perf.data, Perfetto, a trace.dat, any of them packed.
pub(crate) fn any(bytes: &[u8]) -> u64 {
    match whylate_intake::from_reader(Cursor::new(bytes.to_vec()), "fuzz", KindSet::ALL) {
        Ok(mut source) => drain(&mut *source, most_events(bytes.len() as u64, LARGEST_GAIN)),
        Err(error) => {
            assert!(!error.to_string().is_empty());
            0
        }
    }
}

fn most_events(bytes: u64, gain: u64) -> u64 {
    // A loss is an event of its own, in front of one or at the end of a CPU's.
    let unpacked = if gain == 1 { bytes } else { bytes.saturating_mul(gain).max(SMALL) };
    2 * unpacked / SMALLEST_EVENT + 16
}

fn drain(source: &mut dyn EventSource, most: u64) -> u64 {
    let (mut last, mut events) = (None, 0);
    while let Some(event) = source.next_event() {
        assert!(last.is_none_or(|last| event.ts >= last), "time runs backwards: {last:?}, then {event:?}");
        last = Some(event.ts);
        events += 1;
        assert!(events <= most, "more than {most} events");
    }
    let info = source.info();
    let share = info.unread_share().unwrap_or(0.0);
    assert!((0.0..=1.0).contains(&share));
    info.quality();
    events
}
