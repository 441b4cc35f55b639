//! The marks in front of a quoted mail's lines: `> `, `>>>> `, `> > `, `AB> `; and of the lines that a patch adds: `+`.

/// Initials in front of a mark are not longer.
const MOST_INITIALS: usize = 4;

/// The line without marks. What follows them is as the mail has it, but for the one blank behind the last mark.
pub(super) fn unmarked(line: &str) -> &str {
    let mut text = added(line).unwrap_or(line);
    loop {
        let rest = text.trim_start_matches([' ', '\t']);
        let marked = rest.strip_prefix('>').filter(|rest| !is_least(rest)).or_else(|| of_initials(rest));
        match marked {
            Some(rest) => {
                let rest = rest.strip_prefix(' ').unwrap_or(rest);
                // A patch may be quoted.
                text = added(rest).unwrap_or(rest);
            }
            None => return text,
        }
    }
}

/// `>10000us 7 times`: where a mail program broke the kernel's message before it, the sign belongs to the number (`wq_cpu_intensive_report()`
/// in `kernel/workqueue.c`).
fn is_least(rest: &str) -> bool {
    let behind = rest.trim_start_matches(|sign: char| sign.is_ascii_digit());
    behind.len() < rest.len() && behind.starts_with("us ") && behind.contains(" times")
}

/// `+  <idle>-0 ...`: a line that a patch to a document adds. `+ 12.345 us |` is a mark of the function_graph tracer.
fn added(line: &str) -> Option<&str> {
    let rest = line.strip_prefix('+')?;
    let mut words = rest.split_ascii_whitespace();
    let is_duration = words.next().is_some_and(|word| word.starts_with(|first: char| first.is_ascii_digit()))
        && words.next() == Some("us");
    (!is_duration && !rest.starts_with('+')).then_some(rest)
}

/// `JK> `: some mail programs put the writer's initials in front.
fn of_initials(text: &str) -> Option<&str> {
    let end = text.bytes().take(MOST_INITIALS + 1).position(|byte| !byte.is_ascii_uppercase())?;
    text.get(end..)?.strip_prefix("> ").filter(|_| end > 0)
}
