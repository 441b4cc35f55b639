//! Lines, wrapped paragraphs and aligned tables of a given width.

use super::paint::Ink;
use super::style::Style;
use crate::words;
use whylate_stats::Histogram;

/// Narrower than this nothing can be laid out: longer lines are the lesser evil.
const NARROWEST: usize = 60;

/// Text growing line by line.
pub(crate) struct Page {
    text: String,
    color: bool,
    width: usize,
}

impl Page {
    pub(crate) fn new(style: &Style) -> Page {
        Page { text: String::new(), color: style.color, width: style.width.max(NARROWEST) }
    }

    pub(crate) fn width(&self) -> usize {
        self.width
    }

    /// The text, ending with one line break.
    pub(crate) fn finish(mut self) -> String {
        let end = self.text.trim_end_matches('\n').len();
        self.text.truncate(end);
        self.text.push('\n');
        self.text
    }

    /// An empty line, unless there is one already or nothing before it.
    pub(crate) fn gap(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with("\n\n") {
            self.text.push('\n');
        }
    }

    /// One line of painted pieces.
    pub(crate) fn line(&mut self, pieces: &[(&str, Ink)]) {
        let last = pieces.iter().rposition(|(text, _)| !text.trim_end().is_empty());
        for (i, (text, ink)) in pieces.iter().enumerate().take_while(|(i, _)| Some(*i) <= last) {
            let text = if Some(i) == last { text.trim_end() } else { text };
            self.text.push_str(&ink.paint(text, self.color));
        }
        self.text.push('\n');
    }

    /// A paragraph whose first line starts with `label` and the others below its text.
    pub(crate) fn labelled(&mut self, indent: usize, label: (&str, Ink), text: &str, ink: Ink) {
        let hang = indent + columns(label.0);
        for (i, line) in wrap(text, 0, self.width.saturating_sub(hang)).into_iter().enumerate() {
            if i == 0 {
                self.line(&[(&" ".repeat(indent), Ink::Plain), label, (&line, ink)]);
            } else {
                self.line(&[(&" ".repeat(hang), Ink::Plain), (&line, ink)]);
            }
        }
    }

    /// A paragraph whose first words are the label; every line starts at `indent`.
    pub(crate) fn led(&mut self, indent: usize, label: (&str, Ink), text: &str, ink: Ink) {
        let lines = wrap(text, columns(label.0), self.width.saturating_sub(indent));
        for (i, line) in lines.into_iter().enumerate() {
            let label = if i == 0 { label } else { ("", Ink::Plain) };
            self.line(&[(&" ".repeat(indent), Ink::Plain), label, (&line, ink)]);
        }
    }

    /// Facts that fit on one line where the terminal is wide enough; none is torn apart.
    pub(crate) fn facts(&mut self, facts: &[String]) {
        let facts: Vec<String> = facts.iter().map(|fact| fact.replace(' ', "\u{a0}")).collect();
        self.paragraph(0, &facts.join(" · "), Ink::Faint);
    }

    /// A paragraph.
    pub(crate) fn paragraph(&mut self, indent: usize, text: &str, ink: Ink) {
        self.labelled(indent, ("", Ink::Plain), text, ink);
    }

    /// A table's rows, each column as wide as its widest cell; the last gives way where
    /// there is no room for it.
    pub(crate) fn table(&mut self, indent: usize, aligns: &[Align], rows: &[Vec<Cell>]) {
        let width = |column: usize| {
            rows.iter().filter_map(|row| row.get(column)).map(|cell| columns(&cell.text)).max().unwrap_or(0)
        };
        let mut widths: Vec<usize> = (0..aligns.len()).map(width).collect();
        if let Some((last, others)) = widths.split_last_mut() {
            let taken: usize = others.iter().filter(|&&width| width > 0).map(|width| width + 2).sum();
            *last = (*last).min(self.width.saturating_sub(indent + taken));
        }
        for row in rows {
            let mut pieces = vec![(" ".repeat(indent), Ink::Plain)];
            for ((cell, &width), align) in row.iter().zip(&widths).zip(aligns) {
                let text = cut(&cell.text, width);
                let pad = " ".repeat(width - columns(&text).min(width));
                if pieces.len() > 1 && width > 0 {
                    pieces.push(("  ".to_owned(), Ink::Plain));
                }
                match align {
                    Align::Left => pieces.extend([(text, cell.ink), (pad, Ink::Plain)]),
                    Align::Right => pieces.extend([(pad, Ink::Plain), (text, cell.ink)]),
                }
            }
            let pieces: Vec<(&str, Ink)> = pieces.iter().map(|(text, ink)| (text.as_str(), *ink)).collect();
            self.line(&pieces);
        }
    }
}

