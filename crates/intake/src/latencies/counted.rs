//! One thread's counts in equal classes, as most tools keep them.

use super::error::Broken;
use whylate_base::{Cpu, Ns};
use whylate_stats::{Bucket, Exact, Histogram, Measured, Run};

/// What a tool counts in.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Unit {
    name: &'static str,
    is: Ns,
}

impl Unit {
    pub(super) const NS: Unit = Unit { name: "ns", is: Ns(1) };
    pub(super) const US: Unit = Unit { name: "us", is: Ns::from_us(1) };
    pub(super) const MS: Unit = Unit { name: "ms", is: Ns::from_ms(1) };
}

/// Which tool measured, with which probe and unit.
#[derive(Clone, Copy)]
pub(super) struct Source {
    pub(super) tool: &'static str,
    pub(super) probe: &'static str,
    pub(super) unit: Unit,
}

impl Source {
    /// The measurement; threads without samples are left out.
    pub(super) fn run(self, threads: impl IntoIterator<Item = Counted>) -> Result<Run, Broken> {
        let Source { tool, probe, unit } = self;
        let mut threads: Vec<Counted> = threads.into_iter().collect();
        let cut = threads.iter_mut().map(Counted::without_cut_classes).fold(None, Option::or);
        threads.iter().try_for_each(|thread| self.is_complete(thread))?;
        threads.iter().try_for_each(|thread| self.is_consistent(thread))?;
        let width = threads.iter().map(Counted::width).max().unwrap_or(1);
        let is_max_upper = threads.iter().any(|thread| thread.is_max_upper);
        let is_exact = self.unit == Unit::NS && threads.iter().all(|thread| thread.rounding <= 1);
        let mut empty = Vec::new();
        let named = |thread: Counted| (thread.name.clone(), thread.is_stage, thread.measured(unit));
        let mut measured = Vec::new();
        for (name, is_stage, thread) in threads.into_iter().map(named) {
            match thread {
                Some(thread) => measured.push(thread),
                None if is_stage => {}
                None => empty.push(name),
            }
        }
        if measured.is_empty() {
            return Err(self.broken("there is no sample in it".to_owned()));
        }
        let mut notes = self.notes(&measured, width, is_max_upper, is_exact);
        notes.extend(cut.map(|(held, total)| {
            format!(
                "lines of the histogram are missing: a thread's classes hold {held} of {total} samples, so they are not used"
            )
        }));
        if let Some(first) = empty.first() {
            let others = empty.len() - 1;
            let others = if others > 0 { format!(" and {others} more") } else { String::new() };
            notes.push(format!("{first}{others} took no sample and is left out"));
        }
        Ok(Run { tool: tool.to_owned(), probe: probe.to_owned(), threads: measured, notes, ..Run::default() })
    }

    /// Refuses what was cut or changed: lines that are missing would pass for samples that were not taken.
    fn is_complete(self, thread: &Counted) -> Result<(), Broken> {
        let held = thread.held();
        let is = |total: u64| total == held || total == held.saturating_add(thread.overflow);
        if thread.overflow > 0 && thread.max.is_none() {
            return Err(self.broken(format!(
                "{} samples of {} are beyond the last class, and the maximum is not in the file",
                thread.overflow, thread.name
            )));
        }
        match thread.total {
            Some(total) if !is(total) => Err(self.broken(format!(
                "the classes of {} hold {held} samples, and the total in the file is {total}: lines are missing or changed",
                thread.name
            ))),
            _ => Ok(()),
        }
    }

    /// Refuses numbers of one thread that contradict each other: any of them may be the one that was changed.
    fn is_consistent(self, thread: &Counted) -> Result<(), Broken> {
        let (name, width, unit) = (&thread.name, thread.width(), self.unit.name);
        let held = thread.classes.iter().filter(|class| class.1 > 0).map(|class| class.0);
        let (first, last) = (held.clone().min(), held.max());
        let contradiction = match (thread.min, thread.max) {
            // rt-tests print such extremes of a thread that took no sample.
            _ if !thread.has_samples() => None,
            (Some(min), Some(max)) if min > max => {
                Some(format!("the maximum of {name}, {max} {unit}, is below its minimum, {min} {unit}"))
            }
            (Some(min), _) if first.is_some_and(|first| min >= first.saturating_add(width)) => {
                Some(format!("a class of {name} holds samples below its minimum, {min} {unit}"))
            }
            (_, Some(max)) if thread.overflow > 0 && last.is_some_and(|last| max < thread.beyond(last)) => {
                Some(format!(
                    "{} samples of {name} are in no class, and its maximum, {max} {unit}, is not beyond the classes",
                    thread.overflow
                ))
            }
            _ => None,
        };
        let contradiction =
            contradiction.map(|what| self.broken(format!("{what}: numbers are missing or changed")));
        contradiction.map_or(Ok(()), Err)
    }

