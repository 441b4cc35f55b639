//! Tests of tuning on a real machine: a distribution on a disk is tuned, rebooted, verified, rolled back, rebooted, and
//! must then be in its first state; also if the program is killed, or the machine loses its power, on the way.
//!
//! ```text
//!  machine   one machine: its disk, its boots, its observations
//!  story     plan, apply, reboot, verify, measure, rollback, reboot
//!  kills     apply is killed before its Nth change; the power is cut there
//!  parity    the same profile by TuneD and by whylate, on two machines
//!  verbs     the command lines of the program under test
//! ```
//!
//! [`state`](crate::state) decides what is right; it shares no code with tuning.

mod kills;
mod machine;
mod parity;
mod story;
mod verbs;

pub use kills::{kills, power_cuts};
pub use machine::{Observation, Trial};
pub use parity::{Match, PACKAGES, Parity, ParitySetting, Side, page, parity, parity_of};
pub use story::story;

/// The options of the program under test.
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
