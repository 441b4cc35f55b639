//! What the latency tracer of the patches of 2004 to 2008 wrote into the log (`check_critical_timing()` and `check_wakeup_timing()` in
//! `kernel/latency.c` there): each message is of a new maximum.
//!
//! ```text
//! (           audiod-2040 |#1): new 412 us maximum-latency critical section.
//!  => started at timestamp 1857957769: <open_device+0xf/0xc0>
//!  =>   ended at timestamp 1857958181: <close_device+0x16/0x39>
//! | preempt count: 00000001 ]
//! .. [<ffffffff802a222f>] .... open_device+0xf/0xc0            where preemption was disabled, and no call stack
//! .....[<00000000>] ..   ( <= _stext+0x7feff0e8/0xe8)
//! ```

use super::owner::LoggedThread;
use super::stamps::cpu_behind;
use whylate_base::Ns;

/// What the messages measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OldMeasure {
    /// A section with preemption disabled or interrupts off.
    Section,
    WakeUp,
}

/// The longest of what messages of one kind report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct OldMaximum {
    of: OldMeasure,
    longest: Option<Longest>,
    messages: u64,
    /// The lines below the last message are of the longest.
    is_of_longest: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Longest {
    length: Ns,
    thread: Option<LoggedThread>,
    cpu: Option<u32>,
    /// The functions in which it began and ended.
    started: Option<String>,
    ended: Option<String>,
    /// Zero where only interrupts were off at its end.
    preempt_count: Option<u64>,
}

impl OldMaximum {
    pub(super) fn new(of: OldMeasure) -> OldMaximum {
        OldMaximum { of, longest: None, messages: 0, is_of_longest: false }
    }

    /// True where the stack below the last message is of the longest.
    pub(super) fn is_of_longest(&self) -> bool {
        self.is_of_longest
    }

    /// Takes in a message; a message without a length is of no maximum.
    pub(super) fn message(&mut self, message: &str) {
        self.is_of_longest = false;
        let Some(one) = longest(message) else { return };
        self.messages += 1;
        if self.longest.as_ref().is_none_or(|longest| longest.length < one.length) {
            self.longest = Some(one);
            self.is_of_longest = true;
        }
    }

    /// Takes in a line below it; false where it belongs to nothing.
    pub(super) fn line(&mut self, message: &str) -> bool {
        let Some(longest) = self.longest.as_mut().filter(|_| self.is_of_longest) else { return false };
        let (started, ended) = (function(message, "started at"), function(message, "ended at"));
        let count = message.split_once("preempt count: ").and_then(|(_, count)| {
            let digits = count.split(|sign: char| !sign.is_ascii_hexdigit()).next()?;
            u64::from_str_radix(digits, 16).ok()
        });
        let is_one = started.is_some() || ended.is_some() || count.is_some();
        // The lines come again, joined to those behind them.
        longest.started = longest.started.take().or(started);
        longest.ended = longest.ended.take().or(ended);
        longest.preempt_count = longest.preempt_count.or(count);
        is_one
    }

    /// What it means; `None` where no length is known.
    pub(super) fn meaning(&self) -> Option<String> {
        let longest = self.longest.as_ref()?;
        let Longest { length, thread, cpu, started, ended, preempt_count } = longest;
        let what = match self.of {
            OldMeasure::WakeUp => "wake-up",
            OldMeasure::Section => match preempt_count {
                Some(0) => "section with interrupts off",
                Some(_) => "section with preemption disabled",
                None => "section with preemption disabled or interrupts off",
            },
        };
        let met = match self.messages {
            1 => "met a",
            _ => "met, as the longest of several, a",
        };
        let mut text = format!("the latency tracer of the patches of 2004 to 2008 {met} {what} of {length}");
        if let Some(thread) = thread {
            text.push_str(&format!(" in {thread}"));
        }
        if let Some(cpu) = cpu {
            text.push_str(&format!(" on CPU {cpu}"));
        }
        match (started, ended) {
            (Some(start), Some(end)) if start == end => text.push_str(&format!(", within {start}")),
            (Some(start), Some(end)) => text.push_str(&format!(", from {start} to {end}")),
            (Some(start), None) => text.push_str(&format!(", from {start} on")),
            (None, Some(end)) => text.push_str(&format!(", up to {end}")),
            (None, None) => {}
        }
        Some(text)
    }
}

