//! `whylate doctor`: what it answers of programs that are not there, are not real-time, or make a mistake.

use crate::support::answer::list;
use crate::support::run::whylate;
use crate::support::tracefs::Tracefs;

#[test]
fn what_is_not_there_is_reported() {
    for (arguments, expected) in [
        (&["doctor"][..], "which program?"),
        (&["doctor", "--"], "a COMMAND must follow"),
        (&["doctor", "--pid", "2147483647"], "process 2147483647: there is none"),
        (&["doctor", "--code", "no-such"], "`no-such` is not a finding"),
    ] {
        let run = whylate(arguments);
        assert_eq!(run.code, Some(2), "{run:#?}");
        assert!(run.stderr.contains(expected) && !run.stderr.contains("examining"), "{run:#?}");
    }
}

#[test]
fn every_code_has_a_page() {
    let codes = whylate(["doctor", "--code", "list"]);
    assert!(codes.stdout.lines().count() > 20, "{codes:#?}");
    for code in codes.stdout.lines() {
        let page = whylate(["doctor", "--code", code]);
        assert!(page.stdout.starts_with(&format!("# {code}\n")), "{page:#?}");
    }
}

#[test]
fn a_program_that_cannot_be_started_leaves_nothing() {
    let Some(tracefs) = Tracefs::open() else { return };
    let before = tracefs.settings();
    let run = whylate(["doctor", "--", "/no/such/program"]);
    assert_eq!(run.code, Some(2), "{run:#?}");
    assert!(run.stderr.contains("cannot run /no/such/program"), "{run:#?}");
    assert_eq!(tracefs.settings(), before);
}

#[test]
fn without_a_real_time_thread_it_cannot_tell() {
    let Some(tracefs) = Tracefs::open() else { return };
    let before = tracefs.settings();
    let run = whylate(["doctor", "--json", "--", "sh", "-c", "echo written by the program; exec true"]);
    assert_eq!(run.code, Some(3), "{run:#?}");
    assert!(run.stderr.contains("written by the program\n"), "{run:#?}");
    let report: serde_json::Value = serde_json::from_str(&run.stdout).expect("a document");
    assert_eq!(list(&report["findings"]), [] as [serde_json::Value; 0]);
    assert!(list(&report["threads"]).iter().any(|thread| thread["comm"] == "true"), "{report:#}");
    assert_eq!(tracefs.settings(), before);
}
