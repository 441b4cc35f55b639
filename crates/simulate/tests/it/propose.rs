//! A proposal holds all deadlines, and is found where any order of priorities holds them by its bounds.

use proptest::prelude::*;
use std::sync::atomic::AtomicBool;
use whylate_base::Ns;
use whylate_simulate::RunOptions;
use whylate_simulate::bounds::bounds;
use whylate_simulate::change::{WrittenChange, apply_to_task_set};
use whylate_simulate::model::{Model, TaskPolicy};
use whylate_simulate::propose::{HeldBy, Proposal, ProposalOutcome, ProposeError, propose};
use whylate_simulate::sweep::SweepSubject;
use whylate_simulate::taskset::{Overrides, read};

const MACHINE: &str = "[machine]\nkernel = \"6.12-rt\"\ncpus = 3\nsched_rt_runtime_us = -1\n";

fn task(name: &str, priority: u8, period: u64, run: u64, more: &str) -> String {
    format!(
        "[[task]]\nname = \"{name}\"\npolicy = \"fifo\"\npriority = {priority}\nperiod = \"{period}us\"\nrun = \"{run}us\"\n{more}\n"
    )
}

fn model(tasks: &[String]) -> Model {
    let text = format!("{MACHINE}{}", tasks.concat());
    read(&text, &Overrides::default()).unwrap_or_else(|error| panic!("{error}: {text}"))
}

fn proposed(model: &Model) -> Result<Proposal, ProposeError> {
    let options = RunOptions { duration: Ns::from_ms(500), ..RunOptions::default() };
    let subject = SweepSubject::TaskSet { model, options };
    let report = propose(subject, &[], &[], &AtomicBool::new(false))?;
    Ok(report.proposal.expect("a proposal"))
}

fn changes(proposal: &Proposal) -> (&[String], HeldBy) {
    match &proposal.outcome {
        ProposalOutcome::Found { changes, by } => (changes, *by),
        other => panic!("{other:?}"),
    }
}

#[test]
fn priorities_in_a_wrong_order_are_put_right_with_as_few_changes_as_will_do() {
    let set = [
        task("vision", 80, 20_000, 9_000, "cpus = \"1\""),
        task("ctl", 50, 5_000, 1_000, "deadline = \"3ms\"\ncpus = \"1\""),
        task("slow", 20, 100_000, 10_000, "cpus = \"1\""),
    ];
    let proposal = proposed(&model(&set)).expect("tasks with deadlines");
    let wanted: &[String] = &["vision.priority=50".to_owned(), "ctl.priority=80".to_owned()];
    assert_eq!(changes(&proposal), (wanted, HeldBy::Bound));
    let ctl = &proposal.tasks[1];
    assert!(ctl.before.missed > 0 && ctl.after.missed == 0, "{ctl:?}");
    assert_eq!((ctl.after.worst, ctl.after.bound), (Some(Ns::from_ms(1)), Some(Ns::from_ms(1))));
}

#[test]
fn tasks_that_may_move_are_placed() {
    let set = [
        task("a", 80, 10_000, 6_000, ""),
        task("b", 70, 10_000, 6_000, ""),
        task("c", 60, 20_000, 7_000, ""),
        task("d", 50, 10_000, 3_000, "deadline = \"4ms\"\ncpus = \"0\""),
        task("e", 40, 40_000, 12_000, ""),
    ];
    let model = model(&set);
    let proposal = proposed(&model).expect("tasks with deadlines");
    let (found, by) = changes(&proposal);
    assert_eq!(by, HeldBy::Bound);
    assert!(!found.iter().any(|change| change.starts_with("d.cpus")), "it has one CPU: {found:?}");
    let found: Vec<WrittenChange> =
        found.iter().map(|text| WrittenChange::set(text).expect("a change")).collect();
    let (changed, _) = apply_to_task_set(&model, &found).expect("changes that can be made");
    for (task, bound) in changed.tasks.iter().zip(bounds(&changed)) {
        assert!(bound.response() <= task.deadline && bound.response().is_some(), "{}: {bound:?}", task.name);
    }
}

#[test]
fn what_holds_already_stays_and_what_no_order_holds_is_named() {
    let good = [task("ctl", 50, 5_000, 1_000, "cpus = \"1\"")];
    let proposal = proposed(&model(&good)).expect("a task with a deadline");
    assert_eq!(proposal.outcome, ProposalOutcome::HoldsAlready(HeldBy::Bound));
    let much = [task("one", 50, 5_000, 3_000, "cpus = \"1\""), task("two", 40, 5_000, 3_000, "cpus = \"1\"")];
    let proposal = proposed(&model(&much)).expect("tasks with deadlines");
    let left = ["two".to_owned(), "one".to_owned()].to_vec();
    assert_eq!(proposal.outcome, ProposalOutcome::NotFound { left });
    let fair = ["[[task]]\nname = \"a\"\npolicy = \"other\"\nperiod = \"5ms\"\nrun = \"1ms\"\n".to_owned()];
    assert_eq!(proposed(&model(&fair)), Err(ProposeError::NoDeadline));
}

#[test]
fn an_interruption_is_no_answer() {
    let set = [task("a", 50, 5_000, 2_000, "cpus = \"1\""), task("b", 60, 50_000, 9_000, "cpus = \"1\"")];
    let model = model(&set);
    let subject = SweepSubject::TaskSet { model: &model, options: RunOptions::default() };
    let report = propose(subject, &[], &[], &AtomicBool::new(true)).expect("a report");
    assert_eq!(report.proposal.map(|proposal| proposal.outcome), Some(ProposalOutcome::Interrupted));
}

/// True where some order of priorities holds all deadlines by the bounds.
fn any_order_holds(model: &mut Model, levels: &[u8], at: usize) -> bool {
    if at == model.tasks.len() {
        let all = bounds(model);
        return model.tasks.iter().zip(all).all(|(task, bound)| {
            bound.response().zip(task.deadline).is_some_and(|(response, deadline)| response <= deadline)
        });
    }
    levels.iter().enumerate().any(|(taken, &level)| {
        model.tasks[at].scheduling = TaskPolicy::Fifo(level);
        let rest = [&levels[..taken], &levels[taken + 1..]].concat();
        any_order_holds(model, &rest, at + 1)
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    /// Audsley's assignment is optimal: no other order holds what it does not.
    #[test]
    fn an_order_is_found_where_there_is_one(
        tasks in prop::collection::vec((4_u64..40, 1_u64..35, 30_u64..110), 2..5),
    ) {
        let set: Vec<String> = (tasks.iter().enumerate())
            .map(|(at, &(period, share, deadline))| {
                let (period, run) = (period * 500, (period * 500 * share / 100).max(20));
                let more = format!("cpus = \"1\"\ndeadline = \"{}us\"", (period * deadline / 100).max(run));
                task(&format!("t{at}"), 10 + at as u8, period, run, &more)
            })
            .collect();
        let mut model = model(&set);
        let proposal = proposed(&model).expect("tasks with deadlines");
        let levels: Vec<u8> = (0..model.tasks.len() as u8).map(|at| 10 + at).collect();
        let there_is_one = any_order_holds(&mut model, &levels, 0);
        let found = match &proposal.outcome {
            ProposalOutcome::HoldsAlready(by) | ProposalOutcome::Found { by, .. } => *by == HeldBy::Bound,
            _ => false,
        };
        prop_assert_eq!(found, there_is_one, "{:?}", proposal);
        if !matches!(proposal.outcome, ProposalOutcome::NotFound { .. }) {
            prop_assert!(proposal.tasks.iter().all(|task| task.after.missed == 0));
        }
    }
}
