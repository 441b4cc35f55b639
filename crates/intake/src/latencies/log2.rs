//! Histograms of bcc and bpftrace: `runqlat`, `cpudist`, `hardirqs -d`, `softirqs -d`, `hist()` of any script. Each class is
//! twice as wide as the one before, so even the maximum is known only by its class.
//!
//! ```text
//! pid = 1207                                                    @usecs:
//!      usecs               : count     distribution             [8, 16)   134 |@@@@@@@@@@@@@@    |
//!          8 -> 15         : 134      |**************    |      [1K, 2K)    5 |@                 |
//! ```
//!
//! Facts: `print_log2_hist` in bcc's src/python/bcc/table.py, `print_hist` in bpftrace's src/output.cpp.

use super::counted::MOST_THREADS;
use super::error::Broken;
use super::map_lines::{counted, is_footnote, lines, printed_mean, unit_of_program};
use super::map_names;
use super::sections::{OWN_MEAN, each_largest, name_apart};
use super::titles::{self, Title};
use crate::pasted::leaves_out;
use std::collections::BTreeSet;
use whylate_base::Ns;
use whylate_stats::{Bucket, Exact, Histogram, Measured, Run};

/// The parts of the table of trace-irqoff, each with a line of its own above it: `hardirq-off:`.
const IRQ_OFF: [&str; 2] = ["hardirq-off", "softirq-off"];
/// Later is no latency: 292 years would not fit.
const LONGEST: u64 = 1 << 60;

/// All histograms of a text as one measurement of each kind.
pub(super) fn read(text: &str) -> Vec<Result<Run, Broken>> {
    // A recording may hold the words of one.
    if text.contains('\0') {
        return Vec::new();
    }
    let first_title = text.lines().find_map(titles::title);
    let mut title: Option<Title> = None;
    let broken = |why: &str| {
        let tool = first_title.clone().or_else(|| of_command(text)).map_or(UNKNOWN, |title| title.tool);
        Broken { tool, why: why.to_owned() }
    };
    let mut tables: Vec<Table> = Vec::new();
    let mut key = String::new();
    let mut kind = String::new();
    let mut is_below_row = false;
    // Books leave the bars out; where some lines have one, a line without it was cut.
    let has_bars = text.contains('|');
    if let Some(line) = text.lines().rev().map(str::trim).find(|line| !line.is_empty())
        && is_cut_within_its_bar(line)
    {
        return vec![Err(broken("its last line is cut: later rows may be missing"))];
    }
    for (number, line) in lines(text) {
        let line = line.as_ref();
        if let Some(unit) = head(line) {
            let map = line.strip_prefix('@').map_or("", |_| unit).to_owned();
            let counted = match unit_of(unit) {
                // Some scripts name the unit in their title only.
                None if unit.is_empty() => first_title.as_ref().map(|_| 1_000),
                None if !map.is_empty() => unit_of_program(text, &map),
                unit => unit,
            };
            // Each map of a script is of something else.
            let kind = if map.is_empty() { kind.clone() } else { map.clone() };
            let is_derived = unit_of(unit).is_none() && !map.is_empty();
            let label = std::mem::take(&mut key);
            let key = map_key(line).map_or(label, str::to_owned);
            let title = title.clone();
            tables.push(Table {
                key,
                kind,
                map,
                title,
                unit: counted,
                is_derived,
                mean: None,
                rows: Vec::new(),
            });
        } else if let Some(row) = row(line, has_bars) {
            match tables.last_mut() {
                Some(table) => table.rows.push(row),
                // Rows without a head are any numbers.
                None => return Vec::new(),
            }
            is_below_row = true;
            continue;
        } else if is_below_row && leaves_out(line) {
            return vec![Err(broken(&format!(
                "at line {} rows are left out ({line}): later ones may be, too{}",
                number + 1,
                last_class(&tables)
            )))];
        } else if !tables.is_empty() && begins_as_row(line) && !is_footnote(line) {
            // A class that is left out may be the latest.
            return vec![Err(broken(&format!("line {} is no class with its count", number + 1)))];
        } else if let Some((mean, unit)) = printed_mean(line) {
            if let (Some(table), Some(unit)) = (tables.last_mut(), unit_of(unit)) {
                table.mean = i64::try_from(mean.saturating_mul(unit)).ok().map(Ns);
            }
            key.clear();
        } else if !line.is_empty() {
            // A label stands right above its table, and what is printed elsewhere is none.
            key = if titles::is_label(line) { line.to_owned() } else { String::new() };
            title = titles::title(line).or(title);
        }
        if !line.is_empty() {
            let word = line.strip_suffix(':').filter(|word| !word.starts_with('@'));
            kind = word.filter(|word| !word.contains(char::is_whitespace)).unwrap_or("").to_owned();
        }
        is_below_row = false;
    }
    tables.retain(|table| table.rows.iter().any(|row| row.count > 0));
    if tables.is_empty() {
        return Vec::new();
    }
    if tables.len() > MOST_THREADS {
        return vec![Err(broken("it has more histograms than a machine has CPUs"))];
    }
    // A table that goes on is as likely as one that ends with its fullest class.
    let may_go_on = is_below_row && tables.last().is_some_and(Table::ends_with_its_largest);
    if tables.iter().all(|table| table.title.is_none()) {
        let named = first_title.or_else(|| of_command(text));
        tables.iter_mut().for_each(|table| table.title.clone_from(&named));
    }
    let mut sources: Vec<Vec<&Table>> = Vec::new();
    for table in &tables {
        match sources.iter_mut().find(|all| all[0].is_of_one_source(table)) {
            Some(all) => all.push(table),
            None => sources.push(vec![table]),
        }
    }
    let is_alone =
        |tables: &[&Table]| sources.iter().filter(|other| other[0].title == tables[0].title).count() == 1;
    let has_last =
        |all: &[&Table]| all.last().zip(tables.last()).is_some_and(|(own, last)| std::ptr::eq(*own, last));
    let each = sources.iter().flat_map(|own| {
        let unit = (!is_alone(own)).then(|| own[0].unit_name());
        of_source(text, own, unit, may_go_on && has_last(own))
    });
    each.collect()
}

