//! What loggers, consoles and quoting put before a message, and the words and numbers behind it.

use crate::text::fields;
use whylate_base::{Cpu, CpuSet};

/// A longer message is cut.
const LONGEST_MESSAGE: usize = 100;

/// The message without what loggers and quoting put before it: `> [ 12.34][ T1] kernel: `.
pub(super) fn message(line: &str) -> &str {
    let rest = without_stamps(line.trim());
    rest.split_once(" kernel: ").map_or(rest, |(_, message)| without_stamps(message))
}

/// True of a line that has nothing but marks of quoting before its message.
pub(super) fn is_bare(line: &str) -> bool {
    message(line) == line.trim().trim_start_matches(['>', '|', ' ', '\t'])
}

/// The message, cut where it is long.
pub(super) fn words(line: &str) -> String {
    let message = message(line);
    match message.char_indices().nth(LONGEST_MESSAGE) {
        Some((end, _)) => format!("{}...", &message[..end]),
        None => message.to_owned(),
    }
}

/// The number behind these words, with blanks between them.
pub(super) fn number_behind(text: &str, words: &str) -> Option<u64> {
    text.split_once(words).and_then(|(_, rest)| leading_number(rest))
}

/// The number with which a text begins, behind blanks and a `#`.
pub(super) fn leading_number(text: &str) -> Option<u64> {
    let text = text.trim_start_matches([' ', '\t', '#']);
    let end = text.find(|sign: char| !sign.is_ascii_digit()).unwrap_or(text.len());
    text.get(..end)?.parse().ok()
}

/// The same, of a CPU. A number with a fraction is a time.
pub(super) fn cpu_behind(text: &str, words: &str) -> Option<u32> {
    let (_, rest) = text.split_once(words)?;
    leading_number(rest).filter(|_| !begins_with_fraction(rest)).and_then(|cpu| u32::try_from(cpu).ok())
}

/// `42.834101`
fn begins_with_fraction(text: &str) -> bool {
    let behind =
        text.trim_start_matches([' ', '\t', '#']).trim_start_matches(|sign: char| sign.is_ascii_digit());
    behind.strip_prefix('.').is_some_and(|fraction| fraction.starts_with(|sign: char| sign.is_ascii_digit()))
}

/// The seconds in the kernel's stamp before a message: `> [  240.123456] ` (`print_time()` in `kernel/printk/printk.c`). The stamps
/// of `dmesg -d` are differences.
pub(super) fn seconds(line: &str) -> Option<u64> {
    let (_, rest) = line.split_once('[')?;
    let (seconds, rest) = rest.trim_start().split_once('.')?;
    let (fraction, _) = rest.split_once(']')?;
    let known = fraction.bytes().all(|digit| digit.is_ascii_digit());
    seconds.parse().ok().filter(|_| known && seconds.bytes().all(|digit| digit.is_ascii_digit()))
}

/// The same stamp as it is printed, where it has the microseconds that tell messages apart. Messages of the early boot all have the
/// time 0.
pub(super) fn stamp(line: &str) -> Option<&str> {
    seconds(line)?;
    let time = line.split_once('[')?.1.split_once(']')?.0.trim();
    let is_set = |time: &str| time.bytes().any(|digit| (b'1'..=b'9').contains(&digit));
    (is_time(time) && is_set(time)).then_some(time)
}

/// The machine whose logger wrote the line: `Jun 10 16:03:08 board-3 kernel: `, `[16:03:08] board-3 kernel: `
pub(super) fn host(line: &str) -> Option<&str> {
    let (head, _) = line.split_once(" kernel: ")?;
    let (time, host) = head.rsplit_once(' ')?;
    let is_part = |sign: u8| sign.is_ascii_alphanumeric() || matches!(sign, b'-' | b'_' | b'.');
    let is_name = host.bytes().all(is_part) && host.bytes().any(|sign| sign.is_ascii_alphabetic());
    let is_stamp = |stamp: &str| has_time_of_day(stamp) || stamp.bytes().all(is_of_stamp);
    (is_name && is_stamp(time.trim_start_matches(['>', ' ', '[']).trim_end_matches([']', ' '])))
        .then_some(host)
}

