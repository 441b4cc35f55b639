//! Trials in which `apply` is interrupted.

use super::machine::{Trial, TrialCommand};
use super::{TuningRequest, verbs};
use crate::state::MachineState;
use std::time::Duration;
use whylate_lab::LabError;

/// The exit code of a shell for a program that SIGKILL ended.
const KILLED: i32 = 137;

/// In one boot: for each of `steps`, `apply` is killed before that change, `rollback` undoes its changes, and the state
/// must be the one before. With a step beyond the last, `apply` completes and is rolled back as well.
///
/// # Errors
/// As [`story`](super::story()).
pub fn kills(trial: &mut Trial<'_>, request: &TuningRequest, steps: &[u32]) -> Result<(), LabError> {
    let mut lines = vec![
        TrialCommand::new("program installed", verbs::install(), &[0]),
        // Before its first change there is nothing to undo.
        TrialCommand::new("the program can be killed", verbs::apply(request, Some(1)), &[KILLED]),
        TrialCommand::state("before"),
    ];
    for step in steps {
        lines.push(TrialCommand::new(
            &format!("apply, killed at {step}"),
            verbs::apply(request, Some(*step)),
            &[KILLED, 0],
        ));
        lines.push(TrialCommand::new(&format!("rollback after {step}"), verbs::rollback(), &[0]));
        lines.push(TrialCommand::state(&format!("after-{step}")));
    }
    let left = trial.boot(&lines)?;
    let before = left.state("before")?;
    for step in steps {
        trial.same(
            &format!("killed at {step}, rolled back: as before"),
            &before,
            &left.state(&format!("after-{step}"))?,
        );
    }
    Ok(())
}

/// For each of `steps`: `apply` is killed before that change and the machine loses its power at once; the next boot
/// rolls back, and after another reboot the state must be the one before.
///
/// # Errors
/// As [`story`](super::story()).
pub fn power_cuts(trial: &mut Trial<'_>, request: &TuningRequest, steps: &[u32]) -> Result<(), LabError> {
    let install = TrialCommand::new("program installed", verbs::install(), &[0]);
    let before: MachineState = trial.boot(&[install, TrialCommand::state("before")])?.state("before")?;
    for step in steps {
        let apply = TrialCommand::new("apply", verbs::apply(request, Some(*step)), &[KILLED]);
        let code = trial.boot_and_cut(&[apply])?;
        let came =
            code.map_or("nothing was run".to_owned(), |code| format!("exit code {code}, then no power"));
        trial.found(&format!("power cut at {step}"), code == Some(KILLED), came, Vec::new(), Duration::ZERO);
        trial.boot(&[TrialCommand::new("rollback after the power cut", verbs::rollback(), &[0])])?;
        let after = trial.boot(&[TrialCommand::state("after")])?.state("after")?;
        trial.same(&format!("power cut at {step}, rolled back, rebooted: as before"), &before, &after);
    }
    Ok(())
}
