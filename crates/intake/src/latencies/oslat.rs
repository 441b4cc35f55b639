//! oslat's text: a line for each class, a column for each core (rt-tests, src/oslat/oslat.c).

use super::counted::{Counted, Unit};
use super::error::Broken;
use super::sections;
use super::source::Source;
use whylate_base::{Cpu, Ns};
use whylate_stats::Run;

const SOURCE: Source = Source { tool: "oslat", probe: "busy", unit: Unit::US };

/// Each measurement in a text, which begin with `oslat V 2.40`.
pub(super) fn read(text: &str) -> Vec<Result<Run, Broken>> {
    let mut begun = false;
    let begins = |line: &str| line.starts_with("oslat V") || line.trim_start().starts_with("Core:");
    // The cores follow the title of the same run.
    let mut titled = false;
    let parts = sections::cut(text, |line| {
        let is_first = begins(line) && !std::mem::replace(&mut titled, line.starts_with("oslat V"));
        is_first && std::mem::replace(&mut begun, true)
    });
    let runs: Vec<_> = parts.into_iter().filter_map(one).collect();
    if runs.is_empty() { footers(text) } else { runs }
}

/// The lines below a table that is not there, as reports show them: least, mean and most of each core. No other tool prints the
/// difference of the extremes.
fn footers(text: &str) -> Vec<Result<Run, Broken>> {
    let is_first = |line: &str| line.trim_start().starts_with("Minimum:");
    let mut begun = false;
    let parts = sections::cut(text, |line| is_first(line) && std::mem::replace(&mut begun, true));
    parts.into_iter().filter_map(footer).collect()
}

fn footer(text: &str) -> Option<Result<Run, Broken>> {
    let of = |name: &str| {
        let line = text.lines().find_map(|line| line.trim_start().strip_prefix(name))?;
        line.contains("(us)").then(|| numbers(line))
    };
    let (min, mean, max) = (of("Minimum:")?, of("Average:")?, of("Maximum:")?);
    of("Max-Min:")?;
    if let Err(broken) = SOURCE.at_most(max.len()) {
        return Some(Err(broken));
    }
    let core = |(at, most): (usize, &f64)| Counted {
        name: format!("column {}", at + 1),
        overflow: 1,
        is_largest_only: true,
        min: min.get(at).map(|us| *us as u64),
        mean: mean.get(at).copied(),
        max: Some(*most as u64),
        ..Counted::default()
    };
    let run = SOURCE.run(max.iter().enumerate().map(core).map(Counted::counted_by_upper_ends));
    Some(run.map(|mut run| {
        run.notes.push(
            "oslat's table is missing, or is not whole: of how many samples these lines are, and of which CPUs, is not known"
                .to_owned(),
        );
        run
    }))
}

fn numbers(rest: &str) -> Vec<f64> {
    sections::numbers(rest).collect()
}

/// `    002 (us):\t 5091 77`, after `        Core:\t 1 3`. The last class holds what was later, too.
fn one(text: &str) -> Option<Result<Run, Broken>> {
    let line = |name: &str| {
        let of = |line: &str| {
            line.trim_start()
                .strip_prefix(name)
                .map(|rest| rest.trim_start_matches([':', ' ', '\t']).to_owned())
        };
        text.lines().find_map(of)
    };
    // Its first line is often left out; no other tool prints both of these.
    text.lines().find(|line| line.contains("(us):"))?;
    let cores = numbers(&line("Core:")?);
    if let Err(broken) = SOURCE.at_most(cores.len()) {
        return Some(Err(broken));
    }
    let mut threads: Vec<Counted> = cores
        .iter()
        .map(|core| Counted {
            cpu: Some(Cpu(*core as u32)),
            name: format!("CPU {core}"),
            ..Counted::default()
        })
        .collect();
    for line in text.lines().filter(|line| line.contains("(us):")) {
        let Some((class, rest)) = line.split_once("(us):") else { continue };
        let Ok(class) = class.trim().parse::<u64>() else {
            let why = format!("{:?} is not a class in whole microseconds", class.trim());
            return Some(Err(SOURCE.broken(why)));
        };
        let last = rest.contains("overflows");
        for (thread, count) in threads.iter_mut().zip(numbers(rest)) {
            match last {
                true => thread.overflow = count as u64,
                false => thread.classes.push((class, count as u64)),
            }
        }
    }
    let (min, max, mean) = (line("Minimum:"), line("Maximum:"), line("Average:"));
    if min.is_none() && max.is_none() && mean.is_none() {
        return Some(Err(SOURCE.without_end("Minimum, Average and Maximum")));
    }
    let of = |all: &Option<String>, at: usize| all.as_deref().and_then(|all| numbers(all).get(at).copied());
    for (at, thread) in threads.iter_mut().enumerate() {
        (thread.min, thread.max) = (of(&min, at).map(|us| us as u64), of(&max, at).map(|us| us as u64));
        thread.mean = of(&mean, at);
    }
    let elapsed = line("Total runtime:").and_then(|rest| numbers(&rest).first().copied());
    let elapsed = elapsed.map(|seconds| Ns((seconds * 1e9) as i64));
    let run = SOURCE.run(threads.into_iter().map(Counted::counted_by_upper_ends));
    Some(run.map(|run| Run { elapsed, ..run }))
}
