//! The source of a guest's time.

use serde::Deserialize;

/// The source of a guest's time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TimeSource {
    /// The emulator counts instructions: the same in each run, independent of the host's load.
    #[default]
    Virtual,
    /// The host's clock: the host's load is time stolen from the guest.
    Free,
}
