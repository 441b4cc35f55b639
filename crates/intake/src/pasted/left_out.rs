//! Marks with which people show that they left lines out.

/// `...`, `[...]`, `<snip>`, `[ etc ]`, `skip...`: a line that is nothing but such a mark, or begins with dots that a note follows:
/// `... 20 ms later`. `Detaching...` is a tool's own.
pub(crate) fn leaves_out(line: &str) -> bool {
    const WORDS: [&str; 6] = ["skip", "snip", "omit", "cut", "trunc", "repeat"];
    // Every line of a trace is longer.
    if line.len() > 40 {
        return line.len() <= 80 && is_noted(line);
    }
    let word: String = line.chars().filter(|c| c.is_alphanumeric()).collect::<String>().to_ascii_lowercase();
    let is_dots = line.contains("...") || line.contains('…');
    let is_mark = WORDS.iter().any(|mark| word.starts_with(mark)) && word.len() <= "truncated".len();
    // `8182 x the above two lines`
    let is_count = word.contains("theabove") && word.starts_with(|first: char| first.is_ascii_digit());
    is_mark || is_count || word == "etc" || is_dots && word.is_empty() || is_noted(line)
}

/// `... 20 ms later`, `[... the same again ...]`. A kernel prints `... version:  2` when it boots, and strace `<... futex resumed>`.
fn is_noted(line: &str) -> bool {
    let line = line.trim_start().trim_start_matches(['[', '(']);
    let note = line.trim_start_matches(['.', '…']);
    let is_dots = line.starts_with("...") || line.starts_with('…');
    is_dots && note.starts_with(' ') && !note.contains(':')
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
            "-- snip --",
            "[cut]",
            "<...>",
            ".... 20.5ms",
            "[... some hundred lines that look the same ...]",
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
            "... version:                2",
            "<... futex resumed>) = 0",
            "...1    12.345678: sched_switch: app",
        ] {
            assert!(!leaves_out(line), "{line}");
        }
    }
}
