//! A row of the table of `perf sched latency`, which is a measurement by itself, and may stand beside the rows of a trace.

/// A thread's row. Times are in microseconds, as perf prints them.
#[derive(Debug, PartialEq)]
pub(crate) struct Row {
    pub(crate) name: String,
    /// How often it was switched to.
    pub(crate) count: u64,
    pub(crate) mean: u64,
    pub(crate) max: u64,
    when: When,
}

/// When the largest delay was, by the clock of the recording.
#[derive(Debug, PartialEq)]
enum When {
    Unknown,
    /// The switch at its end.
    End(String),
    Span(String, String),
}

impl Row {
    /// Of a whole line; `None`: a number of it is missing or broken.
    pub(crate) fn of(line: &str) -> Option<Row> {
        let mut cells = line.split('|').map(str::trim);
        let name = numbered(cells.next()?);
        let _runtime = ms(cells.next()?)?;
        let count = cells.next()?.parse().ok().filter(|count| *count > 0)?;
        let labelled: Vec<&str> = cells.collect();
        let of = |label: &str| labelled.iter().find_map(|cell| cell.strip_prefix(label)).map(str::trim);
        let (mean, max) = (ms(of("avg:")?)?, ms(of("max:")?)?);
        let time = |label: &str| of(label).filter(|text| us(text).is_some());
        let when = match (time("max start:"), time("max end:"), time("max at:")) {
            // Numbers that contradict each other are not those that perf printed.
            (Some(start), Some(end), _)
                if us(end)?.checked_sub(us(start)?).is_some_and(|delay| delay.abs_diff(max) <= 1) =>
            {
                When::Span(in_seconds(start), in_seconds(end))
            }
            (None, None, Some(end)) => When::End(in_seconds(end)),
            _ => When::Unknown,
        };
        (mean <= max.saturating_add(1)).then_some(Row { name, count, mean, max, when })
    }

    /// True where nothing can follow that is of the same row.
    pub(crate) fn is_whole(line: &str) -> bool {
        let ends = |label: &str| line.split_once(label).is_some_and(|(_, end)| us(end.trim()).is_some());
        ends("max end:") || ends("max at:")
    }

    /// perf adds up threads of one name, but with `-p`.
    pub(crate) fn is_of_several(&self) -> bool {
        self.name.contains(":(")
    }

    /// `10.674 ms, of app:7040, from 353.809487 s to 353.820161 s`
    pub(crate) fn shown(&self) -> String {
        let when = match &self.when {
            When::Unknown => String::new(),
            When::End(end) => format!(", until {end}"),
            When::Span(start, end) => format!(", from {start} to {end}"),
        };
        let (ms, us) = (self.max / 1_000, self.max % 1_000);
        format!("{ms}.{us:03} ms, of {}{when}", self.name)
    }
}

/// True of a line with which a row begins. The sum of all has no delays.
pub(crate) fn begins(line: &str) -> bool {
    let mut cells = line.split('|').map(str::trim);
    let (name, runtime, count) = (cells.next().unwrap_or(""), cells.next(), cells.next());
    let is_count = |count: &str| !count.is_empty() && count.bytes().all(|byte| byte.is_ascii_digit());
    !name.is_empty() && !is_sum(name) && runtime.and_then(ms).is_some() && count.is_some_and(is_count)
}

/// The name with the number of a run, or of a line, behind it: people put one in front of rows, `3 app:(5)`.
fn numbered(name: &str) -> String {
    let is_number = |word: &str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit());
    match name.split_once(' ') {
        Some((number, rest)) if is_number(number) && rest.contains(':') => {
            format!("{} #{number}", rest.trim_start())
        }
        _ => name.to_owned(),
    }
}

/// The thread of a line that begins a row.
pub(crate) fn name(line: &str) -> &str {
    line.split('|').next().unwrap_or("").trim()
}

/// True of what may be the rest of a row that a mail broke.
pub(crate) fn may_continue(line: &str) -> bool {
    const WORDS: [&str; 9] = ["avg:", "max:", "max", "sum:", "start:", "end:", "at:", "ms", "s"];
    let is_of_row = |word: &str| {
        word == "|" || WORDS.contains(&word) || word.starts_with(|first: char| first.is_ascii_digit())
    };
    line.split_ascii_whitespace().next().is_some_and(is_of_row) && !begins(line)
}

/// True of the titles of the columns, or of some of them.
pub(crate) fn is_title(line: &str) -> bool {
    line.contains('|') && (line.contains("delay") || line.contains("Runtime ms"))
}

/// True of rulers around the rows.
pub(crate) fn is_of_frame(line: &str) -> bool {
    let is_ruler = line.bytes().all(|byte| b"-=| ".contains(&byte));
    is_ruler || line == "s"
}

/// True of the line with the sums of all rows, which is below the last one.
pub(crate) fn is_sum(line: &str) -> bool {
    line.starts_with("TOTAL:")
}

/// Microseconds of `10.674 ms`.
fn ms(cell: &str) -> Option<u64> {
    decimal(cell.strip_suffix("ms")?.trim_end(), 3)
}

/// Microseconds of `353.809487 s`, whose unit may be in the next line.
fn us(cell: &str) -> Option<u64> {
    let cell = cell.trim_end_matches('|').trim_end();
    decimal(cell.strip_suffix('s').unwrap_or(cell).trim_end(), 6)
}

/// A number with so many decimals, in units of the last one.
fn decimal(text: &str, decimals: usize) -> Option<u64> {
    let (whole, rest) = text.split_once('.')?;
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    (is_number(whole) && is_number(rest) && rest.len() == decimals).then_some(())?;
    format!("{whole}{rest}").parse().ok()
}

fn in_seconds(time: &str) -> String {
    format!("{} s", time.trim_end_matches(['s', ' ', '|']))
}
