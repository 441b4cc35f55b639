//! Lines with the same words before each: the number of a guest, the name of a machine or of a job (`[VM 1] T: 0 ...`,
//! `node3 | T: 0 ...`). What has other words before it is another output.

/// With fewer lines it is no output.
const FEWEST: usize = 3;
/// More are not outputs of one comparison.
const MOST: usize = 64;
/// Longer words are no name.
const LONGEST: usize = 40;

/// The lines behind each such beginning, in the order of their first lines; none of a text in which most lines have none in common.
pub(super) fn texts(text: &str) -> Vec<String> {
    let mut groups: Vec<(&str, Vec<&str>)> = Vec::new();
    let mut lines = 0;
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        lines += 1;
        let Some((prefix, rest)) = cut(line) else { continue };
        match groups.iter().position(|group| group.0 == prefix) {
            Some(at) => groups[at].1.push(rest),
            // A text whose lines all begin differently would take long.
            None if groups.len() < MOST => groups.push((prefix, vec![rest])),
            None => {}
        }
    }
    groups.retain(|(_, rows)| rows.len() >= FEWEST);
    let held: usize = groups.iter().map(|(_, rows)| rows.len()).sum();
    if held * 2 <= lines {
        return Vec::new();
    }
    groups.into_iter().map(|(_, rows)| rows.join("\n") + "\n").collect()
}

/// A line's beginning up to the first mark that ends one, and the rest.
fn cut(line: &str) -> Option<(&str, &str)> {
    let ends = |mark: &str| line.find(mark).map(|at| at + mark.len());
    let end = match line.starts_with('[') {
        true => ends("] "),
        false => [": ", " | ", "> "].into_iter().filter_map(ends).min(),
    };
    let (prefix, rest) = line.split_at_checked(end.filter(|end| *end <= LONGEST)?)?;
    Some((prefix, rest))
}

#[cfg(test)]
mod tests {
    use super::texts;

    #[test]
    fn each_beginning_has_a_text() {
        let two = "[VM 1] a\n[VM 2] b\n[VM 1] c\n[VM 2] d: e\n\n[VM 1]  f\n[VM 2] g\n";
        assert_eq!(texts(two), ["a\nc\n f\n", "b\nd: e\ng\n"]);
        assert_eq!(texts("node3 | a\nnode3 | b\nnode3 | c\nend\n"), ["a\nb\nc\n"]);
        for none in ["", "a\nb\nc\n", "x: 1\ny: 2\nz: 3\n", "x: 1\nx: 2\n", "x: 1\nx: 2\nx: 3\na\nb\nc\n"] {
            assert_eq!(texts(none), [""; 0], "{none}");
        }
    }
}
