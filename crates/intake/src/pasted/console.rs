//! What the kernel's console, `dmesg` and system loggers put in front of a line, as of a dump of the trace buffer on
//! an oops:
//!
//! ```text
//! <4>[   12.345678]     bash-1234    0d..2.  1234567us : ...
//! [   12.345678][    T1] ...                                  CONFIG_PRINTK_CALLER
//! [Sun Nov 22 10:11:12 2026] ...                              dmesg -T
//! kern  :warn  : [   12.345678] ...                           dmesg -x
//! Nov 22 10:11:12 host kernel: [   12.345678] ...             syslog, journalctl
//! 2026-11-22T10:11:12.123456+00:00 host cyclictest[12]: ...   the same with an ISO date, of a program
//! 2026-11-22T10:11:12.123456789Z ...                          docker logs -t, kubectl logs --timestamps
//! ```

/// What follows the prefix; `None` where there is none.
pub(super) fn without_prefix(line: &str) -> Option<&str> {
    let text = line.trim_start_matches([' ', '\t']);
    let rest = match text.bytes().next()? {
        b'<' => level(text),
        b'[' => bracketed(text),
        b'0'..=b'9' | b'A'..=b'Z' => logged(text),
        b'a'..=b'z' => facility(text),
        _ => None,
    }?;
    Some(rest.strip_prefix(' ').unwrap_or(rest))
}

/// The time in such a prefix: `12.345678` or a date with its weekday, of the kernel; or else the time of day.
pub(super) fn time(prefix: &str) -> Option<&str> {
    let inside = prefix.split(['[', ']']).map(|part| part.trim_start_matches(' '));
    let of_kernel = inside.clone().find(|inside| is_seconds(inside) || is_date(inside));
    of_kernel.or_else(|| {
        let clock = |word: &'_ str| word.char_indices().nth(8).map_or(word.len(), |(end, _)| end);
        let mut words = prefix.split([' ', 'T', '[', ']']).filter_map(|word| word.get(..clock(word)));
        words.find(|word| is_time_of_day(word))
    })
}

/// The machine in such a prefix of a logger, where that has the kernel's line.
pub(super) fn host(prefix: &str) -> Option<&str> {
    let (before, _) = prefix.rsplit_once(" kernel:")?;
    let (time, host) = before.rsplit_once(' ')?;
    let is_named = host.starts_with(|first: char| first.is_ascii_alphanumeric()) && !is_time_of_day(host);
    (is_named && !time.trim().is_empty()).then_some(host)
}

/// `<4>`
fn level(text: &str) -> Option<&str> {
    let (number, rest) = text.strip_prefix('<')?.split_once('>')?;
    (number.len() <= 3 && is_digits(number)).then_some(rest)
}

/// `[   12.345678]`, `[    T1]`, `[    C0]`, `[Sun Nov 22 10:11:12 2026]`
fn bracketed(text: &str) -> Option<&str> {
    let (inside, rest) = text.strip_prefix('[')?.split_once(']')?;
    let inside = inside.trim_start_matches(' ');
    let is_caller = || inside.strip_prefix(['T', 'C']).is_some_and(is_digits);
    (is_seconds(inside) || is_caller() || is_date(inside)).then_some(rest)
}

/// `Sun Nov 22 10:11:12 2026`
fn is_date(text: &str) -> bool {
    let mut words = text.split_ascii_whitespace();
    let day = words.next().is_some_and(|day| DAYS.contains(&day));
    day && words.next().is_some_and(is_month) && words.any(is_time_of_day)
}

/// `12.345678`
fn is_seconds(text: &str) -> bool {
    text.split_once('.').is_some_and(|(s, us)| is_digits(s) && us.len() == 6 && is_digits(us))
}

/// `Nov 22 10:11:12 host kernel: ` and the like: a date, a machine and who logged; or a date alone, of a container.
fn logged(text: &str) -> Option<&str> {
    let (first, behind_first) = word(text)?;
    if first.starts_with(|first: char| first.is_ascii_digit()) {
        let is_date = first.len() >= 19 && first.as_bytes().get(4) == Some(&b'-') && first.contains('T');
        let behind = is_date.then_some(behind_first)?;
        return of_logger(behind).or_else(|| first.ends_with('Z').then_some(behind));
    }
    let (day, behind) = is_month(first).then(|| word(behind_first))??;
    let (time, behind) = is_digits(day).then(|| word(behind))??;
    is_time_of_day(time).then(|| of_logger(behind))?
}

/// What follows ` host kernel:` or ` host cyclictest[12]:`.
fn of_logger(text: &str) -> Option<&str> {
    let (_, behind) = word(text)?;
    let (name, behind) = word(behind)?;
    let name = name.strip_suffix(':')?;
    let is_program = || {
        name.strip_suffix(']').and_then(|name| name.rsplit_once('[')).is_some_and(|(_, pid)| is_digits(pid))
    };
    (name == "kernel" || is_program()).then_some(behind)
}

/// The first word, and what is behind it.
fn word(text: &str) -> Option<(&str, &str)> {
    let text = text.trim_start_matches(' ');
    let end = text.find(' ').unwrap_or(text.len());
    (end > 0).then(|| text.split_at(end))
}

/// `kern  :warn  : `
fn facility(text: &str) -> Option<&str> {
    let (level, rest) = text.strip_prefix("kern ")?.trim_start().strip_prefix(':')?.split_once(':')?;
    (level.len() <= 8 && level.trim_end().bytes().all(|byte| byte.is_ascii_lowercase())).then_some(rest)
}

const DAYS: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];

fn is_month(word: &str) -> bool {
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"].contains(&word)
}

/// `10:11:12`
fn is_time_of_day(word: &str) -> bool {
    word.len() >= 8
        && word.split(':').count() == 3
        && word.bytes().all(|b| b.is_ascii_digit() || b":.".contains(&b))
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}
