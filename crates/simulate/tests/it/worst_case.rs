//! The worst case of a recording is never below what was seen in it, nor below other phases of the same tasks.

use crate::bounds::{Drawn, drawn, model};
use proptest::prelude::*;
use whylate_base::Ns;
use whylate_ledger::{Cause, Select};
use whylate_simulate::model::{Amount, Arrival, Costs, Model, Step};
use whylate_simulate::recording::{Recording, read_watching};
use whylate_simulate::taskset::{Overrides, read};
use whylate_simulate::worst_case::{WorstCase, worst_cases};
use whylate_simulate::{RunOptions, SimulatedSource, check, simulate};

/// The worst cases of the tasks whose names begin with `t`.
fn composed(model: &Model, duration: Ns, seed: u64) -> (Recording, Vec<WorstCase>) {
    let source = SimulatedSource::new(model, duration, seed);
    let (recording, watched) =
        read_watching(source, &[Select::Pattern("t*".to_owned())]).expect("a recording");
    let found = worst_cases(&recording, &watched);
    (recording, found)
}

fn fixed(model: &mut Model) {
    for task in &mut model.tasks {
        for step in &mut task.steps {
            if let Step::Run(amount) = step
                && let Some(most) = amount.most()
            {
                *amount = Amount::Fixed(most);
            }
        }
    }
}

fn offset(model: &mut Model, at: usize, offset: Ns) {
    if let Arrival::Periodic { offset: own, .. } = &mut model.tasks[at].arrival {
        *own = offset;
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn it_is_never_below_what_was_seen(
        tasks in prop::collection::vec(drawn(), 1..6),
        cpus in 1u32..3,
        kernel in prop_oneof![Just(1u32), Just(12)],
        switch in prop_oneof![Just(0i64), 1i64..20_000],
        timer in prop_oneof![Just(0i64), 1i64..20_000],
        idle_exit in prop_oneof![Just(0i64), 1i64..50_000],
        hog in any::<bool>(),
        seed in any::<u64>(),
    ) {
        let costs = Costs { switch: Ns(switch), timer: Ns(timer), tick: Ns(timer / 2), idle_exit: Ns(idle_exit) };
        let model = model(&tasks, cpus, kernel, costs, hog);
        prop_assume!(check(&model).is_ok());
        let (_, found) = composed(&model, Ns::from_ms(1100), seed);
        for worst in found {
            if let Ok(bound) = worst.bound {
                prop_assert!(worst.seen <= bound, "{worst:#?}\n{model:#?}");
                let sum: Ns = worst.contributors.iter().map(|one| one.time).sum();
                prop_assert!(sum >= bound, "{worst:#?}");
            }
        }
    }

    #[test]
    fn it_is_never_below_other_phases(
        tasks in prop::collection::vec(drawn(), 1..6),
        offsets in prop::collection::vec(0i64..40_000, 6),
        kernel in prop_oneof![Just(1u32), Just(12)],
        hog in any::<bool>(),
        seed in any::<u64>(),
    ) {
        // What a recording cannot show where it delays nothing is left out: locks and sections without preemption.
        let plain = |task: &Drawn| Drawn { locks: 0, suspend_us: 0, jitter_us: 0, off: false, ..task.clone() };
        let tasks: Vec<Drawn> = tasks.iter().map(plain).collect();
        let mut model = model(&tasks, 1, kernel, Costs::default(), hog);
        fixed(&mut model);
        prop_assume!(check(&model).is_ok());
        let (recording, found) = composed(&model, Ns::from_ms(1100), seed);
        for (at, us) in offsets.into_iter().enumerate().take(tasks.len()) {
            offset(&mut model, at, Ns::from_us(us));
        }
        let report = simulate(&model, RunOptions { duration: Ns::from_ms(1100), seed, worst: 1 });
        for task in &report.tasks {
            let Some(worst) = found.iter().find(|worst| worst.name == task.name) else { continue };
            if let (Some(response), Ok(bound)) = (task.tally.worst(), &worst.bound) {
                prop_assert!(
                    response <= *bound,
                    "{response} in another phase\n{worst:#?}\n{:#?}\n{model:#?}",
                    recording.length
                );
            }
        }
    }
}

/// Two tasks that never meet in the recording: 10 ms and 20 ms, 5 ms apart.
const APART: &str = r#"
[machine]
kernel = "6.1"
cpus = 1
[[task]]
name = "tctl"
priority = 40
period = "10ms"
run = "1ms"
[[task]]
name = "thog"
priority = 60
period = "20ms"
offset = "5ms"
run = "3ms"
"#;

#[test]
fn what_never_met_is_added_up() {
    let model = read(APART, &Overrides::default()).expect("a task set");
    let (_, found) = composed(&model, Ns::from_secs(1), 0);
    let ctl = found.iter().find(|worst| worst.name == "tctl").expect("ctl");
    assert_eq!((ctl.seen, ctl.bound.clone()), (Ns::from_ms(1), Ok(Ns::from_ms(4))), "{ctl:#?}");
    let first = &ctl.contributors[ctl.first.expect("something to fix")];
    assert_eq!(
        (first.cause, first.time, first.bound_without),
        (Cause::HigherPriorityTask, Ns::from_ms(3), Some(Ns::from_ms(1)))
    );
    assert_eq!(first.in_worst_seen, Ns::ZERO);
    let provocation = ctl.provocation.as_ref().expect("there is a bound");
    assert_eq!(provocation.expected, Ns::from_ms(4));
    assert_eq!(provocation.threads[1].jobs, [(Ns::ZERO, Ns::from_ms(3))]);
}

#[test]
fn without_an_end_there_is_no_bound() {
    let text = format!(
        "{APART}[[task]]\nname = \"endless\"\npriority = 50\noffset = \"500ms\"\nperiod = \"1s\"\nrun = \"forever\"\n"
    );
    let model = read(&text, &Overrides::default()).expect("a task set");
    let (_, found) = composed(&model, Ns::from_secs(1), 0);
    let ctl = found.iter().find(|worst| worst.name == "tctl").expect("ctl");
    let reason = ctl.bound.clone().expect_err("the CPU is taken");
    assert!(reason.contains("endless") && reason.contains("may have no end"), "{reason}");
    assert!(ctl.provocation.is_none());
}
