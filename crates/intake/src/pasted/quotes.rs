//! The marks in front of a quoted mail's lines: `> `, `>>>> `, `> > `, `AB> `.

/// Initials in front of a mark are not longer.
const MOST_INITIALS: usize = 4;

/// The line without marks. What follows them is as the mail has it, but for the one blank behind the last mark.
pub(super) fn unmarked(line: &str) -> &str {
    let mut text = line;
    loop {
        let rest = text.trim_start_matches([' ', '\t']);
        let marked = rest.strip_prefix('>').or_else(|| of_initials(rest));
        match marked {
            Some(rest) => text = rest.strip_prefix(' ').unwrap_or(rest),
            None => return text,
        }
    }
}

/// `JK> `: some mail programs put the writer's initials in front.
fn of_initials(text: &str) -> Option<&str> {
    let end = text.bytes().take(MOST_INITIALS + 1).position(|byte| !byte.is_ascii_uppercase())?;
    text.get(end..)?.strip_prefix("> ").filter(|_| end > 0)
}
