//! The first fix that an explanation advises, of the finding that is about the late jobs.

use serde_json::{Value, json};

/// What is advised first.
#[derive(Clone, Debug, PartialEq)]
pub struct FirstAdvice {
    /// The code of the finding.
    pub code: String,
    /// The fix in words; empty: none is advised.
    pub text: String,
    /// What can be made of it.
    pub fix: FirstFix,
    /// Kernel parameters that the same finding advises further down, for a machine that cannot make the first ones.
    pub parameters: Option<String>,
}

/// What can be made of the first fix that is not a change of a program.
#[derive(Clone, Debug, PartialEq)]
pub enum FirstFix {
    /// Settings that count at once: a document with this finding alone, for `whylate apply --from`.
    Settings(Value),
    /// Kernel parameters.
    Parameters(String),
    /// All fixes are changes of programs, or decisions; the reason of the first.
    Code(String),
}

/// The first advice of a document of `whylate explain --json` on late jobs of that cause: of the first finding with its code,
/// otherwise of the first verdict with it on one of the `late` threads, otherwise of the first finding that is not for information only.
pub fn first_advice(document: &Value, cause: Option<&str>, late: &[i64]) -> Option<FirstAdvice> {
    let findings = document["findings"].as_array().map(Vec::as_slice).unwrap_or_default();
    let activations = document["activations"].as_array().map(Vec::as_slice).unwrap_or_default();
    let has_fixes = |finding: &Value| finding["fixes"].as_array().is_some_and(|fixes| !fixes.is_empty());
    let of_cause = findings.iter().find(|finding| cause.is_some_and(|cause| finding["code"] == cause));
    let verdict = || {
        let own = activations
            .iter()
            .filter(|activation| activation["tid"].as_i64().is_some_and(|tid| late.contains(&tid)));
        let verdicts = own.map(|activation| &activation["verdict"]);
        let mut verdicts = verdicts.filter(|verdict| cause.is_some_and(|cause| verdict["cause"] == cause));
        verdicts.find(|verdict| has_fixes(verdict)).map(finding_of)
    };
    let warning = || findings.iter().find(|finding| finding["severity"] != "info" && has_fixes(finding));
    let finding = of_cause
        .filter(|finding| has_fixes(finding))
        .cloned()
        .or_else(verdict)
        .or_else(|| warning().cloned())?;
    Some(of_finding(document, finding))
}

/// A verdict as the finding that sums it up.
fn finding_of(verdict: &Value) -> Value {
    json!({"code": verdict["cause"], "severity": "warning", "title": verdict["why"], "fix": verdict["fix"],
           "fixes": verdict["fixes"]})
}

fn of_finding(document: &Value, mut finding: Value) -> FirstAdvice {
    let code = finding["code"].as_str().unwrap_or_default().to_owned();
    let fixes = finding["fixes"].as_array().cloned().unwrap_or_default();
    let kind = |fix: &Value| fix["action"]["kind"].as_str().unwrap_or("code").to_owned();
    let text = |fix: &Value| fix["text"].as_str().unwrap_or_default().to_owned();
    let parameters = fixes.iter().find(|fix| kind(fix) == "kernel-parameter").map(parameters);
    let Some(first) = fixes.iter().find(|fix| kind(fix) != "code") else {
        let first = fixes.first();
        let reason = first.and_then(|fix| fix["action"]["reason"].as_str()).unwrap_or_default().to_owned();
        let text = first.map(text).unwrap_or_default();
        return FirstAdvice { code, text, fix: FirstFix::Code(reason), parameters: None };
    };
    let fix = match kind(first).as_str() {
        "kernel-parameter" => FirstFix::Parameters(parameters.clone().unwrap_or_default()),
        _ => {
            // Kernel parameters are not for `apply`, and a finding for information is planned only by its number.
            let settings: Vec<&Value> = fixes.iter().filter(|fix| kind(fix) != "kernel-parameter").collect();
            let settings = json!(settings);
            finding["severity"] = json!("warning");
            finding["fixes"] = settings;
            FirstFix::Settings(json!({"schema": document["schema"], "findings": [finding]}))
        }
    };
    FirstAdvice { code, text: text(first), fix, parameters }
}

