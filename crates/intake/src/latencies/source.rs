//! What a tool's threads make up together: a measurement with its notes, where their numbers are complete and do not contradict
//! each other.

use super::counted::{Counted, MOST_THREADS, Unit};
use super::error::Broken;
use whylate_base::Ns;
use whylate_stats::{Histogram, Measured, Run};

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
        let wrong_means: Vec<String> =
            threads.iter_mut().filter_map(|thread| self.without_wrong_mean(thread)).collect();
        let width = threads.iter().map(Counted::width).max().unwrap_or(1);
        let classes =
            format!("counted in classes of {width} {}{}", unit.name, self.rounding(&threads, width));
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
        let mut notes = self.notes(&measured, classes, cut.is_some());
        notes.extend(cut.map(|(held, total)| match held {
            0 => "all lines of the histogram are missing: only what stands below its table is used".to_owned(),
            _ => format!(
                "lines of the histogram are missing: a thread's classes hold {held} of {total} samples, so they are not used"
            ),
        }));
        notes.extend(wrong_means.first().map(|wrong| match wrong_means.len() - 1 {
            0 => format!("{wrong}: it is not used"),
            others => format!("{wrong}; so it is with {others} more: such means are not used"),
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

    /// Takes a mean away that is not between minimum and maximum, and describes it. `rtla osnoise hist` before 2023 divided the sum
    /// of the noises' different lengths by their number (`osnoise_hist_update_multiple` in osnoise_hist.c).
    fn without_wrong_mean(self, thread: &mut Counted) -> Option<String> {
        let (min, max) = thread.min.zip(thread.max)?;
        // They may be rounded down, and the mean up.
        let most = max.saturating_add(thread.rounding.max(1)) as f64;
        let is_wrong = |mean: &f64| *mean > most || mean.ceil() < min as f64;
        let mean = thread.mean.filter(is_wrong).filter(|_| thread.has_samples())?;
        thread.mean = None;
        let (name, unit) = (&thread.name, self.unit.name);
        Some(format!(
            "the mean of {name}, {mean} {unit}, is not between its minimum, {min} {unit}, and its maximum, {max} {unit}"
        ))
    }

    /// How the numbers that are shown of these threads are rounded, as the rest of a sentence about their classes.
    fn rounding(self, threads: &[Counted], width: u64) -> String {
        let has_samples = || threads.iter().filter(|thread| thread.has_samples());
        let is_exact = self.unit == Unit::NS && threads.iter().all(|thread| thread.rounding <= 1);
        // The tool's own extremes are those of the samples, and not of their classes.
        let has_extremes =
            has_samples().all(|thread| thread.rounding <= 1 && thread.min.is_some() && thread.max.is_some());
        if threads.iter().any(|thread| thread.is_max_upper) {
            return ": minimum and percentiles are rounded down to their class, the maximum is rounded up"
                .to_owned();
        }
        match (width, is_exact) {
            (1, true) => String::new(),
            (_, true) => {
                ": percentiles are rounded down to their class, minimum and maximum are exact".to_owned()
            }
            (2.., false) if has_extremes => format!(
                ": percentiles are rounded down to their class, minimum and maximum to whole {}",
                self.unit.name
            ),
            (_, false) => ": every latency shown is rounded down to its class".to_owned(),
        }
    }

    /// What a reader must know of such numbers. `cut`: the run has a histogram, and lines of it are missing.
    fn notes(self, threads: &[Measured], classes: String, cut: bool) -> Vec<String> {
        let all = |of: fn(&Histogram) -> u64| {
            let whole = threads.iter().filter(|thread| !thread.is_stage);
            whole.map(|thread| of(&thread.histogram)).fold(0, u64::saturating_add)
        };
        let (overflow, samples) = (all(Histogram::overflow), all(Histogram::count));
        let mut notes = vec![classes];
        if overflow == samples {
            let remedy = match self.tool {
                "cyclictest" if cut => ": give cyclictest's whole output, with every line of its histogram",
                "cyclictest" => ": measure with a histogram (cyclictest -h 1000)",
                "jitterdebugger" => ": give the JSON of its histogram",
                _ => "",
            };
            // Of some threads they may be known, as of one with a single sample.
            let known = |of: fn(&Histogram) -> Option<Ns>| {
                threads.iter().all(|thread| of(&thread.histogram).is_some())
            };
            let known = match (known(Histogram::min), known(Histogram::mean)) {
                (true, true) => "only minimum, mean and maximum are known",
                (true, false) => "only minimum and maximum are known",
                (false, true) => "only mean and maximum are known",
                (false, false) => "only the maximum is known",
            };
            notes = vec![format!("{known}{remedy}")];
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

    /// Several runs whose lines stand beside each other.
    pub(super) fn side_by_side(self, most: u64) -> Broken {
        let unit = self.unit.name;
        self.broken(format!(
            "lines of several runs stand side by side in the file: of all their latencies {most} {unit} is the greatest. Save each \
             run in a file of its own"
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
