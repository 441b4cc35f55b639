//! The kernel's log: no trace, but its messages about what is late have a meaning, figures and call stacks.
//!
//! ```text
//! lines ─> escaped_tabs, stamps, broken ─> meanings (source_text): which kind of message ─┬─> details: rcu (jiffies), hung, lockups (utilization), pools (begun_work), durations, softirqs, clock (clock_reads), old_tracer, sched_ext, atomic_sleep and work_leak (atomic_reasons), spinlocks, unhandled_irqs
//!                                                     └─> stacks: owner, registers, sparc, frames ─> reporter: what it shows
//! messages ─> consequences: which follows from which
//! all ─> written: the sentences
//! ```

mod asides;
mod atomic_reasons;
mod atomic_sleep;
mod begun_work;
mod broken;
mod clock;
mod clock_reads;
mod consequences;
mod cpu_waits;
mod details;
mod durations;
mod escaped_tabs;
mod frames;
mod headless;
mod hung;
mod idle_thread;
mod jiffies;
mod lockups;
mod log_message;
mod meanings;
mod old_tracer;
mod owner;
mod pool_name;
mod pools;
mod printed_at;
mod rcu;
mod registers;
mod repeats;
mod reporter;
mod sched_ext;
mod softirqs;
mod source_text;
mod sparc;
mod spinlocks;
mod stacks;
mod stamps;
mod storage_waits;
mod unhandled_irqs;
mod utilization;
mod waits;
mod work_item;
mod work_leak;
mod written;

use details::Details;
use headless::HeadlessReports;
use log_message::{LogMessage, NEAR};
use owner::Owner;
use printed_at::PrintedAt;
use repeats::Repeats;
use stacks::LoggedStacks;

/// A log of more kinds of messages is not listed in full.
const MOST_MESSAGES: usize = 5;
/// So many reports of one kind are kept where each is of its own: the first ones, and the last one.
const MOST_REPORTS: usize = 8;
/// A mail program breaks a line into so many at most.
const MOST_PIECES: usize = 3;
/// A longer line was not broken.
const LONGEST_PIECE: usize = 200;

/// True of a line with its `rest`, which a mail program broke off it, where only both together are a message, or another one than
/// the first part alone.
pub(super) fn is_broken_message(whole: &str, rest: &str) -> bool {
    let meaning = |line| meanings::meaning(stamps::message(line));
    let first = whole.strip_suffix(rest).unwrap_or(whole);
    // Its end alone has the meaning, but not the name of the thread.
    let is_end = || stamps::message(first).starts_with(broken::HUNG_TASK) && stamps::is_bare(rest);
    (meaning(rest).is_none() || is_end()) && meaning(whole).is_some_and(|all| meaning(first) != Some(all))
}

/// True of the words of a message alone, without what the kernel or a logger puts before them.
pub(super) fn is_bare_message(line: &str) -> bool {
    !stamps::is_marked(line) && meanings::meaning(line.trim()).is_some()
}

/// True of the line with the CPU and the thread that stands above registers and a stack.
pub(super) fn is_line_of_cpu(line: &str) -> bool {
    stamps::is_marked(line)
        && stamps::message(line).starts_with("CPU: ")
        && Owner::of(stamps::message(line)).is_some()
}

/// How many jiffies a second has, where a line of the log shows it.
pub(super) fn hz_of_boot(line: &str) -> Option<u64> {
    jiffies::hz_of_boot(stamps::message(line))
}