/// The seconds since midnight in the stamp of a logger: `Jun 10 16:03:08 board-3 kernel: `, `[Mon Jan  2 03:04:05 2023] `.
pub(super) fn time_of_day(line: &str) -> Option<u64> {
    let head = line.trim_end().strip_suffix(message(line).trim_end())?;
    let is_end = |sign: char| sign.is_ascii_digit() || sign == ':';
    head.split([' ', 'T', '[']).find_map(|word| {
        let end = word.find(|sign| !is_end(sign)).unwrap_or(word.len());
        let mut parts = word.get(..end)?.split(':');
        let mut next = |limit: u64| {
            let part = parts.next().filter(|part| part.len() == 2)?;
            part.parse().ok().filter(|value: &u64| *value < limit)
        };
        let (hours, minutes, seconds) = (next(24)?, next(60)?, next(61)?);
        parts.next().is_none().then_some(hours * 3600 + minutes * 60 + seconds)
    })
}

/// True of a line with a time, a logger's name or a priority before its message, as the kernel's own messages have them.
pub(super) fn is_marked(line: &str) -> bool {
    !is_bare(line)
}

/// A longer list is shortened as the kernel does it.
const MOST_SINGLE: usize = 16;

/// `CPU 1`, `CPUs 1, 2 and 3`; of many CPUs `CPUs 0-31,40`
pub(super) fn cpus(cpus: &[u32]) -> String {
    match cpus {
        many if many.len() > MOST_SINGLE => {
            format!("CPUs {}", many.iter().map(|&cpu| Cpu(cpu)).collect::<CpuSet>())
        }
        [] => "a CPU".to_owned(),
        [cpu] => format!("CPU {cpu}"),
        several => format!("CPUs {}", listed(several)),
    }
}

/// `a, b and c`
pub(super) fn listed(all: &[impl ToString]) -> String {
    let all: Vec<String> = all.iter().map(ToString::to_string).collect();
    match all.as_slice() {
        [first @ .., last] if !first.is_empty() => format!("{} and {last}", first.join(", ")),
        one => one.concat(),
    }
}

