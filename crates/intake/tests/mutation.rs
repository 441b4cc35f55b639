//! Damaged files of every format, made from the fuzz targets' corpus by flipping, cutting, repeating and
//! joining bytes: nothing panics, nothing takes memory without bound, and nothing goes on for ever.
//!
//! No time is measured, which shows more of the machine than of the reader: the entry points bound the work
//! itself, the events given and the bytes read. What would hang in spite of that never ends this test either,
//! and its caller has a limit for that.

mod entry;

use entry::{ENTRIES, Entry};
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};

/// Mutations of each file. The fuzz targets try more.
const ROUNDS: u64 = 60;
/// What reading a file of a few kilobytes may take: batches, blocks and symbol caches, and what small packed
/// data may unpack to.
const MOST_MEMORY: usize = 256 << 20;

#[global_allocator]
static MEMORY: whylate_sys::CountingAllocator = whylate_sys::CountingAllocator;

/// Numbers that do not change from run to run.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit.max(1)
    }

    /// A number that programs trip over.
    fn awkward(&mut self) -> u64 {
        let edges =
            [0, 1, 7, 8, 0x7f, 0xff, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff, u64::MAX, 1 << 63, 1 << 27];
        let edge = edges[self.below(edges.len())];
        edge.wrapping_add(self.below(3) as u64).wrapping_sub(1)
    }
}

fn mutate(bytes: &[u8], other: &[u8], random: &mut Random) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for _ in 0..=random.below(3) {
        let at = random.below(bytes.len());
        match random.below(8) {
            0 => bytes.truncate(at),
            1 => bytes.iter_mut().skip(at).take(1).for_each(|byte| *byte ^= 1 << random.below(8)),
            2 => {
                let value = random.awkward().to_le_bytes();
                let width = [1, 2, 4, 8][random.below(4)];
                bytes.iter_mut().skip(at).take(width).zip(value).for_each(|(byte, value)| *byte = value);
            }
            3 => {
                let value = random.awkward().to_be_bytes();
                let width = [2, 4, 8][random.below(3)];
                bytes.iter_mut().skip(at).take(width).zip(&value[8 - width..]).for_each(|(b, v)| *b = *v);
            }
            4 => {
                let length = random.below(600);
                bytes.iter_mut().skip(at).take(length).for_each(|byte| *byte = 0);
            }
            5 => {
                let end = (at + random.below(300)).min(bytes.len());
                bytes.drain(at..end);
            }
            6 => {
                let end = (at + random.below(2000)).min(bytes.len());
                let part = bytes[at..end].to_vec();
                let to = random.below(bytes.len());
                bytes.splice(to..to, part);
            }
            _ => {
                let from = random.below(other.len());
                bytes.truncate(at);
                bytes.extend(&other[from..]);
            }
        }
    }
    bytes
}

fn corpus(name: &str) -> Vec<(PathBuf, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(name);
    let entries = std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    assert!(!paths.is_empty(), "{} is empty", folder.display());
    paths.into_iter().map(|path| (path.clone(), std::fs::read(path).expect("readable"))).collect()
}

/// Reads the files of a format, whole and mutated.
fn assert_survives(name: &str, entry: Entry) {
    let files = corpus(name);
    let mut random = Random(0x7761_6b65);
    let mut most_events = 0;
    for (index, (path, bytes)) in files.iter().enumerate() {
        let place = path.display();
        most_events = most_events.max(entry(bytes));
        let other = &files[(index + 1) % files.len()].1;
        for round in 0..ROUNDS {
            let mutated = mutate(bytes, other, &mut random);
            let memory = whylate_sys::most_allocated(|| {
                if catch_unwind(|| entry(&mutated)).is_err() {
                    let kept = std::env::temp_dir().join(format!("whylate-mutation-{name}-{index}-{round}"));
                    let _ = std::fs::write(&kept, &mutated);
                    panic!("{place}, round {round}: kept as {}", kept.display());
                }
            });
            assert!(memory < MOST_MEMORY, "{place}, round {round}: {memory} bytes of memory");
        }
    }
    assert!(most_events > 0, "{name}: no file of the corpus has an event");
}

#[test]
fn damaged_files_of_every_format_are_survived() {
    for (name, entry) in ENTRIES {
        assert_survives(name, entry);
    }
}
