//! A log in sentences.

use super::{KernelLog, LogMessage, consequences, jiffies, stamps};
use std::fmt;

/// So many reports of one kind are described beside the first.
pub(super) const MOST_DESCRIBED: usize = 3;

/// `Its line 2 ("...") means that .... Line 5 ("...") means that ...`
impl fmt::Display for KernelLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hz = self.hz();
        for (at, message) in self.kinds().enumerate() {
            f.write_str(if at == 0 { "Its line " } else { ". Line " })?;
            message.write(f, hz)?;
            self.further_reports(f, message, hz)?;
            let others = self.messages.iter().map(LogMessage::occurrence);
            if let Some(reason) = consequences::of(message.occurrence(), others) {
                write!(f, "; {reason}")?;
            }
        }
        if let Some(stack) = self.stack_above() {
            write!(
                f,
                "; an earlier report, of which the text has only the end, may be of the same: {stack}"
            )?;
        }
        match self.heartbeat_ms.filter(|&ms| ms < 1_000) {
            Some(ms) => write!(
                f,
                "; the report itself has a sign of life {ms} ms before it, so it may be a false alarm"
            ),
            None => Ok(()),
        }
    }
}

impl KernelLog {
    /// What a text with these messages is.
    pub(crate) fn what(&self) -> &'static str {
        match self.messages.iter().all(|message| message.is_quoted) {
            true => "a text that mentions messages of the kernel",
            false => "a log of the kernel",
        }
    }

    /// How many jiffies a second has, by two reports of one occurrence or by a line of the boot.
    fn hz(&self) -> Option<u64> {
        let later = |(at, one): (usize, &LogMessage)| {
            self.messages.iter().skip(at + 1).rev().find_map(|later| one.details.hz(&later.details))
        };
        self.messages.iter().enumerate().find_map(later).or(self.hz_of_boot)
    }

    /// `; line 9 reports the same stall after 52509 jiffies. Line 30 means that ...`: the reports below the first of a kind.
    fn further_reports(
        &self,
        f: &mut fmt::Formatter<'_>,
        first: &LogMessage,
        hz: Option<u64>,
    ) -> fmt::Result {
        let reports: Vec<&LogMessage> =
            self.messages.iter().filter(|other| other.meaning == first.meaning).collect();
        let is_again = |at: usize, report: &LogMessage| {
            reports.iter().take(at).any(|earlier| earlier.details.goes_on_in(&report.details))
        };
        let occurrences: Vec<(usize, &LogMessage)> =
            reports.iter().copied().enumerate().filter(|(at, report)| !is_again(*at, report)).collect();
        let groups = self.groups(&reports, &occurrences, hz);
        for (at, group) in groups.iter().take(1 + MOST_DESCRIBED).enumerate() {
            if at > 0 {
                write!(f, ". Line {} means that {}", group.line, group.text)?;
            }
            match group.again.as_slice() {
                [] => {}
                [one] => write!(f, "; line {one} reports the same")?,
                lines => write!(f, "; lines {} report the same", stamps::listed(lines))?,
            }
            if let Some((line, again)) = &group.later {
                write!(f, "; line {line} reports {again}")?;
            }
        }
        let left_out =
            groups.iter().skip(1 + MOST_DESCRIBED).map(|group| 1 + group.again.len()).sum::<usize>();
        let left_out = u64::try_from(left_out).unwrap_or(0);
        let not_kept = first.count.saturating_sub(u64::try_from(reports.len()).unwrap_or(u64::MAX));
        let not_kept = if first.details.is_one_report() { not_kept } else { 0 };
        match left_out.saturating_add(not_kept) {
            0 => Ok(()),
            1 => f.write_str("; 1 more such message is not described here"),
            more => write!(f, "; {more} more such messages are not described here"),
        }
    }

    /// The occurrences, those together that show the same.
    fn groups(
        &self,
        reports: &[&LogMessage],
        occurrences: &[(usize, &LogMessage)],
        hz: Option<u64>,
    ) -> Vec<ReportGroup> {
        let with_seconds = |text: &str| jiffies::with_seconds(text, hz);
        let mut groups: Vec<ReportGroup> = Vec::new();
        for &(at, report) in occurrences {
            let shown = report.details.shown(&report.stacks);
            let all = std::iter::once(report.meaning()).chain(shown).map(|part| with_seconds(&part));
            let text = all.collect::<Vec<_>>().join("; ");
            let mut later = reports.iter().skip(at + 1).rev();
            let later = later.find(|later| report.details.goes_on_in(&later.details));
            let later = later.and_then(|later| Some((later.line, with_seconds(&later.details.again()?))));
            match groups.iter_mut().find(|group| group.text == text && group.later.is_none()) {
                Some(group) if later.is_none() => group.again.push(report.line),
                _ => groups.push(ReportGroup { line: report.line, text, again: Vec::new(), later }),
            }
        }
        groups
    }
}

/// Reports of one kind that show the same.
struct ReportGroup {
    line: u64,
    text: String,
    /// The lines of the others.
    again: Vec<u64>,
    /// A later report of the same occurrence: its line, and what that adds.
    later: Option<(u64, String)>,
}

impl LogMessage {
    /// `2 ("...", the first of 3) means that ...; the stack below it is a, called from b, c`; `and the others mean that`, where the
    /// first alone does not mean all of it.
    fn write(&self, f: &mut fmt::Formatter<'_>, hz: Option<u64>) -> fmt::Result {
        let LogMessage { line, words, details, stacks, count, hosts, .. } = self;
        write!(f, "{line} (\"{words}\"")?;
        if *count > 1 {
            write!(f, ", the first of {count}")?;
        }
        let meaning = self.meaning();
        let is_of_all = self.meaning_alone.as_ref().is_some_and(|alone| *alone != meaning);
        let means = match (is_of_all, *count) {
            _ if self.is_quoted => "mentions a message of the kernel, which means",
            (true, 2) => "and the other mean",
            (true, _) => "and the others mean",
            (false, _) => "means",
        };
        write!(f, ") {means} that {}", jiffies::with_seconds(&meaning, hz))?;
        if hosts.len() > 1 {
            write!(f, "; these messages are of several machines, {}", stamps::listed(hosts))?;
        }
        for shown in details.shown(stacks) {
            write!(f, "; {}", jiffies::with_seconds(&shown, hz))?;
        }
        if self.is_quoted {
            f.write_str("; a person's words mention it, and no line of a log shows it")?;
        }
        if stacks.are_unsure() {
            f.write_str(
                "; the functions of its stack are left out: the kernel is sure of none of them (`?`)",
            )?;
        }
        Ok(())
    }
}
