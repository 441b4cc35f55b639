//! Lines that a text has more than once: a console that prints each line twice, and a mail that quotes what is attached below it.
//!
//! Two lines are the same one where both have the same stamp of the kernel and the same words. A mail program may have broken
//! either of them, so that one has only the beginning of the other's words.

use super::stamps;
use std::collections::BTreeMap;

/// So many messages are remembered.
const MOST: usize = 65_536;
/// So many lines without a stamp may be the rest of the one above them.
const MOST_RESTS: usize = 4;
/// Fewer signs are not enough to be the beginning of the same words.
const FEWEST_SIGNS: usize = 20;

/// A console that prints each line twice does so from the beginning, and not first behind so many lines that came once.
const MANY_SINGLE: u32 = 4;

/// What a log had before.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Repeats {
    /// The last line with a stamp: the stamp and its words.
    last: Option<(String, String)>,
    /// The lines without one below it.
    rests: Vec<String>,
    /// The lines of these that have come again, while the last line does.
    again: Option<usize>,
    /// So many lines with stamps came.
    single: u32,
    /// Some of them came again at once.
    has_repeated: bool,
    /// The last line is the same as the one above it, and of another CPU that printed it at the same time.
    is_of_other_cpu: bool,
    /// The words of the messages with each stamp, and the lines of the messages to which they were counted.
    messages: BTreeMap<String, Vec<(String, u64)>>,
    kept: usize,
}

impl Repeats {
    /// Takes in a line; true of one that repeats the line above it, as a console does that prints each line twice.
    pub(super) fn line(&mut self, line: &str) -> bool {
        let message = stamps::message(line);
        if let Some(stamp) = stamps::stamp(line) {
            let is_last = self.last.as_ref().is_some_and(|(last, words)| last == stamp && words == message);
            self.is_of_other_cpu = is_last && !self.has_repeated && self.single > MANY_SINGLE;
            // Another such line shows that it is the console after all.
            self.has_repeated |= is_last;
            self.single = self.single.saturating_add(1);
            // What comes a third time is the kernel's own.
            let is_again = is_last && self.again.is_none() && !self.is_of_other_cpu;
            self.again = is_again.then_some(0);
            if !is_again {
                self.last = Some((stamp.to_owned(), message.to_owned()));
                self.rests.clear();
            }
            return is_again && !message.is_empty();
        }
        match self.again {
            Some(at) if self.rests.get(at).is_some_and(|rest| rest == message) => {
                self.again = Some(at + 1);
                return !message.is_empty();
            }
            Some(_) => {
                self.again = None;
                self.last = None;
            }
            None if self.rests.len() < MOST_RESTS => self.rests.push(message.to_owned()),
            None => self.last = None,
        }
        false
    }

    /// The line of the message to which one with the same stamp and words was counted.
    pub(super) fn counted_to(&self, stamp: &str, message: &str) -> Option<u64> {
        let is_same = |words: &str| {
            let (short, long) = if words.len() < message.len() { (words, message) } else { (message, words) };
            short == long || short.len() >= FEWEST_SIGNS && long.starts_with(short)
        };
        if self.is_of_other_cpu {
            return None;
        }
        let with_stamp = self.messages.get(stamp)?;
        with_stamp.iter().find(|(words, _)| is_same(words.trim_end())).map(|&(_, line)| line)
    }

    /// Takes in that a message was counted to the one of this line.
    pub(super) fn counted(&mut self, stamp: &str, message: &str, line: u64) {
        if self.kept < MOST {
            self.kept += 1;
            self.messages.entry(stamp.to_owned()).or_default().push((message.trim().to_owned(), line));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Repeats;

    /// Of each line whether it repeats the one above it.
    fn read(text: &str) -> Vec<bool> {
        let mut repeats = Repeats::default();
        text.lines().map(|line| repeats.line(line)).collect()
    }

    #[test]
    fn a_console_may_print_each_line_twice() {
        let twice = "[ 9.100000] a\n[ 9.100000] a\n[ 9.100000] b of\nthe\n[ 9.100000] b of\nthe\n[ 9.200000] a\nother\n";
        assert_eq!(read(twice), [false, true, false, false, true, true, false, false]);
        // The console's line and that of `dmesg`.
        assert_eq!(read("[    9.100000][   C1] a\n> [    9.100000] a\n"), [false, true]);
        let others = "[ 9.100000] a\n[ 9.100001] a\n[ 9.1] b\n[ 9.1] b\nc\nc\n";
        assert_eq!(read(others), [false; 6]);
        assert_eq!(read("[ 9.100000] a\nb\n[ 9.100000] a\nc\nb\n"), [false, false, true, false, false]);
    }

    #[test]
    fn two_cpus_may_print_the_same_at_one_time() {
        let single: String = (0..5).map(|at| format!("[ 8.10000{at}] a\n")).collect();
        let twice = "[ 9.100000] b\n[ 9.100000] b\n";
        assert_eq!(read(&format!("{single}{twice}")), [false; 7]);
        let again = read(&format!("{single}{twice}[ 9.200000] c\n[ 9.200000] c\n"));
        assert_eq!(again, [[false; 8].as_slice(), &[true]].concat(), "a console that begins late");
    }

    #[test]
    fn a_message_may_be_quoted_again_far_below() {
        let mut repeats = Repeats::default();
        let whole = "BUG: sleeping function called from invalid context at a.h:2";
        repeats.counted("9.100000", whole, 3);
        assert_eq!(repeats.counted_to("9.100000", whole), Some(3));
        assert_eq!(repeats.counted_to("9.100000", "BUG: sleeping function called"), Some(3));
        assert_eq!(repeats.counted_to("9.100000", "BUG: "), None);
        assert_eq!(repeats.counted_to("9.100001", whole), None);
    }
}
