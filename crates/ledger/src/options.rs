//! What to explain: which threads, how many activations of each.

use crate::chains::ChainOptions;
use crate::scope::Scope;
use crate::timeline::activations::Begin;
use crate::timeline::thread::Thread;
use whylate_base::{Ns, Tid, glob};
use whylate_events::{PROBED_BEGIN, PROBED_END, ProbedActivations};

/// What the user asked for.
#[derive(Clone, Debug)]
pub struct Options {
    /// The threads to explain; empty for every real-time thread that is not the kernel's housekeeping.
    pub tasks: Vec<Select>,
    /// A response longer than this is a missed deadline and becomes a finding.
    pub deadline: Option<Ns>,
    /// How many of each thread's activations to report, worst response first. Findings are made from the ten worst in any case.
    pub worst: usize,
    /// What a verdict answers for.
    pub judge: Judge,
    /// The part of the trace whose activations are reported: those that were in progress in its time, and that ran on its
    /// CPUs (or waited for them, where they never ran). Everything before is taken in all the same, for what was so before.
    pub scope: Scope,
    /// What is asked about chains of threads; `None` for nothing.
    pub chains: Option<ChainOptions>,
    /// Ledgers keep every segment where it was, however many there are: for those that need the instants. Otherwise neighbours
    /// of very long ledgers are summed up.
    pub every_segment: bool,
    /// What begins and ends activations, in place of wake-ups and sleeps; `None` for what probes show of a program where the
    /// recording has them, else for these.
    pub markers: Option<Markers>,
}

/// Lines that a program writes to `trace_marker`, at the beginning and at the end of each of its activations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Markers {
    /// How a line begins that begins an activation of its thread.
    pub begin: String,
    /// The same of its end; `None`: the next beginning ends it.
    pub end: Option<String>,
}

impl Markers {
    /// Where probes of a program show them.
    pub fn of_probes(probed: ProbedActivations) -> Markers {
        let end = (probed == ProbedActivations::BeginAndEnd).then(|| PROBED_END.to_owned());
        Markers { begin: PROBED_BEGIN.to_owned(), end }
    }

    /// True of a line that begins an activation.
    pub(crate) fn begins(&self, line: &str) -> bool {
        line.starts_with(&self.begin) && !self.ends(line)
    }

    /// True of a line that ends one, where another line begins the next. Of a line that both texts fit, the longer one counts.
    pub(crate) fn ends(&self, line: &str) -> bool {
        let begins = line.starts_with(&self.begin);
        let fits = |end: &&String| line.starts_with(*end) && !(begins && end.len() <= self.begin.len());
        self.end.as_ref().is_some_and(|end| fits(&end))
    }
}

/// The time that a verdict explains.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Judge {
    /// Due to done: why the work was finished late.
    #[default]
    Response,
    /// Due to running: why the thread woke late, whatever it did then.
    Latency,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            tasks: Vec::new(),
            deadline: None,
            worst: 10,
            judge: Judge::default(),
            scope: Scope::default(),
            chains: None,
            every_segment: false,
            markers: None,
        }
    }
}

/// A choice of threads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Select {
    /// By id.
    Tid(Tid),
    /// By name, exactly, or by what the kernel left of it after 15 characters.
    Comm(String),
    /// By name, in which `*` stands for any characters.
    Pattern(String),
}

impl Select {
    /// A number selects by id, anything else by name.
    pub fn parse(text: &str) -> Select {
        match text.parse() {
            Ok(tid) => Select::Tid(Tid(tid)),
            Err(_) => Select::Comm(text.to_owned()),
        }
    }

    /// True for a thread of that id and name.
    pub fn is(&self, tid: Tid, comm: &str) -> bool {
        match self {
            Select::Tid(selected) => *selected == tid,
            Select::Pattern(pattern) => glob(pattern, comm),
            Select::Comm(name) => comm == name || (comm.len() == 15 && name.starts_with(comm)),
        }
    }
}

impl Options {
    /// True when `thread` is to be explained, by what is known of it so far.
    pub(crate) fn selects(&self, thread: &Thread) -> bool {
        if self.markers.is_some() && !thread.is_marked {
            return false;
        }
        if self.tasks.is_empty() && self.markers.is_some() {
            true
        } else if self.tasks.is_empty() {
            (thread.ever_realtime || thread.pinned_while_fair() || thread.refused.is_some())
                && !thread.is_housekeeping()
        } else {
            thread.is_selected(|comm| self.tasks.iter().any(|select| select.is(thread.tid, comm)))
        }
    }
}

impl Options {
    /// True of an activation that began so, where only those between markers count.
    pub(crate) fn counts(&self, begin: Begin) -> bool {
        self.markers.is_none() || begin == Begin::Marked
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_line_that_both_texts_fit_the_longer_one_counts() {
        let of =
            |begin: &str, end: Option<&str>| Markers { begin: begin.into(), end: end.map(str::to_owned) };
        for (markers, line, expected) in [
            (of("cycle", Some("cycle end")), "cycle 7", (true, false)),
            (of("cycle", Some("cycle end")), "cycle end 7", (false, true)),
            (of("cycle begin", Some("cycle")), "cycle begin 7", (true, false)),
            (of("cycle begin", Some("cycle")), "cycle over", (false, true)),
            (of("cycle", None), "cycle 7", (true, false)),
            (of("cycle", Some("done")), "other", (false, false)),
        ] {
            assert_eq!((markers.begins(line), markers.ends(line)), expected, "{markers:?} {line}");
        }
    }

    #[test]
    fn a_number_is_an_id_and_a_word_is_a_name() {
        assert_eq!(Select::parse("4711"), Select::Tid(Tid(4711)));
        assert_eq!(Select::parse("ptp4l"), Select::Comm("ptp4l".into()));
    }
}
