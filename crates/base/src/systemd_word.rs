//! The words of a command in a systemd unit.

/// A word as systemd reads it back: `%` and `$` stand for themselves when doubled (systemd.service(5), COMMAND LINES).
pub fn systemd_word(word: &str) -> String {
    let escaped = word
        .replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('%', "%%")
        .replace('$', "$$")
        .replace('\n', "\\n");
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@,+%$*".contains(c);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => escaped,
        false => format!("\"{escaped}\""),
    }
}
