//! Which statements measured latencies support.
//!
//! ```text
//! Run: of each thread a Histogram (how often), Maxima (when)
//!   ├─> quantiles, with intervals
//!   ├─> Tail, Blocks: fits of what lies beyond, or a FitRefusal
//!   ├─> Claim: may it be claimed, and if not, how much longer to measure
//!   ├─> trend, rhythm
//!   ├─> compare: Shift, Tails, Larger
//!   ├─> summary: MeanShift, LargestOrder, where only least, mean and largest are known
//!   ├─> rounds: RankSum, of whole rounds of two states
//!   └─> several: machines (Signs), and many tests at once (holm)
//! ```
//!
//! Everything here is a pure function; the same data get the same answer. The numbers are checked against SciPy's.

mod claim;
pub mod compare;
mod extremes;
mod histogram;
mod layout;
mod maxima;
mod normal;
mod of_cpus;
mod rhythm;
mod rounds;
mod run;
#[cfg(test)]
mod scipy;
mod search;
pub mod several;
pub mod summary;
mod trend;

pub use claim::{Claim, ClaimStatus, DOUBT, unseen_at_most};
pub use extremes::{Blocks, FitRefusal, Gev, Level, Pareto, Tail};
pub use histogram::{Bounds, Bucket, Exact, Histogram};
pub use layout::{Layout, MeasuredLayout};
pub use maxima::Maxima;
pub use of_cpus::NotOfCpus;
pub use rhythm::{Rhythm, rhythm};
pub use rounds::RankSum;
pub use run::{Late, Measured, Run};
pub use trend::{Trend, trend};
