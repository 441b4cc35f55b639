//! Rule: every code of a cause and of a finding, of `explain`, `doctor` and `simulate`, has its page, and every page its code.

use super::Violation;
use super::rust::{self, Kind};
use super::tree::Tree;

/// Where codes are, and where their pages are.
const PLACES: [(&str, &str); 4] = [
    ("crates/ledger/src/causes/", "crates/ledger/docs/causes/"),
    ("crates/ledger/src/findings/", "crates/ledger/docs/findings/"),
    ("crates/investigate/src/doctor/rules/", "crates/investigate/docs/doctor/"),
    ("crates/simulate/src/findings/", "crates/simulate/docs/findings/"),
];

/// Compares the codes with the pages.
pub(super) fn pages(tree: &Tree) -> Vec<Violation> {
    PLACES.iter().flat_map(|(source, pages)| compare(tree, source, pages)).collect()
}

fn compare(tree: &Tree, source: &str, pages: &str) -> Vec<Violation> {
    let mut found = Vec::new();
    let mut codes = Vec::new();
    for (path, text) in tree.texts(".rs").filter(|(path, _)| path.starts_with(source)) {
        for (code, line) in self::codes(text) {
            let page = format!("{pages}{code}.md");
            if !tree.has(&page) {
                let todo = format!("write {page}: what it means, how a trace shows it, what to do");
                found.push(Violation::at(path, line, format!("code `{code}` has no page"), todo));
            }
            codes.push(code);
        }
    }
    if codes.is_empty() {
        let todo = "tell xtask/src/tidy/causes.rs where the codes are now";
        found.push(Violation::of(source, "no code is in these files", todo));
    }
    for (path, _) in tree.texts(".md") {
        let name = path.strip_prefix(pages).and_then(|name| name.strip_suffix(".md"));
        if let Some(name) = name.filter(|name| !matches!(*name, "README" | "index") && !codes.contains(name))
        {
            let todo = "name the page after a code, or remove it";
            found.push(Violation::of(path, format!("no code is `{name}`"), todo));
        }
    }
    found
}

/// The strings that a field or constant `code` has, with their lines.
fn codes(source: &str) -> Vec<(&str, usize)> {
    let tokens = rust::tokens(source);
    let fields =
        tokens.windows(3).filter(|at| at[0].is("code") && at[1].is(":") && at[2].kind == Kind::String);
    fields.map(|at| (at[2].text, at[2].line)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const IRQ: (&str, &str) = ("crates/ledger/src/causes/irq.rs", "x { code: \"irq\",\n page: \"other\" }");
    const FINDING: (&str, &str) =
        ("crates/ledger/src/findings/noise.rs", "const A: B = B {\n code: \"noise\" };");

    const DOCTOR: [(&str, &str); 2] = [
        ("crates/investigate/src/doctor/rules/heap.rs", "Rule { code: \"heap\" }"),
        ("crates/investigate/docs/doctor/heap.md", ""),
    ];

    const SIMULATE: [(&str, &str); 2] = [
        ("crates/simulate/src/findings/missed.rs", "Finding { code: \"missed\" }"),
        ("crates/simulate/docs/findings/missed.md", ""),
    ];

    #[test]
    fn codes_are_the_strings_of_that_field_alone() {
        assert_eq!(codes(IRQ.1), [("irq", 1)]);
        assert_eq!(codes("code: cause.code(), encode: \"x\""), []);
    }

    #[test]
    fn codes_and_pages_must_match_both_ways() {
        let page = ("crates/ledger/docs/causes/irq.md", "");
        let [rule, rule_page] = DOCTOR;
        let [missed, missed_page] = SIMULATE;
        let noise_page = ("crates/ledger/docs/findings/noise.md", "");
        let fine = [IRQ, FINDING, page, noise_page, rule, rule_page, missed, missed_page];
        assert_eq!(pages(&Tree::of(&fine)), []);
        let found = pages(&Tree::of(&[
            IRQ,
            FINDING,
            page,
            ("crates/ledger/docs/causes/smi.md", ""),
            rule,
            rule_page,
            missed,
            missed_page,
        ]));
        assert_eq!(found.len(), 2);
        assert!(found.iter().any(|violation| violation.line == Some(2)));
        assert!(found.iter().any(|violation| violation.path == "crates/ledger/docs/causes/smi.md"));
    }

    #[test]
    fn a_rule_that_lost_its_source_reports_it() {
        assert_eq!(pages(&Tree::of(&[])).len(), PLACES.len());
    }
}
