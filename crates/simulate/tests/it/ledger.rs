//! The ledger reads a simulation as it reads a recording: what is charged is what was simulated.

use whylate_base::Ns;
use whylate_ledger::Cause;
use whylate_simulate::taskset::{Overrides, read};
use whylate_simulate::{RunOptions, SimulationReport, simulate};

fn run(text: &str) -> SimulationReport {
    let model = read(text, &Overrides::default()).unwrap_or_else(|error| panic!("{error}\n{text}"));
    simulate(&model, RunOptions { duration: Ns::from_secs(1), ..RunOptions::default() })
}

fn verdicts(report: &SimulationReport, name: &str) -> (Cause, Ns) {
    let tid = report.tasks.iter().find(|task| task.name == name).expect(name).tid;
    let worst = report.explanation.activations.iter().find(|activation| activation.tid == tid).expect(name);
    (worst.verdict.cause, worst.response())
}

const OFF: &str = "[machine]\nsched_rt_runtime_us = -1\nfair-server = \"off\"\n";

#[test]
fn each_mechanism_is_charged_to_its_cause() {
    let victim = "[[task]]\nname = \"v\"\npriority = 50\nperiod = \"10ms\"\nrun = \"1ms\"\n";
    // Its period is no multiple of the victim's: they seldom meet, so that the delay is not usual.
    let other = |priority: i64, run: &str| {
        format!(
            "[[task]]\nname = \"x\"\npriority = {priority}\noffset = \"49ms\"\nperiod = \"110ms\"\nrun = \"{run}\"\n"
        )
    };
    for (rest, cause) in [
        (other(60, "4ms"), Cause::HigherPriorityTask),
        (other(50, "4ms"), Cause::EqualPriorityTask),
        (
            "[[task]]\nname = \"d\"\nruntime = \"4ms\"\noffset = \"49ms\"\nperiod = \"110ms\"\nrun = \"4ms\"\n".to_owned(),
            Cause::DeadlineTask,
        ),
        (
            "[[interrupt]]\nname = \"eth0\"\noffset = \"49ms\"\ngap = \"110ms\"\nrun = \"4ms\"\n".to_owned(),
            Cause::Irq,
        ),
    ] {
        let report = run(&format!("{OFF}{victim}{rest}"));
        let (found, response) = verdicts(&report, "v");
        assert_eq!(found, cause, "{rest}");
        assert_eq!(Some(response), report.tasks[0].tally.worst(), "{rest}");
    }
}

#[test]
fn own_work_that_varies_is_own_work() {
    let text = format!(
        "{OFF}[[task]]\nname = \"v\"\npriority = 50\nperiod = \"10ms\"\nrun = {{ values = [[\"1ms\", 0.95], [\"6ms\", 0.05]] }}\n"
    );
    assert_eq!(verdicts(&run(&text), "v").0, Cause::OwnWork);
}

#[test]
fn an_inversion_is_the_lock_of_the_low_thread() {
    let text = format!(
        "{OFF}[[lock]]\nname = \"m\"\nprotocol = \"none\"\n\
         [[task]]\nname = \"low\"\npriority = 1\nperiod = \"110ms\"\noffset = \"49ms\"\nsteps = [\"lock m\", \"run 5ms\", \"unlock m\"]\n\
         [[task]]\nname = \"middle\"\npriority = 2\noffset = \"51500us\"\nperiod = \"110ms\"\nrun = \"4ms\"\n\
         [[task]]\nname = \"v\"\npriority = 50\nperiod = \"10ms\"\nsteps = [\"lock m\", \"run 1ms\", \"unlock m\"]\n"
    );
    let report = run(&text);
    let (cause, response) = verdicts(&report, "v");
    assert_eq!(cause, Cause::LockInversion);
    assert_eq!(Some(response), report.tasks[2].tally.worst());
}

#[test]
fn simulated_activations_tile() {
    let text = include_str!("../../examples/story-a.toml");
    let report = run(text);
    assert!(!report.explanation.activations.is_empty());
    for activation in &report.explanation.activations {
        let charged: Ns = activation.ledger.iter().map(|segment| segment.length()).sum();
        assert_eq!(charged, activation.end - activation.due);
    }
}
