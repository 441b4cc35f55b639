//! What all artefacts of a release share.

use super::instant::BuildInstant;
use std::path::PathBuf;

/// What all artefacts share.
pub(super) struct ReleaseFacts {
    pub(super) version: String,
    pub(super) maintainer: String,
    pub(super) instant: BuildInstant,
    /// The directory of the artefacts.
    pub(super) output: PathBuf,
    /// The directory of what is only needed meanwhile.
    pub(super) work: PathBuf,
}
