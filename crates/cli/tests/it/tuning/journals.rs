//! Journals: their lock, and damage.

use super::root::Root;
use crate::support::run::Run;
use std::fs;

#[test]
fn a_second_change_at_once_is_refused_and_names_the_first() {
    let root = Root::new();
    let tuning = root.path("/var/lib/whylate/tuning");
    fs::create_dir_all(&tuning).expect("a directory");
    let lock = fs::File::create(tuning.join("lock")).expect("a lock");
    fs::write(tuning.join("lock"), "whylate apply, process 4711\n").expect("its holder");
    rustix::fs::flock(&lock, rustix::fs::FlockOperation::LockExclusive).expect("free");
    let before = root.everything();
    for run in [root.apply(&[]), root.run(&["rollback"]), root.run(&["confirm"])] {
        assert!(run.code == Some(2) && run.stderr.contains("process 4711"), "{run:#?}");
    }
    assert_eq!(root.everything(), before);
    assert_eq!(root.run(&["history"]).code, Some(0), "to look is no change");
}

#[test]
fn a_damaged_journal_is_skipped_and_reported() {
    let root = Root::new();
    assert_eq!(root.apply(&[]).code, Some(0));
    assert_eq!(root.run(&["rollback"]).code, Some(0));
    assert_eq!(root.apply(&["--revert-after", "1h"]).code, Some(0));
    let path = root.path("/var/lib/whylate/tuning/1/journal.jsonl");
    let text = fs::read_to_string(&path).expect("a journal");
    // In the line with which the rollback begins: that it was undone is not known any more.
    let (before, rollback) = text.split_at(text.find("\"rollback\"").expect("it was rolled back"));
    fs::write(&path, format!("{before}{}", rollback.replacen("\"rollback\"", "\"rollbaci\"", 1)))
        .expect("a flipped bit");
    let skipped =
        |run: &Run| run.stderr.contains("apply 1 is skipped: ") && run.stderr.contains("checksum is wrong");
    let run = root.run(&["verify"]);
    assert!(run.code == Some(3) && run.stdout.contains("apply 1"), "{run:#?}");
    let run = root.run(&["apply", "--boot"]);
    assert!(run.code == Some(3) && skipped(&run), "{run:#?}");
    let run = root.run(&["confirm"]);
    assert!(run.code == Some(0) && skipped(&run), "{run:#?}");
    let run = root.run(&["confirm"]);
    assert!(run.code == Some(3) && run.stderr.contains("apply 2 was confirmed"), "{run:#?}");
    assert_eq!(root.run(&["rollback"]).code, Some(0));
    // Now the damaged one may be the last in effect.
    let run = root.run(&["rollback"]);
    assert!(run.code == Some(2) && run.stderr.contains("rollback --to N"), "{run:#?}");
}
