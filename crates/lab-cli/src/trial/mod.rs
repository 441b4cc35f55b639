//! Does tuning keep its promises on a real machine? A distribution on a disk is tuned, rebooted, verified, rolled
//! back, rebooted, and must then be what it was; also if the program, or the whole machine, dies in the middle.
//!
//! ```text
//!  machine   one machine: its disk, its boots, what was found
//!  story     plan, apply, reboot, verify, measure, rollback, reboot, as at first
//!  kills     apply is killed at its Nth step; the power is cut there
//!  parity    the same profile by TuneD and by us, the two machines side by side
//!  verbs     the command lines of the program under trial
//! ```
//!
//! What is right is decided by [`state`](crate::state), which the tuning code has no part in.

mod kills;
mod machine;
mod parity;
mod story;
mod verbs;

pub use kills::{kills, power_cuts};
pub use machine::{Observation, Trial};
pub use parity::{Match, PACKAGES, Parity, ParitySetting, Side, page, parity, parity_of};
pub use story::story;

/// What is asked of the program under trial.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TuningRequest {
    /// A profile's name.
    pub profile: String,
    /// It is one of TuneD's, read as it is.
    pub of_tuned: bool,
    /// The CPUs to isolate, as a list; none where it is empty.
    pub isolated: String,
    /// Variables of the profile, `own=motor*`.
    pub given: Vec<String>,
    /// Codes of refusals that are allowed.
    pub allow: Vec<String>,
}
