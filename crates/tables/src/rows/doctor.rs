//! The rows of doctor's findings.

use super::Rows;
use super::explain::{place, severity};
use crate::batch::Cell;
use whylate_report::doctor::json::document::Document;

impl Rows<'_> {
    pub(crate) fn doctor(&mut self, document: &Document) {
        for finding in &document.findings {
            self.push(
                "findings",
                [
                    Cell::from(&finding.code),
                    severity(finding.severity).into(),
                    Cell::from(&finding.title),
                    Cell::from(&finding.why),
                    finding.fix.join("\n").into(),
                    finding.thread.as_ref().map(|thread| thread.tid).into(),
                    finding.thread.as_ref().map(|thread| &thread.comm).into(),
                    finding.location.as_ref().map(place).into(),
                    finding.count.into(),
                    finding.worst_ns.into(),
                ],
            );
        }
    }
}