/// The messages of a log, each kind once but for reports that are each of their own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KernelLog {
    messages: Vec<LogMessage>,
    /// The stacks above the first message, of a report that began before the text.
    above_all: LoggedStacks,
    /// The last line of these.
    above_all_end: u64,
    /// The lines are of a warning (`------------[ cut here ]------------`), which is a report of its own.
    is_in_warning: bool,
    /// The message to which the stacks belong that follow.
    above: Option<usize>,
    /// The stacks that follow are of the past of locks: that of the report itself is the last one (`print_usage_bug()` and the like in
    /// `kernel/locking/lockdep.c`).
    is_above_own_stack: bool,
    /// A line that ends too early.
    begun: Option<(u64, String)>,
    /// The lines before this one, of which it may be the end.
    pieces: Vec<String>,
    /// What it had before.
    repeats: Repeats,
    /// Reports whose first line is missing.
    headless: HeadlessReports,
    /// So many boots began in it.
    boots: u64,
    /// How many jiffies a second has, by a line above its messages.
    hz_of_boot: Option<u64>,
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

    /// A log that begins with this line of a call stack, and has no message yet.
    pub(super) fn of_stack(number: u64, line: &str) -> KernelLog {
        let mut log = KernelLog::default();
        log.line(number, line);
        log
    }

    /// True once it has a message.
    pub(super) fn has_message(&self) -> bool {
        !self.messages.is_empty()
    }

    /// True once it has a message that the kernel printed, beyond doubt: prose has the words, but neither a stamp nor a CPU, a thread or a
    /// duration with them.
    pub(super) fn has_own_message(&self) -> bool {
        let is_own = |one: &LogMessage| one.has_stamp || one.details.meaning(&one.stacks).is_some();
        self.messages.iter().any(|message| !message.is_quoted && is_own(message))
    }

    /// Takes in how many jiffies a second has.
    pub(super) fn set_hz(&mut self, hz: Option<u64>) {
        self.hz_of_boot = hz;
    }

    /// Takes in a line.
    pub(super) fn line(&mut self, number: u64, line: &str) {
        let line = escaped_tabs::restored(line);
        stamps::lines(&line).for_each(|line| self.one_line(number, line));
    }

    fn one_line(&mut self, number: u64, line: &str) {
        if let Some((at, begun)) = self.begun.take() {
            match broken::joined(&begun, line) {
                Some(whole) => return self.whole_line(at, &whole),
                None => self.whole_line(at, &begun),
            }
        }
        match broken::ends_early(line) && self.has_message() {
            true => self.begun = Some((number, line.to_owned())),
            false => self.whole_line(number, line),
        }
    }

    fn whole_line(&mut self, number: u64, line: &str) {
        if self.repeats.line(line) {
            return;
        }
        let message = stamps::message(line);
        if message.starts_with("Linux version ") {
            self.boots += 1;
        }
        self.warning_line(message);
        let begins = meanings::meaning(message).is_some() && !meanings::is_quoted(message);
        if let Some((at, head)) = self.headless.line(number, line, begins) {
            self.headless_lockup(at, &head);
        }
        let headless = || self.is_headless_stall(number, message).then_some(meanings::RCU);
        match meanings::meaning(message).or_else(headless) {
            Some(meaning) => {
                // What stands above a report is not the beginning of a line below it.
                self.pieces.clear();
                self.message(number, line, meaning);
            }
            None if !self.messages.is_empty() => self.other_line(number, message, stamps::seconds(line)),
            None => {
                if !self.is_in_warning && self.above_all.line(message) {
                    self.above_all_end = number;
                }
                return;
            }
        }
        if self.pieces.len() >= MOST_PIECES {
            self.pieces.remove(0);
        }
        self.pieces.push(message.chars().take(LONGEST_PIECE).collect());
    }

    /// Takes in a report of a soft lockup whose first line is missing, by the line of its CPU.
    fn headless_lockup(&mut self, at: u64, head: &str) {
        let Some(owner) = Owner::of(stamps::message(head)) else { return };
        let above = self.above.and_then(|at| self.messages.get_mut(at)).map(|above| &mut above.stacks);
        let begun = above.unwrap_or(&mut self.above_all).split_last(owner.cpu);
        let is_idle = owner.thread.is_some_and(|thread| thread.is_idle());
        self.message(at, head, if is_idle { meanings::IDLE_LOCKUP } else { meanings::SOFT_LOCKUP });
        if let Some((above, begun)) = self.above.and_then(|at| self.messages.get_mut(at)).zip(begun) {
            above.stacks.go_on_with(begun);
        }
    }

    /// True of the row of a CPU that stalls where the first line of the report is missing, as a text may have been cut there.
    fn is_headless_stall(&self, number: u64, message: &str) -> bool {
        // Without its first line, another report begins behind the time of the one above it.
        let is_over = |one: &LogMessage| rcu::is_row(&one.words) && one.details.is_complete();
        let is_of_report =
            |one: &LogMessage| one.meaning == meanings::RCU && one.is_near(number) && !is_over(one);
        rcu::is_row(message) && !self.messages.iter().any(is_of_report)
    }

    /// Takes in where a warning begins and ends (`kernel/panic.c`). Its stack is of no report above it, and of none below it.
    fn warning_line(&mut self, message: &str) {
        if message.contains("[ cut here ]") {
            self.is_in_warning = true;
        }
        if message.contains("---[ end trace ") {
            self.is_in_warning = false;
            self.above_all = LoggedStacks::default();
        }
    }

    fn message(&mut self, number: u64, line: &str, meaning: &'static str) {
        // What is printed between the mark and the stack shows what the report is of.
        self.is_in_warning &= !meanings::brings_stack(meaning);
        self.is_above_own_stack = meanings::shows_past_of_locks(meaning);
        // Printed within the backtrace of a CPU, it is about that backtrace: the stack is of what ran there.
        let is_within_backtrace = self.is_above_own_stack
            && self
                .above
                .and_then(|at| self.messages.get(at))
                .is_some_and(|above| above.is_near(number) && above.stacks.begin_backtrace());
        let (message, seconds) = (stamps::message(line), stamps::seconds(line));
        // The report itself shows more than the stop that follows it.
        let has = |meaning: &str| self.messages.iter().any(|other| other.meaning == meaning);
        let is_shown = meaning == meanings::HARD_PANIC && has(meanings::HARD_LOCKUP);
        let meaning = if is_shown { meanings::CHOSEN_PANIC } else { meaning };
        if self.is_known(number, line, meaning) {
            return;
        }
        let is_marked = stamps::is_marked(line);
        let is_prose = |other: &LogMessage| other.is_quoted || is_marked && other.is_vague();
        let is_replaced =
            |other: &LogMessage| meanings::are_related(other.meaning, meaning) && is_prose(other);
        let replaced: Vec<LogMessage> = self.messages.extract_if(.., |other| is_replaced(other)).collect();
        if !replaced.is_empty() {
            self.above = None;
        }
        let same = || self.messages.iter().enumerate().filter(|(_, other)| other.meaning == meaning);
        let (kinds, reports) = (self.kinds().count(), same().count());
        let ends = same().next().zip(same().next_back()).map(|((first, _), (last, _))| (first, last));
        let continues = ends.and_then(|(_, last)| self.messages.get(last));
        let continues = continues.is_some_and(|one| one.is_near(number) && one.details.continues(message));
        if let Some(first) = ends.filter(|_| !continues).and_then(|(first, _)| self.messages.get_mut(first)) {
            first.count += 1;
        }
        let at = match ends {
            Some((_, last)) if continues || !Details::of(meaning).is_one_report() => last,
            None if kinds >= MOST_MESSAGES => {
                // Its stacks are not those of the last message that is kept.
                self.above = self.above.filter(|_| !meanings::brings_stack(meaning));
                return;
            }
            _ => {
                for earlier in self.messages.iter_mut().filter(|other| other.meaning == meaning) {
                    earlier.details.ends();
                }
                if let Some((_, last)) = ends.filter(|_| reports >= MOST_REPORTS) {
                    self.messages.remove(last);
                    self.above = None;
                }
                self.messages.push(LogMessage::new(number, line, meaning));
                self.messages.len() - 1
            }
        };
        let Some(one) = self.messages.get_mut(at) else { return };
        if let Some(stamp) = stamps::stamp(line) {
            self.repeats.counted(stamp, message, one.line);
        }
        if one.line != number && !continues {
            one.meaning_alone = one.meaning_alone.take().or_else(|| Some(one.meaning()));
        }
        // One crash has several messages, and its stack stands below the last of them.
        let is_same_crash = one.details == Details::Crash && one.is_near(number);
        one.last = number;
        one.of_host(line);
        one.seconds = one.seconds.filter(|_| is_same_crash).or(seconds);
        one.details.printed(PrintedAt::of(line, self.boots));
        one.details.message(message, seconds);
        replaced.iter().for_each(|quoted| one.details.quoted_elsewhere(&quoted.details));
        if meanings::brings_stack(meaning) && !is_within_backtrace {
            let is_better = one.details.has_stacks_of_last();
            if is_better {
                one.stacks = LoggedStacks::default();
            }
            // The first one may be a headline, alone at the top of a mail with the whole report below.
            let is_same = is_same_crash || one.details.is_by_cpu() || one.words == stamps::words(line);
            let is_first = one.count == 1 || is_same && one.stacks.first().is_none();
            self.above = (is_first || is_better || one.details.has_stacks_of_all()).then_some(at);
            if let Some(cpu) = one.details.cpu_of_stack(message) {
                one.stacks.begin_on(cpu);
            }
        }
    }

    /// True of a message that the log has already, and of one that an author quotes beside the log's own.
    fn is_known(&mut self, number: u64, line: &str, meaning: &'static str) -> bool {
        let message = stamps::message(line);
        let mut related = self.messages.iter().filter(|other| meanings::are_related(other.meaning, meaning));
        let mut alone = LogMessage::new(number, line, meaning);
        alone.details.message(message, None);
        let is_vague = alone.is_vague();
        let (has_any, has_marked) = (related.clone().next().is_some(), related.any(|other| other.is_marked));
        if has_any && (meanings::is_quoted(message) || meanings::is_end(message)) || has_marked && is_vague {
            let known = self.messages.iter_mut().find(|other| other.meaning == meaning);
            known.into_iter().for_each(|known| known.details.quoted_elsewhere(&alone.details));
            return true;
        }
        let Some(counted) = stamps::stamp(line).and_then(|stamp| self.repeats.counted_to(stamp, message))
        else {
            return false;
        };
        // What stands below it may be more than what stood below it before.
        let at = self.messages.iter().position(|one| one.line == counted && one.meaning == meaning);
        if let Some(one) = at.and_then(|at| self.messages.get_mut(at)) {
            one.last = number;
            // What is below it is of its time, though later ones stand above.
            one.seconds = stamps::seconds(line).or(one.seconds);
            if meanings::brings_stack(meaning) {
                let is_open = one.details.has_stacks_of_all() || one.stacks.first().is_none();
                self.above = at.filter(|_| is_open);
            }
        }
        true
    }

    /// The stack above the first message, where that has none of its own.
    fn stack_above(&self) -> Option<String> {
        let first = self.messages.first().filter(|first| meanings::brings_stack(first.meaning))?;
        let stack = self.above_all.last().filter(|_| first.stacks.first().is_none())?;
        let is_near = first.line.saturating_sub(self.above_all_end) <= NEAR;
        let is_of_cpu = stack.owner.cpu.is_none_or(|cpu| first.details.may_be_of(cpu));
        stack.shown_as("its stack").filter(|_| is_near && is_of_cpu)
    }

    /// The first message of each kind.
    fn kinds(&self) -> impl Iterator<Item = &LogMessage> {
        let is_first = |at: usize, one: &LogMessage| {
            self.messages.iter().position(|other| other.meaning == one.meaning) == Some(at)
        };
        self.messages.iter().enumerate().filter(move |(at, one)| is_first(*at, one)).map(|(_, one)| one)
    }

    /// A line that is no message with a meaning of its own.
    fn other_line(&mut self, number: u64, message: &str, seconds: Option<u64>) {
        if let Some((_, ago)) =
            message.split_once("last heartbeat").and_then(|(_, rest)| rest.split_once('('))
        {
            self.heartbeat_ms = ago.split_once("ms ago").and_then(|(ms, _)| ms.trim().parse().ok());
        }
        for one in self.messages.iter_mut().filter(|one| one.details.reaches_far()) {
            one.details.line(message);
        }
        if self.messages.iter().any(|one| one.is_near(number)) {
            self.line_near(number, message, seconds);
        }
    }

    /// The same, where it may belong to a message above it. A mail program may have broken it off the lines before it.
    fn line_near(&mut self, number: u64, message: &str, seconds: Option<u64>) {
        let mut text = message.to_owned();
        let mut texts = vec![text.clone()];
        for piece in self.pieces.iter().rev() {
            text = format!("{piece} {text}");
            texts.push(text.clone());
        }
        for one in self.messages.iter_mut().filter(|one| one.is_near(number)) {
            if texts.iter().filter(|text| one.details.line(text)).count() > 0 {
                one.last = number;
            }
        }
        for one in self.messages.iter_mut().filter(|one| one.is_near(number)) {
            one.details.work_line(message);
        }
        let above = self.above.and_then(|at| self.messages.get_mut(at));
        let is_of_it = |above: &&mut LogMessage| above.is_near(number) && !above.is_later_than(seconds);
        let Some(above) = above.filter(is_of_it).filter(|_| !self.is_in_warning) else { return };
        self.is_above_own_stack &= !owner::begins_own_stack(message);
        if self.is_above_own_stack && frames::frame(message).is_some()
            || !self.is_above_own_stack && above.stacks.line(message)
        {
            above.last = number;
        }
    }
}

#[cfg(test)]
mod tests;
