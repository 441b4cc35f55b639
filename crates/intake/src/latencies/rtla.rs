//! The histograms of `rtla timerlat hist` and `rtla osnoise hist` (tools/tracing/rtla/src/timerlat_hist.c,
//! osnoise_hist.c): a column for each CPU, and of timerlat for each of its contexts.

use super::counted::{Counted, MOST_THREADS, Unit};
use super::error::Broken;
use super::sections;
use super::source::Source;
use std::collections::BTreeSet;
use whylate_base::{Cpu, Ns};
use whylate_stats::Run;

/// Each table in a text.
pub(super) fn read(text: &str) -> Vec<Result<Run, Broken>> {
    let mut has_table = false;
    let parts = sections::cut(text, |line| {
        let is_table = header(line).is_some();
        // A title begins what is behind it, a table without one only itself.
        let is_new = has_table && (is_table || line.starts_with("# RTLA "));
        has_table = is_table || line.trim_start().starts_with("count:") || (has_table && !is_new);
        is_new
    });
    parts.into_iter().filter_map(one).collect()
}

/// The columns' titles of a line `Index   IRQ-000   Thr-000`.
fn header(line: &str) -> Option<Vec<Counted>> {
    let titles = line.trim_start().strip_prefix("Index")?.split_ascii_whitespace();
    // One more than there may be is enough to refuse them.
    titles.take(MOST_THREADS + 1).map(column).collect()
}

/// `# RTLA osnoise histogram`
fn is_title(line: &str) -> bool {
    line.starts_with("# RTLA ") && line.contains("hist")
}

/// Where the columns have no names: as many as the line `count:` has numbers.
fn unnamed(text: &str) -> Option<Vec<Counted>> {
    let counts = text.lines().find_map(|line| line.trim_start().strip_prefix("count:"))?;
    let named = |(at, count): (usize, &str)| {
        let total = Some(count.parse().ok()?);
        Some(Counted { name: format!("column {}", at + 1), total, ..Counted::default() })
    };
    counts.split_ascii_whitespace().take(MOST_THREADS + 1).enumerate().map(named).collect()
}

/// `3   940   11815`, then `over:`, `count:`, `min:`, `avg:`, `max:` of each column.
fn one(text: &str) -> Option<Result<Run, Broken>> {
    let head = text.lines().find_map(header);
    let title = text.lines().find(|line| is_title(line));
    let is_without_index = head.as_ref().is_none_or(Vec::is_empty);
    let mut columns = match head {
        Some(columns) if !columns.is_empty() => columns,
        // Without a sample it has no column (`osnoise_hist_header`); a mail may lack the line.
        None => unnamed(text).filter(|columns| title.is_some() && !columns.is_empty())?,
        Some(_) => match unnamed(text) {
            _ if title.is_none() && !text.lines().any(|line| line.trim_start().starts_with("over:")) => {
                return None;
            }
            columns => columns.unwrap_or_default(),
        },
    };
    if is_without_index && columns.iter().all(|column| column.total == Some(0)) {
        let source = Source { tool: "rtla", probe: "osnoise", unit: Unit::US };
        let why = "there is no sample in it: nothing took as long as the threshold of rtla (-T), or its workload did not run";
        return Some(Err(source.broken(why.to_owned())));
    }
    let titled = |name: &str| text.lines().any(|line| line.starts_with("# RTLA ") && line.contains(name));
    let is_timerlat = titled("timerlat") || columns.iter().any(|column| stage(column) != Stage::All);
    let unit = match text.lines().any(|line| line.starts_with("# Time unit is nanoseconds")) {
        true => Unit::NS,
        false => Unit::US,
    };
    let probe = if is_timerlat { "timerlat" } else { "osnoise" };
    let source = Source { tool: "rtla", probe, unit };
    if let Err(broken) = source.at_most(columns.len()) {
        return Some(Err(broken));
    }
    // `over:` stands below every table with an index, also with `--no-summary`.
    let is_below = |line: &str| ["over:", "count:"].iter().any(|name| line.trim_start().starts_with(name));
    if !text.lines().any(is_below) {
        return Some(Err(source.without_end("over, count and max")));
    }
    // Newer ones sum all CPUs up below the table.
    let is_head = |line: &str| header(line).is_some() || is_without_index && is_title(line);
    let table = text.lines().skip_while(|line| !is_head(line)).skip(1);
    for line in table.take_while(|line| !line.starts_with("ALL:")) {
        let Some((name, rest)) = line.trim_start().split_once(char::is_whitespace) else { continue };
        for (column, value) in columns.iter_mut().zip(rest.split_ascii_whitespace()) {
            let Ok(value) = value.parse::<u64>() else { continue };
            match (name, name.parse::<u64>()) {
                (_, Ok(class)) => column.classes.push((class, value)),
                ("over:", _) => column.overflow = value,
                ("count:", _) => column.total = Some(value),
                ("min:", _) => column.min = Some(value),
                ("avg:", _) => column.mean = Some(value as f64),
                ("max:", _) => column.max = Some(value),
                _ => {}
            }
        }
    }
    widths(&mut columns);
    let main = stages(&mut columns);
    let of_interrupt = if main == Stage::Thread { of_interrupt(&columns, unit) } else { None };
    let elapsed = text.lines().find_map(|line| line.strip_prefix("# Duration:")).and_then(duration);
    Some(source.run(columns).map(|mut run| {
        if !text.lines().any(|line| line.starts_with("# Time unit is")) {
            run.notes.push(
                "the file does not have the unit: taken to be microseconds, rtla's usual one".to_owned(),
            );
        }
        if is_without_index {
            run.notes.push(
                "the line `Index` with the columns' names is missing: of which CPU a column is, and of which stage of a wake-up, \
                 is not known"
                    .to_owned(),
            );
        }
        run.notes.extend(
            main.note().filter(|_| run.threads.iter().any(|thread| thread.is_stage)).map(str::to_owned),
        );
        run.notes.extend(of_interrupt);
        let probe = main.probe().map_or(run.probe, str::to_owned);
        Run { elapsed, probe, ..run }
    }))
}

