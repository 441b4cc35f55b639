//! The schema of the settings that a fix changes: `whylate_base::Action`, as documents have it. That crate has no schemas, as every
//! crate uses it, and would wait for the schemas' dependencies. A test holds both in step.
#![allow(dead_code)]

use schemars::JsonSchema;

/// The settings that a fix changes, all of one kind; of `code` the reason why it is none.
#[derive(JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub(crate) enum Action {
    /// Files of the kernel.
    Tunable {
        /// Each file with its value.
        set: Vec<TunableAction>,
    },
    /// Policies and CPUs of threads.
    Thread {
        /// Each thread.
        set: Vec<ThreadAction>,
    },
    /// CPUs of interrupts.
    Irq {
        /// Each interrupt.
        set: Vec<IrqAction>,
    },
    /// Kernel parameters of the next boot.
    KernelParameter {
        /// Each parameter.
        set: Vec<ParameterAction>,
    },
    /// Services.
    Unit {
        /// Each unit.
        set: Vec<UnitAction>,
    },
    /// No setting makes it: a program is to be changed, or something that a person decides, builds or measures.
    Code {
        /// Why no setting makes it.
        reason: String,
    },
}

/// A file of the kernel, with its value.
#[derive(JsonSchema)]
pub(crate) struct TunableAction {
    /// An absolute path in /proc or /sys; `*` in a component stands for any characters. `/dev/cpu_dma_latency`: a request
    /// of so many microseconds.
    path: String,
    /// What is written.
    value: String,
}

/// A thread by its name, and what it gets; null: as it is.
#[derive(JsonSchema)]
pub(crate) struct ThreadAction {
    /// Its name, as the kernel has it.
    thread: String,
    /// Its id in the recording or observation; null: not known.
    tid: Option<i32>,
    /// Its policy: `fifo`, `rr`, `other`; null with a priority: the real-time policy that it has, or `fifo`.
    policy: Option<String>,
    /// Its real-time priority; 0: of a policy without one.
    priority: Option<u32>,
    /// The CPUs that it may use, as a list.
    cpus: Option<String>,
    /// The CPUs that it may not use: it gets the other ones of the machine.
    not_cpus: Option<String>,
}

/// An interrupt, and the CPUs that it gets.
#[derive(JsonSchema)]
pub(crate) struct IrqAction {
    /// Its number; null: not known.
    irq: Option<u32>,
    /// The name of its handler; empty: not known.
    name: String,
    /// Its CPUs, as a list.
    cpus: Option<String>,
    /// The CPUs that it may not use: it gets the other ones of the machine.
    not_cpus: Option<String>,
}

/// A kernel parameter.
#[derive(JsonSchema)]
pub(crate) struct ParameterAction {
    /// Its name.
    parameter: String,
    /// What follows `=`; empty: it has no value; null: it is to be removed.
    value: Option<String>,
}

/// A service.
#[derive(JsonSchema)]
pub(crate) struct UnitAction {
    /// Its name, such as `stalld.service`; null: the one that `thread` belongs to.
    unit: Option<String>,
    /// A thread by which the unit is found on the machine.
    thread: Option<String>,
    /// Whether it is to run; null: as it is.
    runs: Option<bool>,
    /// `enabled`, `disabled` or `masked`; null: as it is.
    at_boot: Option<String>,
}
