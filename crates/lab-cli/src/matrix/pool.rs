//! Concurrent boots: several at once in virtual time, one at a time in the host's time.

use super::boot;
use super::plan::Boot;
use super::result::RunResult;
use super::settings::Matrix;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError, mpsc};
use whylate_lab::{LabError, TimeSource};

/// Runs all boots, and reports each run as it ends. After a failed boot, each of its runs is repeated in a boot of its
/// own; a second failure is a result with [`super::End::NoRun`].
///
/// # Errors
/// When a second try cannot help: QEMU or a program is missing, or the run was interrupted.
pub fn run(
    boots: Vec<Boot>,
    matrix: &Matrix,
    stop: &AtomicBool,
    mut report: impl FnMut(&RunResult),
) -> Result<Vec<RunResult>, LabError> {
    let (free, virtual_time): (Vec<Boot>, Vec<Boot>) =
        boots.into_iter().partition(|boot| boot.time() == TimeSource::Free);
    let mut results = Vec::new();
    // Other work of the host is time stolen from a guest in the host's time.
    for (boots, jobs) in [(virtual_time, matrix.jobs.max(1)), (free, 1)] {
        side_by_side(boots, jobs, matrix, stop, |result| {
            report(&result);
            results.push(result);
        })?;
    }
    Ok(results)
}

fn side_by_side(
    boots: Vec<Boot>,
    jobs: usize,
    matrix: &Matrix,
    stop: &AtomicBool,
    mut report: impl FnMut(RunResult),
) -> Result<(), LabError> {
    let waiting = Mutex::new(VecDeque::from(boots));
    let over = AtomicBool::new(false);
    let (sender, receiver) = mpsc::channel();
    let take = || waiting.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
    std::thread::scope(|scope| {
        for _ in 0..jobs {
            let sender = sender.clone();
            let (take, over) = (&take, &over);
            scope.spawn(move || {
                while !over.load(Ordering::Relaxed)
                    && let Some(boot) = take()
                {
                    let result = at_most_twice(&boot, matrix, stop);
                    over.fetch_or(result.is_err(), Ordering::Relaxed);
                    // The receiver lives until all senders are gone.
                    let _ = sender.send(result);
                }
            });
        }
        drop(sender);
        let mut failed = None;
        for result in receiver {
            match result {
                Ok(results) => results.into_iter().for_each(&mut report),
                Err(error) => failed = failed.or(Some(error)),
            }
        }
        failed.map_or(Ok(()), Err)
    })
}

fn at_most_twice(boot: &Boot, matrix: &Matrix, stop: &AtomicBool) -> Result<Vec<RunResult>, LabError> {
    match boot::run(boot, matrix, stop) {
        Err(error) if is_final(&error) => return Err(error),
        Err(_) => {}
        Ok(results) => return Ok(results),
    }
    let mut results = Vec::new();
    for run in &boot.runs {
        let alone = Boot { kernel: boot.kernel.clone(), runs: vec![run.clone()] };
        match boot::run(&alone, matrix, stop) {
            Ok(more) => results.extend(more),
            Err(error) if is_final(&error) => return Err(error),
            Err(error) => results.push(RunResult::none(run, format!("no guest, twice: {error}"))),
        }
    }
    Ok(results)
}

/// True for an error that a second try or another kernel does not change.
pub(crate) fn is_final(error: &LabError) -> bool {
    matches!(error, LabError::Stopped | LabError::Tool { .. } | LabError::Program { .. })
}
