//! Output that stands in the comments of a script: `# Max Latency: 84us`.
//!
//! The marks are those of headers and totals as well, so they are taken off only where a reader knows nothing of the
//! text as it is.

/// The line without its mark; `None` where it has none.
pub(crate) fn uncommented_line(line: &str) -> Option<&str> {
    let rest = line.trim_start().strip_prefix('#')?;
    Some(rest.strip_prefix(' ').unwrap_or(rest))
}

/// The line without the marks of comments that no line of a trace begins with: `// `, ` * `, `; `. A `*` is also a mark of the
/// function_graph tracer, in front of a duration.
pub(crate) fn without_foreign_mark(line: &str) -> &str {
    if let Some(rest) = line.strip_prefix("//") {
        return rest.trim_start_matches('/').trim_start();
    }
    let Some(rest) = line.strip_prefix(['*', ';']) else { return line };
    let is_duration = rest.trim_start().starts_with(|first: char| first.is_ascii_digit());
    let is_mark = rest.is_empty() || rest.starts_with([' ', '\t']) && !is_duration;
    if is_mark { rest.trim_start() } else { line }
}

/// The text without the marks; `None` where no line has one.
pub(crate) fn uncommented(text: &str) -> Option<String> {
    text.lines().find_map(uncommented_line)?;
    let mut all = String::with_capacity(text.len());
    for line in text.lines() {
        all.push_str(uncommented_line(line).unwrap_or(line));
        all.push('\n');
    }
    Some(all)
}

#[cfg(test)]
mod tests {
    use super::without_foreign_mark;

    #[test]
    fn marks_of_other_languages_are_taken_off() {
        let cases = [
            ("//   app-7  [000]", "app-7  [000]"),
            ("/// app-7", "app-7"),
            ("* app-7", "app-7"),
            ("*", ""),
            ("; app-7", "app-7"),
            ("* 12345.678 us |", "* 12345.678 us |"),
            ("*A0 => app:7", "*A0 => app:7"),
            ("app-7", "app-7"),
            ("# app-7", "# app-7"),
        ];
        for (line, bare) in cases {
            assert_eq!(without_foreign_mark(line), bare);
        }
    }
}
