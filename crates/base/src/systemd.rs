//! Texts of systemd units.

use std::fmt::Write;
use std::path::Path;

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

/// A service of `whylate` that reports when it is ready (Type=notify): it starts `command`, has `settings`, and may write to
/// the directory `written`.
pub fn systemd_service<'a>(
    description: &str,
    command: impl IntoIterator<Item = &'a str>,
    settings: impl IntoIterator<Item = (&'a str, &'a str)>,
    written: impl IntoIterator<Item = &'a Path>,
) -> String {
    let words: Vec<String> = command.into_iter().map(systemd_word).collect();
    let mut text = format!(
        "[Unit]\nDescription={description}\n\n[Service]\nType=notify\nExecStart={}\n",
        words.join(" ")
    );
    for (name, value) in settings {
        let _ = writeln!(text, "{name}={value}");
    }
    for directory in written {
        let _ = writeln!(text, "ReadWritePaths={}", systemd_word(&directory.to_string_lossy()));
    }
    text.push_str("\n[Install]\nWantedBy=multi-user.target\n");
    text
}
