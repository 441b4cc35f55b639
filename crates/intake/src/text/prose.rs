//! What stands between the lines of a pasted trace: is it prose, or a line of the trace that cannot be read?

use super::fields;

/// True where a skipped line has what a trace's lines have, so that an event may be missing: a time, a CPU in brackets
/// or an event's fields.
pub(super) fn has_a_trace_lines_parts(text: &str) -> bool {
    let words = text.split_ascii_whitespace();
    words.clone().any(is_time)
        || words.clone().any(is_cpu)
        || words.filter(|word| is_field(word)).nth(1).is_some()
}

/// True of a line with a time and a CPU in brackets behind a word.
pub(super) fn has_time_and_cpu(text: &str) -> bool {
    let words = text.split_ascii_whitespace();
    !text.trim_start().starts_with('[') && words.clone().any(is_time) && words.clone().any(is_cpu)
}

/// What stands before the event of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LineParts {
    pub(super) has_thread: bool,
    /// Its number alone stands before the CPU.
    pub(super) has_tid: bool,
    pub(super) has_cpu: bool,
    pub(super) has_time: bool,
}

/// What a line has before its event. Behind the event's name stand its fields: another thread, another CPU.
pub(super) fn parts(text: &str) -> LineParts {
    let is_event =
        |word: &&str| word.ends_with(':') && word.starts_with(|first: char| first.is_ascii_lowercase());
    // `app:12 [120] S ==> ...`: a switch, whose numbers in brackets are priorities.
    let is_named =
        |word: &&str| word.rsplit_once(':').is_some_and(|(name, tid)| !name.is_empty() && is_digits(tid));
    let words = || text.split_ascii_whitespace().take_while(|word| !is_event(word) && !is_named(word));
    // `12 [003]: `
    let is_cpu = |word: &str| is_cpu(word.strip_suffix(':').unwrap_or(word));
    LineParts {
        has_thread: words().any(is_thread),
        has_tid: words().zip(words().skip(1)).any(|(tid, cpu)| is_digits(tid) && is_cpu(cpu)),
        has_cpu: words().any(is_cpu),
        has_time: words().any(is_time),
    }
}

/// True of a line that begins with a thread and has a colon behind its head, as a tracer's rows do in any language.
pub(super) fn is_like_a_row(text: &str) -> bool {
    text.split_once(" : ")
        .is_some_and(|(head, _)| head.split_ascii_whitespace().next().is_some_and(is_thread))
}

/// `app-12`, `<idle>-0`
fn is_thread(word: &str) -> bool {
    word.rsplit_once('-').is_some_and(|(name, tid)| !name.is_empty() && is_digits(tid))
}

/// `1310.796265:`, as all clocks that count in seconds are printed.
fn is_time(word: &str) -> bool {
    let time = word.strip_suffix(':').and_then(|time| time.split_once('.'));
    time.is_some_and(|(seconds, fraction)| {
        is_digits(seconds) && (6..=9).contains(&fraction.len()) && is_digits(fraction)
    })
}

/// `[003]`
fn is_cpu(word: &str) -> bool {
    let cpu = word.strip_prefix('[').and_then(|cpu| cpu.strip_suffix(']'));
    cpu.is_some_and(|cpu| cpu.len() >= 3 && is_digits(cpu))
}

/// `prev_pid=12`
fn is_field(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, value)| {
        name.contains('_')
            && !value.is_empty()
            && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')
    })
}

fn is_digits(text: &str) -> bool {
    fields::digits(text).is_some()
}

#[cfg(test)]
mod tests {
    use super::has_a_trace_lines_parts;

    #[test]
    fn prose_has_no_time_no_cpu_and_no_fields() {
        for prose in [
            "",
            "Here is what I see on 6.1.0, at load 2.50:",
            "```",
            "> On Mon, 2 Jan 2023 at 10:11:12.123456 Jo wrote:",
            "sudo trace-cmd record -e sched_switch -p 1.5 --cpu=[3]",
            "see [1], [02] and https://example.org/?a=1&b_c=2",
            "Max = 123.456789 us, runtime=950000",
        ] {
            assert!(!has_a_trace_lines_parts(prose), "{prose}");
        }
    }

    #[test]
    fn a_damaged_line_of_a_trace_keeps_one_of_them() {
        for line in [
            "0 [003] d..2. sched_swi",
            "bash-12 d..2 1310.796265: sched_sw",
            "prev_comm=bash prev_pid=12 prev_prio=120",
        ] {
            assert!(has_a_trace_lines_parts(line), "{line}");
        }
    }
}
