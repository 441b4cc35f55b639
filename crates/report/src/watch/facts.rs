//! What the renderers of a watch share: its answer, its cost, and groups in words.

use crate::words;
use whylate_base::{Ns, gregorian_date};
use whylate_investigate::watch::{LateGroup, WatchCost, WatchReport};

/// The answer in one line.
pub(crate) fn title(report: &WatchReport) -> String {
    let activations: u64 = report.threads.iter().map(|thread| thread.activations).sum();
    match (activations, report.late) {
        (0, _) => "No activation of a watched thread was seen".to_owned(),
        (all, 0) => format!("None of {} was late", words::plural(all, "activation")),
        (all, late) => format!("{} of {} were late", words::count(late), words::plural(all, "activation")),
    }
}

/// How long it ran, and what was recorded, in parts to be joined by a separator.
pub(crate) fn facts(report: &WatchReport) -> Vec<String> {
    let cost = &report.cost;
    let mut parts = vec![format!("since {}", date(report.began)), report.elapsed.to_string()];
    parts.push(format!("{} recorded", words::plural(cost.events, "event")));
    if cost.lost > 0 {
        parts.push(format!("{} lost", words::count(cost.lost)));
    }
    if report.late_before > 0 {
        parts.push(format!("{} late in earlier watches of this directory", words::count(report.late_before)));
    }
    parts
}

/// What the watch itself took, in sentences.
pub(crate) fn cost(report: &WatchReport) -> Vec<String> {
    let cost = &report.cost;
    let mut sentences = vec![own(cost, report.elapsed)];
    if let (Some(event), Some(all)) = (cost.event_ns, cost.of_events()) {
        sentences.push(format!(
            "recording an event took the thread that caused it {event:.0} ns here: {all} in all, {} of one CPU",
            words::percent(all.0 as f64 / report.elapsed.0.max(1) as f64)
        ));
    }
    if report.counted_only > 0 {
        sentences.push(format!(
            "{} were counted and not explained, to keep the bound on CPU time (--max-cpu)",
            words::plural(report.counted_only, "late activation")
        ));
    }
    if cost.paused > Ns::ZERO {
        sentences.push(format!(
            "nothing was recorded for {} in all, to keep the bound on CPU time (--max-cpu): what was late then is not known",
            cost.paused
        ));
    }
    if !report.dropped.is_empty() {
        sentences.push(format!("not recorded, to keep the bound on CPU time: {}", report.dropped.join(", ")));
    }
    sentences
}

fn own(cost: &WatchCost, elapsed: Ns) -> String {
    let memory =
        cost.memory_kib.map(|kib| format!(", {} MiB of memory", kib.div_ceil(1_024))).unwrap_or_default();
    let disk = match cost.disk_bytes {
        0 => String::new(),
        bytes => format!(", {} KiB of windows", words::count(bytes.div_ceil(1_024))),
    };
    format!(
        "the watch took {} of CPU time, {} of one CPU (the bound is {}){memory}{disk}",
        cost.cpu,
        words::percent(cost.share(elapsed)),
        words::percent(cost.max_cpu)
    )
}

/// The headings of a table of groups.
pub(crate) const GROUP: [&str; 7] = ["late", "worst", "first", "last", "every", "thread", "cause"];

/// A group as a row.
pub(crate) fn group(group: &LateGroup) -> [String; 7] {
    let because = match &group.culprit {
        None => words::clean(&group.cause),
        // `softirq BLOCK` names its cause itself.
        Some(culprit) if culprit.starts_with(&group.cause) => words::clean(culprit),
        Some(culprit) => format!("{}: {}", words::clean(&group.cause), words::clean(culprit)),
    };
    [
        words::count(group.count),
        group.worst.to_string(),
        date(group.first),
        date(group.last),
        group.rhythm.map_or_else(String::new, |rhythm| rhythm.period.to_string()),
        words::clean(&group.thread),
        because,
    ]
}

/// A time of CLOCK_REALTIME in UTC, to the second: `2026-11-24 05:31:30Z`.
pub(crate) fn date(at: Ns) -> String {
    let seconds = at.0.div_euclid(1_000_000_000);
    let (days, of_day) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    let (year, month, day) = gregorian_date(days);
    let (hour, minute, second) = (of_day / 3_600, of_day / 60 % 60, of_day % 60);
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}Z")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        for (seconds, text) in [
            (0, "1970-01-01 00:00:00Z"),
            (951_782_400, "2000-02-29 00:00:00Z"),
            (1_795_498_290, "2026-11-24 05:31:30Z"),
            (4_102_444_799, "2099-12-31 23:59:59Z"),
        ] {
            assert_eq!(date(Ns::from_secs(seconds)), text);
        }
    }
}