/// As the kernel's command line has them; those that are to be removed are left out.
fn parameters(fix: &Value) -> String {
    let set = fix["action"]["set"].as_array().map(Vec::as_slice).unwrap_or_default();
    let words = set.iter().filter_map(|one| {
        let name = one["parameter"].as_str()?;
        Some(match one["value"].as_str()? {
            "" => name.to_owned(),
            value => format!("{name}={value}"),
        })
    });
    words.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code() -> Value {
        json!({"text": "use another lock", "action": {"kind": "code", "reason": "its program"}})
    }

    fn thread(name: &str) -> Value {
        json!({"text": format!("move {name}"), "action": {"kind": "thread", "set": [{"thread": name, "not_cpus": "1"}]}})
    }

    fn boot() -> Value {
        let set = json!([{"parameter": "nosmt", "value": ""}, {"parameter": "isolcpus", "value": "1"},
                         {"parameter": "quiet", "value": null}]);
        json!({"text": "isolate", "action": {"kind": "kernel-parameter", "set": set}})
    }

    fn document(findings: Value, verdicts: &[(&str, Value)]) -> Value {
        let verdict = |(cause, fixes): &(&str, Value)| json!({"tid": if *cause == "other" { 7 } else { 8 }, "verdict": {"cause": cause, "why": "W", "fix": [], "fixes": fixes}});
        let activations: Vec<Value> = verdicts.iter().map(verdict).collect();
        json!({"schema": "whylate.explain/1", "findings": findings, "activations": activations})
    }

    fn finding(code: &str, severity: &str, fixes: Value) -> Value {
        json!({"code": code, "severity": severity, "title": "T", "why": "", "evidence": [], "fix": [], "fixes": fixes})
    }

    #[test]
    fn the_finding_of_the_cause_comes_first() {
        let findings = json!([
            finding("a", "error", json!([thread("x")])),
            finding("b", "info", json!([code(), thread("y")]))
        ]);
        let document = document(findings, &[("other", json!([thread("z")])), ("c", json!([code()]))]);
        let of = |cause| first_advice(&document, cause, &[8]).expect("advice");
        assert_eq!((of(Some("b")).code, of(Some("b")).text), ("b".to_owned(), "move y".to_owned()));
        let FirstFix::Settings(alone) = of(Some("b")).fix else { panic!("settings") };
        assert_eq!(alone["findings"].as_array().map(Vec::len), Some(1));
        assert_eq!(alone["findings"][0]["severity"], "warning");
        let fixes = whylate_profiles::fixes::Fixes::read(&alone.to_string(), "x").expect("a document");
        assert_eq!(fixes.each.iter().map(|fix| fix.is_minor).collect::<Vec<_>>(), [false, false]);
        assert_eq!(of(Some("c")).fix, FirstFix::Code("its program".to_owned()));
        assert_eq!(of(Some("d")).code, "a");
        assert_eq!(of(Some("other")).code, "a", "a verdict on another thread");
        assert_eq!(of(None).text, "move x");
    }

    #[test]
    fn kernel_parameters_are_for_the_next_boot() {
        let findings = json!([
            finding("a", "warning", json!([boot(), thread("x")])),
            finding("b", "warning", json!([thread("x"), boot()])),
            finding("none", "warning", json!([])),
        ]);
        let document = document(findings, &[]);
        let of = |cause| first_advice(&document, Some(cause), &[]).expect("advice");
        assert_eq!(of("a").fix, FirstFix::Parameters("nosmt isolcpus=1".to_owned()));
        let settings = of("b");
        assert_eq!(settings.parameters.as_deref(), Some("nosmt isolcpus=1"));
        let FirstFix::Settings(alone) = settings.fix else { panic!("settings") };
        assert_eq!(alone["findings"][0]["fixes"].as_array().map(Vec::len), Some(1));
        assert_eq!(first_advice(&json!({"schema": "x"}), Some("a"), &[]), None);
    }
}
