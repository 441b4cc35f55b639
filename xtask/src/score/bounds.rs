//! `cargo xtask score --bounds`: the bounds of `whylate simulate` beside those of pyCPA and SchedCAT, on random task sets.

mod compare;
mod peer;
mod set;
mod text;

use super::markers::replaced;
use crate::cross::Profile;
use crate::release::built;
use crate::root;
use anyhow::{Context, Result, bail};
use clap::Args;
use compare::Agreement;
use fastrand::Rng;
use peer::{PYCPA, Peer, SCHEDCAT};
use serde_json::Value;
use set::{RandomSet, SetKind};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use whylate_base::Ns;

/// The page with the table.
pub(super) const PAGE: &str = "docs/simulate.md";
const SECTION: (&str, &str) =
    ("<!-- peers: begin, written by cargo xtask score --bounds -->", "<!-- peers: end -->");

/// How the comparison is made.
#[derive(Args)]
pub(super) struct BoundsOptions {
    /// With --bounds: how many random task sets of each kind
    #[arg(long, value_name = "N", default_value_t = 500, requires = "bounds")]
    sets: usize,
    /// With --bounds: the first seed of the random task sets
    #[arg(long, value_name = "SEED", default_value_t = 1, requires = "bounds")]
    first_seed: u64,
    /// With --bounds: a checkout of pyCPA; without it git clones one below the build directory
    #[arg(long, value_name = "DIR", requires = "bounds")]
    pycpa: Option<PathBuf>,
    /// With --bounds: a checkout of SchedCAT; without it git clones one below the build directory
    #[arg(long, value_name = "DIR", requires = "bounds")]
    schedcat: Option<PathBuf>,
}

/// A row of the table.
struct Comparison {
    title: &'static str,
    kind: SetKind,
    peer: &'static Peer,
    /// The peer's test is for responses up to the period.
    constrained: bool,
}

const COMPARISONS: [Comparison; 7] = [
    Comparison {
        title: "fixed priorities, responses beyond the period",
        kind: SetKind::Plain,
        peer: &PYCPA,
        constrained: false,
    },
    Comparison {
        title: "release jitter up to two periods",
        kind: SetKind::Jitter,
        peer: &PYCPA,
        constrained: false,
    },
    Comparison {
        title: "equal priorities",
        kind: SetKind::EqualPriorities,
        peer: &PYCPA,
        constrained: false,
    },
    Comparison { title: "chains over two CPUs", kind: SetKind::Chains, peer: &PYCPA, constrained: false },
    Comparison { title: "blocking and jitter", kind: SetKind::Blocking, peer: &SCHEDCAT, constrained: true },
    Comparison {
        title: "self-suspension and jitter",
        kind: SetKind::Suspension,
        peer: &SCHEDCAT,
        constrained: true,
    },
    Comparison {
        title: "SCHED_DEADLINE, largest cost of one task",
        kind: SetKind::Deadline,
        peer: &SCHEDCAT,
        constrained: false,
    },
];

impl BoundsOptions {
    /// The section for the page, and whether all answers agree; prints each row as it is known.
    ///
    /// # Errors
    /// When whylate does not build or run, a peer fails, or no peer is there.
    pub(super) fn run(&self, root: &Path, day: &str) -> Result<(String, bool)> {
        let whylate = built(root, Profile::Debug, &[])?;
        let place = root::target(root).join("bounds");
        fs::create_dir_all(&place).with_context(|| format!("cannot make {}", place.display()))?;
        let sources = [(&PYCPA, &self.pycpa), (&SCHEDCAT, &self.schedcat)]
            .map(|(peer, given)| peer.source(given.as_deref(), &place));
        let mut table = format!(
            "\n{day}, {} random task sets of each kind.\n\n| analysis | peer | compared | same to the ns | neither has a bound | \
             whylate longer | shorter | only one has a bound |\n|---|---|--:|--:|--:|--:|--:|--:|\n",
            self.sets
        );
        let (mut rows, mut good) = (0, true);
        for comparison in COMPARISONS {
            let source = &sources[usize::from(comparison.peer.name == SCHEDCAT.name)];
            let agreement = source.clone().and_then(|source| {
                self.compare(&comparison, &whylate, &source, &place).map_err(|error| format!("{error:#}"))
            });
            match agreement {
                Ok(agreement) => {
                    let row = row(&comparison, &agreement);
                    print!("{row}");
                    agreement.examples.iter().for_each(|example| println!("{example}"));
                    table += &row;
                    rows += 1;
                    good &= agreement.whole();
                }
                Err(why) => println!("skipped: {}: {}: {why}", comparison.title, comparison.peer.name),
            }
        }
        if rows < COMPARISONS.len() {
            bail!(
                "{rows} of {} comparisons took place, and {PAGE} is unchanged: see above",
                COMPARISONS.len()
            );
        }
        table.push('\n');
        Ok((table, good))
    }

