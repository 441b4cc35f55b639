//! The entry points of the fuzz targets after the readers, on damaged files; the readers of traces themselves are mutated
//! in `whylate-intake`.

use crate::entry;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use whylate_host::{FsRoot, Snapshot};
use whylate_profiles::profile;
use whylate_testing::mutation::{Random, mutate};

/// Calls `entry` with each file and with mutations of it. How many of these it could use.
fn survives(name: &str, files: &[Vec<u8>], rounds: usize, entry: impl Fn(&[u8]) -> bool) -> usize {
    let mut random = Random::new(0x7761_6b65);
    let (mut good, mut sound) = (0, 0);
    for (index, bytes) in files.iter().enumerate() {
        sound += usize::from(entry(bytes));
        let other = &files[(index + 1) % files.len()];
        for round in 0..rounds {
            let mutated = mutate(bytes, other, &mut random);
            match catch_unwind(AssertUnwindSafe(|| entry(&mutated))) {
                Ok(is_good) => good += usize::from(is_good),
                Err(_) => {
                    let kept = std::env::temp_dir().join(format!("whylate-mutation-{name}-{index}-{round}"));
                    let _ = std::fs::write(&kept, &mutated);
                    panic!("{name}, file {index}, round {round}: kept as {}", kept.display());
                }
            }
        }
    }
    assert!(sound > 0, "{name}: no sound file can be used");
    good
}

/// The texts of a folder beside this crate.
fn folder(path: &str, ending: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    let entries = std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == ending));
    paths.sort();
    let files: Vec<_> = paths.iter().map(|path| std::fs::read(path).expect("readable")).collect();
    assert!(!files.is_empty(), "{} has no .{ending}", folder.display());
    files
}

#[test]
fn damaged_traces_are_explained_and_rendered() {
    let mut files = folder("../intake/tests/fixtures", "txt");
    files.retain(|file| file.len() < 60 << 10);
    assert!(survives("explain", &files, 12, entry::explain) > 0);
}

#[test]
fn damaged_measurements_are_read_or_refused() {
    let files = folder("../../fuzz/corpus/latencies", "txt");
    assert!(survives("latencies", &files, 300, entry::latencies) > 0);
}

#[test]
fn damaged_archives_are_checked_or_refused() {
    let tree = FsRoot::memory(&[
        ("/proc/version", "Linux version 6.12.0 (x) #1 SMP PREEMPT_RT\n"),
        ("/proc/cmdline", "quiet isolcpus=2-3 nohz_full=2-3\n"),
        ("/proc/sys/kernel/osrelease", "6.12.0\n"),
        ("/proc/sys/kernel/version", "#1 SMP PREEMPT_RT\n"),
        ("/proc/sys/kernel/sched_rt_runtime_us", "950000\n"),
        ("/proc/meminfo", "MemTotal: 1000 kB\n"),
        ("/sys/devices/system/cpu/online", "0-3\n"),
    ])
    .noting();
    Snapshot::read(&tree);
    let mut archive = Vec::new();
    tree.into_notes().write(&mut archive).expect("written");
    survives("archive", &[archive], 60, entry::archive);
}

#[test]
fn damaged_profiles_are_loaded_or_refused() {
    const OWN: &str = "summary = \"of a test\"\n[variables]\nisolated = \"\"\n[sysctl]\n\"vm.swappiness\" = 10\n\
                       [irqs]\ncpus = \"0-1\"\n[kernel-parameters]\nnohz_full = \"${isolated}\"\nskew_tick = 1\n\
                       [threads]\n\"ktimers/*\" = { policy = \"fifo 50\" }\n";
    let texts = profile::built_in().iter().map(|built_in| built_in.text).chain([OWN]);
    let files: Vec<Vec<u8>> = texts.map(|text| text.as_bytes().to_vec()).collect();
    assert!(survives("profiles", &files, 80, entry::profile) > 0);
}

#[test]
fn damaged_tuned_profiles_are_loaded_or_refused() {
    assert!(survives("tuned", &folder("../../fuzz/corpus/tuned", "conf"), 400, entry::tuned) > 0);
}
