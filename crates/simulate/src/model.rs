//! What is simulated: a machine with its kernel, and the tasks on it.

mod amount;
mod kernel;
mod machine;
mod policy;
mod script;
mod step;
mod task;

pub use amount::Amount;
pub use kernel::{Bandwidth, KernelSeries, KernelSeriesError};
pub use machine::{AccountingClock, Costs, FairServer, Machine};
pub use policy::TaskPolicy;
pub use script::{DrawnJobs, JobOrder, JobTrigger, RecordedJob, Script};
pub use step::Step;
pub use task::{Arrival, Group, Interrupt, InterruptSource, Lock, LockProtocol, Task, WhenLate};

/// A machine and its tasks.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    /// The machine.
    pub machine: Machine,
    /// The tasks; other fields name them by their index.
    pub tasks: Vec<Task>,
    /// The locks that tasks share.
    pub locks: Vec<Lock>,
    /// The interrupts of devices.
    pub interrupts: Vec<Interrupt>,
    /// Control groups with a CPU quota.
    pub groups: Vec<Group>,
}