/// The histograms of one program, those of each kind as one measurement; the `unit` where others of it have another one.
fn of_source(text: &str, tables: &[&Table], unit: Option<&str>, may_go_on: bool) -> Vec<Result<Run, Broken>> {
    let title = tables.first().and_then(|table| table.title.as_ref());
    let (tool, probe) = title.map_or((UNKNOWN, "histogram"), |title| (title.tool, title.probe.as_str()));
    let probe = unit.map_or_else(|| probe.to_owned(), |unit| format!("{unit}: {probe}"));
    let last = tables.last().map(|table| table.kind.clone());
    let is_of = |table: &Table, kind: &str| kind.is_empty() || table.kind == kind;
    let of_kind = |kind: &str| {
        let (tool, probe) = match IRQ_OFF.contains(&kind) {
            true => ("trace-irqoff", format!("{kind} time")),
            false
                if title.is_none()
                    && tables.iter().filter(|table| is_of(table, kind)).all(|table| table.is_duration()) =>
            {
                let name =
                    tables.iter().find(|table| is_of(table, kind)).map_or("", |table| table.map.as_str());
                (tool, format!("{name}: time"))
            }
            false if kind.is_empty() => (tool, probe.clone()),
            false => (tool, format!("{kind}: {probe}")),
        };
        let own: Vec<&Table> = tables.iter().copied().filter(|table| is_of(table, kind)).collect();
        let is_last = kind.is_empty() || last.as_deref() == Some(kind);
        of_tables(&own, tool, probe, may_go_on && is_last).map_err(|broken| match broken.why.as_str() {
            NO_UNIT => Broken { why: no_unit(text, &own), ..broken },
            _ => broken,
        })
    };
    kinds(tables).into_iter().map(of_kind).collect()
}

/// The tool by the command above the first table.
fn of_command(text: &str) -> Option<Title> {
    titles::of_command(text.lines().take_while(|line| head(line.trim()).is_none()))
}

/// The kinds of the histograms where each has one and they differ, or are of a known program; else one without a name.
fn kinds<'a>(tables: &[&'a Table]) -> BTreeSet<&'a str> {
    let kinds: BTreeSet<&str> = tables.iter().map(|table| table.kind.as_str()).collect();
    let is_known = kinds.iter().all(|kind| IRQ_OFF.contains(kind));
    if is_known || kinds.len() > 1 && !kinds.contains("") { kinds } else { BTreeSet::from([""]) }
}

const UNKNOWN: &str = "bcc or bpftrace";
const NO_TIME: &str = "the name of its map is that of a size or a count, which is no latency; only maps of times are read, by the unit in their names \
                       (@usecs, @nsecs or @msecs)";
