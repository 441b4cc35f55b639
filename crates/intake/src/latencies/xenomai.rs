//! `latency` of Xenomai 2 and 3, and `latmus` of Xenomai 4, which prints the same lines (testsuite/latency/latency.c of
//! Xenomai; benchmarks/latmus.c of libevl). They count in microseconds with three decimals.
//!
//! ```text
//! RTT|  00:00:01  (periodic user-mode task, 100 us period, priority 99)
//! RTH|----lat min|----lat avg|----lat max|-overrun|---msw|---lat best|--lat worst
//! RTD|     -0.213|      1.325|     12.476|       0|     0|     -0.213|     12.476      each second
//! HSD|    avg|   3 -  4 |     1204                                                   with -h: `histogram`
//! HSS|    avg|    599943|      2.200|      1.460                                     with -h and -s
//! RTS|     -0.213|      1.316|     13.899|       0|     0|    00:01:00/00:01:00      at the end
//! ```
//!
//! A sample below 0 is a thread that woke up early: Xenomai sets its timers earlier by what a wake-up takes.

mod histogram;

use super::counted::{Counted, Unit};
use super::error::Broken;
use super::rtai;
use super::sections;
use super::source::Source;
use histogram::{Tables, positive, us};
use whylate_base::{Cpu, Ns};
use whylate_stats::Run;

const LATENCY: &str = "Xenomai latency";

/// Each measurement in a text.
pub(super) fn read(text: &str) -> Vec<Result<Run, Broken>> {
    let (mut has_rows, mut is_over) = (false, false);
    let parts = sections::cut(text, |line| {
        let row = Row::of(line);
        let is_title = line.starts_with("== Sampling period:");
        let is_new = (is_title && has_rows) || (is_over && (is_title || row.is_some()));
        if is_new {
            (has_rows, is_over) = (false, false);
        }
        has_rows |= row.is_some();
        is_over |= row == Some(Row::End);
        is_new
    });
    parts.into_iter().filter_map(one).collect()
}

/// The lines that no other program of Xenomai prints: switchtest counts in whole numbers behind the same marks.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Row {
    Title,
    Second,
    Class,
    End,
}

impl Row {
    fn of(line: &str) -> Option<Row> {
        let (mark, rest) = line.split_once('|')?;
        let is_us =
            || rest.split('|').next().is_some_and(|first| first.trim().is_empty() || first.contains('.'));
        match mark {
            "RTT" if rest.contains(" us period") => Some(Row::Title),
            "RTH" if rest.contains("lat min") && rtai::columns(line).is_none() => Some(Row::Title),
            "RTD" if is_us() => Some(Row::Second),
            "RTS" if is_us() => Some(Row::End),
            "HSD" | "HSS" => Some(Row::Class),
            "HSH" if rest.starts_with("--param") => Some(Row::Class),
            _ => None,
        }
    }
}

fn one(text: &str) -> Option<Result<Run, Broken>> {
    let rows = || text.lines().filter(|line| Row::of(line).is_some());
    let is_begun = || text.lines().any(|line| line.starts_with("== All results in microseconds"));
    if rows().next().is_none() && !is_begun() {
        return None;
    }
    let setup = Setup::of(text);
    let source = Source { tool: setup.tool(), probe: setup.probe(), unit: Unit::NS };
    Some(run(text, &setup, source))
}

