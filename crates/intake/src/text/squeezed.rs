//! Several rows in one line, as a page leaves them that took the ends of lines for blanks.
//!
//! ```text
//! app-7 [001] 5.000100: sched_switch: app:7 [120] R ==> b:8 [120] b-8 [001] 5.000200: sched_switch: b:8 [120] S ==> ...
//! ```
//!
//! Read as one row, the head of the second would be taken for fields of the first.

use super::fields;

/// The rows of such a line, without what stands above the first; `None` of a line with fewer than two.
pub(super) fn rows(text: &str) -> Option<Vec<&str>> {
    let bytes = text.as_bytes();
    let brackets = memchr::memchr_iter(b'[', bytes).filter(|&at| has_cpu(bytes, at));
    // Every line passes here: a single row has the bracket of its CPU, and its priorities in others.
    brackets.clone().filter(|&at| has_time_near(bytes, at)).nth(1)?;
    let mut begins = brackets.filter_map(|at| begin(text, at));
    let first = begins.next()?;
    let second = begins.next()?;
    let begins: Vec<usize> = [first, second].into_iter().chain(begins).collect();
    let ends = begins.iter().skip(1).copied().chain([text.len()]);
    let rows = begins.iter().zip(ends).filter_map(|(&begin, end)| text.get(begin..end));
    Some(rows.map(|row| row.trim_end_matches(['`', ' '])).collect())
}

/// True of a bracket with a CPU's three digits and a blank behind it.
fn has_cpu(bytes: &[u8], at: usize) -> bool {
    matches!(bytes.get(at + 1..at + 6), Some([a, b, c, b']', b' ']) if [a, b, c].iter().all(|digit| digit.is_ascii_digit()))
}

/// True where one of the next two words ends as a time does.
fn has_time_near(bytes: &[u8], at: usize) -> bool {
    let words =
        bytes.get(at + 5..).unwrap_or(&[]).split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    words.take(2).any(|word| matches!(word, [.., digit, b':'] if digit.is_ascii_digit()))
}

/// Where the row begins whose CPU stands in the bracket at `at`: `app-7 [001] d..2. 5.000100: sched_switch:`, of perf `app 7 [001] ...`.
fn begin(text: &str, at: usize) -> Option<usize> {
    let mut words = text.get(at + "[001]".len()..)?.split_ascii_whitespace();
    let is_time = |word: &str| word.strip_suffix(':').is_some_and(|time| fields::clock_time(time).is_some());
    // The state of interrupts and preemption may stand before the time.
    let first = words.next()?;
    let has_time = is_time(first) || first.len() <= 6 && words.next().is_some_and(is_time);
    if !has_time {
        return None;
    }
    let event = words.next()?.strip_suffix(':')?;
    let is_part = |sign: u8| sign.is_ascii_alphanumeric() || matches!(sign, b'_' | b':' | b'-');
    if event.is_empty() || !event.bytes().all(is_part) {
        return None;
    }
    let before = text.get(..at)?.trim_end();
    let word_before = |text: &str| text.rfind(char::is_whitespace).map_or(0, |blank| blank + 1);
    let who = word_before(before);
    let pid = before.get(who..)?;
    let is_number = |word: &str| !word.is_empty() && word.bytes().all(|digit| digit.is_ascii_digit());
    match pid.rsplit_once('-') {
        Some((_, pid)) if is_number(pid) => Some(who),
        _ if is_number(pid) => {
            let name = before.get(..who)?.trim_end();
            Some(word_before(name)).filter(|_| !name.is_empty())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::rows;

    #[test]
    fn rows_in_one_line_are_split_where_the_next_begins() {
        let line = "`report version = 7 <idle>-0 [001] 5.000100: sched_switch: swapper/1:0 [120] R ==> app:21 [120] <...>-81 [006] d..2. 5.000200: \
                    sched_waking: comm=app pid=21 prio=120 target_cpu=001 app 21 [001] 5.000300: sched:sched_switch: app:21 [120] S ==> b:22 [120]`";
        assert_eq!(
            rows(line).unwrap_or_default(),
            [
                "<idle>-0 [001] 5.000100: sched_switch: swapper/1:0 [120] R ==> app:21 [120]",
                "<...>-81 [006] d..2. 5.000200: sched_waking: comm=app pid=21 prio=120 target_cpu=001",
                "app 21 [001] 5.000300: sched:sched_switch: app:21 [120] S ==> b:22 [120]",
            ]
        );
        for one in [
            "app-7 [001] 5.000100: sched_switch: app:7 [120] R ==> b:8 [120]",
            "app-7 [001] 5.000100: print: see [002] 5.2: what it was",
            "app-7 [001] 5.000100: bputs: [002] 5.200000: x",
            "[123] \u{20ac} [",
            "",
        ] {
            assert_eq!(rows(one), None, "{one}");
        }
    }
}
