//! Parquet tables, read back row by row.

use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::{Field, Row};
use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;
use whylate_events::KindSet;
use whylate_export::{Cut, tables};
use whylate_ftrace::dat::TraceFile;
use whylate_ledger::Options;

fn rows(path: &Path) -> Vec<BTreeMap<String, Field>> {
    let reader = SerializedFileReader::new(File::open(path).expect("opens")).expect("a table");
    let row = |row: Row| row.into_columns().into_iter().collect();
    reader.get_row_iter(None).expect("rows").map(|read| row(read.expect("a row"))).collect()
}

fn long(row: &BTreeMap<String, Field>, name: &str) -> i64 {
    match &row[name] {
        Field::Long(number) => *number,
        other => panic!("{name} is {other:?}"),
    }
}

fn text<'r>(row: &'r BTreeMap<String, Field>, name: &str) -> Option<&'r str> {
    match &row[name] {
        Field::Str(text) => Some(text),
        Field::Null => None,
        other => panic!("{name} is {other:?}"),
    }
}

#[test]
fn the_tables_hold_what_was_read_and_explained() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../cli/tests/fixtures/6.1-throttle.dat");
    let file = TraceFile::open(path).expect("opens");
    let directory = tempfile::tempdir().expect("directory");
    let paths = tables::TABLES.map(|table| directory.path().join(table));
    let files = paths.each_ref().map(|path| File::create(path).expect("file"));
    let (written, explanation) =
        tables::write(&mut file.events(KindSet::ALL), &Cut::default(), &Options::default(), files)
            .expect("written");

    let events = rows(&paths[0]);
    assert_eq!(events.len() as u64, written.events);
    assert!(events.is_sorted_by_key(|row| long(row, "ts")));
    let switch = events.iter().find(|row| text(row, "event") == Some("sched_switch")).expect("a switch");
    assert!(text(switch, "next_comm").is_some() && switch["irq"] == Field::Null, "{switch:?}");
    assert!(long(switch, "next_pid") != long(switch, "prev_pid"));

    let activations = rows(&paths[1]);
    assert_eq!(activations.len(), explanation.activations.len());
    for (row, activation) in activations.iter().zip(&explanation.activations) {
        assert_eq!(long(row, "due"), activation.due.0);
        assert_eq!(text(row, "cause"), Some(activation.verdict.cause.code()));
        assert_eq!(row["share"], Field::Double(activation.verdict.share));
    }
    // Segments tile their activation.
    let mut sums: BTreeMap<i64, i64> = BTreeMap::new();
    for row in rows(&paths[2]) {
        *sums.entry(long(&row, "activation")).or_default() += long(&row, "end") - long(&row, "start");
    }
    let responses = activations.iter().map(|row| long(row, "response"));
    assert!(sums.into_values().eq(responses));
}
