//! A kernel command line that is changed without losing anything: words are replaced where they are, added behind
//! the last one that is the kernel's, or taken out; everything else keeps its bytes.
//!
//! What the kernel makes of the line: `next_arg()` in lib/cmdline.c (double quotes hold a word together) and
//! `parse_args()` in kernel/params.c (dashes are underscores; what follows a word `--` is for init).

use crate::edit::{Edit, edited};
use std::ops::Range;

/// A kernel parameter as it is to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Its name.
    pub name: String,
    /// What follows `=`; empty: it has no value; `None`: the parameter is not to be there.
    pub value: Option<String>,
}

/// What has to be done to a line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Changes {
    /// In order, none overlaps another.
    pub(crate) edits: Vec<Edit>,
    /// Parameters that are not there, as they are written.
    pub(crate) missing: Vec<String>,
}

/// Parameters of which each occurrence counts, so that another one is added and none is replaced
/// (Documentation/admin-guide/kernel-parameters.txt). Of all others one is left: for most the last one counts, but
/// for isolcpus= and nohz_full= the first (`housekeeping_setup()` in kernel/sched/isolation.c ignores a later one
/// with other CPUs).
const ADDED_UP: [&str; 24] = [
    "acpi",
    "acpi_osi",
    "amd_iommu",
    "console",
    "dyndbg",
    "earlycon",
    "efi",
    "hugepages",
    "hugepagesz",
    "initcall_blacklist",
    "intel_iommu",
    "iommu",
    "ip",
    "mce",
    "memmap",
    "modprobe.blacklist",
    "pci",
    "systemd.mask",
    "systemd.setenv",
    "systemd.wants",
    "trace_event",
    "trace_instance",
    "tsc",
    "video",
];

/// Whether every occurrence of a parameter counts. dracut's (`rd.`) are lists.
pub(crate) fn adds_up(name: &str) -> bool {
    name.starts_with("rd.") || ADDED_UP.iter().any(|own| same_name(own, name))
}

/// Whether two names are of one parameter.
pub(crate) fn same_name(a: &str, b: &str) -> bool {
    let plain = |byte: u8| if byte == b'-' { b'_' } else { byte };
    a.len() == b.len() && a.bytes().zip(b.bytes()).all(|(a, b)| plain(a) == plain(b))
}

impl Parameter {
    /// As it is written on a command line.
    pub(crate) fn written(&self) -> Option<String> {
        let value = self.value.as_deref()?;
        Some(match value {
            "" => self.name.clone(),
            _ if value.contains(|c: char| c.is_ascii_whitespace()) => format!("{}=\"{value}\"", self.name),
            _ => format!("{}={value}", self.name),
        })
    }

    /// Whether it can be written at all: the kernel knows no way to put a double quote into a word.
    pub(crate) fn is_writable(&self) -> bool {
        let plain = |c: char| !c.is_control() && c != '"';
        let name = !self.name.is_empty()
            && !self.name.starts_with('-')
            && self.name.chars().all(|c| plain(c) && c != '=' && !c.is_whitespace());
        name && self.value.iter().all(|value| value.chars().all(plain))
    }
}

/// A word and its value.
pub(crate) struct Word<'a> {
    pub(crate) range: Range<usize>,
    text: &'a str,
}

impl Word<'_> {
    pub(crate) fn name(&self) -> &str {
        let text = self.text.trim_start_matches('"');
        let end = text.find('=').unwrap_or(text.len());
        text[..end].trim_end_matches('"')
    }

    /// What follows `=`, without quotes.
    fn value(&self) -> String {
        self.text.split_once('=').map(|(_, value)| value.replace('"', "")).unwrap_or_default()
    }
}

/// The words of a line, those for init as well.
pub(crate) fn words(line: &str) -> Vec<Word<'_>> {
    let mut words = Vec::new();
    let (mut start, mut quoted) = (None, false);
    for (at, byte) in line.bytes().enumerate() {
        if byte.is_ascii_whitespace() && !quoted {
            if let Some(start) = start.take() {
                words.push(Word { range: start..at, text: &line[start..at] });
            }
            continue;
        }
        start.get_or_insert(at);
        quoted ^= byte == b'"';
    }
    if let Some(start) = start {
        words.push(Word { range: start..line.len(), text: &line[start..] });
    }
    words
}

