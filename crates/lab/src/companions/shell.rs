//! Shell scripts: the words that may be names of programs.

use std::collections::BTreeSet;

/// A script names no more.
const MOST: usize = 200;

/// Whether a program is a shell, by its name.
pub(super) fn is_shell(name: &str) -> bool {
    matches!(name, "sh" | "bash" | "dash" | "ash" | "ksh" | "mksh" | "zsh" | "busybox")
}

/// The words of scripts that may be names of programs: all but comments, options and assignments. Most are none.
pub(super) fn words(texts: &[String]) -> Vec<String> {
    let lines = texts.iter().flat_map(|text| text.lines()).filter(|line| !line.trim_start().starts_with('#'));
    let parts =
        lines.flat_map(|line| line.split(|c: char| c.is_whitespace() || "|&;()`{}\"'<>$!".contains(c)));
    let is_name = |word: &&str| {
        let plain = |c: char| c.is_ascii_alphanumeric() || "/._+-[".contains(c);
        word.starts_with(|c: char| c.is_ascii_alphabetic() || "/[".contains(c)) && word.chars().all(plain)
    };
    let words: BTreeSet<&str> = parts.filter(is_name).collect();
    words.into_iter().take(MOST).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_commands_wherever_they_stand() {
        let script =
            "# tail\nx=$(cat /proc/stat|head -n1); [ -n \"$x\" ] && exec chrt -f 50 ./own \"`uname`\" >out\n";
        let found = words(&[script.to_owned()]);
        for word in ["cat", "head", "[", "chrt", "uname"] {
            assert!(found.iter().any(|own| own == word), "{word}: {found:?}");
        }
        assert!(found.iter().all(|word| !matches!(word.as_str(), "tail" | "-n1" | "50")), "{found:?}");
    }
}
