//! What the bits of `prev_state` mean, read from the recording's own `sched_switch` format.
//!
//! The bits moved between kernels (`I` is 0x80 today, `D|N` was the same before 4.14; the
//! preempted mark was 512, 1024, 4096 and is 256), but every print format lists them:
//! `__print_flags(REC->prev_state & MASK, "|", { 1, "S" }, { 2, "D" } ...) : "R",
//! REC->prev_state & 256 ? "+" : ""`.

use whylate_events::TaskState;

/// The bits of one kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct StateBits {
    /// `+`: preempted, whatever state it was about to sleep in.
    preempted: u64,
    /// All bits that have a letter.
    listed: u64,
    interruptible: u64,
    stopped: u64,
    traced: u64,
    uninterruptible: u64,
    /// `N`: does not count as load. With `D` it is an idle kernel thread.
    no_load: u64,
    idle: u64,
    dead: u64,
}

impl StateBits {
    /// The bits all kernels agree on, for a format that lists none.
    const COMMON: StateBits = StateBits {
        preempted: 0,
        listed: u64::MAX,
        interruptible: 1,
        stopped: 4,
        traced: 8,
        uninterruptible: 2,
        no_load: 0,
        idle: 0,
        dead: 0,
    };

    pub(super) fn parse(print_fmt: &str) -> StateBits {
        let mut bits = StateBits::default();
        for (bit, letter) in flags(print_fmt) {
            bits.listed |= bit;
            match letter {
                "S" => bits.interruptible |= bit,
                "D" => bits.uninterruptible |= bit,
                "T" => bits.stopped |= bit,
                "t" => bits.traced |= bit,
                "N" => bits.no_load |= bit,
                "I" => bits.idle |= bit,
                "X" | "x" | "Z" => bits.dead |= bit,
                _ => {}
            }
        }
        if bits.listed == 0 {
            return StateBits::COMMON;
        }
        // TASK_REPORT_MAX is written as an expression over constants.
        bits.preempted = print_fmt
            .split_once("? \"+\"")
            .and_then(|(before, _)| before.rsplit_once("prev_state &"))
            .and_then(|(_, expression)| evaluate(expression))
            .unwrap_or(0);
        bits
    }

    #[inline]
    pub(super) fn of(&self, state: i64) -> TaskState {
        let state = state as u64;
        let any = |bits: u64| state & bits != 0;
        if any(self.preempted) {
            TaskState::Preempted
        } else if !any(self.listed) {
            // Bits above the preempted mark are never printed: they show how, not what.
            TaskState::Runnable
        } else if any(self.dead) {
            TaskState::Dead
        } else if any(self.idle) || any(self.uninterruptible) && any(self.no_load) {
            TaskState::Idle
        } else if any(self.uninterruptible) {
            TaskState::Uninterruptible
        } else if any(self.interruptible) {
            TaskState::Interruptible
        } else if any(self.stopped) {
            TaskState::Stopped
        } else if any(self.traced) {
            TaskState::Traced
        } else {
            TaskState::Other
        }
    }
}

/// The `{ number, "letter" }` pairs.
fn flags(print_fmt: &str) -> impl Iterator<Item = (u64, &str)> {
    print_fmt.split('{').skip(1).filter_map(|pair| {
        let (pair, _) = pair.split_once('}')?;
        let (bit, letter) = pair.split_once(',')?;
        Some((number(bit.trim())?, letter.trim().trim_matches('"')))
    })
}

fn number(text: &str) -> Option<u64> {
    match text.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16).ok(),
        None => text.parse().ok(),
    }
}

/// The value of a C expression of numbers, `|`, `+`, `-`, `<<` and parentheses; `None` for any other.
fn evaluate(expression: &str) -> Option<u64> {
    let (value, rest) = or(expression, 0)?;
    // What the expression was cut out of may leave closing parentheses behind.
    rest.trim_start_matches([')', ' ']).is_empty().then_some(value)
}

/// More parentheses than any kernel writes: the depth is bounded because the input is foreign.
const DEEPEST: u32 = 32;

type Parsed<'t> = Option<(u64, &'t str)>;

fn or(text: &str, depth: u32) -> Parsed<'_> {
    let (mut value, mut rest) = shift(text, depth)?;
    while let Some(right) = rest.trim_start().strip_prefix('|') {
        let (operand, after) = shift(right, depth)?;
        (value, rest) = (value | operand, after);
    }
    Some((value, rest))
}

fn shift(text: &str, depth: u32) -> Parsed<'_> {
    let (mut value, mut rest) = sum(text, depth)?;
    while let Some(right) = rest.trim_start().strip_prefix("<<") {
        let (operand, after) = sum(right, depth)?;
        (value, rest) = (value.checked_shl(operand.try_into().ok()?)?, after);
    }
    Some((value, rest))
}

