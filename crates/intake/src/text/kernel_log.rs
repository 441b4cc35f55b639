//! The kernel's log: no trace, but its messages about what is late have a meaning, figures and call stacks.

mod frames;
mod meanings;

use std::fmt;

/// A log of more kinds of messages is not listed in full.
const MOST_MESSAGES: usize = 5;
/// Below a message, a stack is its own within so many lines.
const NEAR: u64 = 60;
/// So many functions of a stack are named, and work items.
const MOST_FRAMES: usize = 6;
/// A longer message is cut.
const LONGEST_MESSAGE: usize = 100;

/// A message in a log, with what follows it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct LogMessage {
    /// The number of its line.
    line: u64,
    /// What it means.
    meaning: &'static str,
    /// Its words.
    words: String,
    /// The first functions of the call stack below it, innermost first.
    stack: Vec<String>,
    /// The functions of work items that the workqueues had begun, where it is about those.
    in_flight: Vec<String>,
    /// How many messages of this kind there are.
    count: u64,
}

/// The messages of a log, each kind once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KernelLog {
    messages: Vec<LogMessage>,
    /// How long before it the last sign of life was, by a report of a lockup itself.
    heartbeat_ms: Option<u64>,
}

impl KernelLog {
    /// A log that begins with this line, if that is a message.
    pub(super) fn beginning(number: u64, line: &str) -> Option<KernelLog> {
        let mut log = KernelLog::default();
        log.line(number, line);
        (!log.messages.is_empty()).then_some(log)
    }

    /// Takes in a line.
    pub(super) fn line(&mut self, number: u64, line: &str) {
        if let Some(meaning) = meanings::meaning(line) {
            return self.message(number, line, meaning);
        }
        if let Some((_, ago)) = line.split_once("last heartbeat").and_then(|(_, rest)| rest.split_once('(')) {
            self.heartbeat_ms = ago.split_once("ms ago").and_then(|(ms, _)| ms.trim().parse().ok());
        }
        let is_near = |above: &&mut LogMessage| number.saturating_sub(above.line) <= NEAR;
        let has_stack = |above: &&mut LogMessage| meanings::brings_stack(above.meaning);
        let Some(above) = self.messages.iter_mut().rev().filter(has_stack).find(is_near) else { return };
        if let Some((_, work)) = line.split_once("in-flight: ") {
            above.in_flight.extend(works(work).map(str::to_owned));
            above.in_flight.dedup();
            above.in_flight.truncate(MOST_FRAMES);
        }
        if let Some(function) =
            frames::function(line).filter(|_| above.count == 1 && above.stack.len() < MOST_FRAMES)
            && above.stack.last().is_none_or(|inner| inner != function)
        {
            above.stack.push(function.to_owned());
        }
    }

    fn message(&mut self, number: u64, line: &str, meaning: &'static str) {
        if let Some(same) = self.messages.iter_mut().find(|other| other.meaning == meaning) {
            same.count += 1;
        } else if self.messages.len() < MOST_MESSAGES {
            self.messages.push(LogMessage {
                line: number,
                meaning,
                words: words(line),
                stack: Vec::new(),
                in_flight: Vec::new(),
                count: 1,
            });
        }
    }
}

/// `Its line 2 ("...") means that ..., and line 5 ("...") that ...`
impl fmt::Display for KernelLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Its")?;
        for (at, message) in self.messages.iter().enumerate() {
            match at {
                0 => write!(f, " {message}")?,
                _ => write!(f, ", and {message}")?,
            }
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

/// `line 2 ("...", the first of 3) means that ...; the stack below it is a, called from b, c`
impl fmt::Display for LogMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let LogMessage { line, meaning, words, stack, in_flight, count } = self;
        write!(f, "line {line} (\"{words}\"")?;
        if *count > 1 {
            write!(f, ", the first of {count}")?;
        }
        write!(f, ") means that {meaning}")?;
        if let [innermost, callers @ ..] = stack.as_slice() {
            write!(f, "; the stack below it is {innermost}")?;
            if !callers.is_empty() {
                write!(f, ", called from {}", callers.join(", "))?;
            }
        }
        if !in_flight.is_empty() {
            write!(f, "; the work that had begun is {}", in_flight.join(", "))?;
        }
        Ok(())
    }
}

/// `3760137:psi_avgs_work, 67:other BAR(3)`: the functions.
fn works(list: &str) -> impl Iterator<Item = &str> {
    let works = list.split(", ").filter_map(|work| work.split_whitespace().next());
    works.map(|work| work.split_once(':').map_or(work, |(_, function)| function))
}

/// The message without what loggers and quoting put before it: `> [ 12.34][ T1] kernel: `.
fn words(line: &str) -> String {
    let rest = without_stamps(line.trim());
    let rest = rest.split_once(" kernel: ").map_or(rest, |(_, message)| without_stamps(message));
    match rest.char_indices().nth(LONGEST_MESSAGE) {
        Some((end, _)) => format!("{}...", &rest[..end]),
        None => rest.to_owned(),
    }
}

