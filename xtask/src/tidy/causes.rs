//! Rule: every cause code has its page in `crates/ledger/docs/causes`, and every page its code.

use super::Violation;
use super::rust::{self, Kind};
use super::tree::Tree;

const SOURCE: &str = "crates/ledger/src/cause.rs";
const PAGES: &str = "crates/ledger/docs/causes/";

/// Compares the codes with the pages.
pub(super) fn pages(tree: &Tree) -> Vec<Violation> {
    let Some(source) = tree.text(SOURCE) else {
        let todo = "tell xtask/src/tidy/causes.rs where the codes went";
        return vec![Violation::of(SOURCE, "the cause codes are not here", todo)];
    };
    let codes = codes(source);
    let mut found = Vec::new();
    if codes.is_empty() {
        found.push(Violation::of(SOURCE, "no cause code in `fn code`", "return each code as a string there"));
    }
    for (code, line) in &codes {
        let page = format!("{PAGES}{code}.md");
        if !tree.has(&page) {
            let todo = format!("write {page}: what it means, how it is seen, what to do");
            found.push(Violation::at(SOURCE, *line, format!("cause `{code}` has no page"), todo));
        }
    }
    for (path, _) in tree.texts(".md") {
        let name = path.strip_prefix(PAGES).and_then(|name| name.strip_suffix(".md"));
        if let Some(name) = name.filter(|name| !matches!(*name, "README" | "index"))
            && !codes.iter().any(|(code, _)| *code == name)
        {
            let todo = "name the page after a code, or remove it";
            found.push(Violation::of(path, format!("no cause has the code `{name}`"), todo));
        }
    }
    found
}

/// The strings in the body of `fn code`, with their lines.
fn codes(source: &str) -> Vec<(&str, usize)> {
    let tokens = rust::tokens(source);
    let Some(start) = tokens.windows(2).position(|pair| pair[0].is("fn") && pair[1].is("code")) else {
        return Vec::new();
    };
    let mut depth = 0usize;
    let mut codes = Vec::new();
    for token in &tokens[start..] {
        match token.kind {
            Kind::String => codes.push((token.text, token.line)),
            _ if token.is("{") => depth += 1,
            _ if token.is("}") && depth <= 1 => break,
            _ if token.is("}") => depth -= 1,
            _ => {}
        }
    }
    codes
}

#[cfg(test)]
mod tests {
    use super::*;

    const CAUSE: &str = "fn other() { \"no\" }\nfn code(self) -> &'static str {\n match self {\n A => \"irq\",\n B => \"nmi\",\n }\n}\nfn after() { \"no\" }\n";

    #[test]
    fn codes_are_the_strings_of_fn_code_alone() {
        assert_eq!(codes(CAUSE), [("irq", 4), ("nmi", 5)]);
        assert_eq!(codes("fn encode() { \"x\" }"), []);
    }

    #[test]
    fn codes_and_pages_must_match_both_ways() {
        let fine = Tree::of(&[
            (SOURCE, CAUSE),
            ("crates/ledger/docs/causes/irq.md", ""),
            ("crates/ledger/docs/causes/nmi.md", ""),
            ("crates/ledger/docs/causes/README.md", ""),
        ]);
        assert_eq!(pages(&fine), []);
        let found = pages(&Tree::of(&[
            (SOURCE, CAUSE),
            ("crates/ledger/docs/causes/irq.md", ""),
            ("crates/ledger/docs/causes/smi.md", ""),
        ]));
        assert_eq!(found.len(), 2);
        assert!(found.iter().any(|violation| violation.line == Some(5)));
        assert!(found.iter().any(|violation| violation.path == "crates/ledger/docs/causes/smi.md"));
    }

    #[test]
    fn a_rule_that_lost_its_source_says_so() {
        assert_eq!(pages(&Tree::of(&[])).len(), 1);
    }
}
