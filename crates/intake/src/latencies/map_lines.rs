//! The lines of histograms of bcc and bpftrace, as their programs printed them, and what stands beside their rows.

use std::borrow::Cow;

/// Each line with its number from 0 on: without a time before a map's name, and with the bar that a mail program broke off a row.
pub(super) fn lines(text: &str) -> Vec<(usize, Cow<'_, str>)> {
    let mut all: Vec<(usize, Cow<'_, str>)> = Vec::new();
    for (number, line) in text.lines().map(str::trim).enumerate() {
        let row = all.last_mut().filter(|(_, row)| is_bar(line) && is_class_with_count(row));
        match row {
            Some((_, row)) => *row = Cow::Owned(format!("{row} {line}")),
            None => all.push((number, Cow::Borrowed(without_time(line)))),
        }
    }
    all
}

/// `13:39:55 @usecs:` of `time("%H:%M:%S "); print(@usecs)`
fn without_time(line: &str) -> &str {
    let is_time = |word: &str| {
        let mut parts = word.split(':');
        parts.clone().count() == 3
            && parts.all(|part| part.len() == 2 && part.bytes().all(|b| b.is_ascii_digit()))
    };
    match line.split_once(' ') {
        Some((time, rest)) if is_time(time) && rest.trim_start().starts_with('@') => rest.trim_start(),
        _ => line,
    }
}

/// `|@@@@@      |`, alone in its line.
fn is_bar(line: &str) -> bool {
    let inside = line.strip_prefix('|').and_then(|rest| rest.strip_suffix('|'));
    inside.is_some_and(|bar| !bar.is_empty() && bar.bytes().all(|sign| b"@*+ ".contains(&sign)))
}

/// `[2K, 4K)   390`, `8 -> 15    : 134`
fn is_class_with_count(line: &str) -> bool {
    let count = match line.strip_prefix(['[', '(']) {
        Some(rest) => rest.split_once([')', ']']).map(|(_, count)| count),
        None => line.split_once(':').filter(|(class, _)| class.contains("->")).map(|(_, count)| count),
    };
    count.map(str::trim).is_some_and(|count| !count.is_empty() && count.bytes().all(|b| b.is_ascii_digit()))
}

/// `[1]: https://...`, `(1) the whole output`: a footnote of a mail. A class of one number has a count behind it.
pub(super) fn is_footnote(line: &str) -> bool {
    let bracketed = line.strip_prefix(['[', '(']).and_then(|rest| rest.split_once([']', ')']));
    let Some((number, rest)) = bracketed else { return false };
    let words = rest.strip_prefix(':').unwrap_or(rest);
    let is_number = !number.is_empty() && number.bytes().all(|digit| digit.is_ascii_digit());
    is_number && words.trim_start().starts_with(char::is_alphabetic)
}

/// `avg = 12 usecs, total: 3600 usecs, count: 300`: what `funclatency` prints below a histogram, and no name of the next one.
pub(super) fn printed_mean(line: &str) -> Option<(u64, &str)> {
    let (mean, rest) = line.strip_prefix("avg = ")?.split_once(", ")?;
    let (number, unit) = mean.split_once(' ')?;
    let is_sum = rest.contains("total: ") && rest.contains("count: ");
    number.parse().ok().filter(|_| is_sum).map(|number| (number, unit.trim()))
}

/// What a map counts, by a program in the text: `@map = lhist(jiffies - $start, 0, 16, 1)`.
pub(super) fn counted<'a>(text: &'a str, map: &str) -> Option<&'a str> {
    each_counted(text, map).next()
}

fn each_counted<'a>(text: &'a str, map: &str) -> impl Iterator<Item = &'a str> {
    /// A longer one is no expression that a person reads.
    const LONGEST: usize = 80;
    let name = format!("@{map}");
    let length = name.len();
    let places: Vec<usize> = text.match_indices(&name).map(|(at, _)| at).collect();
    places.into_iter().filter_map(move |at| {
        let behind = text.get(at + length..)?;
        let behind = match behind.strip_prefix('[') {
            Some(keys) => keys.split_once(']')?.1,
            None => behind,
        };
        let value = behind.trim_start().strip_prefix('=')?.trim_start();
        let value = ["lhist(", "hist("].iter().find_map(|call| value.strip_prefix(call))?;
        let mut depth = 0_u32;
        let end = value.find(|sign: char| {
            let is_end = depth == 0 && matches!(sign, ',' | ')');
            depth = match sign {
                '(' => depth + 1,
                ')' => depth.saturating_sub(1),
                _ => depth,
            };
            is_end
        })?;
        value.get(..end).map(str::trim).filter(|counted| (1..=LONGEST).contains(&counted.len()))
    })
}

/// The unit in which the programs in a text count a map, in nanoseconds: `(nsecs - @start[tid]) / 1000` counts microseconds. `None` where
/// one of them counts something else.
pub(super) fn unit_of_program(text: &str, map: &str) -> Option<u64> {
    let mut units = each_counted(text, map).map(unit_of_difference);
    let first = units.next()??;
    units.all(|unit| unit == Some(first)).then_some(first)
}