/// How a column is aligned.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Align {
    Left,
    Right,
}

/// A cell of a table.
#[derive(Clone, Debug)]
pub(crate) struct Cell {
    text: String,
    ink: Ink,
}

/// A row of a table of distributions: whose it is, how many samples, and the numbers of [`words::DISTRIBUTION`].
pub(crate) fn distribution(name: String, histogram: &Histogram) -> Vec<Cell> {
    let numbers = words::distribution(histogram);
    let mut row: Vec<Cell> = [name].into_iter().chain(numbers).map(Cell::from).collect();
    if let Some(max) = row.last_mut() {
        max.ink = Ink::Strong;
    }
    row
}

impl Cell {
    pub(crate) fn new(text: impl Into<String>, ink: Ink) -> Cell {
        Cell { text: text.into(), ink }
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Cell {
        Cell::new(text, Ink::Plain)
    }
}

/// How many columns a text takes; threads' names are hardly ever of double width.
pub(crate) fn columns(text: &str) -> usize {
    text.chars().count()
}

/// `text` cut to `width` columns, with an ellipsis where something was cut.
pub(crate) fn cut(text: &str, width: usize) -> String {
    if columns(text) <= width {
        return text.to_owned();
    }
    let mut short: String = text.chars().take(width.saturating_sub(1)).collect();
    short.push('…');
    short
}

/// Breaks `text` at blanks into lines of at most `width` columns; a longer word gets its own line.
///
/// The first line has `used` columns less. A number stays with its unit (`46.9 ms`), and
/// what a no-break space joins stays together.
fn wrap(text: &str, used: usize, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = vec![String::new()];
    for word in words(text) {
        let used = if lines.len() == 1 { used } else { 0 };
        let line = lines.last_mut().expect("one line at least");
        if !line.is_empty() && used + columns(line) + 1 + columns(&word) > width {
            lines.push(word);
        } else {
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(&word);
        }
    }
    lines.into_iter().map(|line| line.replace('\u{a0}', " ")).collect()
}

fn words(text: &str) -> Vec<String> {
    const UNITS: [&str; 5] = ["ns", "us", "ms", "s", "%"];
    let mut words: Vec<String> = Vec::new();
    for word in text.split_ascii_whitespace() {
        let unit = UNITS.contains(&word.trim_end_matches([',', '.', ';', ':', ')']));
        match words.last_mut() {
            Some(last) if unit && last.ends_with(|c: char| c.is_ascii_digit()) => {
                last.push(' ');
                last.push_str(word);
            }
            _ => words.push(word.to_owned()),
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrapping_keeps_width_words_and_units() {
        assert_eq!(wrap("late by 46.9 ms, twice", 0, 13), ["late by", "46.9 ms,", "twice"]);
        assert_eq!(wrap("late by 46.9 ms, twice", 7, 15), ["late by", "46.9 ms, twice"]);
        assert_eq!(wrap("Linux\u{a0}6.1", 0, 8), ["Linux 6.1"]);
        assert_eq!(wrap("", 0, 10), [""]);
        assert_eq!(wrap("unbreakable", 0, 3), ["unbreakable"]);
    }

    #[test]
    fn columns_line_up() {
        let mut page = Page::new(&Style { color: false, width: 80 });
        let rows = [["a", "1.00 us"], ["long", "10 ns"]]
            .map(|row| row.map(|text| Cell::from(text.to_owned())).to_vec());
        page.table(2, &[Align::Left, Align::Right], &rows);
        assert_eq!(page.finish(), "  a     1.00 us\n  long    10 ns\n");
    }

    #[test]
    fn colours_only_when_asked() {
        let written = |color| {
            let mut page = Page::new(&Style { color, width: 80 });
            page.line(&[("x", Ink::Red), ("  ", Ink::Plain)]);
            page.finish()
        };
        assert_eq!(written(false), "x\n");
        assert_eq!(written(true), "\x1b[1;31mx\x1b[0m\n");
    }

    #[test]
    fn long_names_are_cut_visibly() {
        assert_eq!(cut("irq/123-a-long-name", 8), "irq/123…");
        assert_eq!(cut("short", 8), "short");
    }
}
