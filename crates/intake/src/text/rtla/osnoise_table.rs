//! The tables of `rtla osnoise top` and `rtla hwnoise`, whose rows a mail program may break (tools/tracing/rtla/src/osnoise_top.c).
//! hwnoise runs with interrupts disabled, and its rows end with the NMIs.
//!
//! ```text
//! CPU Period       Runtime        Noise  % CPU Aval   Max Noise   Max Single          HW          NMI          IRQ ...
//!   0 #29          1450000         3392    99.76606         710          546           0            0          350 ...
//! ```

use super::super::fields;
use super::decimal;
use std::borrow::Cow;
use whylate_base::Ns;
use whylate_events::{Breakdown, BreakdownPart, PartKind, Tool};

/// The words of its head, in their order.
const HEAD: [&str; 13] = [
    "CPU", "Period", "Runtime", "Noise", "%", "Aval", "Max", "Single", "HW", "NMI", "IRQ", "Softirq",
    "Thread",
];
/// Words of the head that no mail program breaks off.
const TO_NOISE: usize = 4;
/// Columns up to the largest single noise: CPU and period, runtime, noise, share, largest noise and largest single one.
const TO_SINGLE: usize = 7;

/// The rows below its head.
#[derive(Debug)]
pub(super) struct OsnoiseTable {
    /// The head was broken between two words, or not at all: its columns are those of the rows, so these are broken between two
    /// numbers.
    breaks_between: bool,
    /// A row of which the rest follows, and its line.
    begun: Option<(String, u64)>,
}

/// What a line is to the table.
#[derive(Debug, PartialEq)]
pub(super) enum TableLine {
    /// A CPU's row.
    Row(Breakdown),
    /// The beginning of one.
    Begun,
}

impl OsnoiseTable {
    /// True of its head, which no other tool prints.
    pub(super) fn is_head(line: &str) -> bool {
        let mut words = line.split_ascii_whitespace();
        HEAD.iter().take(TO_NOISE).all(|&word| words.next() == Some(word))
    }

    pub(super) fn below(head: &str) -> OsnoiseTable {
        let last = head.split_ascii_whitespace().last();
        OsnoiseTable { breaks_between: last.is_some_and(|last| HEAD.contains(&last)), begun: None }
    }

    /// `None`: it is no line of the table.
    pub(super) fn line(&mut self, line: &str, number: u64) -> Option<TableLine> {
        let is_rest = line.bytes().all(|byte| byte.is_ascii_digit() || b". ".contains(&byte));
        let (whole, at) = match self.begun.take().filter(|_| is_rest && !line.is_empty()) {
            Some((begun, at)) => (Cow::Owned(format!("{begun} {line}")), at),
            None => (Cow::Borrowed(line), number),
        };
        if let Some(mut row) = row(&whole, at) {
            // The end of a row that was broken may be missing, and with it digits of its last number.
            if matches!(whole, Cow::Owned(_)) {
                row.parts.pop_if(|last| last.kind == PartKind::Thread);
            }
            return Some(TableLine::Row(row));
        }
        let columns = whole.split_ascii_whitespace().count();
        let is_begun = self.breaks_between && columns < TO_SINGLE && begins_row(&whole);
        is_begun.then(|| {
            self.begun = Some((whole.into_owned(), at));
            TableLine::Begun
        })
    }
}

/// `0 #4`: the CPU and the number of periods.
fn begins_row(line: &str) -> bool {
    let mut words = line.split_ascii_whitespace();
    words.next().is_some_and(|cpu| fields::cpu_from(cpu).is_some())
        && words.next().and_then(|periods| periods.strip_prefix('#')).and_then(fields::digits).is_some()
}

