//! The whole story on one machine, in four boots.

use super::machine::{BootResults, Trial, TrialCommand};
use super::{TuningRequest, verbs};
use serde_json::Value;
use std::time::Duration;
use whylate_lab::LabError;

/// Plan, apply, reboot, verify, measure before and after, rollback, reboot: the state must be the first one.
///
/// The first two boots change nothing, so that they show the values that differ without a change. With `measure`,
/// latencies are measured for this many seconds before and after.
///
/// # Errors
/// When the guest died or took too long. A failed check is an observation.
pub fn story(trial: &mut Trial<'_>, request: &TuningRequest, measure: Option<u32>) -> Result<(), LabError> {
    let install = TrialCommand::new("program installed", verbs::install(), &[0]);
    let first = trial.boot(&[install, TrialCommand::state("untouched")])?;

    // Exit code 1: there are changes to make.
    let mut lines =
        vec![TrialCommand::state("before"), TrialCommand::new("plan", verbs::plan(request), &[1])];
    lines.extend(
        measure.map(|seconds| {
            TrialCommand::new("measured before", verbs::measure("measured", seconds), &[0, 1])
        }),
    );
    lines.push(TrialCommand::new("apply", verbs::apply(request, None), &[0]));
    lines.push(TrialCommand::state("applied"));
    let before = trial.boot(&lines)?;
    trial.same("a reboot alone changes nothing", &first.state("untouched")?, &before.state("before")?);

    let mut lines = vec![TrialCommand::new("verify after the reboot", verbs::verify(), &[0])];
    lines
        .extend(measure.map(|seconds| {
            TrialCommand::new("measured after", verbs::measure("measured", seconds), &[0, 1])
        }));
    lines.push(TrialCommand::state("tuned"));
    lines.push(TrialCommand::new("rollback", verbs::rollback(), &[0]));
    let tuned = trial.boot(&lines)?;
    command_line(trial, &before, &tuned)?;
    if measure.is_some() {
        measured(trial, &before, &tuned)?;
    }

    let after = trial.boot(&[TrialCommand::state("after")])?;
    trial.same(
        "the state after rollback and reboot is the first one",
        &before.state("before")?,
        &after.state("after")?,
    );
    Ok(())
}

/// Checks that the kernel's command line has the planned parameters.
fn command_line(trial: &mut Trial<'_>, planned: &BootResults, tuned: &BootResults) -> Result<(), LabError> {
    let plan: Value = planned.json("plan")?;
    let wanted = parameters(&plan);
    let state = tuned.state("tuned")?;
    let given = state.value("kernel", "/proc/cmdline").unwrap_or_default();
    let missing: Vec<String> = wanted
        .iter()
        .filter(|wanted| !is_given(given, wanted))
        .map(|(name, then)| format!("{name}={}", then.as_deref().unwrap_or("(not there)")))
        .collect();
    let came = format!("{} parameters planned, {} missing", wanted.len(), missing.len());
    let mut details = missing.clone();
    details.push(format!("/proc/cmdline: {given}"));
    trial.found("the kernel has the planned parameters", missing.is_empty(), came, details, Duration::ZERO);
    Ok(())
}

/// The kernel parameters of a plan, with their desired values.
fn parameters(plan: &Value) -> Vec<(String, Option<String>)> {
    let changes = plan.get("changes").and_then(Value::as_array).into_iter().flatten();
    let parameter = |change: &Value| {
        let setting = change.get("setting")?;
        (setting.get("kind")?.as_str()? == "parameter").then_some(())?;
        let then = change.get("then").and_then(Value::as_str).map(str::to_owned);
        Some((setting.get("name")?.as_str()?.to_owned(), then))
    };
    changes.filter_map(parameter).collect()
}

fn is_given(line: &str, (name, then): &(String, Option<String>)) -> bool {
    let mut words = line.split_ascii_whitespace();
    match then.as_deref() {
        None => !words.any(|word| word == name || word.starts_with(&format!("{name}="))),
        Some("") => words.any(|word| word == name),
        Some(value) => words.any(|word| word == format!("{name}={value}")),
    }
}

/// Checks that both distributions were measured; which one is better is not judged, as emulation has its own latencies.
fn measured(trial: &mut Trial<'_>, before: &BootResults, after: &BootResults) -> Result<(), LabError> {
    let (before, after): (Value, Value) = (before.json("measured")?, after.json("measured")?);
    let right = before.get("schema").is_some() && before.get("schema") == after.get("schema");
    let came = format!("worst of all CPUs {} before, {} after", worst(&before), worst(&after));
    trial.found("measured before and after", right, came, Vec::new(), Duration::ZERO);
    Ok(())
}

/// The longest latency of a measurement of schema `whylate.measure/1`.
fn worst(report: &Value) -> String {
    let cpus = report.get("cpus").and_then(Value::as_array).into_iter().flatten();
    let worst =
        cpus.filter_map(|cpu| cpu.pointer("/latency_ns/max").and_then(Value::as_f64)).fold(None, highest);
    worst.map_or("(unknown)".to_owned(), |ns| format!("{:.0} us", ns / 1000.0))
}

fn highest(highest: Option<f64>, value: f64) -> Option<f64> {
    Some(highest.map_or(value, |highest| highest.max(value)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn planned_parameters_are_looked_for_as_whole_words() {
        let plan = json!({"changes": [
            {"setting": {"kind": "parameter", "name": "isolcpus"}, "now": null, "then": "2-3"},
            {"setting": {"kind": "parameter", "name": "highres"}, "now": "off", "then": null},
            {"setting": {"kind": "parameter", "name": "nosmt"}, "now": null, "then": ""},
            {"setting": {"kind": "knob", "path": "/proc/sys/vm/stat_interval"}, "now": "1", "then": "10"},
        ]});
        let wanted = parameters(&plan);
        assert_eq!(wanted.len(), 3);
        let given = |line: &str| wanted.iter().map(|wanted| is_given(line, wanted)).collect::<Vec<_>>();
        assert_eq!(given("quiet isolcpus=2-3 nosmt"), [true, true, true]);
        assert_eq!(given("quiet isolcpus=2-31 nosmt=force highres=off"), [false, false, false]);
    }
}