/// How wide the classes are (`-b`), which the file does not have: rows without samples are left out, so they lie as far
/// apart as the largest width with which all of them begin. With the first row alone it is the maximum that counts.
fn widths(columns: &mut [Counted]) {
    let lower_ends = columns.iter().flat_map(|column| &column.classes).map(|class| class.0);
    let all = lower_ends.clone().fold(0, divisor);
    let rows: BTreeSet<u64> = lower_ends.filter(|&end| end > 0).collect();
    let largest = columns.iter().filter(|column| column.overflow == 0).filter_map(|column| column.max).max();
    let largest_width = if all > 0 { all } else { largest.map_or(1, |largest| largest.saturating_add(1)) };
    // osnoise hist counts in the kernel (`osnoise_init_trace_hist` in osnoise_hist.c), and its extremes are classes, too.
    let of_extremes = columns.iter().flat_map(|column| [column.min, column.max]).flatten().fold(0, divisor);
    let are_classes = of_extremes > 0 && of_extremes.is_multiple_of(largest_width);
    let width = match is_by_chance(largest_width, rows.len()) {
        true if all > 0 && columns.iter().any(|column| stage(column) != Stage::All) => {
            least_width(columns, largest_width)
        }
        _ => largest_width,
    };
    let rounding = if are_classes && width == largest_width { width } else { 1 };
    let limit = |column: &Counted| column.classes.iter().map(|class| class.0.saturating_add(width)).max();
    for column in columns {
        (column.width, column.rounding, column.limit) = (width, rounding, limit(column).unwrap_or(0));
    }
}

/// True where so many rows may all begin at multiples of `width` though the classes are narrower.
fn is_by_chance(width: u64, rows: usize) -> bool {
    /// One table in so many may be taken for one of wider classes.
    const ONE_IN: u64 = 1_000;
    let rows = u32::try_from(rows).unwrap_or(u32::MAX);
    width > 1 && width.checked_pow(rows).is_some_and(|tables| tables < ONE_IN)
}

/// The least width with which minimum and maximum of each column, which timerlat measures exactly, are in classes with samples; it
/// divides `largest`.
fn least_width(columns: &[Counted], largest: u64) -> u64 {
    /// rtla has no more classes, and wider ones than that are of no use.
    const MOST: u64 = 1_000_000;
    let holds = |column: &Counted, width: u64, value: u64| {
        let classes = column.classes.iter().filter(|class| class.1 > 0);
        classes.into_iter().any(|class| (class.0..class.0.saturating_add(width)).contains(&value))
    };
    let fits = |width: u64| {
        columns.iter().filter(|column| column.has_samples()).all(|column| {
            let max = column.max.filter(|_| column.overflow == 0);
            let min = column.min.filter(|_| column.classes.iter().any(|class| class.1 > 0));
            column.min.is_some() && [min, max].into_iter().flatten().all(|value| holds(column, width, value))
        })
    };
    let divides = |width: &u64| largest.is_multiple_of(*width);
    (1..largest.min(MOST)).filter(divides).find(|&width| fits(width)).unwrap_or(largest)
}

