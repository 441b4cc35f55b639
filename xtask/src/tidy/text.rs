//! Rules on every file a clone has: clean line ends, no big files, no paths of somebody's machine.

use super::Violation;
use super::tree::Tree;

/// The most a committed file may have; the fixtures are the big ones.
const MOST_BYTES: usize = 512 * 1024;

/// Directories of files that some other program wrote: their blanks are part of what is tested.
const FOREIGN: [&str; 4] = ["fixtures", "golden", "testdata", "corpus"];

/// Below these, paths belong to one machine. In two parts, or this file would break its own rule.
const MACHINES: [&str; 2] = [concat!("/wo", "rk/"), concat!("/ho", "me/")];

/// No blanks at the ends of lines, a newline at the end of the file.
pub(super) fn whitespace(tree: &Tree) -> Vec<Violation> {
    let mut found = Vec::new();
    for (path, text) in tree.texts("").filter(|(path, _)| !is_foreign(path)) {
        for (number, line) in text.split('\n').enumerate() {
            if line.ends_with([' ', '\t', '\r']) {
                found.push(Violation::at(path, number + 1, "blanks at the end of the line", "remove them"));
            }
        }
        if !text.is_empty() && !text.ends_with('\n') {
            found.push(Violation::of(path, "no newline at the end of the file", "add one"));
        }
    }
    found
}

/// Every file is small enough to clone, and none names a path of one machine.
pub(super) fn size_and_paths(tree: &Tree) -> Vec<Violation> {
    let mut found = Vec::new();
    for file in tree.files() {
        if file.size > MOST_BYTES {
            let wrong = format!("{} KiB, more than {} KiB", file.size / 1024, MOST_BYTES / 1024);
            let todo = "cut the recording down to what the test needs";
            found.push(Violation::of(&file.path, wrong, todo));
        }
        let lines = file.text.iter().flat_map(|text| text.lines()).enumerate();
        for (number, line) in lines.filter(|(_, line)| names_machine(line)) {
            let wrong = format!("a path of one machine: {}", line.trim());
            let todo = "make it relative, or take it from the environment";
            found.push(Violation::at(&file.path, number + 1, wrong, todo));
        }
    }
    found
}

fn is_foreign(path: &str) -> bool {
    path.split('/').any(|part| FOREIGN.contains(&part))
}

/// Whether a line has an absolute path below one of `MACHINES`, rather than a part of a longer path or address.
fn names_machine(line: &str) -> bool {
    MACHINES.iter().any(|machine| {
        line.match_indices(machine).any(|(at, _)| {
            let before = line[..at].chars().next_back();
            let after = line[at + machine.len()..].chars().next();
            !before.is_some_and(|c| c.is_alphanumeric() || "_-./~}".contains(c))
                && after.is_some_and(|c| c.is_alphanumeric() || c == '_')
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blanks_and_a_missing_newline_are_seen_but_not_in_foreign_files() {
        let tree = Tree::of(&[
            ("a.md", "fine\n\nfine\n"),
            ("b.md", "x \ny\t\nz\r\n"),
            ("c.md", "no newline"),
            ("crates/a/tests/fixtures/trace.txt", "trace  \nend"),
            ("empty", ""),
        ]);
        let found: Vec<(String, Option<usize>)> =
            whitespace(&tree).into_iter().map(|violation| (violation.path, violation.line)).collect();
        let expected = [("b.md", Some(1)), ("b.md", Some(2)), ("b.md", Some(3)), ("c.md", None)]
            .map(|(path, line)| (path.to_owned(), line));
        assert_eq!(found, expected);
    }

    #[test]
    fn a_path_of_a_machine_is_told_from_one_that_only_looks_so() {
        let [work, home] = MACHINES;
        for line in [format!("\"{work}main\""), format!("cd {home}ann/x"), format!("{work}x")] {
            assert!(names_machine(&line), "{line}");
        }
        for line in [
            format!("https://example.org{work}x"),
            format!("target{work}x"),
            format!("{home}<name>"),
            format!("{home}$USER"),
            format!("../{}", &work[1..]),
        ] {
            assert!(!names_machine(&line), "{line}");
        }
    }

    #[test]
    fn a_file_may_have_512_kib_and_not_one_byte_more() {
        let sizes = |bytes: usize| size_and_paths(&Tree::of(&[("x.txt", &"x".repeat(bytes))])).len();
        assert_eq!((sizes(512 * 1024), sizes(512 * 1024 + 1)), (0, 1));
    }
}
