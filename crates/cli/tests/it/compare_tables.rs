//! `whylate compare --tables`: groups of machines, from measurements to the verdict.

use crate::support::run::{Run, whylate};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

const SETTING: &str = "/proc/sys/kernel/timer_migration";

/// A document of a kernel: 20,000 samples of 5 us, and 60 at `late`.
fn measurement(kernel: &str, late: i64) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../report/tests/fixtures/measure-1-first.json");
    let mut document: Value =
        serde_json::from_slice(&fs::read(path).expect("the fixture")).expect("a document");
    document["machine"] = json!([
        {"name": "/proc/sys/kernel/osrelease", "value": kernel},
        {"name": SETTING, "value": if kernel.starts_with("6.18") { "1" } else { "0" }},
    ]);
    document["spikes"] = json!([]);
    let cpu = &mut document["cpus"][0];
    cpu["samples"] = json!(20_060);
    cpu["histogram"] = json!([{"upto_ns": 5_000, "count": 20_000}, {"upto_ns": late, "count": 60}]);
    cpu["latency_ns"] =
        json!({"min": 4_990, "mean": 5_100, "p50": 5_000, "p99": 5_000, "p99_99": late, "max": late});
    let first = document["cpus"][0].clone();
    document["cpus"] = json!([first]);
    document
}

/// Tables of machines that are all later with kernel 6.18.
fn tables(directory: &Path, machines: i64) {
    for at in 0..machines {
        let mut arguments = vec!["tables".to_owned(), "-o".to_owned(), directory.display().to_string()];
        arguments.extend(["--machine".to_owned(), format!("plc{at}")]);
        for (kernel, late) in [("6.12-rt", 50_000 + at * 9_000), ("6.18-rt", 60_000 + at * 12_000)] {
            let file = directory.join(format!("{kernel}-{at}.json"));
            fs::write(&file, measurement(kernel, late).to_string()).expect("written");
            arguments.push(file.display().to_string());
        }
        let run = whylate(&arguments);
        assert_eq!(run.code, Some(0), "{run:#?}");
    }
}

fn compare(directory: &Path, options: &[&str]) -> Run {
    let directory = directory.display().to_string();
    whylate(["compare", "--tables", &directory].iter().chain(options))
}

fn document(run: &Run) -> Value {
    serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{error}: {run:#?}"))
}

#[test]
fn a_kernel_that_makes_every_machine_later_is_worse() {
    let directory = tempfile::tempdir().expect("a directory");
    tables(directory.path(), 9);
    let gate = ["--gate", "p99.9<130us,max<1ms", "--baseline", "6.12-rt"];
    let run = compare(directory.path(), &gate);
    assert_eq!(run.code, Some(1), "{run:#?}");
    for text in ["6.18-rt is worse than 6.12-rt", "later on 9, earlier on 0", "Holm", "MISSED", "plc8"] {
        assert!(run.stdout.contains(text), "{text}: {}", run.stdout);
    }
    let report = document(&compare(directory.path(), &[&gate[..], &["--json"]].concat()));
    let pair = &report["pairs"][0];
    assert_eq!((&report["schema"], &pair["verdict"]), (&json!("whylate.compare-groups/1"), &json!("worse")));
    let tests = pair["tests"].as_array().expect("tests");
    let shown: Vec<f64> =
        tests.iter().filter(|test| test["shown"] == true).filter_map(|test| test["q"].as_f64()).collect();
    assert_eq!(shown, [0.999, 0.9999], "{pair:#}");
    assert_eq!(report["tests"], tests.len());
    let [p99_9, max] = &report["gates"].as_array().expect("gates")[..] else { panic!("{report:#}") };
    assert_eq!((p99_9["met"].as_u64(), p99_9["missed"][0]["machine"].as_str()), (Some(6), Some("plc8")));
    assert_eq!((max["met"].as_u64(), &max["missed"]), (Some(9), &json!([])));
    // The other way round, and by what the kernels set.
    let run = compare(directory.path(), &["--baseline", "6.18-rt"]);
    assert_eq!(run.code, Some(0), "{run:#?}");
    assert!(run.stdout.contains("6.12-rt is better than 6.18-rt"), "{}", run.stdout);
    let run = compare(directory.path(), &["--by", SETTING, "--baseline", "0"]);
    assert!(run.stdout.contains("the kernel differs, too: it changed as well"), "{}", run.stdout);
    let run = compare(directory.path(), &["--where", "kernel=6.12-rt", "--gate", "max<1s"]);
    assert_eq!(run.code, Some(0), "{run:#?}");
    for (format, text) in [("markdown", "## 6.18-rt is worse"), ("html", "<h3>6.18-rt is worse")] {
        let run = compare(directory.path(), &["--baseline", "6.12-rt", "--format", format]);
        assert!(run.stdout.contains(text), "{run:#?}");
    }
}

#[test]
fn few_machines_show_nothing_however_long_they_measured() {
    let directory = tempfile::tempdir().expect("a directory");
    tables(directory.path(), 3);
    let run = compare(directory.path(), &[]);
    assert_eq!(run.code, Some(3), "{run:#?}");
    assert!(run.stdout.contains("cannot tell whether 6.18-rt is worse"), "{}", run.stdout);
    let text = run.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("not tested: p50, p99, p99.9, p99.99. 3 and 3 machines"), "{text}");
    assert!(text.contains("8 of each or 6 in both are needed"), "{text}");
}

#[test]
fn what_cannot_be_compared_is_refused_with_what_to_do() {
    let directory = tempfile::tempdir().expect("a directory");
    let refused = |options: &[&str], text: &str| {
        let run = compare(directory.path(), options);
        assert_eq!(run.code, Some(2), "{run:#?}");
        assert!(run.stderr.contains(text), "{text}: {run:#?}");
    };
    refused(&[], "there is no table `runs` in it: give a directory that `whylate tables` has written");
    tables(directory.path(), 1);
    refused(&["--by", "board"], "2 measurements do not have a board");
    refused(&["--by", "machine"], "all measurements have the same machine");
    refused(&["--baseline", "x"], "no group is called `x`: there are `6.12-rt`, `6.18-rt`");
    refused(&["--where", "board"], "it has no =");
    refused(&["--format", "svg"], "choose one of text, json, html, markdown");
    refused(&["--claim", "1ms@1e-3"], "--claim and --cpus are about single measurements");
    let run = whylate(["compare", "a.json", "b.json", "--by", "kernel"]);
    assert_eq!(run.code, Some(2), "{run:#?}");
    // A damaged table is an error, and not a group less.
    let files =
        fs::read_dir(directory.path().join("histograms/date=__HIVE_DEFAULT_PARTITION__/machine=plc0"));
    let file = files.expect("the partition").flatten().next().expect("a file").path();
    fs::write(&file, b"PAR1").expect("written");
    refused(&[], "it is no complete Parquet file");
}