/// The greatest common divisor; of 0 and a number that number.
fn divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { divisor(b, a % b) }
}

/// A stage of timerlat's wake-up.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    /// Until the timer's interrupt.
    Irq,
    /// Until the thread runs: what other tools measure.
    Thread,
    /// Until user space runs again.
    User,
    /// osnoise has one column for each CPU.
    All,
}

impl Stage {
    /// The probe, where it is not timerlat's usual one.
    pub(super) fn probe(self) -> Option<&'static str> {
        match self {
            Stage::Irq => Some("timerlat, interrupt"),
            Stage::User => Some("timerlat, user space"),
            Stage::Thread | Stage::All => None,
        }
    }

    pub(super) fn note(self) -> Option<&'static str> {
        match self {
            Stage::Thread => {
                Some("samples are those of the thread; the other columns are stages of the same wake-ups")
            }
            Stage::User => Some(
                "samples are those of user space; the interrupt's columns are stages of the same wake-ups",
            ),
            Stage::Irq | Stage::All => None,
        }
    }
}

fn stage(column: &Counted) -> Stage {
    match column.name.rsplit_once(", ").map(|(_, stage)| stage) {
        Some(INTERRUPT) => Stage::Irq,
        Some(THREAD) => Stage::Thread,
        Some(USER) => Stage::User,
        _ => Stage::All,
    }
}

/// How much of the latency of the thread that was latest passes before the timer's interrupt.
fn of_interrupt(columns: &[Counted], unit: Unit) -> Option<String> {
    let latest =
        columns.iter().filter(|column| stage(column) == Stage::Thread).max_by_key(|column| column.max)?;
    let same = |column: &&Counted| column.cpu == latest.cpu && stage(column) == Stage::Irq;
    let irq = columns.iter().find(same).filter(|irq| irq.has_samples())?;
    let unit = unit.name;
    let means = irq.mean.zip(latest.mean);
    let means = means.map(|(irq, thread)| format!(", in the mean {irq} {unit} of {thread} {unit}"));
    Some(format!(
        "on CPU {} the timer's interrupt, which comes before the thread, was late by up to {} {unit}{}",
        latest.cpu?.0,
        irq.max?,
        means.unwrap_or_default()
    ))
}

/// Marks the columns that are stages of what others count as a whole; which stage that is. A wake-up is in several
/// columns, and summed up it would count as several.
pub(super) fn stages(columns: &mut [Counted]) -> Stage {
    let has = |wanted| columns.iter().any(|column| stage(column) == wanted && column.has_samples());
    let main =
        [Stage::Thread, Stage::User, Stage::Irq].into_iter().find(|stage| has(*stage)).unwrap_or(Stage::All);
    for column in columns {
        column.is_stage = stage(column) != main;
    }
    main
}

const INTERRUPT: &str = "interrupt";
const THREAD: &str = "thread";
const USER: &str = "user space";

/// The stages in the order of rtla's columns.
pub(super) const STAGES: [&str; 3] = [INTERRUPT, THREAD, USER];

/// `IRQ-003`, `Thr-003`, `Usr-003`, `CPU-003`; `None`: it is no title.
fn column(title: &str) -> Option<Counted> {
    let (stage, number) = title.split_once('-')?;
    let cpu: u32 = number.parse().ok()?;
    let name = match stage {
        "IRQ" => format!("CPU {cpu}, {INTERRUPT}"),
        "Thr" => format!("CPU {cpu}, {THREAD}"),
        "Usr" => format!("CPU {cpu}, {USER}"),
        "CPU" => format!("CPU {cpu}"),
        _ => return None,
    };
    Some(Counted { cpu: Some(Cpu(cpu)), name, ..Counted::default() })
}

/// `   0 00:10:00`: days, hours, minutes, seconds.
pub(super) fn duration(text: &str) -> Option<Ns> {
    let (days, time) = text.trim().split_once(char::is_whitespace)?;
    // Narrow numbers: what they make up fits into a wide one.
    let mut parts = time.trim().split(':').map(|part| part.parse::<u16>().ok().map(i64::from));
    let mut part = || parts.next()?;
    let (hours, minutes, seconds) = (part()?, part()?, part()?);
    let days = i64::from(days.parse::<u16>().ok()?);
    Some(Ns::from_secs(((days * 24 + hours) * 60 + minutes) * 60 + seconds))
}
