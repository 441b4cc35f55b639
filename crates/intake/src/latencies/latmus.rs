//! The histogram of `latmus -g` of Xenomai 4 (`dump_gnuplot` in benchmarks/latmus.c of libevl): comments, and a row for each
//! microsecond.
//!
//! ```text
//! # sampling period: 1000 microseconds
//! # thread affinity: CPU1
//! # duration (hhmmss): 00:01:12
//! # min latency: 0.205
//! # avg latency: 3.097
//! # max latency: 25.510
//! # sample count: 71522                     since 2020
//! 0 95
//! 1+ 3                                      the last one, with all that is later
//! ```

use super::counted::{Counted, Unit};
use super::error::Broken;
use super::sections;
use super::source::Source;
use super::xenomai::clock;
use whylate_base::{Cpu, Ns};
use whylate_stats::Run;

const SOURCE: Source = Source { tool: "latmus", probe: "timer", unit: Unit::NS };
/// How wide a class is in nanoseconds.
const WIDTH: u64 = 1000;

/// Each histogram in a text.
pub(super) fn read(text: &str) -> Vec<Result<Run, Broken>> {
    let mut has_max = false;
    let parts = sections::cut(text, |line| {
        let begins = line.starts_with("# libevl version:") || line.starts_with("# sampling period:");
        let is_new = begins && has_max;
        has_max = (has_max && !is_new) || line.starts_with("# max latency:");
        is_new
    });
    parts.into_iter().filter(|part| part.contains("# sampling period: ")).filter_map(one).collect()
}

fn one(text: &str) -> Option<Result<Run, Broken>> {
    let comment = |name: &str| {
        text.lines().find_map(|line| line.strip_prefix("# ")?.strip_prefix(name)?.strip_prefix(": "))
    };
    let latency = |name: &str| comment(name).map(str::trim).and_then(nanoseconds);
    let max = latency("max latency")?;
    let cpu = comment("thread affinity").and_then(|at| {
        let digits = at.strip_prefix("CPU")?;
        digits.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok().map(Cpu)
    });
    let period = comment("sampling period").and_then(|period| period.split(' ').next()?.parse().ok());
    let elapsed = comment("duration (hhmmss)").and_then(clock).map(Ns::from_secs);
    let total = comment("sample count").and_then(|count| count.trim().parse().ok());
    let mut thread = Counted {
        cpu,
        name: cpu.map_or("thread 0".to_owned(), |cpu| format!("CPU {cpu}")),
        width: WIDTH,
        min: latency("min latency"),
        max: Some(max),
        mean: latency("avg latency").map(|mean| mean as f64),
        total,
        ..Counted::default()
    };
    let mut notes = Vec::new();
    if let Err(why) = rows(text, &mut thread, total, period.zip(elapsed), &mut notes) {
        return Some(Err(SOURCE.broken(why)));
    }
    let run = SOURCE.run([thread]);
    let interval = period.map(Ns::from_us);
    Some(run.map(|run| {
        let notes = run.notes.into_iter().chain(notes).collect();
        Run { notes, interval, elapsed, ..run }
    }))
}

