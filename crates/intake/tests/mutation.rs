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
use whylate_testing::mutation::{Random, mutate};

/// Mutations of each file. The fuzz targets try more.
const ROUNDS: u64 = 60;
/// What reading a file of a few kilobytes may take: batches, blocks and symbol caches, and what small packed
/// data may unpack to.
const MOST_MEMORY: usize = 256 << 20;

#[global_allocator]
static MEMORY: whylate_sys::CountingAllocator = whylate_sys::CountingAllocator;

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
    let mut random = Random::new(0x7761_6b65);
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
