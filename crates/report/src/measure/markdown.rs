//! A measurement as Markdown, for an issue.

use crate::explain::markdown::{activation, findings};
use crate::markdown::{code, escape, in_table};
use crate::measure::facts;
use crate::{claims, words};
use whylate_investigate::measure::{ExplainedSpike, MeasureReport, PhaseShift, SpikeKind, TraceState};

/// How many late wake-ups have a row; JSON has all of them.
const ROWS: usize = 20;

/// A measurement as Markdown: the distribution of each CPU, the worst wake-ups and their causes, and the limits of the
/// numbers. Ends with a line break.
pub fn render(report: &MeasureReport) -> String {
    let mut text = format!("# whylate measure: {}\n\n", escape(&facts::title(report)));
    let about: Vec<String> = facts::facts(report).iter().map(|fact| escape(fact)).collect();
    text += &format!("{}\n", about.join(" · "));
    for (load, died) in report.loads.iter().map(facts::load) {
        let died = died.map(|died| format!("; died: {}", escape(&died))).unwrap_or_default();
        text += &format!("\nload: {}{died}\n", escape(&load));
    }
    text += &warnings(report);
    text += &distribution(report);
    text += &phases(report);
    text += &deadline(report);
    text += &groups(report);
    text += &spikes(report);
    text += &findings(&report.findings);
    text += &beyond(report);
    let notes: String = facts::notes(report).iter().map(|note| format!("- {}\n", escape(note))).collect();
    match notes.is_empty() {
        true => text,
        false => text + "\n## Notes\n\n" + &notes,
    }
}

fn warnings(report: &MeasureReport) -> String {
    let lacks = report.degraded.iter().map(|degraded| {
        let [effect, reason, remedy] =
            [&degraded.effect, &degraded.reason, &degraded.remedy].map(|text| escape(text));
        format!("- **{effect}**: {reason}. {remedy}\n")
    });
    let blind = match &report.trace {
        TraceState::Unavailable(why) => Some(format!("- **cannot explain**: {}\n", escape(why))),
        TraceState::Recorded { .. } | TraceState::Off => None,
    };
    let lines: String = lacks.chain(blind).collect();
    if lines.is_empty() { lines } else { format!("\n## Warnings\n\n{lines}") }
}

fn distribution(report: &MeasureReport) -> String {
    let sample = report.probe.sample();
    let mut text = format!("\n## Latency\n\n| | {sample}s |");
    words::DISTRIBUTION.iter().for_each(|name| text += &format!(" {name} |"));
    text += "\n|---|";
    text += &"--:|".repeat(words::DISTRIBUTION.len() + 1);
    let all = (report.cpus.len() > 1).then(|| ("all".to_owned(), report.run().all()));
    let each = report.cpus.iter().map(|cpu| (cpu.name(), cpu.histogram.clone()));
    for (name, histogram) in each.chain(all) {
        let numbers = words::distribution(&histogram).join(" | ");
        text += &format!("\n| {} | {numbers} |", escape(&name));
    }
    text += "\n";
    let troubles: Vec<String> = report.cpus.iter().flat_map(facts::trouble).collect();
    for (at, trouble) in troubles.iter().enumerate() {
        text += if at == 0 { "\n" } else { "" };
        text += &format!("- {}\n", escape(trouble));
    }
    text
}

fn phases(report: &MeasureReport) -> String {
    if report.phases.is_empty() {
        return String::new();
    }
    let head: Vec<&str> = facts::PHASE.into_iter().chain(words::DISTRIBUTION).collect();
    let mut text =
        format!("\n## Phases\n\n| {} |\n|---|{}\n", head.join(" | "), "--:|".repeat(head.len() - 1));
    let each: Vec<(String, String)> = report.phases.iter().map(facts::phase).collect();
    for (phase, (name, _)) in report.phases.iter().zip(&each) {
        text += &format!("| {name} | {} |\n", words::distribution(&phase.histogram).join(" | "));
    }
    let shift = report.phase_shift.as_ref().map(PhaseShift::sentence);
    let notes = each.into_iter().map(|(_, about)| about).chain(shift);
    text + "\n" + &notes.map(|note| format!("- {}\n", escape(&note))).collect::<String>()
}

fn deadline(report: &MeasureReport) -> String {
    let Some(answer) = &report.deadline else { return String::new() };
    let (sentence, reasons) = facts::deadline(answer);
    let reasons: String = reasons.iter().map(|reason| format!("- {}\n", escape(reason))).collect();
    format!("\n## Deadline\n\n**{}**\n\n{reasons}", escape(&sentence))
}

fn groups(report: &MeasureReport) -> String {
    let groups = facts::groups(report);
    if groups.is_empty() {
        return String::new();
    }
    let rows = groups.iter().map(|group| {
        let cells = facts::group(group).map(|cell| escape(&cell));
        format!("| {} |\n", cells.join(" | "))
    });
    let head = facts::GROUP.join(" | ");
    format!("\n## Spikes by cause\n\n| {head} |\n|--:|--:|--:|--:|--:|---|\n{}", rows.collect::<String>())
}

fn spikes(report: &MeasureReport) -> String {
    if report.spikes.is_empty() {
        return String::new();
    }
    let sample = report.probe.sample();
    let mut text =
        format!("\n## Worst {sample}s\n\n| {sample} | CPU | due at | cause |\n|--:|--:|--:|---|\n");
    for spike in report.spikes.iter().take(ROWS) {
        let least = if spike.kind == SpikeKind::Stuck { "&gt; " } else { "" };
        let (latency, due) = (spike.latency(), words::instant(spike.measured.due));
        text += &format!("| {least}{latency} | {} | {due} | {} |\n", spike.measured.cpu, because(spike));
    }
    let left = report.spikes.len().saturating_sub(ROWS) as u64 + report.not_listed;
    if left > 0 {
        text += &format!("\nand {} more\n", words::count(left));
    }
    let explained = report.spikes.iter().find_map(|spike| Some((spike, spike.answer.as_ref().ok()?)));
    if let Some((spike, answer)) = explained {
        text += &format!("\n### {} on CPU {}\n{}", spike.latency(), spike.measured.cpu, activation(answer));
    }
    text
}

fn because(spike: &ExplainedSpike) -> String {
    match &spike.answer {
        Ok(activation) => {
            let verdict = &activation.verdict;
            let by = verdict.by.as_ref().map(|by| format!(", {}", in_table(&code(&words::culprit(by)))));
            format!("{}{}", verdict.cause, by.unwrap_or_default())
        }
        Err(why) => format!("not explained: {}", escape(&why.to_string())),
    }
}

fn beyond(report: &MeasureReport) -> String {
    let Some(beyond) = &report.tail else { return String::new() };
    let mut text = "\n## Extrapolation\n\n".to_owned();
    for sentence in beyond.claim.iter().flat_map(claims::sentences) {
        text += &format!("- {}\n", escape(&sentence));
    }
    for (fit, levels) in facts::beyond(report, beyond) {
        text += &format!("- {fit}: {}\n", escape(&levels));
    }
    text
}
