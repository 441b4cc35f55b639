//! Output that stands in the comments of a script: `# Max Latency: 84us`.
//!
//! The marks are those of headers and totals as well, so they are taken off only where a reader knows nothing of the
//! text as it is.

/// The line without its mark; `None` where it has none.
pub(crate) fn uncommented_line(line: &str) -> Option<&str> {
    let rest = line.trim_start().strip_prefix('#')?;
    Some(rest.strip_prefix(' ').unwrap_or(rest))
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