/// What is behind marks of quoting, times, CPUs and threads.
fn without_stamps(mut rest: &str) -> &str {
    loop {
        let shorter = rest.trim_start_matches(['>', '|', ' ', '\t']);
        let shorter = match shorter.strip_prefix('[').and_then(|inner| inner.split_once(']')) {
            Some((stamp, after)) if stamp.bytes().all(is_of_stamp) => after,
            _ => shorter,
        };
        if shorter.len() == rest.len() {
            return rest;
        }
        rest = shorter;
    }
}

/// Of a time (`  12.345678`, `+0.014286`), a CPU or a thread (`C13`, `T1`).
fn is_of_stamp(byte: u8) -> bool {
    byte.is_ascii_digit() || b" .+-:CT".contains(&byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> KernelLog {
        let mut log = KernelLog::default();
        (1..).zip(text.lines()).for_each(|(number, line)| log.line(number, line));
        log
    }

    #[test]
    fn a_message_has_its_words_and_the_stack_below_it() {
        let log = read(
            "[  70.1][   C1] watchdog: BUG: soft lockup - CPU#1 stuck for 22s! [app:7]\nCPU: 1 PID: 7 Comm: app\n\
             pc : spin+0x10/0x20\nlr : other+0x1/0x2\nCall trace:\n spin+0x10/0x20\n ? unsure+0x1/0x2\n caller+0x4/0x8 [module]\n",
        );
        let said = log.to_string();
        let words = "Its line 1 (\"watchdog: BUG: soft lockup - CPU#1 stuck for 22s! [app:7]\") means that a thread kept a CPU";
        assert!(said.starts_with(words), "{said}");
        assert!(said.ends_with("; the stack below it is spin, called from caller"), "{said}");
    }

    #[test]
    fn a_lockup_of_the_idle_task_and_one_with_a_fresh_heartbeat_are_not_believed() {
        let idle = read("watchdog: BUG: soft lockup - CPU#0 stuck for 23s! [swapper/0:0]").to_string();
        assert!(idle.contains("while its idle task had it"), "{idle}");
        let hard = "watchdog: CPU 0 self-detected hard LOCKUP @ __del_page_from_free_list+0x40/0x220\n";
        let said =
            read(&format!("{hard}watchdog: CPU 0 TB:89, last heartbeat TB:88 (10ms ago)\n")).to_string();
        assert!(said.ends_with("a sign of life 10 ms before it, so it may be a false alarm"), "{said}");
        let said =
            read(&format!("{hard}watchdog: CPU 0 TB:89, last heartbeat TB:88 (15360ms ago)\n")).to_string();
        assert!(!said.contains("false alarm"), "{said}");
    }

    #[test]
    fn work_in_flight_repetitions_and_crashes_are_reported() {
        let said = read(
            "Oops: 0000 [#1] SMP\n caller+0x1/0x2\n[ 2.1] hrtimer: interrupt took 30211 ns\n other+0x1/0x2\n> [ 9.6] BUG: workqueue lockup - pool cpus=2 node=0 flags=0x0 nice=0 stuck for 35s!\n\
             [ 9.7]     in-flight: 3760137:psi_avgs_work\n[ 9.9] BUG: workqueue lockup - pool cpus=2 stuck for 66s!\n",
        )
        .to_string();
        assert!(
            said.starts_with("Its line 1 (\"Oops: 0000 [#1] SMP\") means that the kernel crashed"),
            "{said}"
        );
        assert!(said.contains("the stack below it is caller, called from other, and line 3"), "{said}");
        assert!(said.contains("stuck for 35s!\", the first of 2) means that the work items"), "{said}");
        assert!(said.ends_with("; the work that had begun is psi_avgs_work"), "{said}");
    }

    proptest::proptest! {
        #[test]
        fn no_log_is_too_strange(pieces in proptest::collection::vec((0..PIECES.len(), "\\PC{0,6}"), 0..60)) {
            let text: String = pieces.iter().map(|(piece, other)| format!("{}{other}", PIECES[*piece])).collect();
            let said = read(&text).to_string();
            proptest::prop_assert!(said.starts_with("Its"));
        }
    }

    /// What lines of a log consist of.
    const PIECES: [&str; 14] = [
        "\n",
        "\n> [  70.1][   C1] ",
        "watchdog: BUG: soft lockup - CPU#1 stuck for 22s! [app:7]",
        "BUG: workqueue lockup - pool cpus=2 stuck for 35s!",
        "in-flight: 7:work BAR(3), ",
        "hard LOCKUP last heartbeat TB:88 (10ms ago)",
        "Oops: ",
        "+0x10/0x20",
        "spin",
        "? ",
        "[<c0aa2100>] (",
        ") from ",
        " kernel: ",
        ".isra.0",
    ];

    #[test]
    fn what_loggers_put_before_a_message_is_left_out() {
        for line in [
            "Aug 14 18:31:12 host kernel: [  161.7] sched: RT throttling activated",
            "> > [  +0.014286] sched: RT throttling activated",
            "[ 9.1][ T12] sched: RT throttling activated",
            "sched: RT throttling activated",
        ] {
            assert_eq!(words(line), "sched: RT throttling activated", "{line}");
        }
        assert_eq!(words("[ BUG: Invalid wait context ]"), "[ BUG: Invalid wait context ]");
    }
}
