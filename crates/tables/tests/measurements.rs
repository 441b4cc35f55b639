//! A measurement that is read back from tables has the distributions that it had.

use std::fs;
use std::path::{Path, PathBuf};
use whylate_intake::latencies;
use whylate_stats::Run;
use whylate_tables::dataset::Dataset;
use whylate_tables::{DateSource, MachineSource, StoredMeasurement, TableOptions, measurements};

fn stored(file: &Path) -> StoredMeasurement {
    let directory = tempfile::tempdir().expect("a directory");
    let options = TableOptions {
        machine: MachineSource::Name("plc/1".to_owned()),
        date: DateSource::Day("2026-11-24".to_owned()),
        ..TableOptions::default()
    };
    Dataset::open(directory.path())
        .and_then(|tables| tables.import(file, &options, false))
        .expect("imported");
    let mut all = Vec::new();
    measurements(directory.path(), &mut |one| all.push(one)).expect("read");
    assert_eq!(all.len(), 1);
    all.remove(0)
}

fn same(stored: &Run, read: &Run) {
    assert_eq!((&stored.probe, &stored.tool), (&read.probe, &read.tool));
    assert_eq!(stored.threads.len(), read.threads.len());
    for (own, other) in stored.threads.iter().zip(&read.threads) {
        assert_eq!((own.cpu, &own.name, own.is_stage), (other.cpu, &other.name, other.is_stage));
        let (own, other) = (&own.histogram, &other.histogram);
        assert_eq!(
            (own.count(), own.overflow(), own.limit()),
            (other.count(), other.overflow(), other.limit())
        );
        assert_eq!(own.buckets(), other.buckets());
        assert_eq!((own.min_bounds(), own.max_bounds()), (other.min_bounds(), other.max_bounds()));
        for q in [0.5, 0.99, 0.999] {
            assert_eq!(own.tail_bounds(q), other.tail_bounds(q));
        }
    }
}

#[test]
fn a_document_of_ours_comes_back() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../report/tests/fixtures/measure-1-first.json");
    let text = fs::read(&path).expect("the fixture");
    let run = whylate_report::measure::json::run(&text)
        .expect("a document")
        .expect("a measurement")
        .expect("of this version");
    let stored = stored(&path);
    same(&stored.run, &run);
    let fact = |name: &str| stored.facts.get(name).map(String::as_str);
    assert_eq!((fact("machine"), fact("date")), (Some("plc/1"), Some("2026-11-24")));
}

#[test]
fn cyclictests_histogram_comes_back_with_its_classes_and_its_overflow() {
    let directory = tempfile::tempdir().expect("a directory");
    let path: PathBuf = directory.path().join("cyclictest.txt");
    let text = "# Histogram\n000003 000100 000200\n000004 000050 000000\n000019 000001 000000\n# Total: 000000151 000000200\n\
                # Min Latencies: 00003 00003\n# Avg Latencies: 00003 00003\n# Max Latencies: 00041 00003\n\
                # Histogram Overflows: 00002 00000\n";
    fs::write(&path, text).expect("written");
    let read = latencies::read(&path, text.as_bytes()).expect("a measurement");
    let stored = stored(&path);
    assert_eq!(read.threads[0].histogram.overflow(), 2);
    same(&stored.run, &read);
}
