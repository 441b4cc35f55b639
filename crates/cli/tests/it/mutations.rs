//! What comes after the readers, on damaged files: the ledger with every renderer, other tools' measurements, machine
//! archives with all checks, profiles, and TuneD's. Nothing panics, whatever the bytes; the readers of traces themselves
//! are mutated in `whylate-intake`.

use std::io::Cursor;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use whylate_checks::{CheckOptions, Profile, Selection, check};
use whylate_host::{FsRoot, Snapshot};
use whylate_ledger::{Explanation, Options, WANTED};
use whylate_profiles::{profile, tuned};
use whylate_report::{Render, Style};
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
    let explain = |bytes: &[u8]| {
        let Ok(source) = whylate_intake::from_reader(Cursor::new(bytes.to_vec()), "x", WANTED) else {
            return false;
        };
        let explanation = whylate_ledger::explain(source, &Options::default());
        for activation in &explanation.activations {
            let charged: i64 = activation.ledger.iter().map(|segment| segment.length().0).sum();
            assert_eq!(charged, activation.response().0, "{}", activation.tid);
        }
        for &format in Explanation::FORMATS {
            if let Some(rendered) = explanation.render(format, &Style::default()) {
                rendered.write(&mut Vec::new()).expect("memory takes everything");
            }
        }
        true
    };
    assert!(survives("explain", &files, 12, explain) > 0);
}

#[test]
fn damaged_measurements_are_read_or_refused() {
    let histogram = "# Histogram\n000000 000000\n000005 000002\n000007 000900\n# Total: 000000902\n\
                     # Min Latencies: 00005\n# Avg Latencies: 00006\n# Max Latencies: 00007\n\
                     # Histogram Overflows: 00000\n";
    let json = r#"{"file_version":1,"cmdline:":"cyclictest","rt_test_version:":"2.5","num_threads":1,
        "resolution_in_ns":0,"thread":{"0":{"histogram":{"5":2,"7":900},"cycles":902,"min":5,"max":7,"avg":6.0,
        "cpu":0,"node":0}}}"#;
    let summary = "T: 0 ( 1234) P:80 I:1000 C:    902 Min:      5 Act:    6 Avg:    6 Max:       7\n";
    let files: Vec<Vec<u8>> = [histogram, json, summary].map(|text| text.as_bytes().to_vec()).to_vec();
    let read = |bytes: &[u8]| match whylate_intake::latencies::read(Path::new("x"), bytes) {
        Ok(run) => {
            let all = run.all();
            assert!(all.percentile(0.5).is_some() || all.count() == 0);
            true
        }
        Err(error) => {
            assert!(!error.to_string().is_empty());
            false
        }
    };
    assert!(survives("latencies", &files, 300, read) > 0);
}

#[test]
fn damaged_archives_are_checked_or_refused() {
    let directory = tempfile::tempdir().expect("a directory");
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
    let path = directory.path().join("machine");
    let checked = |bytes: &[u8]| {
        std::fs::write(&path, bytes).expect("a file");
        match FsRoot::open(&path) {
            Ok(tree) => {
                let host = Snapshot::read(&tree);
                let selection = Selection::default();
                !check(&host, &CheckOptions::of(Profile::Realtime), &selection).answers.is_empty()
            }
            Err(error) => {
                assert!(!error.to_string().is_empty());
                false
            }
        }
    };
    survives("archive", &[archive], 60, checked);
}

#[test]
fn damaged_profiles_are_loaded_or_refused() {
    let directory = tempfile::tempdir().expect("a directory");
    let cpus = ["online", "present", "possible"].map(|list| format!("/sys/devices/system/cpu/{list}"));
    let cpus: Vec<(&str, &str)> = cpus.iter().map(|path| (path.as_str(), "0-3\n")).collect();
    let host = Snapshot::read(&FsRoot::memory(&cpus));
    let path = directory.path().join("own.toml");
    let given = [("isolated".to_owned(), "2-3".to_owned())];
    const OWN: &str = "summary = \"of a test\"\n[variables]\nisolated = \"\"\n[sysctl]\n\"vm.swappiness\" = 10\n\
                       [irqs]\ncpus = \"0-1\"\n[kernel-parameters]\nnohz_full = \"${isolated}\"\nskew_tick = 1\n\
                       [threads]\n\"ktimers/*\" = { policy = \"fifo 50\" }\n";
    let texts = profile::built_in().iter().map(|built_in| built_in.text).chain([OWN]);
    let files: Vec<Vec<u8>> = texts.map(|text| text.as_bytes().to_vec()).collect();
    let load = |bytes: &[u8]| {
        std::fs::write(&path, bytes).expect("a file");
        let name = path.to_str().expect("UTF-8");
        match profile::load(name, &given, &host, &[]) {
            Ok(_) => true,
            Err(error) => {
                assert!(!error.to_string().is_empty());
                false
            }
        }
    };
    assert!(survives("profiles", &files, 80, load) > 0);
}

#[test]
fn damaged_tuned_profiles_are_loaded_or_refused() {
    const TEXT: &str = "[main]\nsummary=of a test\n[variables]\nisolated=2-3\nnot=${f:cpulist_invert:${isolated}}\n\
                        [sysctl]\nvm.stat_interval=10\nkernel.timer_migration=>1\n[sysfs]\n\
                        /sys/kernel/mm/ksm/run=0\n[bootloader]\ncmdline=+nohz_full=${isolated} skew_tick=1\n\
                        [scheduler]\ngroup.ksoftirqd=0:f:2:*:^\\[ksoftirqd\nisolated_cores=${isolated}\n\
                        [cpu]\ngovernor=performance\nforce_latency=cstate.id:1|3\n[vm]\ntransparent_hugepages=never\n";
    let load = |bytes: &[u8]| {
        let text = String::from_utf8_lossy(bytes);
        let tree = FsRoot::memory(&[
            ("/etc/tuned/own/tuned.conf", &*text),
            ("/proc/sys/vm/stat_interval", "1\n"),
            ("/sys/devices/system/cpu/online", "0-3\n"),
            ("/sys/devices/system/cpu/present", "0-3\n"),
            ("/sys/kernel/mm/ksm/run", "1\n"),
        ]);
        let host = Snapshot::read(&tree);
        match tuned::load("own", &tree, &host, &[]) {
            Ok(_) => true,
            Err(error) => {
                assert!(!error.to_string().is_empty());
                false
            }
        }
    };
    assert!(survives("tuned", &[TEXT.as_bytes().to_vec()], 400, load) > 0);
}
