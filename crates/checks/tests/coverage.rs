//! The documents that name rules: `docs/check.md` names none that does not exist and leaves no item without a rule or a
//! reason; `docs/rules/README.md` of this crate has them all.

use std::fs;
use std::path::{Path, PathBuf};
use whylate_checks::{Profile, RULES, explain};

fn document(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

/// The cells of a table's row, without the heading and the line below it.
fn rows(text: &str) -> Vec<Vec<&str>> {
    let lines = text.lines().filter(|line| line.starts_with('|'));
    let cells = lines.map(|line| line.trim_matches('|').split('|').map(str::trim).collect::<Vec<_>>());
    cells.filter(|cells| cells[0] != "item" && !cells[0].starts_with("---")).collect()
}

#[test]
fn every_item_of_other_checklists_has_a_rule_or_a_reason() {
    let text = fs::read_to_string(document("../../docs/check.md")).expect("docs/check.md");
    let rows = rows(&text);
    assert!(rows.len() > 60, "{} rows", rows.len());
    let mut wrong = Vec::new();
    for row in rows {
        let [item, rules, remarks] = row[..] else { panic!("three cells: {row:?}") };
        if rules.is_empty() && remarks.is_empty() {
            wrong.push(format!("{item}: neither a rule nor a reason"));
        }
        for code in rules.split('`').skip(1).step_by(2) {
            if explain(code).is_none() {
                wrong.push(format!("{item}: there is no rule {code}"));
            }
        }
        assert!(rules.split('`').step_by(2).all(|between| between.trim().is_empty()), "{item}: {rules}");
    }
    assert_eq!(wrong, Vec::<String>::new());
}

/// `WHYLATE_BLESS=1 cargo test -p whylate-checks --test coverage` writes it anew.
#[test]
fn the_index_has_every_rule() {
    let mut index = "# Rules of whylate check\n\n\
        The title of each rule (a statement that holds when the rule passes), the default severity of a failure, and\n\
        the profiles that check the rule. The severity of a result may differ, as the pages describe.\n\
        This list is generated from the rules; `whylate check --explain CODE` prints a page.\n\n\
        | rule | title | severity | profiles |\n|---|---|---|---|\n"
        .to_owned();
    for rule in RULES {
        let profiles: Vec<&str> = rule.profiles.iter().map(|profile| profile.name()).collect();
        let profiles = match profiles.len() == Profile::ALL.len() {
            true => "all".to_owned(),
            false => profiles.join(", "),
        };
        let (code, title) = (rule.code, rule.title);
        let mut severity = rule.severity.to_string();
        let differs = |profile: &&Profile| rule.severity_for(**profile) != rule.severity;
        let others: Vec<&Profile> = rule.profiles.iter().filter(differs).collect();
        if let Some(first) = others.first() {
            let names: Vec<&str> = others.iter().map(|profile| profile.name()).collect();
            severity += &format!("; {} for {}", rule.severity_for(**first), names.join(", "));
        }
        index += &format!("| [{code}]({code}.md) | {title} | {severity} | {profiles} |\n");
    }
    let path = document("docs/rules/README.md");
    if std::env::var_os("WHYLATE_BLESS").is_some_and(|value| value == "1") {
        fs::write(&path, index).expect("docs/rules/README.md is written");
        return;
    }
    let current = fs::read_to_string(&path).expect("docs/rules/README.md");
    assert!(
        current == index,
        "not current: WHYLATE_BLESS=1 cargo test -p whylate-checks --test coverage writes it anew"
    );
}
