//! Several measurements in one text: where each begins, and all of them as one.

use super::error::Broken;
use std::collections::{BTreeMap, BTreeSet};
use whylate_base::Ns;
use whylate_stats::{Bounds, Histogram, Measured, Run};

/// How a note begins that has the mean by the program that measured.
pub(super) const OWN_MEAN: &str = "the mean that the program printed is ";

/// Cuts a text before each line with which another measurement begins.
pub(super) fn cut(text: &str, mut begins: impl FnMut(&str) -> bool) -> Vec<&str> {
    let (mut parts, mut start, mut at) = (Vec::new(), 0, 0);
    for line in text.split_inclusive('\n') {
        if begins(line.trim_end()) && at > start {
            parts.push(&text[start..at]);
            start = at;
        }
        at += line.len();
    }
    parts.push(&text[start..]);
    parts
}

/// The largest of each of several measurements that are taken together; `what` they measure is a latency or a time.
pub(super) fn each_largest(what: &str, parts: impl Iterator<Item = (String, Histogram)>) -> Option<String> {
    /// A longer list is not read.
    const MOST: usize = 8;
    let largest = |(name, all): (String, Histogram)| Some(format!("{} in {name}", largest_of(&all)?));
    let mut each: Vec<String> = parts.filter_map(largest).collect();
    let more = each.len().saturating_sub(MOST);
    each.truncate(MOST);
    let more = if more > 0 { format!(", and {more} more") } else { String::new() };
    (each.len() > 1).then(|| format!("the largest {what} is {}{more}", each.join(", ")))
}

/// Gives threads of one name names of their own, as those of several intervals of one program have: `pid = 7`, `pid = 7 (2)`. What is
/// compared by its name is thus compared with the same part of another file. What a reader must know
/// of them, where there are any.
pub(super) fn name_apart(threads: &mut [Measured]) -> Option<String> {
    let mut renamed = None;
    let mut times: BTreeMap<(bool, String), usize> = BTreeMap::new();
    let mut known: BTreeSet<(bool, String)> =
        threads.iter().map(|one| (one.is_stage, one.name.clone())).collect();
    for one in threads {
        let time = times.entry((one.is_stage, one.name.clone())).or_insert(0);
        *time += 1;
        while *time > 1 {
            let name = format!("{} ({time})", one.name);
            if known.insert((one.is_stage, name.clone())) {
                renamed.get_or_insert_with(|| name.clone());
                one.name = name;
                break;
            }
            *time += 1;
        }
    }
    renamed.map(|name| format!("what has the name of an earlier part has its number behind it: {name}"))
}

/// `4.10 ms`; `between 4.10 ms and 8.19 ms` where it is known by a class that is as wide as its beginning.
fn largest_of(all: &Histogram) -> Option<String> {
    // Whole microseconds are exact enough.
    const WIDE: Ns = Ns::from_us(2);
    let Bounds { least, most } = all.max_bounds()?;
    let width = Ns((most - least).0.saturating_add(1));
    Some(match width >= least.max(WIDE) {
        true => format!("between {least} and {most}"),
        false => least.to_string(),
    })
}

/// `, pid = 7`: which of several threads has the largest.
fn with_largest(run: &Run) -> String {
    let largest = run.whole().max_by_key(|one| one.histogram.max()).filter(|_| run.whole().count() > 1);
    largest.map_or_else(String::new, |one| format!(", {}", one.name))
}

/// What is measured: a time where all of them are of times.
fn measured_by(runs: &[Run]) -> &'static str {
    if runs.iter().all(Run::measures_time) { "time" } else { "latency" }
}

/// What a file holds beside a measurement that cannot be read; empty where all of it can, or none.
pub(super) fn others(read: &[Result<Run, Broken>]) -> String {
    let whole = || read.iter().flatten();
    if whole().count() == read.len() {
        return String::new();
    }
    let of = |run: &Run| {
        let largest = run.all().max().map_or_else(String::new, |max| format!(", the largest latency {max}"));
        format!("; beside it the file holds a measurement of {} ({}){largest}", run.tool, run.probe)
    };
    whole().map(of).collect()
}

