//! Changes of one thread are meant together, in whatever order they are written.

use whylate_simulate::change::{WrittenChange, apply_to_task_set};
use whylate_simulate::model::{Model, TaskPolicy};
use whylate_simulate::taskset::{Overrides, read};

fn model() -> Model {
    let text =
        "[machine]\nkernel = \"6.1\"\ncpus = 2\n[[task]]\nname = \"app\"\nperiod = \"5ms\"\nrun = \"1ms\"\n";
    read(text, &Overrides::default()).unwrap_or_else(|error| panic!("{error}"))
}

fn scheduling(texts: &[&str]) -> Result<TaskPolicy, String> {
    let changes: Vec<WrittenChange> =
        texts.iter().map(|text| WrittenChange::set(text).expect(text)).collect();
    let (changed, _) = apply_to_task_set(&model(), &changes).map_err(|error| error.to_string())?;
    Ok(changed.tasks[0].scheduling)
}

#[test]
fn the_order_of_changes_does_not_matter() {
    for (texts, expected) in [
        (["app.policy=fifo", "app.priority=60"].as_slice(), TaskPolicy::Fifo(60)),
        (&["app.policy=rr", "app.priority=7"], TaskPolicy::Rr(7)),
        (&["app.nice=5", "app.policy=other"], TaskPolicy::Other(5)),
        (&["app.priority=60"], TaskPolicy::Fifo(60)),
    ] {
        let mut turned = texts.to_vec();
        turned.reverse();
        assert_eq!(scheduling(texts), Ok(expected), "{texts:?}");
        assert_eq!(scheduling(&turned), Ok(expected), "{turned:?}");
    }
}

#[test]
fn changes_that_contradict_each_other_are_refused() {
    for (texts, words) in [
        (["app.policy=fifo"].as_slice(), "set its priority as well"),
        (&["app.policy=other", "app.priority=60"], "this policy has no priority"),
        (&["app.priority=60", "app.policy=idle"], "this policy has no priority"),
        (&["app.priority=60", "app.nice=5"], "is not SCHED_OTHER"),
    ] {
        let error = scheduling(texts).expect_err(words);
        assert!(error.contains(words), "{texts:?}: {error}");
    }
}
