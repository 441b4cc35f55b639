//! Words of a command line for a shell.

/// A word as `sh` reads it back: in single quotes, where a character might mean something else.
///
/// POSIX, Shell Command Language, 2.2.2
pub fn shell_word(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "=-_.,:/+@%".contains(c);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_shell_would_change_is_quoted() {
        for (word, expected) in [
            ("isolcpus=managed_irq,domain,2-3", "isolcpus=managed_irq,domain,2-3"),
            ("a b", "'a b'"),
            ("it's", "'it'\\''s'"),
            ("$HOME", "'$HOME'"),
            ("", "''"),
        ] {
            assert_eq!(shell_word(word), expected);
        }
    }
}