/// Of a difference of bpftrace's clock `nsecs`, divided or not.
fn unit_of_difference(counted: &str) -> Option<u64> {
    let counted: String = counted.chars().filter(|sign| !sign.is_whitespace()).collect();
    let (mut rest, mut unit) = (counted.as_str(), 1_u64);
    while let Some((dividend, divisor)) = rest.rsplit_once('/').filter(|(_, divisor)| !divisor.ends_with(')'))
    {
        let divisor = match divisor.strip_prefix("1e") {
            Some(power) => 10_u64.checked_pow(power.parse().ok()?)?,
            None => divisor.replace('_', "").parse().ok()?,
        };
        unit = unit.checked_mul(divisor)?;
        // Without brackets only the last term is divided.
        rest = dividend;
        if !rest.ends_with(')') && !rest.ends_with(|sign: char| sign.is_ascii_digit()) {
            return None;
        }
    }
    let is_bracketed = rest.starts_with('(');
    if let Some(inner) = rest.strip_prefix('(') {
        rest = inner.strip_suffix(')')?;
    }
    let start = rest.strip_prefix("nsecs-")?;
    let is_plain =
        !start.is_empty() && !start.contains(['/', '*', '+', '(', ')']) && !start.contains("nsecs");
    let is_power = [1, 1_000, 1_000_000, 1_000_000_000].contains(&unit);
    (is_plain && is_power && (unit == 1 || is_bracketed)).then_some(unit)
}

#[cfg(test)]
mod tests {
    use super::{counted, is_footnote, lines, printed_mean, unit_of_program};

    #[test]
    fn lines_are_as_they_were_printed() {
        let text = "10:11:12 @wait_ns:\n[1K, 2K)      7\n|@@@   |\n[2K, 4K)  1 |@   |\n10:11:12 ready\n4 -> 7   : 12\n|*** |\n|@@|\n";
        let read: Vec<String> = lines(text).into_iter().map(|(at, line)| format!("{at} {line}")).collect();
        let expected = [
            "0 @wait_ns:",
            "1 [1K, 2K)      7 |@@@   |",
            "3 [2K, 4K)  1 |@   |",
            "4 10:11:12 ready",
            "5 4 -> 7   : 12 |*** |",
            "7 |@@|",
        ];
        assert_eq!(read, expected);
    }

    #[test]
    fn footnotes_and_sums_are_told_from_rows_and_names() {
        for line in ["[1]: https://example.org", "[2] the whole output", "(3) the rest"] {
            assert!(is_footnote(line), "{line}");
        }
        for line in ["[1]   5 |@@@|", "[8, 16)  2 |@|", "[...]", "[1]", "1. first"] {
            assert!(!is_footnote(line), "{line}");
        }
        assert_eq!(printed_mean("avg = 12 usecs, total: 3,600 usecs, count: 300"), Some((12, "usecs")));
        assert_eq!(printed_mean("pid = 12"), None);
    }

    #[test]
    fn a_program_shows_what_its_map_counts() {
        let of = |program: &str| counted(program, "late").map(str::to_owned);
        assert_eq!(
            of("{ @late = lhist(jiffies - max(a, b), 0, 16, 1); }").as_deref(),
            Some("jiffies - max(a, b)")
        );
        assert_eq!(of("@late:\n@late[pid] = hist(nsecs - $start);").as_deref(), Some("nsecs - $start"));
        for none in ["@late:\n", "@later = hist(1)", "@late = count()", "@late = hist("] {
            assert_eq!(of(none), None, "{none}");
        }
    }

    #[test]
    fn a_difference_of_the_clock_shows_its_unit() {
        let of = |counted: &str| unit_of_program(&format!("{{ @late = hist({counted}); }}"), "late");
        for (counted, expected) in [
            ("nsecs - @start[tid]", Some(1)),
            ("(nsecs - $rq->start) / 1000", Some(1_000)),
            ("(nsecs-@s)/1e6", Some(1_000_000)),
            ("(nsecs - @s) / 1000 / 1000", Some(1_000_000)),
            ("(nsecs - @s) / 1_000_000", Some(1_000_000)),
            ("nsecs - @s / 1000", None),
            ("(nsecs - @s) / 7", None),
            ("(nsecs - @s) * 1000", None),
            ("(nsecs - @s) / @n", None),
            ("(nsecs - @s / 1000)", None),
            ("jiffies - @s", None),
            ("nsecs", None),
            ("args->ret", None),
        ] {
            assert_eq!(of(counted), expected, "{counted}");
        }
        let two = "@late = hist(nsecs - @a); @late = hist((nsecs - @a) / 1000);";
        assert_eq!(unit_of_program(two, "late"), None);
        assert_eq!(unit_of_program("@late:", "late"), None);
    }
}
