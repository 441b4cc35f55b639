//! The document of `whylate doctor --json`, as far as the judge needs it: `doctor/1`.

use serde::Deserialize;

/// What doctor found.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Answer {
    /// In its own order.
    pub findings: Vec<AnsweredFinding>,
}

/// One finding.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct AnsweredFinding {
    /// What kind of mistake.
    pub code: String,
    /// `info`, `warning` or `error`.
    pub severity: String,
    /// In one line.
    #[serde(default)]
    pub title: String,
    /// The thread; none for what is true of the process.
    #[serde(default)]
    pub thread: Option<AnsweredThread>,
    /// The place in the program.
    #[serde(default, rename = "where")]
    pub place: Option<AnsweredWhere>,
}

/// A thread of the program.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct AnsweredThread {
    /// Its name.
    #[serde(default)]
    pub comm: Option<String>,
}

/// A place in the program; what is not known is absent.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct AnsweredWhere {
    /// The function.
    #[serde(default)]
    pub function: Option<String>,
    /// The source, with or without its directory.
    #[serde(default)]
    pub file: Option<String>,
    /// Counted from 1.
    #[serde(default)]
    pub line: Option<u32>,
    /// The program or library.
    #[serde(default)]
    pub module: Option<String>,
    /// In the module's file.
    #[serde(default)]
    pub offset: Option<u64>,
}

impl AnsweredFinding {
    /// True from a warning on: what a check in CI would refuse. A severity that is not known counts.
    pub fn accuses(&self) -> bool {
        self.severity != "info"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_may_leave_out_or_add_members() {
        let text = r#"{"schema":"doctor/1","threads":[],"findings":[
            {"code":"file-write","severity":"warning","title":"t","thread":{"tid":7,"comm":"control"},
             "where":{"function":"f","file":"/x/a.c","line":7,"module":null,"offset":null},"count":3,"new":1},
            {"code":"memory-not-locked","severity":"info","thread":null,"where":null}]}"#;
        let answer: Answer = serde_json::from_str(text).expect("a document");
        let [first, second] = answer.findings.as_slice() else { panic!("two findings") };
        assert!(first.accuses() && !second.accuses());
        assert_eq!(first.place.as_ref().and_then(|place| place.line), Some(7));
        assert!(second.place.is_none());
        assert!(serde_json::from_str::<Answer>(r#"{"schema":"doctor/1"}"#).is_err());
    }
}
