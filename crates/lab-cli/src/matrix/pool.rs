//! Boots side by side: as many as are wanted while they keep their own time, one at a time while
//! they keep the host's.

use super::boot;
use super::plan::Boot;
use super::result::RunResult;
use super::settings::Matrix;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError, mpsc};
use whylate_lab::{LabError, Time};

/// Does all boots, telling of each run as it ends. A boot that fails is done once more, each of its
/// runs in a boot of its own; what fails then too is a result with [`super::End::NoRun`].
///
/// # Errors
/// What no second try can help: QEMU or a program is missing, or someone asked to stop.
pub fn run(
    boots: Vec<Boot>,
    matrix: &Matrix,
    stop: &AtomicBool,
    mut tell: impl FnMut(&RunResult),
) -> Result<Vec<RunResult>, LabError> {
    let (free, virtual_time): (Vec<Boot>, Vec<Boot>) =
        boots.into_iter().partition(|boot| boot.time() == Time::Free);
    let mut results = Vec::new();
    // What the host does beside a free-running guest is time stolen from it.
    for (boots, jobs) in [(virtual_time, matrix.jobs.max(1)), (free, 1)] {
        side_by_side(boots, jobs, matrix, stop, |result| {
            tell(&result);
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
    mut tell: impl FnMut(RunResult),
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
                Ok(results) => results.into_iter().for_each(&mut tell),
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

/// True for what will be no different the next time, or with another kernel.
fn is_final(error: &LabError) -> bool {
    matches!(error, LabError::Stopped | LabError::Tool { .. } | LabError::Program { .. })
}
