//! Renders sample explanations and compares with the checked-in fixtures.
//!
//! `WHYLATE_BLESS=1 cargo test -p whylate-report` writes the fixtures anew.

mod bench;
mod check;
mod compare;
mod doctor;
mod explain_ci;
mod first;
mod guard;
mod html;
mod json;
mod markdown;
mod plan;
mod plan_compare;
mod prove;

mod sample;
mod schema_check;
mod svg;
mod terminal;
mod text_pieces;
mod tuning;

use std::path::{Path, PathBuf};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

/// Fails where `actual` is not what the file at `path` holds, or writes it when blessing.
#[track_caller]
fn assert_current(path: &Path, actual: &str) {
    if std::env::var_os("WHYLATE_BLESS").is_some_and(|value| value == "1") {
        std::fs::create_dir_all(path.parent().expect("a file has a directory"))
            .expect("create the directory");
        std::fs::write(path, actual).unwrap_or_else(|error| panic!("write {}: {error}", path.display()));
        return;
    }
    let expected = std::fs::read_to_string(path)
        .unwrap_or_else(|error| panic!("read {}: {error}; WHYLATE_BLESS=1 makes it", path.display()));
    if expected != actual {
        let line = expected.lines().zip(actual.lines()).position(|(a, b)| a != b);
        let line = line.unwrap_or_else(|| expected.lines().count().min(actual.lines().count()));
        panic!(
            "{} is not current, first at line {}:\n- {}\n+ {}\nIf the change is meant: WHYLATE_BLESS=1 cargo test -p whylate-report",
            path.display(),
            line + 1,
            expected.lines().nth(line).unwrap_or("(end)"),
            actual.lines().nth(line).unwrap_or("(end)"),
        );
    }
}