/// The measurements of a file, those of one kind taken together: a condition for the file is one for each of them.
pub(super) fn by_kind(runs: Vec<Run>) -> Vec<Run> {
    let mut kinds: Vec<Vec<Run>> = Vec::new();
    for run in runs {
        match kinds.iter_mut().find(|of| of[0].is_of_kind(&run)) {
            Some(of) => of.push(run),
            None => kinds.push(vec![run]),
        }
    }
    kinds.into_iter().map(pooled).collect()
}

/// The measurement of a file that has one.
///
/// # Errors
/// If it has several, which did not measure the same thing.
pub(super) fn only(mut runs: Vec<Run>) -> Result<Option<Run>, Broken> {
    if runs.len() <= 1 {
        return Ok(runs.pop());
    }
    let kinds: BTreeSet<String> = runs.iter().map(|run| format!("{} ({})", run.tool, run.probe)).collect();
    let kinds = kinds.into_iter().collect::<Vec<_>>().join(" and ");
    let each =
        runs.iter().map(|run| (format!("{} ({}){}", run.tool, run.probe, with_largest(run)), run.all()));
    let known =
        each_largest(measured_by(&runs), each).map_or_else(String::new, |largest| format!("; {largest}"));
    let own = |run: &Run| run.notes.iter().find(|note| note.starts_with(OWN_MEAN)).cloned();
    let means =
        runs.iter().filter_map(|run| Some(format!("; of {} ({}) {}", run.tool, run.probe, own(run)?)));
    let means: String = means.collect();
    let why = format!(
        "these cannot be taken together: {kinds}; whylate compare compares each with its like in another file, for all else save each \
         in a file of its own{known}{means}"
    );
    let is_of_one = runs.iter().all(|run| run.tool == runs[0].tool);
    let tool = if is_of_one { "one program" } else { "more than one program" };
    Err(Broken { tool, why })
}

/// Measurements of one kind as one.
fn pooled(mut runs: Vec<Run>) -> Run {
    if runs.len() == 1 {
        return runs.remove(0);
    }
    let count = runs.len();
    let same = |of: fn(&Run) -> Option<Ns>| {
        let each: BTreeSet<Option<Ns>> = runs.iter().map(of).collect();
        each.first().copied().flatten().filter(|_| each.len() == 1)
    };
    let interval = same(|run| run.interval);
    let elapsed = runs.iter().map(|run| run.elapsed).collect::<Option<Vec<Ns>>>();
    let (tool, probe) = (runs[0].tool.clone(), runs[0].probe.clone());
    let mut notes = vec![format!(
        "the file holds {count} runs of {tool}: they are taken together, and a gate checks each thread of each run. To \
         compare them, save each in a file of its own"
    )];
    let largest = runs.iter().enumerate().map(|(at, run)| (format!("run {}", at + 1), run.all()));
    notes.extend(each_largest(measured_by(&runs), largest));
    let mut threads = Vec::new();
    let mut own: Vec<(String, Vec<String>)> = Vec::new();
    for (at, run) in runs.into_iter().enumerate() {
        let number = (at + 1).to_string();
        let named = |thread: Measured| Measured { name: format!("run {number}, {}", thread.name), ..thread };
        threads.extend(run.threads.into_iter().map(named));
        for note in run.notes {
            match own.iter_mut().find(|(text, _)| *text == note) {
                Some((_, of)) => of.push(number.clone()),
                None => own.push((note, vec![number.clone()])),
            }
        }
    }
    notes.extend(own.into_iter().map(|(text, of)| match of.len() == count {
        true => text,
        false => format!("run {}: {text}", of.join(", ")),
    }));
    let elapsed = elapsed.map(|each| Ns(each.iter().map(|one| one.0).fold(0, i64::saturating_add)));
    Run { tool, probe, interval, elapsed, threads, notes, ..Run::default() }
}

/// The numbers with which the rest of a line begins. They end at the first word that is none: guides write remarks behind them,
/// which have numbers of their own.
pub(super) fn numbers<T: std::str::FromStr>(rest: &str) -> impl Iterator<Item = T> {
    rest.split_ascii_whitespace().map_while(|word| word.parse().ok())
}
