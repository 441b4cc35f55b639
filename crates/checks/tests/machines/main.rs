//! Whole machines with all their results.
//!
//! Captured ones (`fixtures/*.snapshot`) and made ones, each with the full table of answers in
//! `fixtures/NAME.txt`. `WHYLATE_BLESS=1 cargo test -p whylate-checks --test machines` writes the tables anew; what
//! a person knows to be true of a machine stands in its file here, and no blessing changes it.

mod boards;
mod captured;
mod cgroups;
mod container;
mod files;
mod lockdown;
mod numa;
mod older;
mod raspberry;
mod sosreport;

use std::fs;
use std::path::{Path, PathBuf};
use whylate_checks::{CheckOptions, CheckReport, RuleStatus, Selection, check};
use whylate_host::{FsRoot, Snapshot};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

/// Puts every rule of the profile to a machine, compares with its table, and with what is known.
///
/// `known` is `code: status`, statuses as in the table; a code that is not checked is an error.
#[track_caller]
fn judged(name: &str, tree: &FsRoot, options: &CheckOptions, known: &[&str]) -> CheckReport {
    let report = check(&Snapshot::read(tree), options, &Selection::default());
    for known in known {
        let (code, status) = known.split_once(": ").expect("code: status");
        let answered = report.answers.iter().find(|answered| answered.rule.code == code);
        let answered = answered.unwrap_or_else(|| panic!("{name}: {code} is not checked"));
        assert_eq!(word(answered), status, "{name}: {code}: {:#?}", answered.verdict);
    }
    compare(&fixture(&format!("{name}.txt")), &table(&report));
    report
}

fn word(answered: &whylate_checks::CheckedRule) -> String {
    match &answered.verdict {
        Ok(answer) => match answer.status {
            RuleStatus::Fail => answered.severity().to_string(),
            RuleStatus::Pass => "pass".to_owned(),
            RuleStatus::NotApplicable => "n/a".to_owned(),
        },
        Err(_) => "unknown".to_owned(),
    }
}

/// The rule's verdict in a line each, in the registry's order.
fn table(report: &CheckReport) -> String {
    let (options, machine) = (&report.options, &report.machine);
    let or = |text: &Option<String>| text.clone().unwrap_or_else(|| "?".to_owned());
    let mut text = format!("machine  Linux {} · CPUs {}", or(&machine.release), or(&machine.cpus));
    text += &machine.model.as_ref().map(|model| format!(" · {model}")).unwrap_or_default();
    text += &format!("\nasked    {}", options.profile);
    text += &options.cpus.as_ref().map(|cpus| format!(" · CPUs {cpus}")).unwrap_or_default();
    text += &options.priority.map(|priority| format!(" · priority {priority}")).unwrap_or_default();
    text += &options.user.as_ref().map(|user| format!(" · user {user}")).unwrap_or_default();
    text += "\n\n";
    for answered in &report.answers {
        let what = match &answered.verdict {
            Ok(answer) => answer.what.clone(),
            Err(unknown) => format!("{}: {}", unknown.path, unknown.why),
        };
        text += &format!("{:<8} {:<24} {what}\n", word(answered), answered.rule.code);
    }
    text
}

#[track_caller]
fn compare(path: &Path, actual: &str) {
    if std::env::var_os("WHYLATE_BLESS").is_some_and(|value| value == "1") {
        fs::write(path, actual).unwrap_or_else(|error| panic!("write {}: {error}", path.display()));
        return;
    }
    let expected = fs::read_to_string(path)
        .unwrap_or_else(|error| panic!("read {}: {error}; WHYLATE_BLESS=1 makes it", path.display()));
    let lines = |a: &str, b: &str, sign: &str| -> String {
        a.lines()
            .filter(|line| !b.lines().any(|other| other == *line))
            .map(|l| format!("{sign} {l}\n"))
            .collect()
    };
    assert!(
        expected == actual,
        "{} is not current:\n{}{}If the change is right: WHYLATE_BLESS=1 cargo test -p whylate-checks --test machines",
        path.display(),
        lines(&expected, actual, "-"),
        lines(actual, &expected, "+"),
    );
}