/// `  0 #29  1450000  3392  99.76606  710  546  0  0  350  0  62`: the largest single noise is the 7th. The other numbers are kept
/// where they do not contradict each other.
fn row(line: &str, number: u64) -> Option<Breakdown> {
    let mut words = line.split_ascii_whitespace();
    let cpu = fields::cpu_from(words.next()?)?;
    let periods = words.next()?.strip_prefix('#')?;
    let columns: Vec<&str> = words.collect();
    let [runtime, noise, share, largest, single, hw, nmi, ref more @ ..] = *columns.as_slice() else {
        return None;
    };
    share.contains('.').then_some(())?;
    let us = |text: &str| Some(Ns(i64::try_from(decimal(text)?).ok()?.checked_mul(1_000)?));
    let total = us(single)?;
    let mut row = Breakdown::new(Tool::RtlaOsnoise, cpu, total, number);
    let count = |text: &str| fields::digits(text)?.parse::<u32>().ok();
    if let (Some(runtime), Some(noise), Some(largest)) = (us(runtime), us(noise), us(largest))
        && total <= largest
        && largest <= noise
        && noise <= runtime
    {
        let part = |kind, id, time| BreakdownPart { kind, name: String::new(), id, time, is_sum: false };
        row.parts.push(part(PartKind::Measured, None, runtime));
        row.parts.push(part(PartKind::Noise, count(periods), noise));
        row.parts.push(part(PartKind::LargestNoise, None, largest));
        let counts = [hw, nmi].into_iter().chain(more.iter().copied());
        let kinds = [PartKind::Hardware, PartKind::Nmi, PartKind::Irq, PartKind::Softirq, PartKind::Thread];
        let counted = kinds.into_iter().zip(counts).map_while(|(kind, text)| Some((kind, count(text)?)));
        row.parts.extend(counted.map(|(kind, number)| part(kind, Some(number), Ns::ZERO)));
    }
    Some(row)
}

#[cfg(test)]
mod tests {
    use super::{OsnoiseTable, TableLine};
    use whylate_base::{Cpu, Ns};

    /// The CPUs and largest single noises of a table of these lines.
    fn rows(head: &str, lines: &[&str]) -> Vec<(Cpu, Ns)> {
        let mut table = OsnoiseTable::below(head);
        let rows = lines.iter().filter_map(|line| match table.line(line, 1) {
            Some(TableLine::Row(row)) => Some((row.cpu, row.total)),
            _ => None,
        });
        rows.collect()
    }

    #[test]
    fn a_row_is_read_whole_or_broken_where_the_head_is() {
        let whole = "0 #4 4000000 37712 99.05720 10998 555 7624 0 4011 34 24";
        let expected = [(Cpu(0), Ns::from_us(555))];
        let head = "CPU Period Runtime Noise % CPU Aval Max Noise Max";
        assert_eq!(rows(&format!("{head} Single HW NMI IRQ Softirq Thread"), &[whole]), expected);
        let broken = ["0 #4 4000000 37712 99.05720 10998", "555 7624 0 4011 34 2", "4"];
        assert_eq!(rows(head, &broken), expected);
        let next = ["1 #4 4000000 37712 99.05720 10998", "0 #4 4000000 37712 99.05720 10998", broken[1]];
        assert_eq!(rows(head, &next), expected, "of one row the rest is missing");
        let mut table = OsnoiseTable::below(&format!("{head} Single HW NMI IRQ Softirq Thread"));
        let row = match table.line(whole, 1) {
            Some(TableLine::Row(row)) => row,
            other => panic!("{other:?}"),
        };
        let parts: Vec<_> = row.parts.iter().map(|part| (part.kind, part.id, part.time.0 / 1_000)).collect();
        use whylate_events::PartKind::*;
        let all = [
            (Measured, None, 4_000_000),
            (Noise, Some(4), 37_712),
            (LargestNoise, None, 10_998),
            (Hardware, Some(7_624), 0),
            (Nmi, Some(0), 0),
            (Irq, Some(4_011), 0),
            (Softirq, Some(34), 0),
            (Thread, Some(24), 0),
        ];
        assert_eq!(parts, all);
        // Of a broken row the last number may lack digits; contradicting numbers are not used.
        let mut table = OsnoiseTable::below(head);
        let last = broken.iter().find_map(|line| match table.line(line, 1) {
            Some(TableLine::Row(row)) => row.parts.last().map(|last| last.kind),
            _ => None,
        });
        assert_eq!(last, Some(Softirq));
        let mut table = OsnoiseTable::below(head);
        let changed = whole.replace("37712", "7");
        assert!(matches!(table.line(&changed, 1), Some(TableLine::Row(row)) if row.parts.is_empty()));
        // Where the head is broken within a word, a number may be, too.
        assert_eq!(rows("CPU Period Runtime Noise % CPU Aval Max Noise Ma", &broken), []);
    }
}