/// `(           audiod-2040 |#1): new 412 us maximum-latency critical section.`
fn longest(message: &str) -> Option<Longest> {
    let (head, _) = message.split_once(" us maximum-latency")?;
    let (head, us) = head.rsplit_once("new ")?;
    let length = Ns::from_us(us.trim().parse().ok()?);
    let (who, cpu) = head.rsplit_once('|').unwrap_or((head, ""));
    let who = who.trim_start_matches(['(', ' ']).trim_end_matches([':', ')', ' ']);
    let (name, pid) = who.rsplit_once(['-', '/']).unwrap_or((who, ""));
    let thread = pid.parse().ok().and_then(|pid| LoggedThread::with_pid(name, pid));
    Some(Longest { length, thread, cpu: cpu_behind(cpu, "#"), ..Longest::default() })
}

/// `=> started at timestamp 1857957769: <open_device+0xf/0xc0>`, without the time until 2004.
fn function(message: &str, words: &str) -> Option<String> {
    let (before, place) = message.split_once(words)?;
    let (_, place) = place.split_once('<').filter(|_| before.trim_end().ends_with("=>"))?;
    let name = place.split(['+', '>', '/']).next()?;
    (!name.is_empty()).then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const TWO: [&str; 8] = [
        "(               X-7686 |#0): new 22 us maximum-latency critical section.",
        "=> started at timestamp 2496745046: <do_IRQ+0x29/0x50>",
        "=>   ended at timestamp 2496745068: <do_IRQ+0x39/0x50>",
        "| preempt count: 00000001 ]",
        "( softirq-timer/1-13   |#1): new 1088 us maximum-latency critical section.",
        "=> started at timestamp 2537338337: <open_device+0xf/0xc0>",
        "=>   ended at timestamp 2537339425: <_raw_spin_unlock_irq+0x16/0x39>",
        "| preempt count: 00000000 ]",
    ];

    fn read(lines: &[&str]) -> OldMaximum {
        let mut maximum = OldMaximum::new(OldMeasure::Section);
        for line in lines {
            match line.contains("maximum-latency") {
                true => maximum.message(line),
                false => assert!(maximum.line(line) || !maximum.is_of_longest(), "{line}"),
            }
        }
        maximum
    }

    #[test]
    fn the_longest_section_has_its_ends() {
        let tracer = "the latency tracer of the patches of 2004 to 2008 met";
        let first = format!(
            "{tracer} a section with preemption disabled of 22.00 us in X (7686) on CPU 0, within do_IRQ"
        );
        assert_eq!(read(&TWO[..4]).meaning(), Some(first));
        let second = format!(
            "{tracer}, as the longest of several, a section with interrupts off of 1.09 ms in softirq-timer/1 (13) on CPU 1, from \
             open_device to _raw_spin_unlock_irq"
        );
        assert_eq!(read(&TWO).meaning().as_ref(), Some(&second));
        // A shorter one behind it, as after a reset of the maximum.
        let mut lines = TWO[4..].to_vec();
        lines.extend(&TWO[..4]);
        assert_eq!(read(&lines).meaning(), Some(second));
        let cut = format!(
            "{tracer} a section with preemption disabled or interrupts off of 22.00 us in X (7686) on CPU 0"
        );
        assert_eq!(read(&TWO[..1]).meaning(), Some(cut));
        assert_eq!(read(&["us maximum-latency critical section"]).meaning(), None);
    }

    #[test]
    fn the_form_of_2004_has_neither_a_cpu_nor_a_time() {
        let lines = [
            "(mail/161): new 576 us maximum-latency critical section.",
            "=> started at: <delete_file+0x67/0x630>",
            "=> ended at:   <delete_file+0x3bc/0x630>",
        ];
        let end = "section with preemption disabled or interrupts off of 576.0 us in mail (161), within delete_file";
        assert!(read(&lines).meaning().is_some_and(|text| text.ends_with(end)));
    }

    #[test]
    fn a_wake_up_has_a_thread() {
        let mut maximum = OldMaximum::new(OldMeasure::WakeUp);
        maximum.message("( IRQ 14-1783 |#0): new 826 us maximum-latency wakeup.");
        assert!(
            maximum
                .meaning()
                .is_some_and(|text| text.ends_with("met a wake-up of 826.0 us in IRQ 14 (1783) on CPU 0"))
        );
    }
}
