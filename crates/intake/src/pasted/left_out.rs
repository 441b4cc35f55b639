//! Marks with which people show that they left lines out.

/// `...`, `[...]`, `<snip>`, `[ etc ]`, `skip...`: a line that is nothing but such a mark. `Detaching...` is a tool's own.
pub(crate) fn leaves_out(line: &str) -> bool {
    const WORDS: [&str; 6] = ["skip", "snip", "omit", "cut", "trunc", "repeat"];
    // Every line of a trace is longer.
    if line.len() > 40 {
        return false;
    }
    let word: String = line.chars().filter(|c| c.is_alphanumeric()).collect::<String>().to_ascii_lowercase();
    let is_dots = line.contains("...") || line.contains('…');
    let is_mark = WORDS.iter().any(|mark| word.starts_with(mark)) && word.len() <= "truncated".len();
    // `8182 x the above two lines`
    let is_count = word.contains("theabove") && word.starts_with(|first: char| first.is_ascii_digit());
    is_mark || is_count || word == "etc" || is_dots && word.is_empty()
}

#[cfg(test)]
mod tests {
    use super::leaves_out;

    #[test]
    fn a_mark_has_no_other_words() {
        for mark in [
            "...",
            " ...",
            "[...]",
            "(...)",
            "…",
            "[…]",
            "<snip>",
            "--- SNIP ---",
            "skip...",
            "[truncated]",
            ". . ....",
            "[ etc ]",
            "8182 x the above two line",
            "(repeats)",
        ] {
            assert!(leaves_out(mark), "{mark}");
        }
        for line in [
            "",
            "Detaching...",
            "..",
            "and so on ...",
            "cutting edge technology",
            "as the above",
            "----",
            "=> schedule",
        ] {
            assert!(!leaves_out(line), "{line}");
        }
    }
}
