//! Scenarios x kernels x seeds: the runs, the boots they share, and their results.
//!
//! ```text
//!  settings  the programs, and the directory for recordings
//!  plan      runs that need the same machine share a boot
//!  boot      one boot: the steps of its runs, and the judgement of their results
//!  steps     the steps of a run in a guest, and the files that come back
//!  pair      one boot of two machines
//!  pool      concurrent boots; failed ones are repeated once
//!  result    the result of a run
//! ```

mod boot;
mod pair;
mod plan;
mod pool;
mod result;
mod settings;
mod steps;

pub(crate) use boot::explained;
pub use pair::peer_recording;
pub use plan::{Boot, Run, plan};
pub(crate) use pool::is_final;
pub use pool::run;
pub(crate) use result::said;
pub use result::{End, RunResult};
pub use settings::Matrix;
pub(crate) use steps::{INJECT_PATH, complaints, inject, modules, settings};

/// A sweep is for a fault that strikes by chance: some of its runs make no job late, as expected. Where none makes
/// one late, the fault was not provoked.
pub fn settle_sweeps(results: &mut [RunResult]) {
    let key = |result: &RunResult| (result.scenario.clone(), result.kernel.clone(), result.seed);
    let struck: Vec<_> = results.iter().filter(|result| result.late_jobs > 0).map(key).collect();
    for result in results.iter_mut().filter(|result| !result.sweep.is_empty()) {
        if result.end == End::Right && !struck.contains(&key(result)) {
            result.end = End::NotProvoked;
        }
    }
}