    /// What a reader must know of such numbers.
    fn notes(self, threads: &[Measured], width: u64, is_max_upper: bool, is_exact: bool) -> Vec<String> {
        let all = |of: fn(&Histogram) -> u64| {
            let whole = threads.iter().filter(|thread| !thread.is_stage);
            whole.map(|thread| of(&thread.histogram)).fold(0, u64::saturating_add)
        };
        let (overflow, samples) = (all(Histogram::overflow), all(Histogram::count));
        let unit = self.unit.name;
        let rounding = match (width, is_exact, is_max_upper) {
            (1, true, false) => "",
            (_, true, false) => {
                ": percentiles are rounded down to their class, minimum and maximum are exact"
            }
            (_, _, false) => ": every latency shown is rounded down to its class",
            (_, _, true) => {
                ": minimum and percentiles are rounded down to their class, the maximum is rounded up"
            }
        };
        let mut notes = vec![format!("counted in classes of {width} {unit}{rounding}")];
        if overflow == samples {
            let remedy = match self.tool {
                "cyclictest" => ": measure with a histogram (cyclictest -h 1000)",
                "jitterdebugger" => ": give the JSON of its histogram",
                _ => "",
            };
            notes = vec![format!("only minimum, mean and maximum are known{remedy}")];
        } else if overflow > 0 {
            notes.push(format!(
                "{overflow} of {samples} samples were beyond the last class: of them only the maximum is known. Percentiles \
                 are those of all samples, of which {} are in classes",
                samples - overflow
            ));
        }
        notes
    }

    pub(super) fn broken(self, why: String) -> Broken {
        Broken { tool: self.tool, why }
    }

    /// A table that stops before what its tool prints below it: classes that were cut off would be the latest.
    pub(super) fn without_end(self, below: &str) -> Broken {
        self.broken(format!(
            "its table was cut: the lines with {below}, which stand below it, are missing, and later classes may be, too"
        ))
    }

    /// Of a table only the lines below it, as `grep Latencies` leaves them: how many samples there were is not known.
    pub(super) fn without_counts(self, most: u64) -> Broken {
        let unit = self.unit.name;
        self.broken(format!(
            "its table and the line with Total are missing: of its latencies {most} {unit} is the greatest, and of how many \
             samples is not known"
        ))
    }

    /// Refuses what no machine has: each column costs memory.
    pub(super) fn at_most(self, threads: usize) -> Result<(), Broken> {
        match threads > MOST_THREADS {
            true => Err(self.broken(format!("it has more than {MOST_THREADS} threads"))),
            false => Ok(()),
        }
    }
}

/// A thread's counts.
#[derive(Clone, Debug, Default)]
pub(super) struct Counted {
    pub(super) cpu: Option<Cpu>,
    pub(super) name: String,
    /// The lower end of each class in units, and how many samples it holds.
    pub(super) classes: Vec<(u64, u64)>,
    /// How many units wide a class is; 0 is read as 1.
    pub(super) width: u64,
    /// Minimum and maximum are rounded down to multiples of so many units; 0 is read as 1.
    pub(super) rounding: u64,
    /// The maximum is the upper end of its class instead.
    pub(super) is_max_upper: bool,
    /// Samples beyond the last class.
    pub(super) overflow: u64,
    /// Where the last class of the file ends, in units, also where it is empty.
    pub(super) limit: u64,
    /// How many samples the classes hold by the file's own sum, with or without the overflow.
    pub(super) total: Option<u64>,
    /// In units, where they are given.
    pub(super) min: Option<u64>,
    pub(super) max: Option<u64>,
    /// In units.
    pub(super) mean: Option<f64>,
    /// As of [`Measured::is_stage`].
    pub(super) is_stage: bool,
}

