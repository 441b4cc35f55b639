//! One activation: when, why, where its time went, what shows it, what to do.

use crate::explain::rows::{self, Row};
use crate::terminal::layout::{Align, Cell, Page, columns, cut};
use crate::terminal::paint::Ink;
use crate::words;
use whylate_base::{AdvisedFix, Evidence, Ns};
use whylate_ledger::{Activation, Cause};

/// How many rows of a ledger are shown; the small ones are summed up.
const ROWS: usize = 10;
/// How many observations are shown.
const OBSERVATIONS: usize = 6;

/// `label` comes before the first line, and may be empty.
pub(crate) fn write(page: &mut Page, label: &str, activation: &Activation) {
    if let Some(seen) = words::one_instant(activation) {
        return page.labelled(2, (label, Ink::Strong), &seen, Ink::Plain);
    }
    let verdict = &activation.verdict;
    let when = format!(
        "{} ({}); {} on CPU {}",
        words::due_at(activation),
        words::trigger(activation),
        words::lateness(activation),
        activation.cpu
    );
    page.labelled(2, (label, Ink::Strong), &when, Ink::Plain);
    page.led(
        2,
        (&format!("{}: ", verdict.cause), accused(verdict.cause)),
        &words::clean(&verdict.why),
        Ink::Strong,
    );
    let sure = format!(
        "{} of {} ({}), {} confidence",
        verdict.charged,
        verdict.judged,
        words::percent(verdict.share),
        verdict.confidence
    );
    page.line(&[("  ", Ink::Plain), (&sure, Ink::Faint)]);
    page.gap();
    ledger(page, activation);
    page.gap();
    evidence(page, 2, &verdict.evidence);
    fixes(page, 2, &verdict.fix);
}

/// The ink of what made an activation late; its own work is no accusation.
fn accused(cause: Cause) -> Ink {
    if cause == Cause::OwnWork { Ink::Cyan } else { Ink::Red }
}

fn ledger(page: &mut Page, activation: &Activation) {
    let (rows, left, time) = rows::largest(rows::rows(activation), ROWS);
    let room = Room::of(page.width(), &rows);
    let faint = |text: &str| Cell::new(text, Ink::Faint);
    let end = match (activation.done, activation.running) {
        (Some(_), _) => "done",
        (None, Some(running)) if running == activation.end => "running",
        (None, _) => "end",
    };
    let mut lines = vec![vec![
        faint(""),
        faint("cause"),
        faint("culprit"),
        faint("time"),
        faint("share"),
        faint(&room.axis("due", end)),
    ]];
    for row in &rows {
        let ink = if row.accused { accused(row.cause) } else { Ink::Plain };
        let who = rows::who_lines(row.by.as_ref(), row.owner.as_ref(), room.name);
        let mut who = who.iter().map(|line| Cell::new(cut(line, room.name), ink));
        lines.push(vec![
            Cell::new(if row.accused { ">" } else { "" }, ink),
            Cell::new(row.cause.code(), ink),
            who.next().unwrap_or_else(|| faint("")),
            Cell::new(row.total.to_string(), ink),
            Cell::new(words::percent(row.share), ink),
            Cell::new(bar(row, activation.due, activation.end, room.bar), ink),
        ]);
        lines.extend(who.map(|more| vec![faint(""), faint(""), more]));
    }
    if left > 0 {
        let share = time.0 as f64 / activation.response().0.max(1) as f64;
        let (left, time, share) =
            (words::plural(left as u64, "other"), time.to_string(), words::percent(share));
        lines.push(["", &left, "", &time, &share, ""].map(faint).to_vec());
    }
    page.table(2, &[Align::Left, Align::Left, Align::Left, Align::Right, Align::Right, Align::Left], &lines);
}

/// How wide a ledger's culprits and its tiny timelines may be.
struct Room {
    name: usize,
    /// Zero where there is no room for any.
    bar: usize,
}

impl Room {
    /// An interrupt's name may be of any length; a longer one is cut.
    const LONGEST: usize = 44;
    const SHORTEST: usize = 12;
    /// A shorter timeline shows nothing.
    const SHORTEST_BAR: usize = 8;
    const LONGEST_BAR: usize = 40;

