//! Fixes from the JSON documents of `explain`, `check` and `doctor`. Members that are not about fixes are skipped.

use super::{Fixes, NumberedFix};
use serde::Deserialize;
use whylate_base::Action;

/// The schemas of documents with fixes.
pub const SCHEMAS: [&str; 3] = ["whylate.explain/1", "whylate.check/1", "whylate.doctor/1"];

/// Why a document has no fixes to read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FixesError {
    /// It is no document of whylate.
    #[error(
        "{name} is not a document of `whylate explain --json`, `whylate check --json` or `whylate doctor --json`: {why}"
    )]
    NotJson {
        /// The file.
        name: String,
        /// Why not.
        why: String,
    },
    /// It is another document.
    #[error(
        "{name} has the schema {schema}, and one of whylate.explain/1, whylate.check/1 and whylate.doctor/1 was expected"
    )]
    Schema {
        /// The file.
        name: String,
        /// Its schema.
        schema: String,
    },
}

#[derive(Deserialize)]
struct Header {
    schema: Option<String>,
}

#[derive(Deserialize)]
struct Document {
    #[serde(default)]
    findings: Vec<Finding>,
    #[serde(default)]
    activations: Vec<Activation>,
    #[serde(default)]
    answers: Vec<Answer>,
}

#[derive(Deserialize)]
struct Finding {
    code: String,
    severity: String,
    title: String,
    #[serde(default)]
    fix: Vec<String>,
    #[serde(default)]
    fixes: Vec<Fix>,
}

#[derive(Deserialize)]
struct Activation {
    verdict: Verdict,
}

#[derive(Deserialize)]
struct Verdict {
    cause: String,
    why: String,
    #[serde(default)]
    fix: Vec<String>,
    #[serde(default)]
    fixes: Vec<Fix>,
}

#[derive(Deserialize)]
struct Fix {
    text: String,
    action: Option<Action>,
}

#[derive(Deserialize)]
struct Answer {
    code: String,
    status: String,
    severity: String,
    what: String,
    #[serde(default)]
    fix: Vec<CheckFix>,
}

#[derive(Deserialize)]
struct CheckFix {
    runtime: Option<String>,
    boot: Option<String>,
    risk: Option<String>,
    #[serde(default)]
    action: Option<Action>,
}

impl Fixes {
    /// Reads a document's text; `name` is what errors call it.
    ///
    /// # Errors
    /// [`FixesError`]: it is no JSON, or another document.
    pub fn read(text: &str, name: &str) -> Result<Fixes, FixesError> {
        let not =
            |why: serde_json::Error| FixesError::NotJson { name: name.to_owned(), why: why.to_string() };
        let header: Header = serde_json::from_str(text).map_err(not)?;
        let Some(schema) = header.schema else {
            let why = "it has no schema".to_owned();
            return Err(FixesError::NotJson { name: name.to_owned(), why });
        };
        if !SCHEMAS.contains(&schema.as_str()) {
            return Err(FixesError::Schema { name: name.to_owned(), schema });
        }
        let document: Document = serde_json::from_str(text).map_err(not)?;
        let mut fixes = Fixes { name: name.to_owned(), schema, ..Fixes::default() };
        for (finding, of) in document.findings.into_iter().enumerate() {
            let is_minor = of.severity == "info";
            let advice = Advice { finding, is_minor, code: &of.code, title: &of.title };
            for (text, action) in joined(of.fix, of.fixes) {
                fixes.add(&advice, text, action, None);
            }
        }
        let mut finding = fixes.each.last().map_or(0, |last| last.finding + 1);
        let failed = document.answers.into_iter().filter(|answer| answer.status == "fail");
        for of in failed {
            let is_minor = of.severity == "info";
            fixes.failed_rules.push(of.code.clone());
            let advice = Advice { finding, is_minor, code: &of.code, title: &of.what };
            for fix in of.fix {
                let text = fix.runtime.or(fix.boot).unwrap_or_default();
                fixes.add(&advice, text, fix.action, fix.risk);
            }
            finding += 1;
        }
        // Where there is no finding, the worst activation's verdict stands for it.
        let mut is_minor = fixes.each.iter().any(|fix| !fix.is_minor);
        for Activation { verdict: of } in document.activations {
            let all = joined(of.fix, of.fixes);
            let is_empty = all.is_empty();
            let advice = Advice { finding, is_minor, code: &of.cause, title: &of.why };
            for (text, action) in all {
                fixes.add(&advice, text, action, None);
            }
            if !is_empty {
                (finding, is_minor) = (finding + 1, true);
            }
        }
        Ok(fixes)
    }

    fn add(&mut self, of: &Advice<'_>, text: String, action: Option<Action>, risk: Option<String>) {
        // Verdicts repeat what findings advise.
        if self.each.iter().any(|known| known.text == text && known.action == action) {
            return;
        }
        let number = self.each.len() + 1;
        self.each.push(NumberedFix {
            number,
            code: of.code.to_owned(),
            title: of.title.to_owned(),
            text,
            action,
            risk,
            finding: of.finding,
            is_minor: of.is_minor,
        });
    }
}

/// What advises fixes.
struct Advice<'a> {
    finding: usize,
    is_minor: bool,
    code: &'a str,
    title: &'a str,
}

/// The words of fixes with their actions; documents of older versions have the words alone.
fn joined(texts: Vec<String>, fixes: Vec<Fix>) -> Vec<(String, Option<Action>)> {
    match fixes.is_empty() {
        true => texts.into_iter().map(|text| (text, None)).collect(),
        false => fixes.into_iter().map(|fix| (fix.text, fix.action)).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_documents_are_refused() {
        for (text, expected) in [
            ("", "is not a document"),
            ("[1, 2]", "is not a document"),
            ("{}", "it has no schema"),
            (r#"{"schema": 7}"#, "is not a document"),
            (r#"{"schema": "whylate.plan/1"}"#, "has the schema whylate.plan/1"),
            (r#"{"schema": "whylate.explain/1", "findings": 3}"#, "is not a document"),
        ] {
            let error = Fixes::read(text, "x.json").expect_err(text).to_string();
            assert!(error.starts_with("x.json ") && error.contains(expected), "{text}: {error}");
        }
    }

    #[test]
    fn fixes_are_numbered_and_each_is_there_once() {
        let text = r#"{"schema": "whylate.explain/1", "new": 1,
            "findings": [
              {"code": "a", "severity": "error", "title": "A", "why": "", "evidence": [], "fix": ["x", "y"],
               "fixes": [{"text": "x", "action": {"kind": "code", "reason": "the program is to be changed"}},
                         {"text": "y", "action": {"kind": "tunable", "set": [{"path": "/proc/sys/vm/x", "value": "1"}]}}]},
              {"code": "b", "severity": "info", "title": "B", "why": "", "evidence": [], "fix": ["old"]}],
            "activations": [
              {"verdict": {"cause": "a", "why": "W", "fix": ["x"],
               "fixes": [{"text": "x", "action": {"kind": "code", "reason": "the program is to be changed"}}]}},
              {"verdict": {"cause": "c", "why": "W", "fix": ["z"], "fixes": [{"text": "z", "action": null}]}}]}"#;
        let fixes = Fixes::read(text, "x.json").expect("a document");
        let shown: Vec<_> = fixes
            .each
            .iter()
            .map(|fix| (fix.number, fix.text.as_str(), fix.is_minor, fix.action.is_some()))
            .collect();
        assert_eq!(
            shown,
            [(1, "x", false, true), (2, "y", false, true), (3, "old", true, false), (4, "z", true, false)]
        );
    }
}