/// How many of the words are the kernel's.
fn of_kernel(words: &[Word<'_>]) -> usize {
    words.iter().position(|word| word.text == "--").unwrap_or(words.len())
}

/// Where a parameter is put that is not there yet, and whether that is before the words for init.
pub(crate) fn place(line: &str) -> (usize, bool) {
    let words = words(line);
    match words.get(of_kernel(&words)) {
        Some(init) => (init.range.start, true),
        None => (words.last().map_or(0, |word| word.range.end), false),
    }
}

/// What makes a line hold what is wanted.
pub(crate) fn changes(line: &str, wanted: &[Parameter]) -> Changes {
    let words = words(line);
    let own = of_kernel(&words);
    let mut changes = Changes::default();
    // What becomes of each word: `None` it stays, an empty text it goes.
    let mut fate: Vec<Option<String>> = vec![None; words.len()];
    for want in wanted {
        let there: Vec<usize> = (0..own).filter(|&at| same_name(words[at].name(), &want.name)).collect();
        let Some(value) = &want.value else {
            there.iter().for_each(|&at| fate[at] = Some(String::new()));
            continue;
        };
        let written = want.written().unwrap_or_default();
        let is_so = |at: usize| words[at].value() == *value;
        if adds_up(&want.name) {
            if !there.iter().any(|&at| is_so(at)) {
                changes.missing.push(written);
            }
            continue;
        }
        let Some(&last) = there.last() else {
            changes.missing.push(written);
            continue;
        };
        for at in there.into_iter().filter(|&at| !is_so(at)) {
            fate[at] = Some(if at == last { written.clone() } else { String::new() });
        }
    }
    let mut at = 0;
    while at < words.len() {
        match fate[at].take() {
            None => {}
            Some(text) if !text.is_empty() => {
                changes.edits.push(Edit { range: words[at].range.clone(), text });
            }
            Some(_) => {
                let first = at;
                while at + 1 < words.len() && fate[at + 1].as_deref() == Some("") {
                    at += 1;
                }
                changes.edits.push(Edit { range: gap(&words, first, at), text: String::new() });
            }
        }
        at += 1;
    }
    changes
}

/// The range of words that go, with the blanks on one side.
fn gap(words: &[Word<'_>], first: usize, last: usize) -> Range<usize> {
    match (words.get(last + 1), first.checked_sub(1)) {
        (Some(next), _) => words[first].range.start..next.range.start,
        (None, Some(before)) => words[before].range.end..words[last].range.end,
        (None, None) => words[first].range.start..words[last].range.end,
    }
}

/// A line with words added at their place.
pub(crate) fn with(line: &str, missing: &[String]) -> String {
    let mut changes = Changes { edits: Vec::new(), missing: missing.to_vec() };
    changes.add_to(line);
    edited(line, &changes.edits)
}

impl Changes {
    /// Turns what is missing from a line into one more edit. Where an edit ends at the place, they become one.
    pub(crate) fn add_to(&mut self, line: &str) {
        let missing = std::mem::take(&mut self.missing);
        if missing.is_empty() {
            return;
        }
        let (at, before_init) = place(line);
        let words = missing.join(" ");
        match self.edits.iter_mut().find(|edit| edit.range.end == at && !edit.range.is_empty()) {
            Some(edit) if edit.text.is_empty() => {
                // A gap at the end took the blank before it along.
                let blank = if edit.range.start == 0 || before_init { "" } else { " " };
                edit.text = format!("{blank}{words}{}", if before_init { " " } else { "" });
            }
            Some(edit) if !before_init => edit.text = format!("{} {words}", edit.text),
            _ => {
                let text = match (at, before_init) {
                    (_, true) => format!("{words} "),
                    (0, false) => words,
                    (_, false) => format!(" {words}"),
                };
                self.edits.push(Edit { range: at..at, text });
                self.edits.sort_by_key(|edit| (edit.range.start, edit.range.end));
            }
        }
    }
}

/// A line as it is wanted.
pub(crate) fn merged(line: &str, wanted: &[Parameter]) -> String {
    let changes = changes(line, wanted);
    with(&edited(line, &changes.edits), &changes.missing)
}

/// Several lines that are one command line together (the options of an entry): each is changed, and what is in none
/// of them is added to the last, or to the one with the words for init.
pub(crate) fn merged_lines(lines: &[&str], wanted: &[Parameter]) -> Vec<String> {
    let mut made = Vec::new();
    let mut missing: Option<Vec<String>> = None;
    for line in lines {
        let changes = changes(line, wanted);
        made.push(edited(line, &changes.edits));
        missing = Some(match missing {
            None => changes.missing,
            Some(before) => before.into_iter().filter(|word| changes.missing.contains(word)).collect(),
        });
    }
    let to = made.iter().position(|line| place(line).1).or(made.len().checked_sub(1));
    if let (Some(to), Some(missing)) = (to, missing) {
        made[to] = with(&made[to], &missing);
    }
    made
}

/// Whether a line already is as it is wanted.
pub(crate) fn holds(line: &str, wanted: &[Parameter]) -> bool {
    changes(line, wanted) == Changes::default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn want(name: &str, value: Option<&str>) -> Parameter {
        Parameter { name: name.to_owned(), value: value.map(str::to_owned) }
    }

    #[test]
    fn parameters_are_merged() {
        let isolate = want("isolcpus", Some("2-3"));
        let threaded = want("threadirqs", Some(""));
        for (line, wanted, merged_line) in [
            ("", vec![isolate.clone()], "isolcpus=2-3"),
            ("quiet", vec![isolate.clone(), threaded.clone()], "quiet isolcpus=2-3 threadirqs"),
            ("isolcpus=1  quiet", vec![isolate.clone()], "isolcpus=2-3  quiet"),
            ("isolcpus=1 quiet isolcpus=4", vec![isolate.clone()], "quiet isolcpus=2-3"),
            ("isolcpus=2-3 quiet", vec![isolate.clone()], "isolcpus=2-3 quiet"),
            ("quiet -- single isolcpus=9", vec![isolate.clone()], "quiet isolcpus=2-3 -- single isolcpus=9"),
            ("rcu-nocbs=1 a", vec![want("rcu_nocbs", Some("2"))], "rcu_nocbs=2 a"),
            ("a rcu-nocbs=1", vec![want("rcu_nocbs", None)], "a"),
            ("x=1 x=2 a x=3 x=4", vec![want("x", None)], "a"),
            ("x=1 x=2", vec![want("x", None)], ""),
            ("a x=1 -- b", vec![want("x", None)], "a -- b"),
            (
                "console=tty1 console=ttyS0,115200",
                vec![want("console", Some("ttyS1"))],
                "console=tty1 console=ttyS0,115200 console=ttyS1",
            ),
            ("console=tty1 console=ttyS0", vec![want("console", Some("tty1"))], "console=tty1 console=ttyS0"),
            ("dyndbg=\"file x +p\" q", vec![isolate.clone()], "dyndbg=\"file x +p\" q isolcpus=2-3"),
            ("\"isolcpus=1 2\" q", vec![isolate.clone()], "isolcpus=2-3 q"),
            ("q", vec![want("p", Some("a b"))], "q p=\"a b\""),
            ("threadirqs=1", vec![threaded], "threadirqs"),
        ] {
            assert_eq!(merged(line, &wanted), merged_line, "{line}");
        }
    }

    #[test]
    fn several_lines_are_one() {
        let wanted = [want("isolcpus", Some("2-3")), want("quiet", Some(""))];
        assert_eq!(merged_lines(&["quiet", "isolcpus=1", "a"], &wanted), ["quiet", "isolcpus=2-3", "a"]);
        assert_eq!(merged_lines(&["a", "b"], &wanted), ["a", "b isolcpus=2-3 quiet"]);
        assert_eq!(merged_lines(&["a -- i", "b"], &wanted), ["a isolcpus=2-3 quiet -- i", "b"]);
    }

    #[test]
    fn what_cannot_be_written() {
        for (name, value, writable) in [
            ("a", Some("b c"), true),
            ("a b", Some("c"), false),
            ("a", Some("b\"c"), false),
            ("a", Some("b\nc"), false),
            ("--", None, false),
            ("", None, false),
        ] {
            assert_eq!(want(name, value).is_writable(), writable, "{name}={value:?}");
        }
    }

    fn others(line: &str, wanted: &[Parameter]) -> Vec<String> {
        let words = words(line);
        let own = of_kernel(&words);
        let kept = words.iter().enumerate();
        kept.filter(|(at, word)| *at >= own || !wanted.iter().any(|want| same_name(&want.name, word.name())))
            .map(|(_, word)| word.text.to_owned())
            .collect()
    }

    proptest! {
        #[test]
        fn nothing_is_lost_and_twice_is_once(
            line in "([a-c_-]{1,2}(=[0-9,\"]{0,3})?[ \t]{1,2}|-- |\"[a-c =]{0,5}\" |console=[a-c]{1} ){0,8}[a-c]?",
            wanted in proptest::collection::vec(("[a-c]|a_b|console", proptest::option::of("[0-9 ]{0,3}")), 1..4),
        ) {
            let mut wanted: Vec<Parameter> = wanted
                .into_iter()
                .map(|(name, value)| Parameter { name, value: value.map(|value| value.trim().to_owned()) })
                .collect();
            wanted.sort_by(|a, b| a.name.cmp(&b.name));
            wanted.dedup_by(|a, b| a.name == b.name);
            // A quote that is never closed makes one word of the rest: nothing can be added behind it.
            prop_assume!(line.matches('"').count() % 2 == 0);
            let once = merged(&line, &wanted);
            prop_assert!(holds(&once, &wanted), "{once:?}");
            prop_assert_eq!(&merged(&once, &wanted), &once);
            prop_assert_eq!(others(&once, &wanted), others(&line, &wanted));
        }

        #[test]
        fn no_text_panics(line in "\\PC*", name in "\\PC{0,4}", value in proptest::option::of("\\PC{0,4}")) {
            let wanted = [Parameter { name, value }];
            merged(&line, &wanted);
            merged_lines(&[&line, ""], &wanted);
        }
    }
}
