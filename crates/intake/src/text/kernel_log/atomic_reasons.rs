//! Why a thread must not sleep: the preemption count and the flags of the messages (`include/linux/preempt.h`; `__schedule_bug()` and
//! `__might_resched()` in `kernel/sched/core.c`).
//!
//! ```text
//! 0x00110302: bits 0-7 preemption disabled so often, 8-15 softirqs, 16-19 hard interrupts, 20-23 NMIs
//! ```

use super::stamps::{listed, number_behind};

/// The bits of the count, with what they stand for.
const BITS: [(u32, &str); 3] = [
    // Until 2.6.37 the same bit stands for both.
    (0x0000_ff00, "softirqs are handled or disabled"),
    (0x000f_0000, "a hard interrupt is handled"),
    (0x00f0_0000, "an NMI is handled"),
];
const PREEMPTION: u32 = 0xff;
/// The bits of a count that went below 0. The highest one is a flag of its own on x86.
const BELOW_ZERO: u32 = 0x7fff_ff00;

/// What a preemption count shows that should be 0 again; `None` where it is.
pub(super) fn left_behind(count: u32) -> Option<&'static str> {
    match count {
        0 => None,
        _ if count & BELOW_ZERO == BELOW_ZERO => {
            Some("with a preemption count below 0 (it enabled preemption more often than it disabled it)")
        }
        _ if count & PREEMPTION == 0 => Some("with softirqs disabled"),
        _ => Some("with preemption disabled"),
    }
}

/// What the lines of one message show.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Reasons {
    /// The preemption count, and the one that is right there.
    count: Option<(u32, u32)>,
    /// The count is that of `schedule()`.
    is_of_schedule: bool,
    is_atomic: bool,
    is_without_interrupts: bool,
    is_in_rcu_reader: bool,
}

impl Reasons {
    /// Takes in a line; false where it shows none of these.
    pub(super) fn line(&mut self, message: &str) -> bool {
        if let Some((_, text)) = message.split_once("scheduling while atomic: ") {
            // Until 2.6.24 the count does not stand last, and is from before `schedule()` counts itself.
            let last = text.rsplit('/').next().and_then(|last| last.split([' ', ',']).next());
            let digits = last.and_then(|last| last.strip_prefix("0x"));
            let count = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok());
            (self.count, self.is_of_schedule) = (count.map(|count| (count, 1)), true);
        } else if message.contains("in_atomic(): ") {
            let is_set = |words| number_behind(message, words).is_some_and(|value| value != 0);
            self.is_atomic = is_set("in_atomic(): ");
            self.is_without_interrupts = is_set("irqs_disabled(): ");
        } else if let Some(counts) = counts(message, "preempt_count: ") {
            self.count = Some(counts);
        } else if let Some((depth, expected)) = counts(message, "RCU nest depth: ") {
            self.is_in_rcu_reader = depth > expected;
        } else {
            return false;
        }
        true
    }

    /// `where preemption is disabled and a hard interrupt is handled`
    pub(super) fn words(&self) -> String {
        let mut parts = Vec::new();
        match self.count {
            Some((0, _)) if self.is_of_schedule => {
                return "with the preemption count 0, where schedule() itself makes it 1, so preemption was enabled once more often \
                        than it was disabled"
                    .to_owned();
            }
            Some((count, _)) if count & BELOW_ZERO == BELOW_ZERO => {
                return "with a preemption count below 0, so preemption was enabled more often than it was disabled".to_owned();
            }
            Some((count, expected)) => {
                parts.extend((count & PREEMPTION > expected).then_some("preemption is disabled"));
                parts.extend(BITS.iter().filter(|(bits, _)| count & bits != 0).map(|&(_, words)| words));
            }
            None => parts.extend(self.is_atomic.then_some("preemption or softirqs are disabled")),
        }
        parts.extend(self.is_without_interrupts.then_some("interrupts are disabled"));
        parts.extend(self.is_in_rcu_reader.then_some("RCU is read (rcu_read_lock)"));
        match parts.is_empty() {
            true => "where it must not".to_owned(),
            false => format!("where {}", listed(&parts)),
        }
    }
}

/// `preempt_count: 201, expected: 0`, both as hexadecimal digits.
fn counts(message: &str, words: &str) -> Option<(u32, u32)> {
    let hex = |text: &str| {
        let end = text.find(|sign: char| !sign.is_ascii_hexdigit()).unwrap_or(text.len());
        text.get(..end).and_then(|digits| u32::from_str_radix(digits, 16).ok())
    };
    let (_, rest) = message.split_once(words)?;
    Some((hex(rest)?, hex(rest.split_once("expected: ")?.1)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(lines: &[&str]) -> String {
        let mut reasons = Reasons::default();
        assert!(lines.iter().all(|line| reasons.line(line)));
        reasons.words()
    }

    #[test]
    fn the_bits_of_the_count_are_told_apart() {
        let of = |count: &str| words(&[&format!("BUG: scheduling while atomic: mill/1/8/{count}")]);
        assert_eq!(of("0x00000002"), "where preemption is disabled");
        assert_eq!(of("0x00000100"), "where softirqs are handled or disabled");
        assert_eq!(of("0x00000202"), "where preemption is disabled and softirqs are handled or disabled");
        assert_eq!(of("0x00010001"), "where a hard interrupt is handled");
        assert_eq!(of("0x00100001, mill"), "where an NMI is handled");
        assert!(
            of("0x00000000").starts_with("with the preemption count 0, where schedule() itself makes it 1")
        );
        for count in ["0xffffffff", "0x7ffffffe"] {
            assert!(of(count).starts_with("with a preemption count below 0"), "{count}");
        }
        assert_eq!(of("0x00000001"), "where it must not");
        assert_eq!(words(&["BUG: scheduling while atomic: mill/0x00000000/8"]), "where it must not");
    }

    #[test]
    fn the_flags_of_a_sleeping_function_are_told_apart() {
        let flags = |atomic, irqs| {
            format!("in_atomic(): {atomic}, irqs_disabled(): {irqs}, non_block: 0, pid: 8, name: mill")
        };
        assert_eq!(words(&[&flags(1, 0)]), "where preemption or softirqs are disabled");
        assert_eq!(words(&[&flags(0, 128)]), "where interrupts are disabled");
        let [none, rcu] = ["preempt_count: 0, expected: 0", "RCU nest depth: 1, expected: 0"];
        assert_eq!(words(&[&flags(0, 0), none, rcu]), "where RCU is read (rcu_read_lock)");
        assert_eq!(
            words(&[&flags(1, 1), "preempt_count: 201, expected: 0"]),
            "where preemption is disabled, softirqs are handled or disabled and interrupts are disabled"
        );
    }
}
