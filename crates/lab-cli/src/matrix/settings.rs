//! The settings of all runs of a matrix.

use std::path::PathBuf;

/// The settings of all runs.
#[derive(Clone, Debug)]
pub struct Matrix {
    /// The program under test, `whylate`: the guest's init, which also records.
    pub whylate: PathBuf,
    /// The program `whylate-inject`.
    pub injector: PathBuf,
    /// The directory for recordings and labels, if they are kept.
    pub keep: Option<PathBuf>,
    /// The number of concurrent boots.
    pub jobs: usize,
}
