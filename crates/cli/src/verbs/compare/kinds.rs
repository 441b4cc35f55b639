//! Files with measurements of several kinds, such as one of each function: each is compared with its like.

use anyhow::{Result, bail};
use std::collections::BTreeSet;
use whylate_investigate::compare::Prepared;

/// The measurements that are compared or judged, and which with which: before and after.
pub(super) struct Kinds {
    pub(super) runs: Vec<Prepared>,
    pub(super) pairs: Vec<(usize, usize)>,
}

/// Of the measurements of each file, and which files are compared. Files of one kind each are compared whatever that is. What only one
/// file has is noted; of the file before, it is left out.
///
/// # Errors
/// If files of several kinds have none in common.
pub(super) fn of(mut files: Vec<Vec<Prepared>>, sides: &[(usize, usize)]) -> Result<Kinds> {
    let mut alike: Vec<[(usize, usize); 2]> = Vec::new();
    for &(before, after) in sides {
        let found = pairs_of(&files[before], &files[after]);
        if found.is_empty() {
            bail!("they measured nothing alike: {}; {}", kinds(&files[before]), kinds(&files[after]));
        }
        alike.extend(found.into_iter().map(|(one, other)| [(before, one), (after, other)]));
    }
    let is_paired = |place| sides.is_empty() || alike.iter().flatten().any(|one| *one == place);
    let places = files.iter().enumerate().flat_map(|(file, own)| (0..own.len()).map(move |run| (file, run)));
    let unpaired: BTreeSet<(usize, usize)> = places.filter(|place| !is_paired(*place)).collect();
    for &(file, run) in &unpaired {
        let note = "the other file has no measurement of this kind: it is not compared".to_owned();
        files[file][run].run.notes.push(note);
    }
    let is_judged = |file: usize| sides.is_empty() || sides.iter().any(|side| side.1 == file);
    let (mut runs, mut kept) = (Vec::new(), Vec::new());
    for (file, own) in files.into_iter().enumerate() {
        for (at, run) in own.into_iter().enumerate() {
            if is_judged(file) || !unpaired.contains(&(file, at)) {
                kept.push((file, at));
                runs.push(run);
            }
        }
    }
    let place = |wanted: (usize, usize)| kept.iter().position(|place| *place == wanted);
    let pairs = alike.iter().filter_map(|[before, after]| Some((place(*before)?, place(*after)?))).collect();
    Ok(Kinds { runs, pairs })
}

/// Which measurements of two files are alike, by their places.
fn pairs_of(before: &[Prepared], after: &[Prepared]) -> Vec<(usize, usize)> {
    if let ([_], [_]) = (before, after) {
        return vec![(0, 0)];
    }
    let like = |run: &Prepared| after.iter().position(|other| other.run.is_of_kind(&run.run));
    before.iter().enumerate().filter_map(|(at, run)| Some((at, like(run)?))).collect()
}

fn kinds(runs: &[Prepared]) -> String {
    let each = runs.iter().map(|run| format!("{} ({})", run.run.label, run.run.tool));
    each.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use whylate_stats::Run;

    fn file(name: &str, probes: &[&str]) -> Vec<Prepared> {
        let run = |probe: &&str| {
            let label = format!("{name}: {probe}");
            Prepared::of(Run { label, probe: (*probe).to_owned(), ..Run::default() })
        };
        probes.iter().map(run).collect()
    }

    #[test]
    fn each_kind_is_compared_with_its_like() {
        let files = || vec![file("a", &["read", "sync"]), file("b", &["sync", "write", "read"])];
        let labels =
            |kinds: &Kinds| kinds.runs.iter().map(|run| run.run.label.clone()).collect::<Vec<_>>().join(", ");
        let both = of(files(), &[(0, 1)]).expect("two kinds are in both");
        assert_eq!(labels(&both), "a: read, a: sync, b: sync, b: write, b: read");
        assert_eq!(both.pairs, [(0, 4), (1, 2)]);
        assert_eq!(both.runs[3].run.notes.len(), 1);
        // What the file before has alone is not judged.
        let back = of(files(), &[(1, 0)]).expect("two kinds are in both");
        assert_eq!(
            (labels(&back).as_str(), &back.pairs[..]),
            ("a: read, a: sync, b: sync, b: read", &[(2, 1), (3, 0)][..])
        );
        // One file alone is judged as it is.
        let alone = of(files(), &[]).expect("nothing is compared");
        assert_eq!((alone.runs.len(), alone.pairs.len()), (5, 0));
        assert!(alone.runs.iter().all(|run| run.run.notes.is_empty()));
    }

    #[test]
    fn files_of_one_kind_are_compared_whatever_it_is() {
        let one = of(vec![file("a", &["read"]), file("b", &["write"])], &[(0, 1)]).expect("one kind each");
        assert_eq!(one.pairs, [(0, 1)]);
        let none = of(vec![file("a", &["read", "sync"]), file("b", &["write"])], &[(0, 1)]);
        assert!(none.is_err_and(|error| error.to_string().contains("nothing alike: a: read")));
    }
}