fn sum(text: &str, depth: u32) -> Parsed<'_> {
    let (mut value, mut rest) = primary(text, depth)?;
    loop {
        let trimmed = rest.trim_start();
        if let Some(right) = trimmed.strip_prefix('+') {
            let (operand, after) = primary(right, depth)?;
            (value, rest) = (value.checked_add(operand)?, after);
        } else if let Some(right) = trimmed.strip_prefix('-') {
            let (operand, after) = primary(right, depth)?;
            (value, rest) = (value.checked_sub(operand)?, after);
        } else {
            return Some((value, rest));
        }
    }
}

fn primary(text: &str, depth: u32) -> Parsed<'_> {
    let text = text.trim_start();
    if let Some(inner) = text.strip_prefix('(') {
        let depth = depth.checked_add(1).filter(|&depth| depth <= DEEPEST)?;
        let (value, rest) = or(inner, depth)?;
        return Some((value, rest.trim_start().strip_prefix(')')?));
    }
    let end = text.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(text.len());
    let (digits, rest) = text.split_at(end);
    Some((number(digits.trim_end_matches(['U', 'L', 'u', 'l']))?, rest))
}

#[cfg(test)]
mod tests {
    use super::*;
    use TaskState::*;

    /// 4.14 and later.
    const NEW: &str = r#""...", (REC->prev_state & ((((0x00000000 | 0x00000001 | 0x00000002 | 0x00000004 | 0x00000008 | 0x00000010 | 0x00000020 | 0x00000040) + 1) << 1) - 1)) ? __print_flags(REC->prev_state & ((((0x0 | 0x1) + 1) << 1) - 1), "|", { 0x00000001, "S" }, { 0x00000002, "D" }, { 0x00000004, "T" }, { 0x00000008, "t" }, { 0x00000010, "X" }, { 0x00000020, "Z" }, { 0x00000040, "P" }, { 0x00000080, "I" }) : "R", REC->prev_state & (((0x00000000 | 0x00000001 | 0x00000002 | 0x00000004 | 0x00000008 | 0x00000010 | 0x00000020 | 0x00000040) + 1) << 1) ? "+" : "", REC->next_comm"#;
    /// 3.x.
    const OLD: &str = r#""...", REC->prev_state & (1024-1) ? __print_flags(REC->prev_state & (1024-1), "|", { 1, "S"} , { 2, "D" }, { 4, "T" }, { 8, "t" }, { 16, "Z" }, { 32, "X" }, { 64, "x" }, { 128, "K" }, { 256, "W" }, { 512, "P" }) : "R", REC->prev_state & 1024 ? "+" : "", REC->next_comm"#;
    /// 4.2 to 4.13.
    const NO_LOAD: &str = r#"REC->prev_state & (4096-1) ? __print_flags(REC->prev_state & (4096-1), "|", { 1, "S"} , { 2, "D" }, { 4, "T" }, { 8, "t" }, { 16, "Z" }, { 32, "X" }, { 64, "x" }, { 128, "K" }, { 256, "W" }, { 512, "P" }, { 1024, "N" }, { 2048, "n" }) : "R", REC->prev_state & 4096 ? "+" : "", REC->next_comm"#;

    #[test]
    fn each_kernels_own_bits() {
        for (format, state, expected) in [
            (NEW, 0x0, Runnable),
            (NEW, 0x100, Preempted),
            (NEW, 0x1, Interruptible),
            (NEW, 0x2, Uninterruptible),
            (NEW, 0x80, Idle),
            (NEW, 0x10, Dead),
            (NEW, 0x20, Dead),
            (NEW, 0x4, Stopped),
            (NEW, 0x8, Traced),
            (NEW, 0x40, Other),
            (NEW, 0x2000, Runnable),
            (OLD, 0, Runnable),
            (OLD, 1024, Preempted),
            (OLD, 1024 | 1, Preempted),
            (OLD, 64, Dead),
            (OLD, 128 | 2, Uninterruptible),
            (OLD, 512, Other),
            (NO_LOAD, 1024 | 2, Idle),
            (NO_LOAD, 4096, Preempted),
            ("", 0, Runnable),
            ("", 1, Interruptible),
            ("", 2, Uninterruptible),
            ("", 64, Other),
        ] {
            assert_eq!(StateBits::parse(format).of(state), expected, "{state:#x} in {format:?}");
        }
    }

    #[test]
    fn expressions() {
        assert_eq!(evaluate(" 1024 "), Some(1024));
        assert_eq!(evaluate(" (((0x0 | 0x40 | 0x3f) + 1) << 1) "), Some(256));
        assert_eq!(evaluate(" 2048UL - 1"), Some(2047));
        for bad in ["", "(", "TASK_MAX", "1 *", "1 << 99", "0 - 1", &"(".repeat(100_000)] {
            assert_eq!(evaluate(bad), None, "{bad:.20}");
        }
    }
}
