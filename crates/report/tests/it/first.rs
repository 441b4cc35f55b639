//! The first document of each schema's version 1 stays readable.
//!
//! Never bless these fixtures: they are what version 1 wrote first.

use crate::fixture;
use serde::de::DeserializeOwned;
use whylate_report::{
    apply, bench, check, compare, doctor, explain, guard, history, measure, ps, run, verify, watch,
};
use whylate_tuning::PlanDocument;

#[track_caller]
fn read<T: DeserializeOwned>(name: &str) -> T {
    let path = fixture(&format!("{name}-1-first.json"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[test]
fn the_first_document_of_each_schema_stays_readable() {
    let explained: explain::json::document::Document = read("explain");
    assert_eq!(explained.schema, "whylate.explain/1");
    assert_eq!(explained.activations[0].verdict.cause, "rt-throttled");
    assert_eq!(explained.activations[0].response_ns, 46_934_258);
    let measured: measure::json::document::Document = read("measure");
    assert_eq!(measured.schema, "whylate.measure/1");
    let spike = measured.spikes[0].activation.as_ref().expect("explained");
    assert_eq!(spike.verdict.cause, "higher-priority-task");
    let compared: compare::json::document::Document = read("compare");
    assert_eq!((compared.schema.as_str(), compared.runs.len()), ("whylate.compare/1", 2));
    let checked: check::json::document::Document = read("check");
    assert_eq!(checked.schema, "whylate.check/1");
    assert!(checked.answers.iter().any(|answer| answer.code == "rt-throttling"));
    let planned: PlanDocument = read("plan");
    assert!(!planned.changes.is_empty());
    let against: whylate_report::plan_compare::json::Document = read("plan-compare");
    assert_eq!((against.schema.as_str(), against.totals.different), ("whylate.plan-compare/1", 3));
    let applied: apply::json::Document = read("apply");
    assert_eq!((applied.schema.as_str(), applied.applies.is_empty()), ("whylate.apply/1", false));
    let verified: verify::json::Document = read("verify");
    assert_eq!(
        (verified.schema.as_str(), verified.verification.drifts.is_empty()),
        ("whylate.verify/1", false)
    );
    let diagnosed: doctor::json::document::Document = read("doctor");
    assert_eq!(diagnosed.schema, "whylate.doctor/1");
    assert_eq!(diagnosed.findings[0].code, "mutex-without-inheritance");
    let refused: run::json::Document = read("run");
    assert_eq!(
        (refused.schema.as_str(), refused.refused[0].gate.as_str()),
        ("whylate.run/1", "rlimit-rtprio")
    );
    let listed: ps::json::Document = read("ps");
    assert_eq!((listed.schema.as_str(), listed.threads.is_empty()), ("whylate.ps/1", false));
    let simulated: whylate_report::simulate::json::Document = read("simulate");
    assert_eq!((simulated.schema.as_str(), simulated.tasks[0].misses), ("whylate.simulate/1", 1));
    let proven: whylate_report::prove::json::Document = read("prove");
    assert_eq!((proven.schema.as_str(), proven.rounds.len(), proven.kept), ("whylate.prove/1", 8, false));
    assert_eq!((proven.verdict, proven.change.len()), (whylate_report::prove::json::Verdict::Better, 1));
    let benched: bench::json::document::Document = read("bench");
    assert_eq!((benched.schema.as_str(), benched.kind.as_str()), ("whylate.bench/1", "clock"));
    assert!(benched.rows[0].ns_per_op.p50 > 0.0);
    let compared: whylate_report::bench_compare::json::Document = read("bench-compare");
    assert_eq!((compared.schema.as_str(), compared.rows.is_empty()), ("whylate.bench-compare/1", false));
    let groups: whylate_report::group_compare::json::Document = read("compare-groups");
    assert_eq!((groups.schema.as_str(), groups.pairs.is_empty()), ("whylate.compare-groups/1", false));
    let line: guard::json::Line = read("guard");
    assert_eq!((line.schema.as_str(), line.event.as_str()), ("whylate.guard/1", "starving"));
    let line: watch::json::document::Line = read("watch");
    assert_eq!((line.schema.as_str(), line.event.as_str()), ("whylate.watch/1", "summary"));
    let text = std::fs::read(fixture("watch-1-first.json")).expect("the fixture");
    let watched = watch::json::report(&text).expect("a journal");
    assert_eq!((watched.late, watched.kept.len(), watched.groups[0].count), (2, 2, 2));
    assert!(watch::json::run(&text).is_some_and(|run| run.all().count() == 1_223));
    let history: history::json::Document = read("history");
    assert_eq!((history.schema.as_str(), history.applies.is_empty()), ("whylate.history/1", false));
}

/// Each schema in the documentation has its first document here.
#[test]
fn no_schema_is_forgotten() {
    let schemas = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schema");
    for schema in std::fs::read_dir(schemas).expect("the schemas") {
        let name = schema.expect("a schema").file_name().to_string_lossy().into_owned();
        let Some(name) = name.strip_prefix("whylate.").and_then(|name| name.strip_suffix("-1.json")) else {
            continue;
        };
        // The lab's documents are whylate-lab's, which this crate does not know.
        let is_elsewhere = name == "events" || name.starts_with("lab-");
        assert!(is_elsewhere || fixture(&format!("{name}-1-first.json")).is_file(), "{name}");
    }
}
