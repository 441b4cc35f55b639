//! Journals and plans that earlier versions wrote stay readable: `fixtures/0.1` holds some of version 0.1.0, made by
//! the engine on the machine of these tests.

use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use whylate_tuning::{JournalEntry, JournalRecord, JournalStore, Plan, SessionKind, Status};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/engine/fixtures/0.1")
}

fn journal(id: u64, file: &str) -> String {
    let path = root().join(format!("var/lib/whylate/tuning/{id}/{file}"));
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn store() -> JournalStore {
    JournalStore::of(&root()).expect("a root")
}

#[test]
fn journals_of_version_0_1_are_read() {
    let entry = |id| -> JournalEntry { store().load(id).expect("readable") };
    let kinds = |entry: &JournalEntry| entry.sessions.iter().map(|session| session.kind).collect::<Vec<_>>();
    let whole = entry(1);
    assert_eq!(whole.status(), Status::PartlyBack);
    assert_eq!(kinds(&whole), [SessionKind::Apply, SessionKind::Boot, SessionKind::Rollback]);
    assert!(whole.armed.is_some() && whole.confirmed.is_some());
    assert_eq!(whole.profile(), Some("realtime"));
    let failed = entry(2);
    assert_eq!(failed.status(), Status::Failed);
    assert_eq!(kinds(&failed), [SessionKind::Apply, SessionKind::Resume]);
    assert_eq!(entry(3).status(), Status::Interrupted);
    for id in 1..=3 {
        for step in entry(id).sessions.iter().flat_map(|session| &session.steps) {
            for kept in step.before.iter().chain(step.left_as()) {
                store().state(id, kept).expect("what was kept");
            }
        }
    }
}

#[test]
fn records_are_written_as_version_0_1_wrote_them() {
    let mut seen = std::collections::BTreeSet::new();
    for id in 1..=3 {
        // The last record of the third was cut off.
        for line in journal(id, "journal.jsonl").split_inclusive('\n').filter(|line| line.ends_with('\n')) {
            let written: Value = serde_json::from_str(line).expect("JSON");
            let record: JournalRecord = serde_json::from_value(written.clone()).expect("a record");
            assert_eq!(serde_json::to_value(&record).expect("JSON"), written);
            seen.insert(written["record"].to_string());
        }
    }
    assert_eq!(seen.len(), 10, "every kind of record: {seen:?}");
}

#[test]
fn plans_of_version_0_1_are_read_and_written_alike() {
    for id in 1..=3 {
        let written: Value = serde_json::from_str(&journal(id, "plan.json")).expect("JSON");
        let plan: Plan = serde_json::from_value(written.clone()).expect("a plan");
        let mut again = serde_json::to_value(&plan).expect("JSON");
        drop_empty(&mut again);
        let mut written = written;
        drop_empty(&mut written);
        assert_eq!(again, written);
    }
    // What `whylate plan --json` writes has more members.
    let document = fs::read_to_string(root().join("plan-document.json")).expect("a document");
    let plan: Plan = serde_json::from_str(&document).expect("a plan");
    assert!(!plan.changes.is_empty() && !plan.desired.settings.is_empty());
}

/// Removes what version 0.1 left out: a reader takes an absent member for null, a list for empty, and a flag for false.
fn drop_empty(value: &mut Value) {
    match value {
        Value::Object(members) => {
            let is_default = |value: &Value| {
                value.is_null() || *value == Value::Bool(false) || value.as_array().is_some_and(Vec::is_empty)
            };
            members.retain(|_, value| !is_default(value));
            members.values_mut().for_each(drop_empty);
        }
        Value::Array(list) => list.iter_mut().for_each(drop_empty),
        _ => {}
    }
}
