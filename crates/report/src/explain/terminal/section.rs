//! A critical section: its length, its culprit, and the functions its time went to. What to do stands in its finding.

use crate::terminal::layout::{Align, Cell, Page};
use crate::terminal::paint::Ink;
use crate::words;
use whylate_base::Ns;
use whylate_ledger::CriticalSection;

/// How many functions are listed.
const ROWS: usize = 10;
/// How many stretches without a line are listed.
const GAPS: usize = 3;
/// How many frames of the stack are shown.
const FRAMES: usize = 8;

pub(super) fn write(page: &mut Page, section: &CriticalSection) {
    page.gap();
    let about = words::section(section).join(" · ");
    page.labelled(0, ("critical section  ", Ink::Strong), &about, Ink::Plain);
    page.labelled(2, ("", Ink::Plain), &words::clean(&section.why), Ink::Strong);
    let sure = format!("{} confidence in where the time went", section.confidence);
    page.line(&[("  ", Ink::Plain), (&sure, Ink::Faint)]);
    page.gap();
    parts(page, section);
    page.gap();
    for (i, gap) in section.gaps.iter().take(GAPS).enumerate() {
        let label = if i == 0 { "no line for  " } else { "             " };
        page.labelled(2, (label, Ink::Faint), &words::gap(gap), Ink::Plain);
    }
    if !section.stack.is_empty() {
        let more = if section.stack.len() > FRAMES { " <- ..." } else { "" };
        let shown: Vec<&str> = section.stack.iter().take(FRAMES).map(String::as_str).collect();
        let stack = words::clean(&format!("{}{more}", shown.join(" <- ")));
        page.labelled(2, ("stack        ", Ink::Faint), &stack, Ink::Plain);
    }
}

fn parts(page: &mut Page, section: &CriticalSection) {
    if section.parts.is_empty() {
        return;
    }
    let whole = section.latency.0.max(1) as f64;
    let share = |time: Ns| words::percent(time.0 as f64 / whole);
    // The functions' names come last: the last column gives way where there is no room.
    let mut rows = vec![
        [words::part_times(section.times), "share", "calls", "in", "function"]
            .map(|text| Cell::new(text, Ink::Faint))
            .to_vec(),
    ];
    for part in section.parts.iter().take(ROWS) {
        let function = if part.function.is_empty() { "?".to_owned() } else { words::clean(&part.function) };
        rows.push(vec![
            part.time.to_string().into(),
            share(part.time).into(),
            words::count(part.calls).into(),
            part.within.name().to_owned().into(),
            function.into(),
        ]);
    }
    let rest: Ns = section.parts.iter().skip(ROWS).map(|part| part.time).sum::<Ns>() + section.rest;
    for (name, time) in [("others", rest), ("unexplained", section.unexplained)] {
        if time > Ns::ZERO {
            let row = [time.to_string(), share(time), String::new(), String::new(), name.to_owned()];
            rows.push(row.map(|text| Cell::new(text, Ink::Faint)).to_vec());
        }
    }
    let aligns = [Align::Right, Align::Right, Align::Right, Align::Left, Align::Left];
    page.table(2, &aligns, &rows);
}
