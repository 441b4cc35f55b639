//! Tags of HTML around a line, where a page's source or a forum's text is pasted: `<br>`, `<br />`, `<pre>`, `</code>`.
//! Inside a line there are none: `<idle>-0` and `<stack trace>` belong to traces.

/// Those that a page puts around lines of a program's output.
const TAGS: [&str; 10] = ["br", "pre", "/pre", "code", "/code", "p", "/p", "samp", "/samp", "/div"];

pub(super) fn removed(line: &str) -> &str {
    let mut text = line;
    loop {
        let end = text.trim_end_matches(|c: char| c.is_ascii_whitespace());
        let cut = end.strip_suffix('>').and_then(|before| before.rsplit_once('<'));
        match cut.filter(|(_, tag)| is_tag(tag)) {
            Some((before, _)) => text = before,
            None => break,
        }
    }
    while let Some((tag, rest)) = text.trim_start().strip_prefix('<').and_then(|after| after.split_once('>'))
        && is_tag(tag)
    {
        text = rest;
    }
    text
}

/// `br`, `br /`, `BR/`
fn is_tag(inside: &str) -> bool {
    let name = inside.strip_suffix('/').unwrap_or(inside).trim_end();
    TAGS.iter().any(|tag| name.eq_ignore_ascii_case(tag))
}

#[cfg(test)]
mod tests {
    use super::removed;

    #[test]
    fn tags_around_a_line_go_and_names_in_angles_stay() {
        for (line, bare) in [
            ("  <idle>-0 [000] 1.0: a: b=1<br>", "  <idle>-0 [000] 1.0: a: b=1"),
            ("x=1<br /> \r", "x=1"),
            ("x=1<BR/><br>", "x=1"),
            ("<pre><code># tracer: nop", "# tracer: nop"),
            ("</code></pre>", ""),
            ("<idle>-0", "<idle>-0"),
            ("<stack trace>", "<stack trace>"),
            ("next_comm=<...>", "next_comm=<...>"),
            ("<br", "<br"),
            ("br>", "br>"),
            (">", ">"),
            ("", ""),
        ] {
            assert_eq!(removed(line), bare, "{line}");
        }
    }
}
