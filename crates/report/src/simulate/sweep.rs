//! The sentences and rows of a sweep, which all formats share.

use crate::words;
use whylate_base::Ns;
use whylate_simulate::sweep::{OtherThread, Sweep, SweepGroup, SweepOutcome, ThreadOutcome};

/// So many groups are shown: of the worst, and of the best.
const WORST: usize = 10;
const BEST: usize = 4;
/// So many threads have a column.
const THREADS: usize = 4;
/// Values of a group beyond so many are not listed.
const VALUES: usize = 3;

/// The rows of a sweep.
pub(super) struct SweepTable {
    /// The columns.
    pub(super) head: Vec<String>,
    /// Groups of combinations, worst first; the first row is the run without the sweep's changes.
    pub(super) rows: Vec<Vec<String>>,
}

/// The heading.
pub(super) fn heading(sweep: &Sweep) -> String {
    format!("Sweep of {}", words::clean(&sweep.keys.join(", ")))
}

/// What the sweep shows, a sentence each.
pub(super) fn sentences(sweep: &Sweep) -> Vec<String> {
    let done = (0..sweep.combinations.len()).filter_map(|at| sweep.outcome(at)).count();
    let missing = sweep.combinations.iter().filter(|one| one.outcome.is_none()).count();
    let bad = sweep.combinations.iter().filter(|one| one.missed() > 0).count();
    let mut all = Vec::new();
    let combinations = words::plural(done as u64, "combination");
    match (sweep.deadlines.iter().any(Option::is_some), bad) {
        (false, _) => {}
        (true, 0) => all.push(format!("no deadline is missed in {combinations}")),
        (true, 1) => all.push(format!("1 of {combinations} misses a deadline")),
        (true, _) => all.push(format!("{bad} of {combinations} miss a deadline")),
    }
    if let Some((worst, best)) = sweep.ends {
        let best = match worst == best {
            true => String::new(),
            false => format!("; best {}", one(sweep, best)),
        };
        all.push(format!("worst {}{best}", one(sweep, worst)));
    }
    let refused: Vec<(usize, &String)> = (sweep.combinations.iter().enumerate())
        .filter_map(|(at, one)| Some((at, one.outcome.as_ref()?.as_ref().err()?)))
        .collect();
    if let Some((at, reason)) = refused.first() {
        all.push(format!(
            "{} cannot be made, such as {}: {reason}",
            words::plural(refused.len() as u64, "combination"),
            changes(sweep, *at)
        ));
    }
    if missing > 0 {
        all.push(format!(
            "interrupted: {} of {} not run",
            words::count(missing as u64),
            words::plural(sweep.combinations.len() as u64, "combination")
        ));
    }
    if sweep.threads.len() > THREADS {
        all.push(format!(
            "{} of {} have a column: choose others with --task; --json has all",
            THREADS,
            words::plural(sweep.threads.len() as u64, "thread")
        ));
    }
    all.extend(sweep.notes.iter().cloned());
    all
}

/// `victim.offset=3750us, hog.cpus=1`
pub(super) fn changes(sweep: &Sweep, at: usize) -> String {
    let values = sweep.combinations.get(at).map(|one| one.values.as_slice()).unwrap_or_default();
    let named: Vec<String> =
        sweep.keys.iter().zip(values).map(|(key, value)| format!("{key}={value}")).collect();
    named.join(", ")
}

fn one(sweep: &Sweep, at: usize) -> String {
    let threads = sweep.outcome(at).map(|outcome| outcome.threads.as_slice()).unwrap_or_default();
    let shown: Vec<String> = columns(sweep)
        .into_iter()
        .filter_map(|column| Some(format!("{} {}", sweep.threads[column], longest(threads.get(column)?))))
        .collect();
    format!("{}: {}", changes(sweep, at), shown.join(", "))
}