    fn of(width: usize, rows: &[Row<'_>]) -> Room {
        let longest = |cell: &dyn Fn(&Row<'_>) -> usize| rows.iter().map(cell).max().unwrap_or(0);
        let cause = longest(&|row| columns(row.cause.code())).max(8);
        // Beside it there are the indent, the mark, time and share, and the blanks between columns.
        let share = longest(&|row| columns(&words::percent(row.share))).max(6);
        let left = width.saturating_sub(2 + 1 + 2 + cause + 2 + 2 + 8 + 2 + share);
        let named = |width: usize| {
            let line = |row: &Row<'_>| {
                rows::who_lines(row.by.as_ref(), row.owner.as_ref(), width)
                    .iter()
                    .map(|line| columns(line))
                    .max()
            };
            longest(&|row| line(row).unwrap_or(0)).clamp(7, Room::LONGEST)
        };
        // Names come first: what a timeline shows, evidence and share show as well.
        let beside_bar = left.saturating_sub(2 + Room::SHORTEST_BAR);
        let name = [beside_bar, left].map(|most| (most, named(most)));
        match name {
            [(most, name), _] if name <= most => {
                Room { name, bar: (left - name).saturating_sub(2).min(Room::LONGEST_BAR) }
            }
            [_, (most, name)] => Room { name: name.min(most.max(Room::SHORTEST)), bar: 0 },
        }
    }

    /// The heading above the timelines.
    fn axis(&self, start: &str, end: &str) -> String {
        match self.bar {
            0 => String::new(),
            cells => format!("{start}{end:>0$}", cells.saturating_sub(columns(start))),
        }
    }
}

/// When a row's segments were, between `start` and `end`: a tiny timeline of `cells` characters.
fn bar(row: &Row<'_>, start: Ns, end: Ns, cells: usize) -> String {
    let Some(last) = cells.checked_sub(1) else { return String::new() };
    let scale = cells as f64 / end.since(start).0.max(1) as f64;
    let mut filled = vec![0.0_f64; cells];
    for segment in &row.segments {
        let from = segment.start.since(start).0 as f64 * scale;
        let to = segment.end.since(start).0 as f64 * scale;
        let first = (from as usize).min(last);
        for (cell, fill) in
            filled.iter_mut().enumerate().skip(first).take_while(|(cell, _)| *cell as f64 <= to)
        {
            *fill += (to.min(cell as f64 + 1.0) - from.max(cell as f64)).max(0.0);
        }
    }
    filled.into_iter().map(block).collect()
}

/// A cell filled from the left; what is there at all is seen.
fn block(fill: f64) -> char {
    const EIGHTHS: [char; 9] = [' ', '▏', '▎', '▍', '▌', '▋', '▊', '▉', '█'];
    let eighths = if fill > 0.0 { ((fill * 8.0).round() as usize).clamp(1, 8) } else { 0 };
    EIGHTHS[eighths]
}

/// What shows it, with instants in a column of their own.
pub(crate) fn evidence(page: &mut Page, indent: usize, evidence: &[Evidence]) {
    let shown = &evidence[..evidence.len().min(OBSERVATIONS)];
    let instants: Vec<String> =
        shown.iter().map(|seen| seen.at.map(words::instant).unwrap_or_default()).collect();
    let width = instants.iter().map(String::len).max().unwrap_or(0);
    for (i, (seen, instant)) in shown.iter().zip(&instants).enumerate() {
        let label = if i == 0 { "seen  " } else { "      " };
        let gap = if width > 0 { "  " } else { "" };
        let label = format!("{label}{instant:>width$}{gap}");
        page.labelled(indent, (&label, Ink::Faint), &words::observation(seen), Ink::Plain);
    }
    if evidence.len() > shown.len() {
        let more = format!("      and {} more", evidence.len() - shown.len());
        page.line(&[(&" ".repeat(indent), Ink::Plain), (&more, Ink::Faint)]);
    }
}

/// What to do, best first.
pub(crate) fn fixes(page: &mut Page, indent: usize, fixes: &[AdvisedFix]) {
    for (i, fix) in fixes.iter().enumerate() {
        let label = if i == 0 { "fix   " } else { "or    " };
        page.labelled(indent, (label, Ink::Green), &words::clean(&fix.text), Ink::Plain);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_there_is_seen() {
        assert_eq!([0.0, 1e-9, 0.5, 0.999, 1.0, 1.5].map(block), [' ', '▏', '▌', '█', '█', '█']);
    }
}