    fn compare(
        &self,
        comparison: &Comparison,
        whylate: &Path,
        source: &Path,
        place: &Path,
    ) -> Result<Agreement> {
        let sets: Vec<RandomSet> = (0..self.sets as u64)
            .map(|at| RandomSet::draw(comparison.kind, &mut Rng::with_seed(self.first_seed.wrapping_add(at))))
            .collect();
        let file = place.join("tasks.toml");
        let mut agreement = Agreement::default();
        if comparison.kind == SetKind::Deadline {
            let test = peer::demand_test(source, place).map_err(anyhow::Error::msg)?;
            for (mut set, largest) in sets.iter().cloned().zip(peer::largest_costs(&test, &sets)?) {
                compare_largest(&mut set, largest, whylate, &file, &mut agreement)?;
            }
            return Ok(agreement);
        }
        let theirs = peer::responses(comparison.peer, source, place, &sets)?;
        for (set, theirs) in sets.iter().zip(&theirs) {
            let ours = bounds(whylate, &file, set)?;
            agreement.add(set, &ours, theirs, comparison.constrained);
        }
        Ok(agreement)
    }
}

/// With its largest cost all tasks keep their deadlines, and with one nanosecond more they do not.
fn compare_largest(
    set: &mut RandomSet,
    largest: Ns,
    whylate: &Path,
    file: &Path,
    agreement: &mut Agreement,
) -> Result<()> {
    let last = set.tasks.len() - 1;
    let deadline = set.tasks[last].deadline;
    let mut holds = |cost: Ns| -> Result<bool> {
        set.tasks[last].cost = cost;
        Ok(bounds(whylate, file, set)?.iter().all(Option::is_some))
    };
    // Without any room for the last task there is no such cost.
    let with = largest == Ns::ZERO || holds(largest)?;
    let beyond = largest < deadline && holds(largest + Ns(1))?;
    let count = match (with, beyond) {
        (true, false) => &mut agreement.same,
        // whylate has less room.
        (false, _) => &mut agreement.longer,
        (true, true) => &mut agreement.shorter,
    };
    *count += 1;
    Ok(())
}

/// The bound of each task, as the program reports it.
fn bounds(whylate: &Path, file: &Path, set: &RandomSet) -> Result<Vec<Option<Ns>>> {
    fs::write(file, text::task_set(set)).with_context(|| format!("cannot write {}", file.display()))?;
    let output = Command::new(whylate)
        .arg("simulate")
        .arg(file)
        // The bounds do not depend on the run.
        .args(["--duration", "1us", "--json"])
        .output()
        .with_context(|| format!("cannot run {}", whylate.display()))?;
    let document: Value = serde_json::from_slice(&output.stdout).with_context(|| {
        format!("whylate simulate {}: {}", file.display(), String::from_utf8_lossy(&output.stderr))
    })?;
    let tasks = document["tasks"].as_array().context("the report of `whylate simulate` has no `tasks`")?;
    Ok(tasks.iter().map(|task| task["bound_ns"].as_i64().map(Ns)).collect())
}

fn row(comparison: &Comparison, agreement: &Agreement) -> String {
    format!(
        "| {} | {} | {} | {} | {} | {} | {} | {} |\n",
        comparison.title,
        comparison.peer.version(),
        agreement.compared(),
        agreement.same,
        agreement.neither,
        agreement.longer,
        agreement.shorter,
        agreement.one_sided
    )
}

/// The page with another table.
///
/// # Errors
/// When it lacks the markers.
pub(super) fn page(old: &str, table: &str) -> Result<String> {
    replaced(PAGE, old, SECTION, table)
}
