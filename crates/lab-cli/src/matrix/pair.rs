//! One boot of two machines on a network: both recorded, and explained together.

use super::plan::Run;
use super::result::RunResult;
use super::settings::Matrix;
use super::steps::{INJECT_PATH, command, complaints, keep_files, label, modules, recorded, settings};
use crate::judge::{judge_pair, options};
use crate::scenario::PeerMachine;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use whylate_investigate::peer::{PeerQuestion, join_peer};
use whylate_lab::{GuestFile, LabError, Machine, PairSide, Visit, run_pair};
use whylate_ledger::explain;

/// The names of a machine's files.
const PREFIX: &str = "run0";

/// What the names of the other machine's kept files end with.
const OF_PEER: &str = "-peer";

/// The other machine's recording beside a kept one; `None`: the run had one machine.
pub fn peer_recording(kept: &Path) -> Option<PathBuf> {
    let path = kept.with_file_name(format!("{}{OF_PEER}.dat", kept.file_stem()?.to_string_lossy()));
    path.is_file().then_some(path)
}

/// Boots both and judges the run.
pub(super) fn run(
    run: &Run,
    peer: &PeerMachine,
    machine: &Machine,
    matrix: &Matrix,
    stop: &AtomicBool,
) -> Result<RunResult, LabError> {
    let directory = || {
        let made = tempfile::Builder::new().prefix("whylate-lab-pair-").tempdir();
        made.map_err(LabError::file("create", &std::env::temp_dir()))
    };
    let (own_out, peer_out) = (directory()?, directory()?);
    let visit = |inject: &[String]| Visit {
        files: vec![GuestFile { from: matrix.injector.clone(), to: INJECT_PATH.to_owned() }],
        modules: modules(&run.scenario),
        steps: (settings(&run.scenario).into_iter())
            .chain([recorded(&run.scenario, PREFIX, command(run, inject, machine.kernel.arch))])
            .collect(),
        ..Visit::default()
    };
    let (own_visit, peer_visit) = (visit(&run.scenario.inject), visit(&peer.inject));
    let own = PairSide { machine, visit: &own_visit, out: own_out.path() };
    let other = PairSide { machine, visit: &peer_visit, out: peer_out.path() };
    let (visited, _) = run_pair(own, other, stop)?;
    let mut result =
        judged(run, own_out.path(), peer_out.path(), matrix).unwrap_or_else(|why| RunResult::none(run, why));
    result.seconds = visited.total.as_secs_f64();
    result.release = visited.report.kernel.split(' ').next().unwrap_or_default().to_owned();
    result.notes.extend(visited.notes);
    Ok(result)
}

fn judged(run: &Run, own: &Path, peer: &Path, matrix: &Matrix) -> Result<RunResult, String> {
    // Also where the answer fails: the recordings show why.
    let kept = matrix.keep.as_ref().map(|keep| {
        keep_files(keep, run, OF_PEER, peer, PREFIX)?;
        keep_files(keep, run, "", own, PREFIX)
    });
    let (label, peer_label) =
        (label(own, PREFIX)?, label(peer, PREFIX).map_err(|why| format!("the peer: {why}"))?);
    let (trace, peer_trace) = (own.join(format!("{PREFIX}.dat")), peer.join(format!("{PREFIX}.dat")));
    let explained = || {
        let source =
            whylate_intake::open(&trace, whylate_ledger::WANTED).map_err(|error| error.to_string())?;
        let mut explanation = explain(source, &options(&label, false));
        join_peer(&mut explanation, &trace, &peer_trace, PeerQuestion { most: usize::MAX, chains: None })
            .map_err(|error| error.to_string())?;
        Ok::<_, String>(explanation)
    };
    let explanation =
        explained().map_err(|why| format!("{why}; {}", complaints(own, PREFIX, &["json.err"])))?;
    let recording = explanation.peer.as_ref().ok_or("the peer's recording was not joined")?;
    let judgement = judge_pair(&label, &peer_label, &explanation, recording, &run.expected);
    let mut result = RunResult::judged(run, &label, judgement);
    match kept {
        Some(Err(error)) => result.notes.push(error.to_string()),
        kept => result.recording = kept.transpose().ok().flatten(),
    }
    Ok(result)
}