const NO_UNIT: &str = "its unit is not in the file: name the map @usecs, @nsecs or @msecs";

/// The same, where the program is in the text: what it counts may have another unit.
fn no_unit(text: &str, tables: &[&Table]) -> String {
    let map = tables.iter().find(|table| table.unit.is_none()).map(|table| table.map.as_str());
    match map.and_then(|map| counted(text, map)) {
        Some(counted) => format!(
            "its unit is not in the name of its map: the program in the text counts `{counted}`; a map of times is read where its name \
             shows their unit (@usecs, @nsecs or @msecs) and the program counts in it"
        ),
        None if map.is_some_and(map_names::is_of_no_time) => NO_TIME.to_owned(),
        None => NO_UNIT.to_owned(),
    }
}

/// Histograms of one kind as one measurement, a thread each.
fn of_tables(tables: &[&Table], tool: &'static str, probe: String, may_go_on: bool) -> Result<Run, Broken> {
    let broken = |why: &str| Broken { tool, why: why.to_owned() };
    let several = tables.len() > 1;
    let mut threads = Vec::new();
    for (at, table) in tables.iter().enumerate() {
        let Some(unit) = table.unit else {
            return Err(broken(NO_UNIT));
        };
        if table.rows.iter().any(|row| row.until.is_none() && row.count > 0) {
            return Err(broken("its last class has no end, so the largest is not known"));
        }
        if table.lacks_its_largest() {
            return Err(broken(
                "the row with the most samples, the bar of which is full, is missing: later rows may be, too",
            ));
        }
        let name = match (table.key.as_str(), several) {
            ("", false) => "all".to_owned(),
            ("", true) => format!("histogram {}", at + 1),
            (key, _) => key.to_owned(),
        };
        threads.push(table.measured(name, unit));
    }
    let renamed = name_apart(&mut threads);
    if let Some(last) = threads.last_mut().filter(|_| may_go_on) {
        last.histogram = std::mem::take(&mut last.histogram).with_open_end();
    }
    let mut run = Run { tool: tool.to_owned(), probe, threads, ..Run::default() };
    let shown = if run.measures_time() { "time" } else { "latency" };
    let note = format!(
        "counted in classes of which each is twice as wide as the one before: every {shown} shown is rounded down to its class, the \
         maximum too"
    );
    run.notes.push(note);
    if may_go_on {
        let note = "the last row has the most samples: whether later ones are missing is not known, and so neither is the maximum";
        run.notes.push(note.to_owned());
    }
    if tables.iter().any(|table| table.is_derived) {
        let note = "its unit is that in which the program in the text counts";
        run.notes.push(note.to_owned());
    }
    let mean = |(table, one): (&&Table, &Measured)| {
        let mean = table.mean?;
        Some(if several { format!("{mean} in {}", one.name) } else { mean.to_string() })
    };
    let means: Vec<String> = tables.iter().zip(&run.threads).filter_map(mean).collect();
    if !means.is_empty() {
        run.notes.push(format!("{OWN_MEAN}{}", means.join(", ")));
    }
    run.notes.extend(renamed);
    if several {
        run.notes.push(format!(
            "the file holds {} histograms: they are taken together, and a gate checks each",
            run.threads.len()
        ));
        run.notes.extend(each_largest(
            shown,
            run.threads.iter().map(|one| (one.name.clone(), one.histogram.clone())),
        ));
    }
    Ok(run)
}

struct Table {
    key: String,
    /// What its samples are, by the map's name or the line above it; empty where neither is there.
    kind: String,
    /// The name of its map.
    map: String,
    /// What introduced it.
    title: Option<Title>,
    /// The unit is that of the program, and not in a name.
    is_derived: bool,
    /// The mean that the program printed below it.
    mean: Option<Ns>,
    /// In nanoseconds.
    unit: Option<u64>,
    rows: Vec<Row>,
}

/// From `from` to just below `until` units.
struct Row {
    from: u64,
    until: Option<u64>,
    count: u64,
    /// How much of its bar is drawn, in percent; `None` where it has no bar.
    drawn: Option<usize>,
}

/// The tools draw the bar of the largest row over its whole width, or short of one sign.
const FULL_BAR: usize = 90;

