//! The rows of `checks`.

use super::Rows;
use super::explain::severity;
use crate::batch::Cell;
use whylate_report::check::json::document::{Document, Fix, Status};

impl Rows<'_> {
    pub(crate) fn checks(&mut self, document: &Document) {
        for answer in &document.answers {
            let status = match answer.status {
                Status::Pass => "pass",
                Status::Fail => "fail",
                Status::CannotTell => "cannot-tell",
                Status::NotApplicable => "not-applicable",
            };
            let commands = |fix: &Fix| fix.runtime.clone().or_else(|| fix.boot.clone());
            let fix: Vec<String> = answer.fix.iter().filter_map(commands).collect();
            self.push(
                "checks",
                [
                    Cell::from(&answer.code),
                    status.into(),
                    severity(answer.severity).into(),
                    Cell::from(&answer.title),
                    Cell::from(&answer.what),
                    Cell::from(&answer.why),
                    fix.join("\n").into(),
                    Cell::from(&document.ask.profile),
                ],
            );
        }
    }
}
