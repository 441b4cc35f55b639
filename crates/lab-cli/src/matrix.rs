//! Scenarios x kernels x seeds: which runs there are, how they share boots, and what came of each.
//!
//! ```text
//!  settings  the programs, and what is kept
//!  plan      runs that need the same machine share a boot
//!  boot      one boot: the steps of its runs, and from what came back to judgements
//!  pool      boots side by side, failed ones once more
//!  result    what came of a run
//! ```

mod boot;
mod plan;
mod pool;
mod result;
mod settings;

pub use plan::{Boot, Run, plan};
pub use pool::run;
pub use result::{End, RunResult};
pub use settings::Matrix;

/// The runs of a sweep are for a fault that strikes by chance: that some make nothing late is
/// expected. Where none of them does, the fault was not provoked.
pub fn settle_sweeps(results: &mut [RunResult]) {
    let key = |result: &RunResult| (result.scenario.clone(), result.kernel.clone(), result.seed);
    let struck: Vec<_> = results.iter().filter(|result| result.late_jobs > 0).map(key).collect();
    for result in results.iter_mut().filter(|result| !result.sweep.is_empty()) {
        if result.end == End::Right && !struck.contains(&key(result)) {
            result.end = End::NotProvoked;
        }
    }
}
