//! What must hold for any bytes after the readers of traces: the entry points of the fuzz targets (`fuzz/`) and of the
//! mutation test here, which needs no nightly toolchain.
//!
//! Nothing panics; each error has a message; each ledger adds up to its activation's response. The result is true where the
//! bytes could be used.

use std::io::Cursor;
use std::path::Path;
use whylate_base::Severity;
use whylate_checks::{CheckOptions, Profile, Selection, check};
use whylate_host::{FsRoot, Snapshot};
use whylate_ledger::{Options, WANTED};
use whylate_profiles::{profile, tuned};
use whylate_report::explain::Explained;
use whylate_report::{Render, Style};

/// A trace: the ledger and every renderer.
pub(crate) fn explain(bytes: &[u8]) -> bool {
    let Ok(source) = whylate_intake::from_reader(Cursor::new(bytes.to_vec()), "x", WANTED) else {
        return false;
    };
    let explanation = whylate_ledger::explain(source, &Options::default());
    for activation in &explanation.activations {
        let charged: i64 = activation.ledger.iter().map(|segment| segment.length().0).sum();
        assert_eq!(charged, activation.response().0, "{}", activation.tid);
    }
    let report = Explained { explanation: &explanation, fail_on: Severity::Warning };
    for &format in Explained::FORMATS {
        if let Some(rendered) = report.render(format, &Style::default()) {
            rendered.write(&mut Vec::new()).expect("memory takes everything");
        }
    }
    true
}

/// A measurement of another tool.
pub(crate) fn latencies(bytes: &[u8]) -> bool {
    match whylate_intake::latencies::read(Path::new("x"), bytes) {
        Ok(run) => {
            let all = run.all();
            assert!(all.percentile(0.5).is_some() || all.count() == 0);
            true
        }
        Err(error) => has_message(&error),
    }
}

/// A machine's archive: all checks.
pub(crate) fn archive(bytes: &[u8]) -> bool {
    let file = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(file.path(), bytes).expect("written");
    match FsRoot::open(file.path()) {
        Ok(tree) => {
            let host = Snapshot::read(&tree);
            let selection = Selection::default();
            !check(&host, &CheckOptions::of(Profile::Realtime), &selection).answers.is_empty()
        }
        Err(error) => has_message(&error),
    }
}

/// A profile of the user's own.
pub(crate) fn profile(bytes: &[u8]) -> bool {
    let file = tempfile::Builder::new().suffix(".toml").tempfile().expect("a file");
    std::fs::write(file.path(), bytes).expect("written");
    let cpus = ["online", "present", "possible"].map(|list| format!("/sys/devices/system/cpu/{list}"));
    let cpus: Vec<(&str, &str)> = cpus.iter().map(|path| (path.as_str(), "0-3\n")).collect();
    let host = Snapshot::read(&FsRoot::memory(&cpus));
    let given = [("isolated".to_owned(), "2-3".to_owned())];
    match profile::load(file.path().to_str().expect("UTF-8"), &given, &host, &[]) {
        Ok(_) => true,
        Err(error) => has_message(&error),
    }
}

/// A profile of TuneD's.
pub(crate) fn tuned(bytes: &[u8]) -> bool {
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
        Err(error) => has_message(&error),
    }
}

/// It could not be used, and the error has a message.
fn has_message(error: &impl std::fmt::Display) -> bool {
    assert!(!error.to_string().is_empty());
    false
}