impl Table {
    /// True where another one counts the same: a different function, or another unit, is of something else. Maps have names.
    fn is_of_one_source(&self, other: &Table) -> bool {
        let is_map = |table: &Table| !table.map.is_empty();
        let has_unit = is_map(self) || self.unit == other.unit;
        self.title == other.title && is_map(self) == is_map(other) && has_unit
    }

    fn unit_name(&self) -> &'static str {
        match self.unit {
            _ if !self.map.is_empty() => "maps",
            Some(1) => "nanoseconds",
            Some(1_000) => "microseconds",
            Some(1_000_000) => "milliseconds",
            _ => "of an unknown unit",
        }
    }

    /// True where the bars show that a row had more samples than any that is here.
    fn lacks_its_largest(&self) -> bool {
        let largest = self.rows.iter().max_by_key(|row| row.count);
        largest.and_then(|row| row.drawn).is_some_and(|drawn| drawn < FULL_BAR)
    }

    /// True where the last one of several rows with samples has the most.
    fn ends_with_its_largest(&self) -> bool {
        let last = self.rows.last().map_or(0, |row| row.count);
        let mut before =
            self.rows.iter().rev().skip(1).map(|row| row.count).filter(|&count| count > 0).peekable();
        before.peek().is_some() && before.all(|count| count < last)
    }

    /// True of a map with a name beside its unit (`@free_item__us`) that is not the name of a delay: such a script measures how long a
    /// function takes, and that is no latency.
    fn is_duration(&self) -> bool {
        const DELAYS: [&str; 14] = [
            "lat", "delay", "wait", "wak", "runq", "queue", "sched", "off", "block", "resp", "jitter",
            "dist", "hist", "start",
        ];
        let words =
            || self.map.split(|sign: char| !sign.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
        let is_unit = |word: &str| unit_of(word).is_some();
        words().any(|word| !is_unit(word))
            && (self.is_derived || words().any(is_unit))
            && !words().any(|word| DELAYS.iter().any(|delay| word.starts_with(delay)))
    }

    fn measured(&self, name: String, unit: u64) -> Measured {
        let ns = |units: u64| Ns(units.saturating_mul(unit).min(LONGEST) as i64);
        let mut buckets: Vec<Bucket> = self
            .rows
            .iter()
            .filter(|row| row.count > 0)
            .map(|row| {
                let from = ns(row.from);
                let until = ns(row.until.unwrap_or(row.from)).0.saturating_sub(1);
                Bucket { from, upto: Ns(until).max(from), count: row.count }
            })
            .collect();
        buckets.sort_by_key(|bucket| bucket.from);
        let ends = |bucket: Option<&Bucket>| bucket.map_or(Ns::ZERO, |bucket| bucket.from);
        let sum = buckets.iter().map(|bucket| (bucket.from.0 as u64).saturating_mul(bucket.count));
        let exact = Exact {
            overflow: 0,
            sum: sum.fold(0, u64::saturating_add),
            min: ends(buckets.first()),
            max: ends(buckets.last()),
        };
        let widest = buckets.last().map_or(1, |last| last.upto.0 - last.from.0 + 1);
        let histogram = Histogram::new(buckets, exact).rounded_down_to(Ns(widest));
        Measured { name, histogram, ..Measured::default() }
    }
}

/// The unit in the head of a table: `usecs               : count     distribution`, `@usecs:`, `@usecs[cc1]:`; empty where
/// it names none.
fn head(line: &str) -> Option<&str> {
    if let Some((unit, rest)) = line.split_once(':')
        && rest.trim_start().starts_with("count")
        && rest.trim_end().ends_with("distribution")
    {
        return Some(unit.trim());
    }
    let map = line.strip_prefix('@')?.strip_suffix(':')?;
    Some(map.split('[').next().unwrap_or(map))
}

/// What the table of a map is of: `cc1` in `@usecs[cc1]:`.
fn map_key(line: &str) -> Option<&str> {
    let (_, key) = line.strip_prefix('@')?.strip_suffix("]:")?.split_once('[')?;
    Some(key.trim()).filter(|key| !key.is_empty())
}

/// How many nanoseconds a unit has, by the words in its name.
fn unit_of(name: &str) -> Option<u64> {
    const UNITS: [(&str, u64); 9] = [
        ("usecs", 1_000),
        ("usec", 1_000),
        ("us", 1_000),
        ("msecs", 1_000_000),
        ("msec", 1_000_000),
        ("ms", 1_000_000),
        ("nsecs", 1),
        ("nsec", 1),
        ("ns", 1),
    ];
    let mut words = name.split(|c: char| !c.is_ascii_alphabetic());
    words.find_map(|word| UNITS.iter().find(|(unit, _)| *unit == word).map(|&(_, ns)| ns))
}

