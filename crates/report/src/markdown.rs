//! Markdown (GitHub's dialect): for an issue, a pull request, a wiki.

use crate::words;

/// Text that is to read as it is written: nothing in it becomes markup, or a heading or a link.
pub(crate) fn escape(text: &str) -> String {
    let text = words::clean(text);
    let mut escaped = String::with_capacity(text.len());
    let mut before = None;
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        let in_word = |c: Option<&char>| c.is_some_and(|c| c.is_alphanumeric());
        match c {
            // Within a word it is no emphasis (CommonMark 6.2), and names of settings stay readable.
            '_' if in_word(before.as_ref()) && in_word(rest.peek()) => escaped.push(c),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '~' | '#' => escaped.extend(['\\', c]),
            '<' => escaped += "&lt;",
            '>' => escaped += "&gt;",
            '&' => escaped += "&amp;",
            // A mention would notify a user; "tty@1" is none.
            '@' if !in_word(before.as_ref()) => escaped += "&#64;",
            c => escaped.push(c),
        }
        before = Some(c);
    }
    escaped
}

/// Text as code: between more backticks than it has in a row (CommonMark 6.1).
pub(crate) fn code(text: &str) -> String {
    let text = words::clean(text);
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    let pad = if longest > 0 { " " } else { "" };
    format!("{fence}{pad}{text}{pad}{fence}")
}

/// A bar ends a cell even within code (GitHub's tables).
pub(crate) fn in_table(text: &str) -> String {
    text.replace('|', "\\|")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_reads_as_it_is_written() {
        for (text, escaped) in [
            ("kernel.sched_rt_runtime_us=-1", "kernel.sched_rt_runtime_us=-1"),
            ("__init__", "\\_\\_init\\_\\_"),
            ("a|b *c* [d](e) <script>", "a\\|b \\*c\\* \\[d\\](e) &lt;script&gt;"),
            ("by @ann, getty@tty1", "by &#64;ann, getty@tty1"),
            ("a\nb", "a\u{fffd}b"),
        ] {
            assert_eq!(escape(text), escaped);
        }
    }

    #[test]
    fn code_ends_where_it_should() {
        assert_eq!(code("a = 1"), "`a = 1`");
        assert_eq!(code("a`b``c"), "``` a`b``c ```");
        assert_eq!(in_table(&code("a|b")), "`a\\|b`");
    }
}
