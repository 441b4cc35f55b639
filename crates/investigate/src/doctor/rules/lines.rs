//! Calls by thread and line: one line of a program is one finding, and what the findings of a rule share.

use crate::doctor::facts::{Call, Observation, ThreadFacts};
use crate::doctor::finding::DoctorFinding;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use whylate_base::{Ns, Severity, SourceLocation, Tid};
use whylate_events::{StackId, StackSample};

/// What a thread did at one line.
pub(super) struct Line<'a, T> {
    pub(super) thread: &'a ThreadFacts,
    pub(super) location: Option<SourceLocation>,
    pub(super) items: Vec<&'a T>,
}

/// Something with a stack and perhaps a duration.
pub(super) trait Placed {
    fn stack(&self) -> Option<StackId>;
    fn duration(&self) -> Option<Ns>;
}

impl Placed for Call {
    fn stack(&self) -> Option<StackId> {
        self.stack
    }

    fn duration(&self) -> Option<Ns> {
        Call::duration(self)
    }
}

impl Placed for StackSample {
    fn stack(&self) -> Option<StackId> {
        Some(self.stack)
    }

    fn duration(&self) -> Option<Ns> {
        None
    }
}

/// Groups by thread and line, the most frequent line of a thread first. What has no stack is counted at that line.
pub(super) fn by_line<'a, T: Placed>(
    observation: &'a Observation,
    items: impl Iterator<Item = (&'a ThreadFacts, &'a T)>,
) -> Vec<Line<'a, T>> {
    let mut threads: BTreeMap<Tid, BTreeMap<String, Line<'a, T>>> = BTreeMap::new();
    for (thread, item) in items {
        let location = observation.location(item.stack());
        let key = location.as_ref().map(ToString::to_string).unwrap_or_default();
        let lines = threads.entry(thread.tid).or_default();
        lines.entry(key).or_insert_with(|| Line { thread, location, items: Vec::new() }).items.push(item);
    }
    let mut all = Vec::new();
    for mut lines in threads.into_values() {
        let unplaced = lines.remove("");
        let mut lines: Vec<Line<'a, T>> = lines.into_values().collect();
        lines.sort_by_key(|line| Reverse(line.items.len()));
        match (lines.first_mut(), unplaced) {
            (Some(first), Some(unplaced)) => first.items.extend(unplaced.items),
            (None, unplaced) => lines.extend(unplaced),
            (Some(_), None) => {}
        }
        all.extend(lines);
    }
    all
}

impl<T: Placed> Line<'_, T> {
    /// A finding of this thread at this line.
    pub(super) fn finding(&self, code: &'static str, severity: Severity, title: String) -> DoctorFinding {
        let worst = self.items.iter().filter_map(|item| item.duration()).max();
        DoctorFinding::new(code, severity, title)
            .of(self.thread)
            .at(self.location.clone())
            .times(self.items.len(), worst)
    }

    /// `name:tid`, for a title.
    pub(super) fn name(&self) -> String {
        self.thread.name()
    }
}

/// What a rule reports of every line that shows its mistake.
pub(super) struct Mistake {
    pub(super) code: &'static str,
    pub(super) severity: Severity,
    /// What the thread does, as its title has it behind the thread's name: `opens files in its loop`.
    pub(super) does: &'static str,
    pub(super) why: &'static str,
    pub(super) fix: &'static [&'static str],
}

impl Mistake {
    /// A finding for each line from which a thread makes such calls in the real-time path.
    pub(super) fn of_path_calls(
        &self,
        observation: &Observation,
        is_one: impl Fn(&Observation, &Call) -> bool,
    ) -> Vec<DoctorFinding> {
        let calls = observation.path_calls().filter(|(_, call)| is_one(observation, call));
        by_line(observation, calls).iter().map(|line| self.at(line)).collect()
    }

    /// The finding of a line.
    pub(super) fn at<T: Placed>(&self, line: &Line<'_, T>) -> DoctorFinding {
        let title = format!("{} {}: {}", line.name(), self.does, times(line.items.len()));
        line.finding(self.code, self.severity, title).because(self.why).fix(self.fix)
    }
}

/// `once`, `3 times`.
pub(super) fn times(count: usize) -> String {
    match count {
        1 => "once".to_owned(),
        count => format!("{count} times"),
    }
}