/// The threads with a column: those that miss deadlines before others.
fn columns(sweep: &Sweep) -> Vec<usize> {
    let misses = |thread: usize| {
        let outcomes = (0..sweep.combinations.len()).filter_map(|at| sweep.outcome(at));
        outcomes.into_iter().any(|outcome| outcome.threads[thread].missed > 0)
    };
    let mut all: Vec<(bool, usize)> =
        (0..sweep.threads.len()).map(|thread| (!misses(thread), thread)).collect();
    all.sort_unstable();
    let mut all: Vec<usize> = all.into_iter().map(|(_, thread)| thread).take(THREADS).collect();
    all.sort_unstable();
    all
}

/// The table.
pub(super) fn table(sweep: &Sweep) -> SweepTable {
    let columns = columns(sweep);
    let mut head: Vec<String> = sweep.keys.iter().map(|key| words::clean(key)).collect();
    head.push("combinations".to_owned());
    head.extend(columns.iter().map(|&column| format!("{} max", words::clean(&sweep.threads[column]))));
    head.push("worse for others".to_owned());
    let mut as_is: Vec<String> = sweep.keys.iter().map(|_| "as it is".to_owned()).collect();
    as_is.push("-".to_owned());
    as_is.extend(columns.iter().map(|&column| thread(&[&sweep.as_is], column)));
    as_is.push("-".to_owned());
    let mut rows = vec![as_is];
    let count = sweep.groups.len();
    for (at, group) in sweep.groups.iter().enumerate() {
        if count > WORST + BEST && at == WORST {
            let mut more = vec![format!("... {} more groups", count - WORST - BEST)];
            more.resize(head.len(), String::new());
            rows.push(more);
        }
        if at < WORST || at + BEST >= count {
            rows.push(row(sweep, group, &columns));
        }
    }
    SweepTable { head, rows }
}

fn row(sweep: &Sweep, group: &SweepGroup, columns: &[usize]) -> Vec<String> {
    let outcomes: Vec<&SweepOutcome> = group.members.iter().filter_map(|&at| sweep.outcome(at)).collect();
    let mut cells: Vec<String> = (0..sweep.keys.len()).map(|key| values(sweep, group, key)).collect();
    cells.push(words::count(group.members.len() as u64));
    cells.extend(columns.iter().map(|&column| thread(&outcomes, column)));
    let worst = outcomes
        .iter()
        .max_by_key(|outcome| outcome.others.first().map_or(Ns::ZERO, |other| other.after - other.before));
    cells.push(worst.map_or_else(|| "-".to_owned(), |outcome| others(sweep, &outcome.others)));
    cells
}

/// The values that a setting has in a group; of several settings those of the first combination, as not all values of one go
/// with all of the others.
fn values(sweep: &Sweep, group: &SweepGroup, key: usize) -> String {
    let mut all: Vec<&str> = Vec::new();
    for &at in &group.members {
        let value = sweep.combinations[at].values[key].as_str();
        if !all.contains(&value) {
            all.push(value);
        }
    }
    match (all.len(), sweep.keys.len()) {
        (0..=1, _) | (0..=VALUES, 1) => all.join(", "),
        (count, 1) => format!("{}, ... ({count})", all[..VALUES - 1].join(", ")),
        _ => format!("{}, ...", all[0]),
    }
}

/// The longest response of a thread in combinations, with what it misses.
fn thread(outcomes: &[&SweepOutcome], column: usize) -> String {
    let all = outcomes.iter().filter_map(|outcome| outcome.threads.get(column));
    let Some(worst) = all.max_by_key(|thread| (thread.missed, thread.longest())) else {
        return "-".to_owned();
    };
    match worst.missed {
        0 => longest(worst),
        missed => format!("{} ({} missed)", longest(worst), words::count(missed)),
    }
}

/// A response; of a job that is not done at the end, so far.
fn longest(thread: &ThreadOutcome) -> String {
    let sign = if thread.ends_late() { ">" } else { "" };
    format!("{sign}{}", thread.longest())
}

fn others(sweep: &Sweep, others: &[OtherThread]) -> String {
    let Some(first) = others.first() else { return "-".to_owned() };
    let name = sweep.names.get(first.task).map(|name| words::clean(name)).unwrap_or_default();
    let more = match others.len() {
        1 => String::new(),
        count => format!(", and {} more", count - 1),
    };
    format!("{name} {} -> {}{more}", first.before, first.after)
}
