//! Prose between the rows of an excerpt: what stands between two rows that an author took from different places.
//!
//! ```text
//! cat-5016  [002] d..2.  100.000100: sched_wakeup: ...
//!                                                             blank, or a fence of code
//! A bit later, on the other CPU:                              a sentence
//!
//! bash-1037 [000] d..2.  100.250000: sched_switch: ...
//! ```
//!
//! What a kernel or a program writes between the rows of a recording is no prose: messages on a serial console, the rest of
//! what a program wrote to the trace. A sentence counts beside a blank line or a fence; without these, only one of which the words
//! show that a person wrote it. Between the end of one fence and the beginning of the next any word is the author's, and a mark of
//! lines that were left out stands for itself.

use crate::pasted;

/// A sentence has so many words at least.
const FEWEST_WORDS: usize = 4;
/// So many signs of a script that is written without blanks between words are a sentence.
const FEWEST_SIGNS: usize = 6;
/// Words that hold an English sentence together: few messages of a program have two of them.
const BETWEEN_WORDS: [&str; 36] = [
    "a", "after", "and", "another", "are", "as", "at", "before", "but", "here", "i", "in", "is", "it",
    "later", "of", "on", "other", "see", "shows", "so", "that", "the", "then", "there", "this", "to", "was",
    "we", "when", "where", "which", "while", "with", "you", "now",
];

/// What stands between two rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Remarks {
    fences: u8,
    has_words: bool,
    has_mark: bool,
    has_space: bool,
    has_sentence: bool,
    has_plain_sentence: bool,
}

impl Remarks {
    /// A blank line.
    pub(super) fn blank(&mut self) {
        self.has_space = true;
    }

    /// A line that is none of a trace.
    pub(super) fn line(&mut self, text: &str) {
        let is_fence = is_fence(text);
        self.fences = self.fences.saturating_add(u8::from(is_fence));
        self.has_words |= !is_fence && text.contains(char::is_alphabetic);
        self.has_mark |= pasted::leaves_out(text);
        self.has_space |= is_fence || is_heading(text);
        self.has_sentence |= is_sentence(text.trim_start_matches('#'));
        self.has_plain_sentence |= is_plain_sentence(text);
    }

    /// True where words stand apart from the rows, or an author wrote them.
    pub(super) fn are_apart(self) -> bool {
        self.has_words && self.has_space || self.is_by_author()
    }

    /// True where an author wrote something between two rows, or left lines out there.
    pub(super) fn is_by_author(self) -> bool {
        let is_between_fences = self.fences > 1 && self.has_words;
        self.has_mark || is_between_fences || self.has_plain_sentence || self.has_space && self.has_sentence
    }
}

/// A heading of Markdown from the second level on: a single `#` begins a tracer's comment, too.
pub(super) fn is_heading(text: &str) -> bool {
    let title = text.trim_start_matches('#');
    (2..=6).contains(&(text.len() - title.len()))
        && title.starts_with(' ')
        && !title.ends_with('#')
        && title.contains(char::is_alphabetic)
}

fn is_fence(text: &str) -> bool {
    ["```", "~~~"].iter().any(|fence| text.starts_with(fence))
}

/// Several words without what rows, commands and messages have: values, paths, addresses, a subsystem with a colon.
fn is_sentence(text: &str) -> bool {
    let begins_as_a_message = || text.split_ascii_whitespace().take(2).any(|word| word.ends_with(':'));
    let signs = text.chars().filter(|sign| is_without_blanks(*sign)).count();
    signs >= FEWEST_SIGNS || is_of_words(text, FEWEST_WORDS) && !begins_as_a_message()
}

/// A sentence of which no program wrote the words.
pub(super) fn is_plain_sentence(text: &str) -> bool {
    let word = |word: &str| word.trim_matches(|sign: char| !sign.is_alphanumeric()).to_lowercase();
    let between = || text.split_ascii_whitespace().filter(|one| BETWEEN_WORDS.contains(&word(one).as_str()));
    is_sentence(text)
        && (text.chars().any(is_without_blanks) || is_of_words(text, 5) && between().nth(1).is_some())
}

/// True of a text with so many words of letters, most of all that it has.
fn is_of_words(text: &str, fewest: usize) -> bool {
    let (all, of_letters) = text
        .split_ascii_whitespace()
        .fold((0, 0), |(all, of_letters), word| (all + 1, of_letters + usize::from(is_word(word))));
    of_letters >= fewest && of_letters * 4 >= all * 3
}

/// `later,`, `doesn't`, `(here)`
fn is_word(word: &str) -> bool {
    let bare = word.trim_matches(|sign: char| ".,;:!?()\"'`*…".contains(sign));
    !bare.is_empty()
        && bare.chars().all(|sign| sign.is_alphabetic() || sign == '\'' || sign == '’' || sign == '-')
}

/// Of Chinese, Japanese or Thai.
fn is_without_blanks(sign: char) -> bool {
    matches!(sign, '\u{e00}'..='\u{e7f}' | '\u{3041}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_by_author(lines: &[&str]) -> bool {
        let mut remarks = Remarks::default();
        for line in lines {
            match *line {
                "" => remarks.blank(),
                line => remarks.line(line),
            }
        }
        remarks.is_by_author()
    }

    #[test]
    fn what_people_write_between_rows_is_prose() {
        for lines in [
            &["a little later, on the other CPU"][..],
            &["", "Dann kommt die zweite CPU:"],
            &["```", "Second example from another boot:", "```"],
            &["", "The driver's thread goes to sleep, and wakes up again:", ""],
            &["## Preempted by a kernel thread"],
            &["另一个处理器上的线程后来被抢占了"],
            &["", "## 用户态 -> 内核态抢占"],
            &["~~~", "and the one with the fix applied", ""],
            &["```", "Потом:", "```c"],
            &["```", "", "Later:", "", "```"],
            &["<snip>"],
            &["... 20 ms later"],
        ] {
            assert!(is_by_author(lines), "{lines:?}");
        }
    }

    #[test]
    fn what_programs_write_between_rows_is_none() {
        for line in [
            "usb 1-1: new high-speed USB device number 2 using xhci_hcd",
            "EXT4-fs (mmcblk0p2): mounted filesystem with ordered data mode",
            "systemd[1]: Started the session of a user on the machine",
            "random: crng init done",
            "Mem-Info:",
            "CPU 3 is empty",
            "CPU:1 [LOST 12 EVENTS]",
            "cpus=4",
            "version = 6",
            "=> do_syscall_64",
            "    7f3a2c1b4d10 clock_nanosleep+0x50 (/usr/lib/libc.so.6)",
            "next_comm=app next_pid=7 next_prio=19",
            "state = 1, cycle = 12, error = 0",
            "Hello, World!",
            "irq event stamp: 1234",
            "Call Trace:",
            "TIME EXTEND: delta:306454770 length:0",
            "------------------------------------------",
            "##### CPU 2 buffer started ####",
            "# entries-in-buffer/entries-written: 32/32   #P:4",
            "<...>-12",
            "```",
            "$ trace-cmd report | grep app",
        ] {
            assert!(!is_by_author(&[line]) && !is_by_author(&["", line, ""]), "{line}");
        }
        // With a blank line beside them these may be an author's.
        for line in
            ["Started session of user root", "worker took lock again", "Brought up all secondary processors"]
        {
            assert!(!is_by_author(&[line]), "{line}");
        }
        assert!(!is_by_author(&["", ""]) && !is_by_author(&["```", "```", ""]));
    }
}
