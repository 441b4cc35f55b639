//! The rows of a watch: late activations with their ledgers, the watched threads, and the groups of what was late.

use super::Rows;
use super::explain::{class, verdict_cells};
use crate::batch::Cell;
use std::io;
use whylate_base::Ns;
use whylate_report::watch::json;
use whylate_report::watch::json::document::{Group, Line, Summary};
use whylate_stats::Histogram;

impl Rows<'_> {
    /// The late activations of all lines, and the last summary.
    pub(crate) fn watch(&mut self, lines: &[Line]) -> io::Result<()> {
        lines.iter().try_for_each(|line| self.late(line))?;
        if let Some(line) = lines.iter().rfind(|line| line.summary.is_some())
            && let Some(summary) = &line.summary
        {
            self.watched(line, summary);
        }
        self.relieve()
    }

    fn late(&mut self, line: &Line) -> io::Result<()> {
        let (Some(thread), Some(due), Some(response)) = (&line.thread, line.due_ns, line.response_ns) else {
            return Ok(());
        };
        self.count(line.verdict.as_ref(), response);
        self.push_activation(
            [
                thread.tid.into(),
                Cell::from(&thread.comm),
                thread.rank.class.map(class).into(),
                thread.rank.priority.into(),
                Cell::Null,
                Cell::Null,
                due.into(),
                Cell::Null,
                line.latency_ns.map(|latency| due.saturating_add(latency)).into(),
                Cell::Null,
                line.latency_ns.into(),
                response.into(),
                Cell::Null,
                Cell::Null,
            ],
            verdict_cells(line.verdict.as_ref()),
        );
        line.ledger.iter().for_each(|entry| self.segment(thread.tid, &thread.comm, due, entry));
        self.relieve()
    }

    fn watched(&mut self, line: &Line, summary: &Summary) {
        let Some(report) = json::of_summary(line) else { return };
        for thread in &report.threads {
            let of = |histogram: &Histogram| {
                [histogram.median(), histogram.tail(0.99), histogram.max()]
                    .map(|value: Option<Ns>| Cell::from(value.map(|value| value.0)))
            };
            // A watch sums up all threads of a name, which need not have one id, policy or priority.
            let who = [Cell::Null, Cell::from(&thread.name), Cell::Null, Cell::Null];
            self.thread(who, thread.activations.into(), of(&thread.latency), of(&thread.response));
        }
        summary.groups.iter().for_each(|group| self.late_group(group));
    }

    fn late_group(&mut self, group: &Group) {
        self.push(
            "late_groups",
            [
                Cell::from(&group.thread),
                Cell::from(&group.cause),
                group.culprit.as_ref().into(),
                group.count.into(),
                group.worst_ns.into(),
                group.first_ns.into(),
                group.last_ns.into(),
                group.period_ns.into(),
                group.strength.into(),
            ],
        );
    }
}
