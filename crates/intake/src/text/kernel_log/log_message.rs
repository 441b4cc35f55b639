//! A message of the kernel in a log, with what follows it.

use super::consequences::Occurrence;
use super::details::Details;
use super::meanings;
use super::stacks::LoggedStacks;
use super::stamps;

/// What belongs to a message follows within so many lines of the last that did.
pub(super) const NEAR: u64 = 60;
/// So many machines are named.
const MOST_HOSTS: usize = 8;

/// A message in a log, with what follows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LogMessage {
    /// The number of its line.
    pub(super) line: u64,
    /// The last line that belongs to it.
    pub(super) last: u64,
    /// What it means.
    pub(super) meaning: &'static str,
    /// Its words.
    pub(super) words: String,
    /// A person quotes it in a sentence.
    pub(super) is_quoted: bool,
    /// It has the kernel's stamp.
    pub(super) has_stamp: bool,
    /// The seconds in that of the last one that was counted to it.
    pub(super) seconds: Option<u64>,
    /// It has what stands before messages of the kernel, and not before prose.
    pub(super) is_marked: bool,
    /// What these show of CPUs, threads and times.
    pub(super) details: Details,
    /// The call stacks below it.
    pub(super) stacks: LoggedStacks,
    /// How many messages of this kind there are, at the first of them.
    pub(super) count: u64,
    /// The machines whose loggers wrote them.
    pub(super) hosts: Vec<String>,
    /// What it meant before others were added to it.
    pub(super) meaning_alone: Option<String>,
}

impl LogMessage {
    pub(super) fn new(number: u64, line: &str, meaning: &'static str) -> LogMessage {
        let message = stamps::message(line);
        LogMessage {
            line: number,
            last: number,
            meaning,
            words: stamps::words(message),
            is_quoted: meanings::is_quoted(message),
            has_stamp: stamps::seconds(line).is_some(),
            seconds: stamps::seconds(line),
            is_marked: stamps::is_marked(line),
            details: Details::of(meaning),
            stacks: LoggedStacks::default(),
            count: 1,
            hosts: stamps::host(line).into_iter().map(str::to_owned).collect(),
            meaning_alone: None,
        }
    }

    /// Takes in the machine whose logger wrote another message that is counted to it.
    pub(super) fn of_host(&mut self, line: &str) {
        if let Some(host) = stamps::host(line)
            && self.hosts.len() < MOST_HOSTS
            && !self.hosts.iter().any(|other| other == host)
        {
            self.hosts.push(host.to_owned());
        }
    }

    /// True of one that may be prose: it has nothing of the kernel's own before it, and shows no CPU, thread or duration. The first line
    /// of a report of RCU shows none either.
    pub(super) fn is_vague(&self) -> bool {
        let is_report = self.details.is_one_report() && self.words.contains("INFO: ");
        let has_stack = self.stacks.first().is_some();
        !self.is_marked && !is_report && !has_stack && self.details.meaning(&self.stacks).is_none()
    }

    /// What it means, by its details where they show more than its kind.
    pub(super) fn meaning(&self) -> String {
        self.details.meaning(&self.stacks).unwrap_or_else(|| self.meaning.to_owned())
    }

    /// What other messages may follow from.
    pub(super) fn occurrence(&self) -> Occurrence<'_> {
        let LogMessage { line, meaning, details, stacks, .. } = self;
        Occurrence {
            waits_for_answer: details.waits_for_answer(stacks),
            silent_cpu: details.silent_cpu(),
            line: *line,
            meaning,
            thread: details.thread(stacks),
            cpus: details.cpus(),
            behind_storage: details.behind_storage(stacks),
        }
    }

    /// True where a line below it was printed before it: that is of another boot, or quoted. CPUs print their lines not quite in order.
    pub(super) fn is_later_than(&self, seconds: Option<u64>) -> bool {
        self.seconds.zip(seconds).is_some_and(|(own, line)| line.saturating_add(1) < own)
    }

    /// True of a line that may belong to it.
    pub(super) fn is_near(&self, number: u64) -> bool {
        number.saturating_sub(self.last) <= NEAR
    }
}
