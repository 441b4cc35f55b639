//! The reports of a proof.

use crate::schema_check::violations;
use whylate_base::Ns;
use whylate_prove::{
    ChangeOutcome, ProveReport, ProveVerdict, ProvenChange, RoundState, RoundSummary, SideEffect,
    SideEffectKind, StateSummary,
};
use whylate_report::prove::json;
use whylate_report::{Format, Render, Rendered, Style};

fn state(latencies: &[i64]) -> StateSummary {
    StateSummary {
        rounds: 4,
        histogram: latencies.iter().map(|&latency| Ns(latency)).collect(),
        worst_hundredth: latencies.iter().max().map(|&latency| Ns(latency)),
        late: Some(latencies.iter().filter(|&&latency| latency > 1_000_000).count() as u64),
    }
}

/// A proof with something of everything.
fn sample(verdict: ProveVerdict) -> ProveReport {
    let effect = |kind, verdict, why: &str| SideEffect { kind, verdict, why: why.to_owned() };
    ProveReport {
        source: "fixes of explain.json".to_owned(),
        change: (0..30)
            .map(|at| ProvenChange {
                setting: format!("CPUs of hog{at}\u{1b}[31m<b>|"),
                now: Some("0-1".to_owned()),
                then: (at > 0).then(|| "0".to_owned()),
                why: None,
            })
            .collect(),
        subject: "the responses of ctl".to_owned(),
        command: Some("./two 60".to_owned()),
        deadline: Some(Ns::from_ms(1)),
        verdict,
        why: vec!["the mean of the worst hundredth is smaller".to_owned()],
        before: state(&[100_000, 200_000, 6_000_000]),
        after: state(&[]),
        rounds: vec![RoundSummary {
            number: 1,
            state: RoundState::Before,
            samples: 3,
            median: Some(Ns(200_000)),
            worst_hundredth: None,
            max: Some(Ns(6_000_000)),
        }],
        round_length: Ns::from_secs(2),
        side_effects: vec![
            effect(
                SideEffectKind::Check("throttling-off-no-net".to_owned()),
                ProveVerdict::Worse,
                "it fails",
            ),
            effect(SideEffectKind::Throughput, ProveVerdict::NoDifference, "1 ms and 1 ms"),
            effect(SideEffectKind::Thread("logger".to_owned()), ProveVerdict::Better, "shorter"),
        ],
        keeping: ChangeOutcome::RolledBack("it has a side effect".to_owned()),
        notes: vec!["a note".to_owned()],
        elapsed: Ns::from_secs(30),
    }
}

fn text(report: &ProveReport, format: Format) -> String {
    match report.render(format, &Style { color: false, width: 80 }) {
        Some(Rendered::Text(text)) => text,
        other => panic!("{format:?}: {other:?}"),
    }
}

#[test]
fn each_format_has_verdict_states_side_effects_and_what_became_of_it() {
    for format in [Format::Text, Format::Markdown, Format::Html] {
        let text = text(&sample(ProveVerdict::Better), format);
        for part in [
            "better: the change shortens",
            "6.00 ms",
            "check throttling-off",
            "logger",
            "side effect",
            "10 more settings",
        ] {
            assert!(text.contains(part), "{format:?} lacks {part}: {text}");
        }
        assert!(!text.contains('\u{1b}') && (format != Format::Html || !text.contains("<b>")), "{text}");
    }
}

#[test]
fn documents_obey_the_schema_and_come_back() {
    for verdict in
        [ProveVerdict::Better, ProveVerdict::Worse, ProveVerdict::NoDifference, ProveVerdict::Refused]
    {
        let document = json::render(&sample(verdict));
        assert_eq!(violations(&json::schema(), &document), Vec::<String>::new());
        assert_eq!(document["verdict"], verdict.name());
        let read: json::Document = serde_json::from_value(document).expect("our own document");
        assert_eq!((read.kept, read.before.late, read.after.p50_ns), (false, Some(1), None));
    }
}
