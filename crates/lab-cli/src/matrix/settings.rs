//! What all runs of a matrix have in common.

use std::path::PathBuf;

/// What all runs have in common.
#[derive(Clone, Debug)]
pub struct Matrix {
    /// The program under test, `whylate`: the guest's init, which also records.
    pub whylate: PathBuf,
    /// The program `whylate-inject`.
    pub injector: PathBuf,
    /// Where recordings and labels are kept, if they are.
    pub keep: Option<PathBuf>,
    /// Boots side by side.
    pub jobs: usize,
}