fn run(text: &str, setup: &Setup<'_>, source: Source) -> Result<Run, Broken> {
    let line = text.lines().find(|line| Row::of(line) == Some(Row::End));
    let Some(line) = line else {
        let why = "its output was cut: the line RTS, which has the largest latency of all, is missing";
        return Err(source.broken(format!("{why}{}", so_far(text))));
    };
    let end = End::of(line).ok_or_else(|| source.broken(format!("the line {line:?} is not whole")))?;
    if end.min > end.max {
        // What it begins with before a second is over (`gminjitter`, `gmaxjitter`).
        let why = match end.min > 0 && end.max < 0 {
            true => "there is no sample in it: it was ended within its first second",
            false => "the maximum in its line RTS is below the minimum: numbers are missing or changed",
        };
        return Err(source.broken(why.to_owned()));
    }
    let (seconds, broken) = seconds(text, &end, source)?;
    let tables = Tables::of(text).map_err(|why| source.broken(why))?;
    let mut notes = Vec::new();
    if broken > 0 {
        notes.push(format!(
            "{broken} of its {seconds} lines of a second are broken: all figures are those of the line RTS"
        ));
    }
    let mut thread = Counted {
        cpu: setup.cpu,
        name: setup.cpu.map_or("thread 0".to_owned(), |cpu| format!("CPU {}", cpu.0)),
        min: Some(positive(end.min)),
        max: Some(positive(end.max)),
        mean: Some(end.mean.max(0) as f64),
        ..Counted::default()
    };
    let is_counted =
        tables.fill(&mut thread, end.min, end.max, &mut notes).map_err(|why| source.broken(why))?;
    // latmus has none.
    if tables.is_empty() && source.tool == LATENCY {
        notes.push("its histogram is not in the file: measure with latency -h".to_owned());
    }
    if !is_counted {
        let (samples, note) = setup.samples(&end, tables.seconds().unwrap_or(seconds));
        // The last second was not whole: its samples are in the total, and their largest is not in the line RTS.
        thread.overflow = tables
            .samples()
            .map_or(samples, |total| if setup.period.is_some() { total.min(samples) } else { total });
        if tables.samples().is_none() {
            notes.push(note);
        }
    }
    if end.min < 0 {
        notes.push(format!(
            "the least latency is {} us: the thread woke up early, which counts as 0",
            us(end.min)
        ));
    }
    if end.switches > 0 {
        notes.push(format!(
            "msw is {}: the thread left real-time mode, and its largest latencies may be those of Linux",
            end.switches
        ));
    }
    let mut run = source.run([thread])?;
    run.threads.iter_mut().for_each(|thread| thread.missed = Some(end.overruns));
    run.notes.extend(notes);
    Ok(Run { interval: setup.period, elapsed: Some(Ns::from_secs(end.elapsed)), ..run })
}

/// How many seconds have a line, and how many of these lines are broken. None of them can show more than the line RTS,
/// which is of all of them.
fn seconds(text: &str, end: &End, source: Source) -> Result<(u64, u64), Broken> {
    let (mut seconds, mut broken) = (0, 0);
    for line in text.lines().filter(|line| Row::of(line) == Some(Row::Second)) {
        seconds += 1;
        let mut fields = line.split('|').skip(1).map(nanoseconds);
        let mut field = || fields.next().flatten();
        let (Some(min), Some(_), Some(max)) = (field(), field(), field()) else {
            broken += 1;
            continue;
        };
        if min < end.min || max > end.max {
            let why =
                format!("the line {line:?} has what is beyond its line RTS: numbers are missing or changed");
            return Err(source.broken(why));
        }
    }
    Ok((seconds, broken))
}

/// How it measured.
#[derive(Default)]
struct Setup<'a> {
    /// `periodic user-mode task`, or latmus's `user`.
    mode: &'a str,
    period: Option<Ns>,
    cpu: Option<Cpu>,
}

