//! The reports of a bench.

use crate::schema_check::violations;
use whylate_base::{Ns, Severity};
use whylate_probes::bench::{
    BenchAnswer, BenchComparison, BenchKind, BenchReport, BenchRow, BenchVerdict, ClockFacts, OperationTime,
    PerOperation, PublishedTime, SkippedRow,
};
use whylate_report::bench::{json, terminal};
use whylate_report::{Format, Render, Rendered, Style};
use whylate_stats::Histogram;

fn per(ns: f64) -> PerOperation {
    PerOperation {
        p50: OperationTime(ns),
        p99: Some(OperationTime(ns * 1.5)),
        max: OperationTime(ns * 100.0),
        mean: OperationTime(ns * 1.1),
    }
}

fn row(group: &str, name: &str, ns: f64, clock: Option<ClockFacts>) -> BenchRow {
    let samples: Histogram = [1_000, 1_010, 9_000].map(Ns).into_iter().collect();
    BenchRow {
        group: group.to_owned(),
        name: name.to_owned(),
        operations: 40,
        samples,
        per_operation: per(ns),
        round_medians: [ns, ns * 1.01].map(OperationTime).to_vec(),
        sending: clock.is_none().then(|| per(ns / 2.0)),
        clock,
    }
}

/// A bench with something of everything.
pub(crate) fn sample() -> BenchReport {
    let facts = ClockFacts {
        resolution_claimed: Some(Ns(1)),
        resolution_seen: Some(Ns(21)),
        readings: 10_000,
        steps_backwards: 3,
        worst_step_backwards: Ns(400),
        makes_system_call: Some(true),
        system_share: Some(0.97),
    };
    let unknown = ClockFacts { makes_system_call: None, ..ClockFacts::default() };
    BenchReport {
        kind: BenchKind::Clock,
        elapsed: Ns::from_secs(20),
        interrupted: true,
        rows: vec![
            row("clock", "CLOCK_MONOTONIC", 24.5, Some(facts)),
            row("clock", "CLOCK_TAI", 24.6, Some(unknown)),
            row("timer", "timerfd\u{1b}[31m<b>|", 17_250.0, None),
        ],
        skipped: ["clock source hpet", "clock source acpi_pm"]
            .map(|name| SkippedRow { name: name.to_owned(), reason: "needs root".to_owned() })
            .to_vec(),
        verdict: vec![
            BenchVerdict { severity: Severity::Info, text: "A reading costs 24.5 ns.".to_owned() },
            BenchVerdict { severity: Severity::Error, text: "It went backwards.".to_owned() },
        ],
        published: vec![PublishedTime {
            name: "hpet".to_owned(),
            work: "10,000,000 readings".to_owned(),
            published: Ns::from_ms(12_263),
            published_split: Some((Ns::from_ms(12_197), Ns::from_ms(1))),
            here: None,
            here_split: None,
        }],
        notes: vec!["A note.".to_owned()],
    }
}

#[test]
fn the_document_obeys_its_schema() {
    assert_eq!(violations(&json::schema(), &json::render(&sample())), Vec::<String>::new());
}

#[test]
fn a_document_is_read_back_and_compared() {
    let document = serde_json::to_vec(&json::render(&sample())).expect("plain data");
    let read = json::bench(&document).expect("this schema").expect("readable");
    assert_eq!(read.rows.len(), sample().rows.len());
    assert_eq!(read.rows[0].samples, sample().rows[0].samples);
    assert!(json::bench(b"{\"schema\":\"whylate.measure/1\"}").is_none());
    assert!(json::bench(b"{\"schema\":\"whylate.bench/1\"}").expect("this schema").is_err());
    let mut after = read.clone();
    after.rows.remove(1);
    let medians = |ns: f64| (0..5).map(|round| OperationTime(ns + f64::from(round))).collect::<Vec<_>>();
    let mut before = read;
    before.rows[0].round_medians = medians(20.0);
    after.rows[0].round_medians = medians(30.0);
    let comparison = BenchComparison::of(&before, &after).expect("one kind");
    let answers: Vec<BenchAnswer> = comparison.differences.iter().map(|one| one.answer).collect();
    assert_eq!(answers, [BenchAnswer::Slower, BenchAnswer::CannotTell]);
    assert_eq!(comparison.only_before, ["CLOCK_TAI"]);
    let schema = whylate_report::bench_compare::json::schema();
    let document = whylate_report::bench_compare::json::render(&comparison);
    assert_eq!(violations(&schema, &document), Vec::<String>::new());
    for format in [Format::Text, Format::Markdown] {
        let Some(Rendered::Text(text)) = comparison.render(format, &Style::default()) else {
            panic!("{format:?}")
        };
        for part in ["slower", "cannot tell", "+0.0 %", "Only before: CLOCK"] {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert!(!text.contains('\u{1b}'), "{text}");
    }
}

#[test]
fn a_terminal_shows_verdict_rows_and_what_was_skipped() {
    let text = terminal::render(&sample(), &Style { color: false, width: 100 });
    for part in [
        "error: It went backwards.",
        "24.5 ns",
        "3 x 40",
        "cannot tell",
        "clock source hpet, clock source acpi_pm: needs root",
        "12.263 s",
        "interrupted",
    ] {
        assert!(text.contains(part), "{part}:\n{text}");
    }
    assert!(!text.contains('\u{1b}'), "{text}");
}

#[test]
fn every_offered_format_is_written_and_no_other() {
    for format in [Format::Text, Format::Json, Format::Html, Format::Markdown, Format::Svg, Format::Sarif] {
        let rendered = sample().render(format, &Style::default());
        assert_eq!(rendered.is_some(), BenchReport::FORMATS.contains(&format), "{format:?}");
        if let Some(Rendered::Text(text)) = rendered {
            assert!(text.contains("CLOCK_MONOTONIC") && !text.contains('\u{1b}'), "{format:?}");
        }
    }
}
