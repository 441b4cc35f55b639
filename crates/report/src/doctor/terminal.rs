//! The mistakes of a program for a terminal: gravest first, then what could not be seen, then the threads.

use crate::terminal::Style;
use crate::terminal::layout::{Align, Cell, Page};
use crate::terminal::paint::Ink;
use crate::words;
use whylate_base::{Policy, Severity};
use whylate_investigate::doctor::{DoctorFinding, DoctorReport, ThreadReport};

/// How many threads are shown; JSON has all of them.
const THREADS: usize = 12;

/// The mistakes as text. Ends with a line break.
pub fn render(report: &DoctorReport, style: &Style) -> String {
    let mut page = Page::new(style);
    for finding in &report.findings {
        write_finding(&mut page, finding);
    }
    if report.findings.is_empty() {
        let nothing = match report.has_realtime() {
            true => "Nothing found.",
            false => {
                "Cannot tell: no real-time thread was seen (SCHED_FIFO, SCHED_RR, SCHED_DEADLINE), nor one that asked to be one."
            }
        };
        page.paragraph(0, nothing, Ink::Strong);
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
    page.facts(&[
        format!("observed for {}", report.duration),
        words::plural(report.threads.len() as u64, "thread"),
        words::plural(report.findings.len() as u64, "finding"),
    ]);
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
    let mut place = finding.location.as_ref().map(|location| words::clean(&location.to_string()));
    if let Some(worst) = finding.worst {
        let worst = format!("worst {worst}");
        place = Some(place.map_or_else(|| worst.clone(), |place| format!("{place}, {worst}")));
    }
    if let Some(place) = place {
        page.labelled(2, ("at    ", Ink::Faint), &place, Ink::Plain);
    }
    if let Some((thread, Some(location))) = &finding.other {
        let text = format!("{} at {location}", words::thread(&thread.comm, thread.tid));
        page.labelled(2, ("other ", Ink::Faint), &words::clean(&text), Ink::Plain);
    }
    page.paragraph(2, &words::clean(&finding.why), Ink::Plain);
    for (i, fix) in finding.fix.iter().enumerate() {
        let label = if i == 0 { "fix   " } else { "or    " };
        page.labelled(2, (label, Ink::Green), &words::clean(fix), Ink::Plain);
    }
}

fn threads(page: &mut Page, threads: &[ThreadReport]) {
    if threads.is_empty() {
        return;
    }
    page.gap();
    let heading =
        ["thread", "policy", "CPUs", "minor", "major", "voluntary", "preempted", "waited", "longest calls"];
    let mut rows = vec![heading.map(|text| Cell::new(text, Ink::Faint)).to_vec()];
    rows.extend(threads.iter().take(THREADS).map(row));
    let aligns = [
        Align::Left,
        Align::Left,
        Align::Left,
        Align::Right,
        Align::Right,
        Align::Right,
        Align::Right,
        Align::Right,
        Align::Left,
    ];
    page.table(0, &aligns, &rows);
    if threads.len() > THREADS {
        page.paragraph(0, &format!("and {} more", threads.len() - THREADS), Ink::Faint);
    }
}

fn row(thread: &ThreadReport) -> Vec<Cell> {
    let scheduling = match thread.policy {
        Policy::Fifo | Policy::Rr => format!("{} {}", thread.policy.name(), thread.priority),
        policy => policy.name().to_owned(),
    };
    let calls: Vec<String> = thread
        .calls
        .iter()
        .take(2)
        .map(|total| format!("{} {}", total.name, words::count(total.count)))
        .collect();
    let texts = [
        words::thread(&thread.comm, thread.tid),
        scheduling,
        thread.cpus.as_ref().map(ToString::to_string).unwrap_or_default(),
        words::count(thread.minor_faults),
        words::count(thread.major_faults),
        words::count(thread.voluntary_switches),
        words::count(thread.involuntary_switches),
        thread.run_delay.map(|delay| delay.to_string()).unwrap_or_default(),
        calls.join(", "),
    ];
    texts.map(Cell::from).to_vec()
}
