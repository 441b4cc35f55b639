//! Totals of the programs with mistakes, and the JSON document of `whylate-lab mistakes --json`.

use super::codes::group_of;
use super::{MistakeEnd, MistakeJudgement};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// The name and version of the schema. Within a version fields are only ever added.
pub const MISTAKES_SCHEMA: &str = "whylate.lab-mistakes/1";

/// One run: of a program with a mistake, or of its clean twin.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct MistakeResult {
    /// The case's name.
    pub case: String,
    /// `C`, `C++`, `Rust` or `Python`.
    pub language: String,
    /// How it was built.
    pub flags: String,
    /// The code of the mistake; empty where the program has none.
    pub code: String,
    /// True for the clean twin, and for a program without a mistake.
    pub clean: bool,
    /// The judgement.
    pub judgement: MistakeJudgement,
    /// The program's own figure, or why the run was not judged.
    pub note: String,
    /// The time of the run with its build.
    pub seconds: f64,
}

/// One line of the totals.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct MistakeRow {
    /// The group of the codes, or the language.
    pub name: String,
    /// Programs with a mistake that were judged.
    pub faulty: u64,
    /// Of these: the code was found.
    pub found: u64,
    /// Of the judged programs: those of which the mistake has a line.
    pub with_line: u64,
    /// Of these: the code was found on that line.
    pub line_right: u64,
    /// Programs with a mistake in which another one is accused, that they do not have.
    pub faulty_accused: u64,
    /// Clean twins, and programs without a mistake, that were judged.
    pub clean: u64,
    /// Of these: a mistake is accused.
    pub clean_accused: u64,
    /// Runs that were not judged: the mistake did not take place.
    pub not_provoked: u64,
    /// Runs that were not judged: no program, or no document.
    pub no_run: u64,
}

/// The document.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(title = "whylate.lab-mistakes/1")]
pub struct MistakesDocument {
    /// Always `whylate.lab-mistakes/1`. Fields may be added within the version: ignore unknown ones.
    pub schema: String,
    /// `uname -r` of the machine.
    pub release: String,
    /// The kernel's name in the lab; `null` where the programs ran on this machine.
    pub kernel: Option<String>,
    /// The runs, in the order in which they ended.
    pub runs: Vec<MistakeResult>,
    /// By group of codes.
    pub by_group: Vec<MistakeRow>,
    /// By language.
    pub by_language: Vec<MistakeRow>,
    /// All of them.
    pub total: MistakeRow,
}

impl MistakesDocument {
    /// Of these runs.
    pub fn of(runs: Vec<MistakeResult>, release: String, kernel: Option<String>) -> MistakesDocument {
        let mut total = MistakeRow { name: "all".to_owned(), ..MistakeRow::default() };
        runs.iter().for_each(|run| total.add(run));
        MistakesDocument {
            schema: MISTAKES_SCHEMA.to_owned(),
            release,
            kernel,
            by_group: rows(&runs, |run| group_of(&run.code).unwrap_or("none")),
            by_language: rows(&runs, |run| &run.language),
            total,
            runs,
        }
    }

    /// As JSON.
    pub fn json(&self) -> Value {
        serde_json::to_value(self).expect("plain data with string keys")
    }
}

impl MistakeRow {
    fn add(&mut self, run: &MistakeResult) {
        let judgement = &run.judgement;
        let accused = u64::from(!judgement.false_findings.is_empty());
        match (judgement.end, run.clean) {
            (MistakeEnd::NotProvoked, _) => self.not_provoked += 1,
            (MistakeEnd::NoRun, _) => self.no_run += 1,
            (_, true) => {
                self.clean += 1;
                self.clean_accused += accused;
            }
            (_, false) => {
                self.faulty += 1;
                self.found += u64::from(judgement.found);
                self.with_line += u64::from(judgement.line_right.is_some());
                self.line_right += u64::from(judgement.line_right == Some(true));
                self.faulty_accused += accused;
            }
        }
    }
}

fn rows<'a>(runs: &'a [MistakeResult], name: impl Fn(&'a MistakeResult) -> &'a str) -> Vec<MistakeRow> {
    let mut rows: BTreeMap<&str, MistakeRow> = BTreeMap::new();
    for run in runs {
        let name = name(run);
        rows.entry(name)
            .or_insert_with(|| MistakeRow { name: name.to_owned(), ..MistakeRow::default() })
            .add(run);
    }
    rows.into_values().collect()
}

/// The JSON Schema of these documents.
pub fn schema() -> Value {
    // Of what is written: there an absent value is `null`, never an absent key.
    schemars::generate::SchemaSettings::draft2020_12()
        .for_serialize()
        .into_generator()
        .into_root_schema_for::<MistakesDocument>()
        .to_value()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result(code: &str, clean: bool, end: MistakeEnd, line_right: Option<bool>) -> MistakeResult {
        let accused = end == MistakeEnd::FalseFinding;
        MistakeResult {
            case: "a.c".to_owned(),
            language: "C".to_owned(),
            flags: "-O2".to_owned(),
            code: code.to_owned(),
            clean,
            judgement: MistakeJudgement {
                end,
                found: !clean && matches!(end, MistakeEnd::Right | MistakeEnd::WrongLine),
                line_right,
                places: Vec::new(),
                false_findings: accused.then(|| "fifo-99".to_owned()).into_iter().collect(),
            },
            note: String::new(),
            seconds: 1.0,
        }
    }

    #[test]
    fn what_was_not_judged_counts_apart() {
        let runs = vec![
            result("file-write", false, MistakeEnd::Right, Some(true)),
            result("file-write", true, MistakeEnd::Right, None),
            result("file-sync", false, MistakeEnd::WrongLine, Some(false)),
            result("file-sync", true, MistakeEnd::FalseFinding, None),
            result("memory-not-locked", false, MistakeEnd::Right, None),
            result("memory-not-locked", true, MistakeEnd::NoRun, None),
            result("fault-heap", false, MistakeEnd::Missed, Some(false)),
            result("fault-heap", true, MistakeEnd::NotProvoked, None),
            result("fault-file", false, MistakeEnd::FalseFinding, Some(false)),
        ];
        let document = MistakesDocument::of(runs, "6.1".to_owned(), None);
        let total = MistakeRow {
            name: "all".to_owned(),
            faulty: 5,
            found: 3,
            with_line: 4,
            line_right: 1,
            faulty_accused: 1,
            clean: 2,
            clean_accused: 1,
            not_provoked: 1,
            no_run: 1,
        };
        assert_eq!(document.total, total);
        let groups: Vec<&str> = document.by_group.iter().map(|row| row.name.as_str()).collect();
        assert_eq!((groups, document.by_language.len()), (vec!["io", "memory"], 1));
        assert_eq!(document.json()["total"]["line_right"], 1);
    }
}