impl Setup<'_> {
    /// `(periodic user-mode task, 100 us period, priority 99)`, or the lines above it, which are all there is with `-q`.
    fn of(text: &str) -> Setup<'_> {
        let after = |name: &str| text.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
        let title =
            text.lines().filter(|line| line.starts_with("RTT|")).find_map(|line| line.split_once('('));
        let parts: Vec<&str> =
            title.map_or(Vec::new(), |(_, rest)| rest.trim_end().trim_end_matches(')').split(", ").collect());
        let period = parts.iter().find_map(|part| part.strip_suffix(" us period"));
        let period = period.or_else(|| after("== Sampling period:")?.strip_suffix(" us"));
        let period = period.and_then(|us| us.parse::<u32>().ok()).filter(|us| *us > 0);
        let cpu = parts.iter().find_map(|part| {
            let number = part.strip_prefix("CPU")?;
            number.split('-').next()?.parse().ok()
        });
        Setup {
            mode: parts.first().copied().or_else(|| after("== Test mode:")).unwrap_or_default(),
            period: period.map(|us| Ns::from_us(us.into())),
            cpu: cpu.map(Cpu),
        }
    }

    fn tool(&self) -> &'static str {
        let is_latmus = ["user", "kernel", "irq"].contains(&self.mode) || self.mode.ends_with("-gpio");
        if is_latmus { "latmus" } else { LATENCY }
    }

    fn probe(&self) -> &'static str {
        match self.mode {
            "in-kernel periodic task" | "kernel" => "timer, kernel task",
            "in-kernel timer handler" | "irq" => "timer, interrupt",
            mode if mode.ends_with("-gpio") => "GPIO",
            _ => "timer",
        }
    }

    /// How many samples there are in whole seconds, and what is to be known of that number. A second has as many as its
    /// periods, also where it took longer because some were missed (`nsamples`).
    fn samples(&self, end: &End, seconds: u64) -> (u64, String) {
        let elapsed = u64::try_from(end.elapsed).unwrap_or(0);
        // It ends within a second, which has no line; where more have none, lines were left out, or it was quiet (-q).
        let whole = if seconds.saturating_add(2) >= elapsed { seconds } else { elapsed - 1 }.max(1);
        let note = "the number of samples is not in the file";
        match self.period {
            Some(period) => {
                let samples = whole.saturating_mul((Ns::from_secs(1).0 / period.0.max(1)).max(1) as u64);
                (samples, format!("{note}: {samples} follow from its period and its {whole} seconds"))
            }
            None => (whole, format!("{note}, nor is the period: one in each second is assumed")),
        }
    }
}

/// The line RTS, in nanoseconds.
struct End {
    min: i64,
    mean: i64,
    max: i64,
    /// Periods that passed without a sample.
    overruns: u64,
    /// How often the thread left real-time mode.
    switches: u64,
    /// In seconds.
    elapsed: i64,
}

impl End {
    /// `RTS|     -0.213|      1.316|     13.899|       0|     0|    00:01:00/00:01:00`; before Xenomai 2.4 without the mode
    /// switches. `None`: it is not whole.
    fn of(line: &str) -> Option<End> {
        let fields: Vec<&str> = line.split('|').skip(1).map(str::trim).collect();
        let (min, mean, max, overruns, switches, times) = match fields[..] {
            [min, mean, max, overruns, switches, times] => (min, mean, max, overruns, switches, times),
            [min, mean, max, overruns, times] => (min, mean, max, overruns, "0", times),
            _ => return None,
        };
        let (elapsed, planned) = times.split_once('/')?;
        clock(planned)?;
        Some(End {
            min: nanoseconds(min)?,
            mean: nanoseconds(mean)?,
            max: nanoseconds(max)?,
            overruns: overruns.parse().ok()?,
            switches: switches.parse().ok()?,
            elapsed: clock(elapsed)?,
        })
    }
}

/// What the lines of the seconds show of a measurement that was not over, to follow that it was not: each has the largest
/// latency so far (`lat worst`). Empty where none is whole.
fn so_far(text: &str) -> String {
    let worst = |line: &str| {
        let fields: Vec<&str> = line.split('|').skip(1).collect();
        // Before Xenomai 2.4 without the mode switches.
        let worst = fields.last().filter(|_| matches!(fields.len(), 6 | 7))?;
        nanoseconds(worst)
    };
    let lines = text.lines().filter(|line| Row::of(line) == Some(Row::Second));
    let seconds: Vec<i64> = lines.filter_map(worst).collect();
    match seconds.iter().max() {
        Some(&most) => {
            format!("; in the {} lines of a second that there are, it was {} us", seconds.len(), us(most))
        }
        None => String::new(),
    }
}

/// Seconds of `00:01:00`.
pub(super) fn clock(text: &str) -> Option<i64> {
    let mut parts = text.trim().split(':').map(|part| part.parse::<u32>().ok().map(i64::from));
    let mut part = || parts.next()?;
    let (hours, minutes, seconds) = (part()?, part()?, part()?);
    Some((hours * 60 + minutes) * 60 + seconds)
}

/// Of microseconds with three decimals.
fn nanoseconds(us: &str) -> Option<i64> {
    let us = us.trim();
    let (_, decimals) = us.split_once('.')?;
    let ns = us.parse::<f64>().ok()? * 1e3;
    // Of 10 s and more it makes nonsense itself: it counts in 32 bits.
    (decimals.len() == 3 && ns.abs() < 1e13).then(|| ns.round() as i64)
}
