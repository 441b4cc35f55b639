//! Recordings that others explained: excerpts of articles, and those that the developers share.

use super::{explain, finding};
use crate::support::answer::{answer, list, number, verdict};
use crate::support::run::{fixture, whylate};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use whylate_testing::Need;

#[test]
fn every_ledger_of_every_recording_tiles() {
    let mut files = recordings(&fixture(""));
    files.extend(recordings(&intake_fixture("")));
    assert!(files.len() > 15, "{files:?}");
    files.extend(shared().map(|directory| recordings(&directory)).unwrap_or_default());
    for file in files {
        let run = whylate(
            ["explain", "--json", "--worst", "10000"].map(OsStr::new).into_iter().chain([file.as_os_str()]),
        );
        match run.code {
            Some(0 | 1 | 3) => drop(answer(&run.stdout)),
            // Some of the shared texts are no traces at all.
            Some(2) => assert!(run.stderr.contains(&*file.to_string_lossy()), "{run:#?}"),
            _ => panic!("{}: {run:#?}", file.display()),
        }
    }
}

fn recordings(directory: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory).expect("a directory of recordings");
    let mut files: Vec<PathBuf> = entries
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|end| end == "dat" || end == "txt"))
        .collect();
    files.sort();
    files
}

fn intake_fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../intake/tests/fixtures").join(name)
}

/// The recordings that the project's developers share, where they are at hand.
fn shared() -> Option<PathBuf> {
    let directory = match std::env::var_os("WHYLATE_SHARED") {
        Some(directory) => PathBuf::from(directory),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/traces"),
    };
    if directory.is_dir() {
        return Some(directory);
    }
    whylate_testing::skip(Need::Recordings, format_args!("no shared recordings in {}", directory.display()));
    None
}

/// A FIFO 50 thread beside a FIFO 1 loop, on Linux 6.1 with two CPUs.
#[test]
fn the_shared_story_of_throttling() {
    let Some(directory) = shared() else { return };
    let (code, answer) = explain(&directory.join("story_a_6.1.dat"), &[]);
    assert_eq!(code, Some(1));
    let worst = list(&answer["activations"])
        .iter()
        .find(|activation| activation["comm"] == "rtload" && activation["priority"] == 50)
        .expect("the FIFO 50 thread");
    assert_eq!(verdict(worst), ("rt-throttled", "rtload"));
    assert_eq!(worst["verdict"]["by"]["priority"], 1);
    assert!((46_000_000..=48_000_000).contains(&number(&worst["response_ns"])), "{}", worst["response_ns"]);
    let finding = finding(&answer, "rt-throttled", "rtload").expect("a finding");
    let title = finding["title"].as_str().unwrap_or_default();
    assert!(title.contains("CPU 1") && !title.contains("CPU 0"), "{title}");
}

/// The excerpt of an article: CPU 4 idles for 50.04 ms with `infinite_loop_f` runnable.
#[test]
fn the_text_of_the_throttling_article() {
    let (code, answer) = explain(&intake_fixture("throttled_excerpt.txt"), &[]);
    let activation = &answer["activations"][0];
    assert_eq!(activation["comm"], "infinite_loop_f");
    assert_eq!((verdict(activation).0, number(&activation["cpu"])), ("rt-throttled", 4));
    let charged: Vec<(i64, i64)> = list(&activation["ledger"])
        .iter()
        .filter(|entry| entry["cause"] == "rt-throttled")
        .map(|entry| (number(&entry["start_ns"]), number(&entry["start_ns"]) + number(&entry["ns"])))
        .collect();
    let (start, end) = (charged.first().expect("charged").0, charged.last().expect("charged").1);
    assert!((50_030_000..=50_050_000).contains(&(end - start)), "{start} to {end}");
    assert_eq!(code, Some(1));
}

/// The excerpt of an article: multipathd ran for 331 of cyclictest's 389 us. The tracer cuts
/// names after eight characters.
#[test]
fn the_text_of_the_wakeup_article() {
    let (_, answer) = explain(&intake_fixture("wakeup_rt_excerpt.txt"), &["--task", "cyclictest"]);
    let [activation] = list(&answer["activations"]) else { panic!("one activation: {answer:#}") };
    assert_eq!(verdict(activation), ("higher-priority-task", "multipat"));
    let by = &activation["verdict"]["by"];
    assert!(number(&by["priority"]) > number(&activation["priority"]), "{activation:#}");
    assert!((386_000..=390_000).contains(&number(&activation["latency_ns"])), "{activation:#}");
    let share = activation["verdict"]["share"].as_f64().unwrap_or_default();
    let charged = share * number(&activation["response_ns"]) as f64;
    assert!((325_000.0..337_000.0).contains(&charged), "{activation:#}");
}
