//! Lines that a mail program broke in two because they were longer than a mail's.
//!
//! Whether two lines were one only their reader knows: it holds a line back that ends too early, and tries it
//! together with the next one, which begins as none of its lines does. The lengths must fit as well: the second line's
//! first word did not fit behind the first.

/// No mail program breaks shorter lines (format=flowed breaks at 66 characters, RFC 3676).
const NARROWEST: usize = 62;
/// None leaves longer ones, but for quotes' marks, which are not counted.
const WIDEST: usize = 81;
/// Pages and documents are wider than mails.
const WIDEST_PAGE: usize = 160;
/// Of `rejoined`: a line is not broken more often.
const MOST_BREAKS: usize = 4;

/// True of a line of so many characters behind which a long word does not fit.
pub(crate) fn fits_a_break(columns: usize) -> bool {
    (NARROWEST / 2..=WIDEST).contains(&columns)
}

/// True of a line that a page or a document may have broken, wider than a mail.
pub(crate) fn fits_a_page(columns: usize) -> bool {
    (NARROWEST / 2..=WIDEST_PAGE).contains(&columns)
}

/// True where `rest` may be the rest of a line of so many characters.
pub(crate) fn may_continue(columns: usize, rest: &str) -> bool {
    fits_a_break(columns) && did_not_fit(columns, rest)
}

/// The same of a line that a page may have broken.
pub(crate) fn may_continue_page(columns: usize, rest: &str) -> bool {
    fits_a_page(columns) && did_not_fit(columns, rest)
}

fn did_not_fit(columns: usize, rest: &str) -> bool {
    let word = rest.split_ascii_whitespace().next().map_or(0, str::len);
    word > 0 && columns + 1 + word >= NARROWEST
}

/// The text with broken lines joined: `is_cut` shows a line that ends too early, `is_own` one that begins a new line.
pub(crate) fn rejoined(
    text: &str,
    is_cut: impl Fn(&str) -> bool,
    is_own: impl Fn(&str) -> bool,
) -> Option<String> {
    text.lines().find(|line| is_cut(line))?;
    let mut all = String::with_capacity(text.len());
    let mut lines = text.lines().peekable();
    while let Some(first) = lines.next() {
        let mut line = first.to_owned();
        let mut columns = first.len();
        for _ in 0..MOST_BREAKS {
            let rest = lines.next_if(|next| is_cut(&line) && !is_own(next) && may_continue(columns, next));
            let Some(rest) = rest else { break };
            columns = rest.len();
            line.push(' ');
            line.push_str(rest.trim_start());
        }
        all.push_str(&line);
        all.push('\n');
    }
    Some(all)
}