/// No machine has so many CPUs: a line with more columns is no line of a histogram.
pub(super) const MOST_THREADS: usize = 1 << 16;

/// Latencies beyond this many nanoseconds are no latencies: 292 years would not fit.
const LONGEST: u64 = 1 << 60;

impl Counted {
    /// As oslat counts: its class `n` holds what took `n - 1` to just below `n` units, and its minimum is such a number
    /// too (`insert_bucket` in rt-tests' src/oslat/oslat.c). Mean and maximum stay as oslat prints them.
    pub(super) fn counted_by_upper_ends(mut self) -> Counted {
        self.classes.iter_mut().for_each(|class| class.0 = class.0.saturating_sub(1));
        self.min = self.min.map(|min| min.saturating_sub(1));
        self.is_max_upper = true;
        self
    }

    /// Where lines of the histogram were left out, as mails do to be short, the tool's own minimum, mean and maximum are
    /// all that is known: returns how many samples the classes held, and of how many.
    fn without_cut_classes(&mut self) -> Option<(u64, u64)> {
        let held = self.held();
        let total = self.total.filter(|&total| total > held.saturating_add(self.overflow))?;
        (self.max.is_some() && self.min.is_some() && self.mean.is_some()).then_some(())?;
        self.classes.clear();
        (self.overflow, self.total) = (total, None);
        Some((held, total))
    }

    pub(super) fn has_samples(&self) -> bool {
        self.overflow > 0 || self.held() > 0
    }

    fn width(&self) -> u64 {
        self.width.max(1)
    }

    /// The least maximum that is not of the last class.
    fn beyond(&self, last: u64) -> u64 {
        last.saturating_add(self.width()).saturating_add(u64::from(self.is_max_upper))
    }

    /// How many samples the classes hold.
    fn held(&self) -> u64 {
        self.classes.iter().map(|class| class.1).fold(0, u64::saturating_add)
    }

    /// Of classes that are `width` units wide: class `n` holds latencies from `n` units to just below `n + width`. Without
    /// samples there is nothing.
    fn measured(mut self, unit: Unit) -> Option<Measured> {
        let (width, unit) = (self.width(), unit.is.0.max(1) as u64);
        let ns = |units: u64| Ns(units.saturating_mul(unit).min(LONGEST) as i64);
        self.classes.retain(|(_, count)| *count > 0);
        self.classes.sort_unstable();
        self.classes.dedup_by(|later, earlier| {
            let same = later.0 == earlier.0;
            if same {
                earlier.1 = earlier.1.saturating_add(later.1);
            }
            same
        });
        let first = self.classes.first().map(|class| class.0);
        let last = self.classes.last().map(|class| class.0);
        // A maximum in no class is a sample that the file did not count.
        if last.zip(self.max).is_some_and(|(last, max)| max >= self.beyond(last)) {
            self.overflow = self.overflow.max(1);
        }
        let samples = self.held().saturating_add(self.overflow);
        // With samples beyond the classes only the tool itself knows how late the latest was.
        let max = self.max.or(if self.overflow == 0 { last } else { None }).max(last);
        let min = self.min.or(first).or(max)?;
        let own_sum = || self.classes.iter().map(|&(class, count)| class as f64 * count as f64).sum::<f64>();
        let sum = self.mean.map_or_else(own_sum, |mean| mean * samples as f64) * unit as f64;
        let bucket = |&(class, count): &(u64, u64)| {
            let from = ns(class);
            Bucket { from, upto: Ns(ns(class.saturating_add(width)).0 - 1).max(from), count }
        };
        let exact = Exact {
            overflow: self.overflow,
            sum: sum.max(0.0) as u64,
            min: ns(min),
            // Without a maximum in the file it is that of the last class, which may hold the minimum as well.
            max: ns(max.unwrap_or(min).max(min)),
        };
        let histogram = Histogram::new(self.classes.iter().map(bucket), exact)
            .rounded_down_to(if self.is_max_upper { Ns(1) } else { ns(self.rounding.max(1)) })
            .with_limit(ns(self.limit));
        (samples > 0).then_some(Measured {
            cpu: self.cpu,
            name: self.name,
            histogram,
            maxima: None,
            missed: None,
            is_stage: self.is_stage,
        })
    }
}
