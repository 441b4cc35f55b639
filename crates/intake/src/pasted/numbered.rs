//! Numbers in front of lines, as of `cat -n`, `nl`, `grep -n` and editors: `    12\t`, `12:`, `12-`, `12 | `.
//!
//! The lines of histograms begin with numbers of their own, so these are taken off only where a reader knows nothing of the
//! text as it is.

/// Fewer numbered lines may be anything.
const LEAST: usize = 3;

/// The text without the numbers; `None` where most of its lines have none, or they do not rise.
pub(crate) fn unnumbered(text: &str) -> Option<String> {
    let mut all = String::with_capacity(text.len());
    let (mut numbered, mut others, mut last) = (0, 0, 0);
    for line in text.lines() {
        match number(line) {
            Some((number, rest)) if number > last => {
                (numbered, last) = (numbered + 1, number);
                all.push_str(rest);
            }
            _ => {
                others += usize::from(!line.trim().is_empty());
                all.push_str(line);
            }
        }
        all.push('\n');
    }
    (numbered >= LEAST && others * 10 <= numbered).then_some(all)
}

/// The number, and what is behind it and its mark.
fn number(line: &str) -> Option<(u64, &str)> {
    let line = line.trim_start();
    let end = line.bytes().position(|byte| !byte.is_ascii_digit()).unwrap_or(line.len());
    let (digits, rest) = line.split_at_checked(end)?;
    let number = digits.parse().ok()?;
    let rest = match rest.trim_start_matches(' ').strip_prefix('|') {
        Some(rest) => rest.strip_prefix(' ').unwrap_or(rest),
        // An empty line may have lost the blank behind its number.
        None if rest.is_empty() => rest,
        None => rest.strip_prefix([':', '-', '\t', ' '])?,
    };
    Some((number, rest))
}

#[cfg(test)]
mod tests {
    use super::unnumbered;

    #[test]
    fn numbers_that_rise_are_taken_off() {
        for (text, bare) in [
            ("     1\t# /dev\n     2\tT: 0\n     3\t\n", "# /dev\nT: 0\n\n"),
            ("1:a\n2-b\n7:c\n", "a\nb\nc\n"),
            ("1 | a\n2 |\n3 | b\n", "a\n\nb\n"),
            ("8 a\n9 b\n\n10 c\n", "a\nb\n\nc\n"),
        ] {
            assert_eq!(unnumbered(text).as_deref(), Some(bare), "{text}");
        }
    }

    #[test]
    fn other_numbers_stay() {
        for text in ["", "1:a\n2:b\n", "3 a\n2 b\n1 c\n", "1:a\nb\n2:c\n3:d\n", "1x\n2x\n3x\n"] {
            assert_eq!(unnumbered(text), None, "{text}");
        }
    }
}
