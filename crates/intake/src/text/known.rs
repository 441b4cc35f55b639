//! Outputs that are known by words of a line, and what to give instead of them.

/// Words of a line, all of which it has; what they show the text to be; and what to give instead.
pub(super) type Row = (&'static [&'static str], &'static str, &'static str);

/// What the first row that fits the line shows.
pub(super) fn by_words(rows: &[Row], line: &str) -> Option<(&'static str, &'static str)> {
    rows.iter().find(|(words, ..)| has_all(line, words)).map(|&(_, what, advice)| (what, advice))
}

/// Whether the line has each of the words.
pub(super) fn has_all(line: &str, words: &[&str]) -> bool {
    words.iter().all(|word| line.contains(word))
}

pub(super) const RECORD: &str = "record the scheduler while it runs: `whylate record`";
pub(super) const INTERRUPT_EVENTS: &str = "record the interrupts: `whylate record`";
pub(super) const MEASURE: &str =
    "to measure how late threads start run `whylate measure`; to see why, `whylate record`";
pub(super) const EVENTS: &str = "give the trace itself (trace.dat, perf.data), or its events as text";