/// What is behind marks of quoting, times, CPUs and threads.
fn without_stamps(mut rest: &str) -> &str {
    loop {
        let shorter = rest.trim_start_matches(['>', '|', ' ', '\t']);
        let shorter = match shorter.strip_prefix('[').and_then(|inner| inner.split_once(']')) {
            Some((stamp, after)) if stamp.bytes().all(is_of_stamp) || has_time_of_day(stamp) => after,
            _ => without_half_a_stamp(shorter)
                .or_else(|| without_time_of_day(shorter))
                .or_else(|| without_kmsg_prefix(shorter))
                .or_else(|| without_line_number(shorter))
                .unwrap_or_else(|| without_printing_cpu(shorter)),
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

/// `2021/07/05, 13:43:52.334`, `Mon Jan  2 03:04:05 2023`
fn has_time_of_day(stamp: &str) -> bool {
    let is_clock = |word: &str| {
        let mut parts = word.splitn(3, ':');
        let mut is_next = || {
            parts.next().is_some_and(|part| {
                part.len() >= 2 && part.bytes().take(2).all(|digit| digit.is_ascii_digit())
            })
        };
        is_next() && is_next() && is_next()
    };
    stamp.len() <= 40 && stamp.split([' ', 'T']).any(is_clock)
}

/// `42.834101] `: a time that lost what was before it.
fn without_half_a_stamp(text: &str) -> Option<&str> {
    text.split_once(']').filter(|(time, _)| is_time(time)).map(|(_, after)| after)
}

/// `21:40:57 >>> [42.834101] `: the time of a console, before the marks of quoting or the kernel's stamp.
fn without_time_of_day(text: &str) -> Option<&str> {
    let (time, rest) = text.split_once(' ')?;
    let is_stamped = rest.trim_start().starts_with(['[', '>']);
    (is_stamped && time.starts_with(|sign: char| sign.is_ascii_digit()) && has_time_of_day(time))
        .then_some(rest)
}

/// `42.834101`
fn is_time(text: &str) -> bool {
    let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|digit| digit.is_ascii_digit());
    let parts = text.split_once('.');
    parts.is_some_and(|(seconds, fraction)| is_digits(seconds) && is_digits(fraction) && fraction.len() == 6)
}

/// The lines that a page put together: the next one begins with half a stamp, `ncpus=4) 105.845757] rcu: INFO`.
pub(super) fn lines(line: &str) -> impl Iterator<Item = &str> {
    let mut rest = Some(line);
    std::iter::from_fn(move || {
        let text = rest?;
        let begins = text.match_indices(']').find_map(|(end, _)| {
            let before = text.get(..end)?;
            let at = before.rfind(char::is_whitespace)? + 1;
            let is_half = before.get(at..).is_some_and(is_time) && !text.get(..at)?.trim_end().ends_with('[');
            (is_half && !text.get(..at)?.trim().is_empty()).then_some(at)
        });
        let (first, others) = begins.and_then(|at| text.split_at_checked(at)).unzip();
        rest = others;
        Some(first.unwrap_or(text))
    })
}

/// `4,5013,12915313756,-;`: priority, number, microseconds and flags of a record of `/dev/kmsg`
/// (`Documentation/ABI/testing/dev-kmsg`).
fn without_kmsg_prefix(text: &str) -> Option<&str> {
    let (prefix, message) = text.split_once(';')?;
    let mut parts = prefix.split(',');
    let is_number = |field: Option<&str>| field.and_then(fields::digits).is_some();
    let numbers = is_number(parts.next()) && is_number(parts.next()) && is_number(parts.next());
    let is_flag =
        |flag: &str| !flag.is_empty() && flag.bytes().all(|sign| sign.is_ascii_lowercase() || sign == b'-');
    (numbers && parts.next().is_some_and(is_flag)).then_some(message)
}

/// `7344   \u{2502} `: a line's number, as pagers print it, and `7344 [   12.345678] `, as editors do.
fn without_line_number(text: &str) -> Option<&str> {
    if let Some((number, line)) = text.split_once(' ')
        && fields::digits(number).is_some()
        && let Some((time, _)) = line.trim_start().strip_prefix('[').and_then(|inner| inner.split_once(']'))
        && is_time(time.trim())
    {
        return Some(line);
    }
    let (number, line) = text.split_once('\u{2502}')?;
    fields::digits(number.trim()).map(|_| line)
}

/// `001: `: the CPU that printed the message, by the printk of the PREEMPT_RT patches for 5.0 to 5.9 (`kernel/printk/printk.c`,
/// `print_cpu`).
fn without_printing_cpu(text: &str) -> &str {
    match text.split_once(": ") {
        Some((cpu, message)) if cpu.len() == 3 && cpu.bytes().all(|digit| digit.is_ascii_digit()) => message,
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_loggers_put_before_a_message_is_left_out() {
        for line in [
            "Aug 14 18:31:12 host kernel: [  161.7] sched: RT throttling activated",
            "> > [  +0.014286] sched: RT throttling activated",
            "[2021/07/05, 13:43:52.334] sched: RT throttling activated",
            "[Mon Jan  2 03:04:05 2023] sched: RT throttling activated",
            "[2023-01-02T03:04:05.678Z] sched: RT throttling activated",
            "[ 9.1][ T12] sched: RT throttling activated",
            "[ 9.1] 001: sched: RT throttling activated",
            "sched: RT throttling activated",
            "21:40:57 >>> [4783749.306796] sched: RT throttling activated",
            "42.834070] sched: RT throttling activated",
            "5,1201,98765432,-;sched: RT throttling activated",
            "5,1201,98765432,c,caller=T9;sched: RT throttling activated",
            "  731 [   98.765432] sched: RT throttling activated",
            "731  [98.765432] sched: RT throttling activated",
            "  731   \u{2502} 5,1201,98765432,-;sched: RT throttling activated",
        ] {
            assert_eq!(words(line), "sched: RT throttling activated", "{line}");
        }
        assert_eq!(words("[ BUG: Invalid wait context ]"), "[ BUG: Invalid wait context ]");
        assert_eq!(words("12: other"), "12: other");
        assert_eq!(words("12 [app] other"), "12 [app] other");
        assert_eq!(words("5,12,x;other"), "5,12,x;other");
    }

    #[test]
    fn lines_put_together_are_taken_apart_at_half_a_stamp() {
        let cases: [(&str, &[&str]); 4] = [
            ("1.000001] a 2.000002] b 3.000003] c", &["1.000001] a ", "2.000002] b ", "3.000003] c"]),
            ("host kernel: [ 12.345678] a", &["host kernel: [ 12.345678] a"]),
            ("  12.345678] a [app:7]", &["  12.345678] a [app:7]"]),
            ("", &[""]),
        ];
        for (line, expected) in cases {
            assert_eq!(lines(line).collect::<Vec<_>>(), expected, "{line}");
        }
    }

    #[test]
    fn stamps_have_seconds() {
        let cases = [
            ("> [  240.] INFO: task", Some(240)),
            ("host kernel: [12345.678901] INFO: task", Some(12345)),
            ("[  +0.014286] INFO: task", None),
            ("[Mon Jan  2 03:04:05 2023] INFO: task", None),
            ("INFO: task [app:7]", None),
        ];
        for (line, expected) in cases {
            assert_eq!(seconds(line), expected, "{line}");
        }
    }

    #[test]
    fn loggers_have_a_time_of_day() {
        for (line, expected) in [
            ("Aug 14 01:02:03 host kernel: [  161.7] a", Some(3723)),
            ("[2023-01-02T01:02:03.678Z] a", Some(3723)),
            ("[Mon Jan  2 01:02:03 2023] a", Some(3723)),
            ("[  161.7] a at 01:02:03", None),
            ("Aug 14 31:02:03 host kernel: a", None),
        ] {
            assert_eq!(time_of_day(line), expected, "{line}");
        }
    }

    #[test]
    fn stamps_with_microseconds_tell_messages_apart() {
        let cases = [
            ("> [  240.123456][ T1] INFO: task", Some("240.123456")),
            ("host kernel: [12345.678901] INFO: task", Some("12345.678901")),
            ("[  240.1] INFO: task", None),
            ("[    0.000000] Linux version 6.6", None),
            ("INFO: task [app:7]", None),
        ];
        for (line, expected) in cases {
            assert_eq!(stamp(line), expected, "{line}");
        }
        assert!(is_marked("[ 9.1] a") && is_marked("> host kernel: a"));
        assert!(!is_marked("> a soft lockup") && !is_marked("BUG: a"));
    }

    #[test]
    fn numbers_stand_behind_words() {
        assert_eq!(cpu_behind("soft lockup - CPU#1 stuck", "CPU#"), Some(1));
        assert_eq!(number_behind("(t=5253 jiffies", "(t="), Some(5253));
        assert_eq!(number_behind("(t=-1 jiffies", "(t="), None);
        assert_eq!(number_behind("99999999999999999999999", ""), None);
        assert_eq!(cpu_behind("stall on CPU 42.834101] rcu:", "on CPU "), None);
        assert_eq!(cpu_behind("stall on CPU 4. So", "on CPU "), Some(4));
        assert_eq!(cpus(&[4]), "CPU 4");
        assert_eq!(cpus(&[0, 1, 3]), "CPUs 0, 1 and 3");
    }
}
