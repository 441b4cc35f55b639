//! What is shown of groups, and what is not.

use super::*;
use crate::compare::RunVerdict;
use whylate_base::Ns;
use whylate_stats::{Measured, Run};

/// A machine with a tail: 10,000 samples of 5 us, and 20 at `late`.
fn run(group: &str, machine: &str, late: i64) -> MachineRun {
    let histogram = (0..10_000).map(|_| Ns(5_000)).chain((0..20).map(|_| Ns(late))).collect();
    let thread = Measured { name: "CPU 0".to_owned(), histogram, ..Measured::default() };
    MachineRun {
        group: group.to_owned(),
        machine: machine.to_owned(),
        facts: vec![("board", machine[..1].to_owned())],
        run: Run { threads: vec![thread], ..Run::default() },
    }
}

fn comparison(runs: impl IntoIterator<Item = MachineRun>, gates: &str) -> GroupComparison {
    let mut grouping = Grouping::default();
    runs.into_iter().for_each(|run| grouping.add(run));
    let gates = if gates.is_empty() { Vec::new() } else { Gate::list(gates).expect("gates") };
    grouping.compared("kernel", Some("old"), &gates).expect("the baseline is there")
}

#[test]
fn the_same_machines_are_compared_each_with_itself() {
    // Machines differ more among each other than by the kernel: only pairs show it.
    let runs = (0..9).flat_map(|at| {
        let name = format!("a{at}");
        [run("old", &name, 50_000 + at * 40_000), run("new", &name, 60_000 + at * 48_000)]
    });
    let compared = comparison(runs, "");
    let pair = &compared.pairs[0];
    assert_eq!(pair.verdict, RunVerdict::Worse, "{pair:#?}");
    let shown: Vec<f64> = pair.tests.iter().filter(|test| test.is_shown()).map(|test| test.q).collect();
    assert_eq!(shown, [0.999, 0.9999], "{pair:#?}");
    assert!(
        matches!(pair.tests[0].kind, GroupTestKind::Same(signs) if (signs.larger, signs.smaller) == (0, 0))
    );
    // 10,020 samples have no 99.999th percentile.
    assert_eq!(pair.untested.iter().map(|one| one.q).collect::<Vec<_>>(), [0.99999]);
    assert_eq!(compared.tests, pair.tests.len());
    assert!(pair.confounded.is_empty());
}

#[test]
fn different_machines_are_ranked_and_what_else_differs_is_listed() {
    let old = (0..10).map(|at| run("old", &format!("a{at}"), 50_000 + at * 100));
    let new = (0..10).map(|at| run("new", &format!("b{at}"), 90_000 + at * 100));
    let compared = comparison(old.chain(new), "p99.9<80us,max<1ms");
    let pair = &compared.pairs[0];
    assert_eq!(pair.verdict, RunVerdict::Worse);
    assert!(pair.tests.iter().any(
        |test| matches!(test.kind, GroupTestKind::Different { before: 10, after: 10, share } if share == 1.0)
    ));
    assert_eq!(pair.confounded, [("board", vec!["a".to_owned()], vec!["b".to_owned()])]);
    let [p99_9, max] = &compared.gates[..] else { panic!("{:?}", compared.gates) };
    assert_eq!((p99_9.met, p99_9.missed.len(), p99_9.missed[0].machine.as_str()), (0, 10, "b9"));
    assert_eq!((max.met, max.missed.len()), (10, 0));
}

#[test]
fn many_samples_of_few_machines_show_nothing() {
    let runs = (0..5).flat_map(|at| {
        let name = format!("a{at}");
        [run("old", &name, 50_000), run("new", &name, 500_000), run("new", &name, 500_000)]
    });
    let compared = comparison(runs, "p99.999<1ms");
    let pair = &compared.pairs[0];
    assert_eq!((pair.verdict, pair.tests.len(), compared.tests), (RunVerdict::CannotTell, 0, 0));
    assert!(pair.untested.iter().any(|one| (one.before, one.after, one.both) == (5, 5, 5)), "{pair:?}");
    assert_eq!(compared.gates[0].unknown.len(), 5);
    assert_eq!((compared.groups[0].runs(), compared.groups[0].machines.len()), (10, 5));
}

#[test]
fn the_number_of_groups_costs_certainty() {
    // Of eight machines alone, eight worse are shown with 0.8 %; beside 19 groups that do not differ they are not.
    let group = |name: String, late: i64| (0..8).map(move |at| run(&name, &format!("a{at}"), late + at));
    let old = || group("old".to_owned(), 50_000);
    let alone = comparison(old().chain(group("new".to_owned(), 90_000)), "");
    assert_eq!(alone.pairs[0].verdict, RunVerdict::Worse);
    let others = (0..19).flat_map(|at| group(format!("x{at}"), 50_000));
    let many = comparison(old().chain(group("new".to_owned(), 90_000)).chain(others), "");
    let new = many.pairs.iter().find(|pair| many.groups[pair.after].name == "new").expect("it is there");
    assert_eq!(new.verdict, RunVerdict::Same, "{new:#?}");
    assert!(new.tests.iter().any(|test| test.p < 0.01 && test.corrected > 0.05));
}

#[test]
fn the_baseline_is_named_or_the_largest_group() {
    let grouping = || {
        let mut grouping = Grouping::default();
        [("b", "m1"), ("c", "m1"), ("c", "m2"), ("a", "m3")]
            .into_iter()
            .for_each(|(group, machine)| grouping.add(run(group, machine, 50_000)));
        grouping
    };
    let compared = grouping().compared("kernel", None, &[]).expect("groups");
    assert_eq!(compared.baseline.map(|at| compared.groups[at].name.as_str()), Some("c"));
    let error = grouping().compared("kernel", Some("d"), &[]).expect_err("there is none");
    assert_eq!(error.to_string(), "no group is called `d`: there are `a`, `b`, `c`");
    let mut alone = Grouping::default();
    alone.add(run("a", "m1", 50_000));
    assert_eq!(alone.compared("kernel", None, &[]).map(|compared| compared.baseline), Ok(None));
}
