//! Files of earlier versions stay readable, those of later ones are refused, damaged ones are reported.

use std::fs;
use std::path::{Path, PathBuf};
use whylate_tables::{Data, read};

fn first() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/segments-1-first.parquet")
}

#[test]
fn the_first_table_stays_readable() {
    let batch = read(&first()).expect("the table");
    assert_eq!(batch.table().name, "segments");
    let column = |name: &str| {
        let at = batch.table().columns.iter().position(|column| column.name == name).expect("a column");
        &batch.columns()[at]
    };
    assert!(batch.rows() > 10, "{}", batch.rows());
    assert!(column("machine").data.texts().all(|name| name == "plc1"));
    assert!(column("cause").data.texts().any(|cause| cause == "lock-wait"));
    let Data::Ints(lengths) = &column("ns").data else { panic!("numbers") };
    assert!(lengths.iter().all(|&ns| ns >= 0) && lengths.iter().sum::<i64>() > 0);
}

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures")
}

/// All tables below a directory.
fn files(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).expect("a directory").flatten().map(|entry| entry.path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

#[test]
fn a_column_that_a_file_lacks_is_null_and_an_unknown_one_is_left_out() {
    let older = files(&fixtures().join("older"));
    assert_eq!(older.len(), 8, "{older:?}");
    for path in &older {
        let batch = read(path).expect("a table");
        let nulls: Vec<&str> = (batch.table().columns.iter().zip(batch.columns()))
            .filter(|(_, column)| column.defined.iter().all(|defined| !defined))
            .map(|(column, _)| column.name)
            .collect();
        let lacks: &[&str] = match batch.table().name {
            "runs" => &["unlisted_threads", "future"],
            "machines" => &["profile", "virtual"],
            "segments" => &["where", "owner"],
            "latencies" => &["limit_ns", "missed"],
            _ => &[],
        };
        assert!(lacks.iter().all(|name| nulls.contains(name)), "{}: {nulls:?}", path.display());
        assert!(batch.columns().iter().all(|column| column.defined.len() == batch.rows()));
        assert!(batch.rows() > 0);
    }
    let later = read(&fixtures().join("segments-1-later.parquet")).expect("a table");
    assert_eq!((later.rows(), later.columns().len()), (5, later.table().columns.len()));
}

#[test]
fn later_versions_and_damage_are_refused_with_what_to_do() {
    let directory = tempfile::tempdir().expect("a directory");
    let whole = fs::read(first()).expect("the table");
    let refused = |content: &[u8]| {
        let path = directory.path().join("x.parquet");
        fs::write(&path, content).expect("written");
        let error = read(&path).expect_err("it is refused").to_string();
        assert!(error.contains("x.parquet: "), "{error}");
        error
    };
    let replaced = |from: &str, to: &str| {
        let at: Vec<usize> =
            (0..whole.len()).filter(|&at| whole[at..].starts_with(from.as_bytes())).collect();
        assert!(!at.is_empty(), "{from}");
        let mut changed = whole.clone();
        at.iter().for_each(|&at| changed[at..at + to.len()].copy_from_slice(to.as_bytes()));
        changed
    };
    assert!(refused(&replaced("whylate.tables/1", "whylate.tables/9")).contains("use a later one"));
    assert!(refused(&replaced("whylate.schema", "another.schema")).contains("it is no table of whylate"));
    for length in [0, 4, whole.len() / 2, whole.len() - 1] {
        assert!(refused(&whole[..length]).contains("import its input again"), "{length}");
    }
    // Any byte may be wrong: that is an error or other values, and no panic.
    for at in (0..whole.len()).step_by(7) {
        let mut changed = whole.clone();
        changed[at] ^= 0xff;
        let path = directory.path().join("y.parquet");
        fs::write(&path, changed).expect("written");
        let _ = read(&path);
    }
}
