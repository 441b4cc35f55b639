//! The mistakes of a program for a terminal: gravest first, then what could not be seen, then the threads.

use super::facts;
use crate::terminal::Style;
use crate::terminal::layout::{Align, Cell, Page};
use crate::terminal::paint::Ink;
use crate::words;
use whylate_base::Severity;
use whylate_investigate::doctor::{DoctorFinding, DoctorReport, ThreadReport};

/// How many threads are shown; JSON has all of them.
const THREADS: usize = 12;
/// How many system calls of each.
const CALLS: usize = 2;

/// The mistakes as text. Ends with a line break.
pub fn render(report: &DoctorReport, style: &Style) -> String {
    let mut page = Page::new(style);
    for finding in &report.findings {
        write_finding(&mut page, finding);
    }
    if let Some(sentence) = facts::nothing(report) {
        page.paragraph(0, sentence, Ink::Strong);
    }
    if !report.unseen.is_empty() {
        page.gap();
        page.line(&[("Not seen", Ink::Yellow)]);
        for sentence in &report.unseen {
            page.labelled(2, ("- ", Ink::Faint), &words::clean(sentence), Ink::Plain);
        }
    }
    threads(&mut page, &report.threads);
    page.gap();
    page.facts(&facts::observed(report));
    page.paragraph(0, "whylate doctor --code CODE explains a finding", Ink::Faint);
    page.finish()
}

fn write_finding(page: &mut Page, finding: &DoctorFinding) {
    let ink = match finding.severity {
        Severity::Error => Ink::Red,
        Severity::Warning => Ink::Yellow,
        Severity::Info => Ink::Cyan,
    };
    page.gap();
    let label = format!("{}[{}]: ", finding.severity, finding.code);
    page.led(0, (&label, ink), &words::clean(&finding.title), Ink::Strong);
    if let Some((label, place)) = facts::place(finding) {
        page.labelled(2, (&format!("{label:<6}"), Ink::Faint), &place, Ink::Plain);
    }
    if let Some(other) = facts::other(finding) {
        page.labelled(2, ("other ", Ink::Faint), &other, Ink::Plain);
    }
    page.paragraph(2, &words::clean(&finding.why), Ink::Plain);
    for (i, fix) in finding.fix.iter().enumerate() {
        let label = if i == 0 { "fix   " } else { "or    " };
        page.labelled(2, (label, Ink::Green), &words::clean(&fix.text), Ink::Plain);
    }
}

fn threads(page: &mut Page, threads: &[ThreadReport]) {
    if threads.is_empty() {
        return;
    }
    page.gap();
    let heading = ["thread", "policy", "CPUs"].into_iter().chain(facts::COUNTS).chain(["longest calls"]);
    let mut rows = vec![heading.map(|text| Cell::new(text, Ink::Faint)).collect()];
    rows.extend(threads.iter().take(THREADS).map(row));
    let (left, right) = ([Align::Left; 3], [Align::Right; facts::COUNTS.len()]);
    let aligns = [&left[..], &right, &[Align::Left]].concat();
    page.table(0, &aligns, &rows);
    if threads.len() > THREADS {
        page.paragraph(0, &format!("and {} more", threads.len() - THREADS), Ink::Faint);
    }
}

fn row(thread: &ThreadReport) -> Vec<Cell> {
    let calls: Vec<String> = thread.calls.iter().take(CALLS).map(facts::call).collect();
    let of_thread = [
        words::thread(&thread.comm, thread.tid),
        facts::scheduling(thread),
        thread.cpus.as_ref().map(ToString::to_string).unwrap_or_default(),
    ];
    let texts = of_thread.into_iter().chain(facts::counts(thread)).chain([calls.join(", ")]);
    texts.map(Cell::from).collect()
}
