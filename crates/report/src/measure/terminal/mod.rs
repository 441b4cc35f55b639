//! A measurement: the answer, the distribution of each CPU, the worst wake-ups and why.

pub(crate) mod long_run;
mod phases;

use crate::bins::{LogAxis, height};
use crate::explain::terminal::{activation, trace};
use crate::measure::facts;
use crate::terminal::Style;
use crate::terminal::layout::{Align, Cell, Page, distribution as numbers};
use crate::terminal::paint::Ink;
use crate::words;
use whylate_investigate::measure::{ExplainedSpike, MeasureReport, SpikeKind, TraceState};
use whylate_probes::CpuResult;
use whylate_stats::Histogram;

/// How many wake-ups are written in full; the others have their row in the table.
const IN_FULL: usize = 2;
/// How many rows the table of late wake-ups has.
const ROWS: usize = 20;

/// A measurement as text: the distribution of each CPU, the worst wake-ups and their causes, and the limits of the
/// numbers. Ends with a line break.
pub fn render(report: &MeasureReport, style: &Style) -> String {
    let mut text = Page::new(style);
    write(&mut text, report);
    text.finish()
}

fn write(page: &mut Page, report: &MeasureReport) {
    page.led(0, ("", Ink::Plain), &facts::title(report), Ink::Strong);
    page.facts(&facts::facts(report));
    long_run::loads(page, report);
    page.gap();
    distribution(page, report);
    phases::phases(page, report);
    phases::deadline(page, report);
    long_run::groups(page, report);
    spikes(page, report);
    trace::findings(page, &report.findings);
    long_run::beyond(page, report);
    limits(page, report);
}

fn distribution(page: &mut Page, report: &MeasureReport) {
    let (cpus, samples) = (&report.cpus[..], format!("{}s", report.probe.sample()));
    let faint = |text: &str| Cell::new(text, Ink::Faint);
    // What the six numbers, two counts and the blanks between them take.
    let columns = page.width().saturating_sub(76).min(40);
    let axis = LogAxis::of(cpus.iter().map(|cpu| &cpu.histogram));
    let ends = axis.map_or_else(String::new, |axis| {
        let (from, to) = (axis.latency(0.0).to_string(), axis.latency(1.0).to_string());
        let room = columns.saturating_sub(from.len());
        if room > to.len() { format!("{from}{to:>room$}") } else { String::new() }
    });
    let drawn = !ends.is_empty();
    let names = ["CPU", &samples].into_iter().chain(words::DISTRIBUTION);
    let mut rows = vec![names.map(faint).collect::<Vec<Cell>>()];
    let mut aligns = vec![Align::Right; rows[0].len()];
    if drawn {
        rows[0].push(faint(&ends));
        aligns.push(Align::Left);
    }
    let mut add = |name: String, histogram: &Histogram| {
        let mut row = numbers(name, histogram);
        if let Some(axis) = axis.filter(|_| drawn) {
            row.push(Cell::new(sparkline(&axis.bins(histogram, columns)), Ink::Cyan));
        }
        rows.push(row);
    };
    // The kernel chose where a thread ran that was bound to no CPU.
    let name = |cpu: &CpuResult| if cpu.bound { cpu.cpu.to_string() } else { "any".to_owned() };
    cpus.iter().for_each(|cpu| add(name(cpu), &cpu.histogram));
    if cpus.len() > 1 {
        add("all".to_owned(), &report.run().all());
    }
    page.table(0, &aligns, &rows);
    for note in cpus.iter().flat_map(facts::trouble) {
        page.labelled(0, ("- ", Ink::Yellow), &note, Ink::Plain);
    }
}

/// A histogram in one line; heights are logarithmic.
fn sparkline(bins: &[u64]) -> String {
    const EIGHTHS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let highest = bins.iter().copied().max().unwrap_or(0);
    let block = |&count: &u64| {
        let eighths = (height(count, highest) * 8.0).ceil() as usize;
        EIGHTHS.get(eighths).copied().unwrap_or('█')
    };
    bins.iter().map(block).collect()
}

fn spikes(page: &mut Page, report: &MeasureReport) {
    if report.spikes.is_empty() {
        return;
    }
    let faint = |text: &str| Cell::new(text, Ink::Faint);
    let mut rows = vec![vec![
        faint(&format!("worst {}s", report.probe.sample())),
        faint("CPU"),
        faint("due at"),
        faint("cause"),
    ]];
    for spike in report.spikes.iter().take(ROWS) {
        let ink = if spike.kind == SpikeKind::Worst { Ink::Plain } else { Ink::Red };
        let least = if spike.kind == SpikeKind::Stuck { "> " } else { "" };
        rows.push(vec![
            Cell::new(format!("{least}{}", spike.latency()), ink),
            spike.measured.cpu.to_string().into(),
            words::instant(spike.measured.due).into(),
            because(spike),
        ]);
    }
    page.gap();
    page.table(0, &[Align::Right, Align::Right, Align::Right, Align::Left], &rows);
    let left = report.spikes.len().saturating_sub(ROWS) as u64 + report.not_listed;
    if left > 0 {
        page.line(&[(&format!("and {} more", words::count(left)), Ink::Faint)]);
    }
    let mut reasons: Vec<String> = Vec::new();
    for why in report.spikes.iter().filter_map(|spike| spike.answer.as_ref().err()) {
        let why = words::clean(&why.to_string());
        if why.contains(':') && !reasons.contains(&why) {
            page.labelled(0, ("not explained: ", Ink::Yellow), &why, Ink::Plain);
            reasons.push(why);
        }
    }
    for (spike, activation) in
        report.spikes.iter().filter_map(|spike| Some((spike, spike.answer.as_ref().ok()?))).take(IN_FULL)
    {
        page.gap();
        let name = format!("{} on CPU {}", spike.latency(), spike.measured.cpu);
        page.line(&[(&name, Ink::Strong), (" by the thread's clock; by the trace:", Ink::Faint)]);
        activation::write(page, "", activation);
    }
}

fn because(spike: &ExplainedSpike) -> Cell {
    match &spike.answer {
        Ok(activation) => words::because(&activation.verdict).into(),
        Err(why) => {
            // What would help stands below the table, once.
            let why = words::clean(&why.to_string());
            let (why, _) = why.split_once(':').unwrap_or((&why, ""));
            Cell::new(format!("not explained: {why}"), Ink::Yellow)
        }
    }
}

/// What the numbers lack, and what the measurement did to the machine.
fn limits(page: &mut Page, report: &MeasureReport) {
    for degraded in &report.degraded {
        page.gap();
        page.led(0, ("warning: ", Ink::Yellow), &words::clean(&degraded.effect), Ink::Strong);
        page.labelled(2, ("because  ", Ink::Faint), &words::clean(&degraded.reason), Ink::Plain);
        page.labelled(2, ("fix      ", Ink::Green), &words::clean(&degraded.remedy), Ink::Plain);
    }
    if let TraceState::Unavailable(why) = &report.trace {
        page.gap();
        page.led(0, ("cannot explain: ", Ink::Yellow), &words::clean(why), Ink::Plain);
    }
    page.gap();
    for note in facts::notes(report) {
        page.labelled(0, ("- ", Ink::Faint), &note, Ink::Faint);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_single_sample_is_seen_in_a_sparkline() {
        assert_eq!(sparkline(&[0, 1_000_000, 1, 0]), " █▁ ");
        assert_eq!(sparkline(&[0, 0]), "  ");
    }
}
