//! The wire types of schema `whylate.ps/1`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The name and version of this schema.
pub const SCHEMA: &str = "whylate.ps/1";

/// The threads and interrupts of a machine. Rates are null where there was one sample only.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "whylate.ps/1")]
pub struct Document {
    /// Always `whylate.ps/1`. Fields may be added within the version: ignore unknown ones.
    pub schema: String,
    /// The time between the two samples of the rates; null: one sample.
    pub interval_ns: Option<i64>,
    /// How many threads the machine has; `threads` has those that were selected.
    pub all_threads: usize,
    /// The machine's page faults; null where they could not be read.
    pub page_faults: Option<PageFaults>,
    /// The selected threads: those that run first come first.
    pub threads: Vec<Thread>,
    /// The interrupts.
    pub irqs: Vec<Irq>,
    /// What could not be read, and what limits the values, in sentences.
    pub notes: Vec<String>,
}

/// The machine's page faults.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PageFaults {
    /// Since boot.
    pub all: u64,
    /// Of these, those that read from a device.
    pub major: u64,
    /// All, in a second.
    pub per_second: Option<f64>,
    /// Major ones, in a second.
    pub major_per_second: Option<f64>,
}

/// A thread. Sums are since it started; null where an older snapshot has none, or the kernel does not count.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Thread {
    /// Its id.
    pub tid: i32,
    /// Its process.
    pub pid: i32,
    /// Its name.
    pub comm: String,
    /// Whether it is the kernel's own.
    pub kernel: bool,
    /// `fifo`, `rr`, `deadline`, `other`, `batch`, `idle`, `ext`; null: one that whylate does not know.
    pub policy: Option<String>,
    /// The real-time priority, 1 to 99, as chrt(1) shows it; 0 for other policies.
    pub priority: u32,
    /// Its nice value.
    pub nice: i32,
    /// Its state: `R` running or runnable, `S` asleep, `D` asleep without signals, and others.
    pub state: Option<String>,
    /// The CPUs it may use, as a list.
    pub cpus: Option<String>,
    /// The CPU it was on last.
    pub last_cpu: Option<u32>,
    /// For how long it is there; null of another machine.
    pub age_ns: Option<i64>,
    /// Page faults without a device.
    pub minor_faults: Option<u64>,
    /// Page faults that read from a device.
    pub major_faults: Option<u64>,
    /// Times that it gave up the CPU.
    pub voluntary_switches: Option<u64>,
    /// Times that it was preempted.
    pub involuntary_switches: Option<u64>,
    /// Its time on a CPU, by the scheduler's own sum (`sum_exec_runtime`).
    pub cpu_time_ns: Option<i64>,
    /// Its time on a runqueue, waiting.
    pub run_delay_ns: Option<i64>,
    /// The locked memory of its process; null for the kernel's threads.
    pub locked_bytes: Option<u64>,
    /// The share of one CPU that it had between the samples, 0 to 1.
    pub cpu_share: Option<f64>,
    /// The share of the time between the samples that it waited on a runqueue, 0 to 1.
    pub waiting_share: Option<f64>,
    /// Times that it gave up the CPU, in a second.
    pub voluntary_per_second: Option<f64>,
    /// Times that it was preempted, in a second.
    pub involuntary_per_second: Option<f64>,
    /// Page faults, minor and major, in a second.
    pub faults_per_second: Option<f64>,
    /// What it is blocked on; null where it runs, or it could not be read.
    pub blocked_on: Option<BlockedOn>,
    /// Its control group.
    pub cgroup: Option<String>,
    /// What is unusual about it.
    pub odd: Vec<Oddity>,
}

/// What a thread waits for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BlockedOn {
    /// The kernel's function in which it sleeps.
    pub function: Option<String>,
    /// The futex that it waits for.
    pub futex: Option<Futex>,
    /// What the file descriptors refer to that it waits for.
    pub files: Vec<String>,
    /// The interrupts of the devices behind these descriptors.
    pub irqs: Vec<u32>,
}

/// A futex.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Futex {
    /// The address in the program.
    pub address: u64,
    /// The thread that holds the lock; null if the futex is no lock, or its owner is not known.
    pub owner: Option<i32>,
}

/// Something that is rarely intended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Oddity {
    /// `above-irq-thread`, `priority-99`, `on-housekeeping-cpus`.
    pub code: String,
    /// One sentence.
    pub text: String,
}

/// An interrupt.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Irq {
    /// Its number; null for the architecture's own, such as `LOC`.
    pub irq: Option<u32>,
    /// Its devices, or the name of the row of /proc/interrupts.
    pub name: String,
    /// Chip, trigger and devices, as the kernel prints them.
    pub description: String,
    /// `msi-x`, `msi`, `edge`, `level`, `ipi`, `nmi`, `local-timer`, `other`.
    pub kind: String,
    /// Its count on each CPU since boot.
    pub per_cpu: Vec<u64>,
    /// Its rate on each CPU, in a second; empty with one sample.
    pub per_cpu_per_second: Vec<Option<f64>>,
    /// The CPUs it may go to, as a list.
    pub affinity: Option<String>,
    /// The CPUs it goes to, as a list.
    pub effective_affinity: Option<String>,
    /// The thread that handles it.
    pub thread: Option<IrqThread>,
    /// The threads of `threads` that wait for its device.
    pub waiting: Vec<i32>,
}

/// The thread of an interrupt.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct IrqThread {
    /// Its id.
    pub tid: i32,
    /// Its name.
    pub comm: String,
    /// Its policy.
    pub policy: Option<String>,
    /// Its real-time priority.
    pub priority: u32,
    /// The CPUs it may use, as a list.
    pub cpus: Option<String>,
}