/// Puts the rows into the thread; without any only the comments are known.
///
/// # Errors
/// If rows are missing, and the file does not show how many samples they hold.
fn rows(
    text: &str,
    thread: &mut Counted,
    total: Option<u64>,
    period_and_time: Option<(i64, Ns)>,
    notes: &mut Vec<String>,
) -> Result<(), String> {
    for line in text.lines() {
        let Some((class, count)) = line.split_once(' ') else { continue };
        let bare = class.strip_suffix('+');
        let (Ok(class), Ok(count)) = (bare.unwrap_or(class).parse::<u64>(), count.trim().parse::<u64>())
        else {
            continue;
        };
        let from = class.saturating_mul(WIDTH);
        thread.limit = match bare {
            Some(_) => from,
            None => from.saturating_add(WIDTH),
        };
        match bare {
            Some(_) => thread.overflow = count,
            None => thread.classes.push((from, count)),
        }
    }
    let max = thread.max.unwrap_or(0);
    let last = thread.classes.iter().filter(|class| class.1 > 0).map(|class| class.0).max();
    match last {
        None if thread.overflow == 0 => {
            notes.push("its histogram is not in the file".to_owned());
            let by_time = period_and_time
                .filter(|(period, _)| *period > 0)
                .and_then(|(period, time)| u64::try_from(time.0 / period / 1000).ok());
            if total.is_none() {
                let samples = by_time.filter(|samples| *samples > 0);
                let Some(samples) = samples else {
                    return Err("neither its histogram nor its number of samples is in the file".to_owned());
                };
                notes.push(format!(
                    "the number of samples is not in the file: {samples} follow from its period and its duration"
                ));
                thread.overflow = samples;
            }
            Ok(())
        }
        Some(last) if thread.overflow == 0 && total.is_none() && max >= last.saturating_add(WIDTH) => {
            Err(format!(
                "its table was cut: the last row is that of {} us, and its maximum is {:.3} us",
                last / WIDTH,
                max as f64 / 1e3
            ))
        }
        _ => Ok(()),
    }
}

/// `25.510` microseconds; a thread that woke up early was not late.
fn nanoseconds(us: &str) -> Option<u64> {
    let us: f64 = us.parse().ok()?;
    (us.is_finite() && us < 1e12).then_some((us.max(0.0) * 1e3).round() as u64)
}

#[cfg(test)]
mod tests {
    use super::read;
    use whylate_base::{Cpu, Ns};
    use whylate_stats::Run;

    fn text(count: &str, rows: &str) -> String {
        format!(
            "RTD|      1.1|      1.2|      2.9|       0|     0|      1.1|      2.9\n# libevl version: evl.0\n\
             # sampling period: 500 microseconds\n# thread affinity: CPU2-noisol\n# duration (hhmmss): 00:00:10\n\
             # min latency: 0.205\n# avg latency: 1.097\n# max latency: 25.510\n{count}{rows}"
        )
    }

    fn run(text: &str) -> Result<Run, String> {
        let mut runs = read(text);
        assert_eq!(runs.len(), 1, "{text}");
        runs.remove(0).map_err(|broken| broken.why)
    }

    #[test]
    fn rows_are_classes_of_a_microsecond() {
        let run = run(&text("", "0 95\n1 905\n25 1\n")).unwrap_or_else(|why| panic!("{why}"));
        let thread = &run.threads[0];
        assert_eq!((thread.cpu, thread.histogram.count()), (Some(Cpu(2)), 1001));
        assert_eq!(thread.histogram.max(), Some(Ns(25_510)));
        assert_eq!((run.interval, run.elapsed), (Some(Ns::from_us(500)), Some(Ns::from_ms(10_000))));
    }

    #[test]
    fn the_last_row_with_a_plus_holds_what_is_later() {
        let run =
            run(&text("# sample count: 1003\n", "0 95\n1 905\n9+ 3\n")).unwrap_or_else(|why| panic!("{why}"));
        assert_eq!(run.threads[0].histogram.overflow(), 3);
        assert_eq!(run.threads[0].histogram.max(), Some(Ns(25_510)));
    }

    #[test]
    fn without_rows_minimum_mean_and_maximum_are_known() {
        let counted = run(&text("# sample count: 1003\n", "")).unwrap_or_else(|why| panic!("{why}"));
        assert_eq!(counted.threads[0].histogram.count(), 1003);
        let by_time = run(&text("", "")).unwrap_or_else(|why| panic!("{why}"));
        assert_eq!(by_time.threads[0].histogram.count(), 20_000);
    }

    #[test]
    fn a_table_that_was_cut_is_refused() {
        let why = run(&text("", "0 95\n1 905\n")).err().unwrap_or_default();
        assert!(why.contains("cut"), "{why}");
    }
}
