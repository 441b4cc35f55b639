//! Rule: README and ARCHITECTURE are there, ARCHITECTURE names every crate, and relative links in
//! documents lead somewhere.

use super::tree::Tree;
use super::{Violation, crates};

/// Where a newcomer looks first, and the code map; only the second need name every crate.
const MAPS: [(&str, bool); 2] = [("README.md", false), ("ARCHITECTURE.md", true)];

/// Checks the maps and the links.
pub(super) fn check(tree: &Tree) -> Vec<Violation> {
    let mut found = crates_on(tree);
    for (path, text) in tree.texts(".md") {
        for (line, target) in links(text) {
            if resolved(path, &target).is_none_or(|file| !tree.has(&file)) {
                let wrong = format!("the link to {target} leads nowhere");
                found.push(Violation::at(path, line, wrong, "correct it, or add the file"));
            }
        }
    }
    found
}

fn crates_on(tree: &Tree) -> Vec<Violation> {
    let mut found = Vec::new();
    for (map, names_crates) in MAPS {
        let Some(text) = tree.text(map) else {
            found.push(Violation::of(map, "missing", "write it"));
            continue;
        };
        if !names_crates {
            continue;
        }
        for of in crates::all(tree).iter().filter(|of| of.dir.starts_with("crates/")) {
            let short = of.dir.trim_start_matches("crates/");
            let named = [of.dir.to_owned(), format!("whylate-{short}"), format!("`{short}`")];
            if !named.iter().any(|name| has_word(text, name)) {
                let todo = "say there what it is for";
                found.push(Violation::of(map, format!("{} is not mentioned", of.dir), todo));
            }
        }
    }
    found
}

/// Whether `text` has `name` and not merely as the beginning of a longer name.
fn has_word(text: &str, name: &str) -> bool {
    let goes_on = |c: char| c.is_alphanumeric() || c == '-' || c == '_';
    text.match_indices(name).any(|(at, _)| !text[at + name.len()..].starts_with(goes_on))
}

/// The relative targets of inline links, images and link definitions, outside code.
fn links(text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut fenced = false;
    for (number, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        } else if !fenced {
            // Every second piece between backticks is code.
            let prose: String = line.split('`').step_by(2).collect();
            let inline = prose.split("](").skip(1).filter_map(|after| after.split(')').next());
            let defined = prose
                .strip_prefix('[')
                .and_then(|rest| rest.split_once("]:"))
                .map(|(_, target)| target.trim());
            let targets = inline.chain(defined).filter_map(relative);
            found.extend(targets.map(|target| (number + 1, target.to_owned())));
        }
    }
    found
}

/// The path of a link's target; `None` for an address, or a place in the same file.
fn relative(target: &str) -> Option<&str> {
    let path = target.split_whitespace().next()?.trim_matches(['<', '>']);
    let path = path.split('#').next().filter(|path| !path.is_empty())?;
    (!path.contains("://") && !path.starts_with("mailto:")).then_some(path)
}

/// A link's target relative to the root; `None` if it leaves the repository.
fn resolved(from: &str, target: &str) -> Option<String> {
    let mut parts: Vec<&str> = from.split('/').collect();
    parts.pop();
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_crate_must_be_on_both_maps() {
        let manifest = "[package]\nname = \"whylate-base\"\n";
        let tree = Tree::of(&[
            ("crates/base/Cargo.toml", manifest),
            ("README.md", "- `base`: units\n"),
            ("ARCHITECTURE.md", "crates/baseline and whylate-base-x are others\n"),
        ]);
        let found = check(&tree);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].path, "ARCHITECTURE.md");
        assert_eq!(check(&Tree::of(&[])).len(), MAPS.len());
    }

    #[test]
    fn only_links_to_files_are_looked_at() {
        let text = "[a](x.md) ![b](img/y.png \"title\") [`c`](z.md#part)\n[d](https://e.org/x) [e](#part)\n\
                    `[f](code.md)`\n```\n[g](fenced.md)\n```\n[h]: defined.md\n";
        let links = links(text);
        let found: Vec<(usize, &str)> = links.iter().map(|(line, target)| (*line, target.as_str())).collect();
        let expected = [(1, "x.md"), (1, "img/y.png"), (1, "z.md"), (7, "defined.md")];
        assert_eq!(found, expected);
    }

    #[test]
    fn a_target_is_relative_to_the_file_that_links() {
        for (from, target, expected) in [
            ("README.md", "docs/a.md", Some("docs/a.md")),
            ("docs/a.md", "b.md", Some("docs/b.md")),
            ("docs/causes/irq.md", "../../README.md", Some("README.md")),
            ("docs/a.md", "./causes/", Some("docs/causes")),
            ("README.md", "../x.md", None),
        ] {
            assert_eq!(resolved(from, target).as_deref(), expected, "{from} -> {target}");
        }
    }

    #[test]
    fn a_broken_link_is_named_with_its_line() {
        let tree = Tree::of(&[("docs/a.md", "\n[x](b.md) [y](a.md)\n")]);
        let broken: Vec<Violation> =
            check(&tree).into_iter().filter(|violation| violation.line == Some(2)).collect();
        assert_eq!(broken.len(), 1);
        assert!(broken[0].wrong.contains("b.md"));
    }
}
