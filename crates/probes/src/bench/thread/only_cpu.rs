//! Why there is no row that needs two CPUs.

use crate::bench::BenchError;
use whylate_base::Cpu;

pub(super) fn only_one(own: Cpu) -> BenchError {
    BenchError::Unavailable(format!(
        "only CPU {own} may be used; choose two or more with --cpus, or start with a wider affinity"
    ))
}