/// `; the last class that is shown is from 512 us on`, of the last row with samples.
fn last_class(tables: &[Table]) -> String {
    let shown = |table: &Table| {
        let row = table.rows.iter().rfind(|row| row.count > 0)?;
        let ns = i64::try_from(row.from.checked_mul(table.unit?)?).ok()?;
        Some(format!("; the last class with samples that is shown is from {} on", Ns(ns)))
    };
    tables.last().and_then(shown).unwrap_or_default()
}

/// `8 -> 15         : 134      |******|` or `[8, 16)    134 |@@@@|`; `None` also of a class that ends before it begins.
fn row(line: &str, has_bars: bool) -> Option<Row> {
    class(line, has_bars).filter(|row| row.until.is_none_or(|until| until > row.from))
}

fn class(line: &str, has_bars: bool) -> Option<Row> {
    if let Some((range, rest)) = line.split_once(':')
        && let Some((from, upto)) = range.split_once("->")
    {
        let (count, bar) = match rest.split_once('|') {
            Some((count, bar)) => (count, Some(bar)),
            None if has_bars => return None,
            None => (rest, None),
        };
        let upto: u64 = upto.trim().parse().ok()?;
        let row = Row {
            from: from.trim().parse().ok()?,
            until: Some(upto.saturating_add(1)),
            count: count.trim().parse().ok()?,
            drawn: bar.map(drawn),
        };
        return Some(row);
    }
    let rest = line.strip_prefix('[').or_else(|| line.strip_prefix('('))?;
    let (range, rest) = rest.split_once([')', ']'])?;
    let (count, bar) = rest.split_once('|')?;
    let (count, drawn) = (count.trim().parse().ok()?, Some(drawn(bar)));
    let (from, until) = match range.split_once(',') {
        Some((from, until)) => (from.trim(), until.trim()),
        // A class of one number: `[0]`.
        None => {
            let only = number(range.trim())?;
            return Some(Row { from: only, until: Some(only.saturating_add(1)), count, drawn });
        }
    };
    let until = if until == "..." { None } else { Some(number(until)?) };
    // Below the range of `lhist`.
    let from = if from == "..." { 0 } else { number(from)? };
    Some(Row { from, until, count, drawn })
}

/// How much of a bar is drawn, in percent: `@@@@@     |` and what stands behind it.
fn drawn(bar: &str) -> usize {
    let width = bar.find('|').unwrap_or(bar.len());
    let signs = bar.bytes().take(width).filter(|sign| !sign.is_ascii_whitespace()).count();
    (100 * signs).checked_div(width).unwrap_or(0)
}

/// `[4M, 8M)   8 |@@@@@@`: a row of which the end is missing. Behind the bar stands another stroke.
fn is_cut_within_its_bar(line: &str) -> bool {
    line.split_once('|').is_some_and(|(class, bar)| {
        begins_as_row(class) && bar.bytes().all(|sign| matches!(sign, b'@' | b'*' | b'+' | b' '))
    })
}

/// True of a line that is a class by its beginning, whatever follows.
fn begins_as_row(line: &str) -> bool {
    let is_number = |text: &str| text.trim().starts_with(|c: char| c.is_ascii_digit());
    let bracketed = line.strip_prefix('[').or_else(|| line.strip_prefix('('));
    // In brackets prose has other words: `(0.5 ms) with packets of the largest size`.
    let begins_class = |rest: &str| {
        let first = rest.split([',', ']', ')']).next().unwrap_or(rest).trim();
        first.starts_with("...") || number(first).is_some()
    };
    bracketed.is_some_and(begins_class)
        || line.split_once("->").is_some_and(|(from, upto)| is_number(from) && is_number(upto))
}

/// `512`, `1K`, `2M`.
fn number(text: &str) -> Option<u64> {
    let (digits, shift) = match text.as_bytes().last()? {
        b'K' | b'k' => (&text[..text.len() - 1], 10),
        b'M' => (&text[..text.len() - 1], 20),
        b'G' => (&text[..text.len() - 1], 30),
        b'T' => (&text[..text.len() - 1], 40),
        _ => (text, 0),
    };
    digits.parse::<u64>().ok()?.checked_shl(shift)
}
