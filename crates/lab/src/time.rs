//! The clock of a guest.

use serde::Deserialize;

/// The clock that a guest's time comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Time {
    /// The emulator counts instructions: the same from run to run, whatever the host does.
    #[default]
    Virtual,
    /// The host's clock: what the host does to the guest is time stolen from it.
    Free,
}
