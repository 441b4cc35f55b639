//! What the host tells a guest to do, and what the guest tells of it.
//!
//! The job is `/job.json` of the initramfs; the report is `result.json` among the files that
//! come back. Both sides are this same program, so neither is a public format.

use serde::{Deserialize, Serialize};

/// Where the guest finds its job.
pub const JOB_PATH: &str = "/job.json";
/// The directory of the guest whose files come back.
pub const OUT_DIR: &str = "/out";
/// The report's name in [`OUT_DIR`].
pub const REPORT_NAME: &str = "result.json";

/// All that one boot does.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Job {
    /// Kernel modules, loaded in this order before the first step.
    pub modules: Vec<Module>,
    /// Environment variables of every program.
    #[serde(default)]
    pub environment: Vec<(String, String)>,
    /// Done one after the other; a step that fails does not keep the next from being done.
    pub steps: Vec<Step>,
}

/// A kernel module of the initramfs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Module {
    /// Its file in the guest.
    pub path: String,
    /// Its parameters, as of `insmod`.
    pub parameters: String,
}

/// One thing to do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Step {
    /// Write `value` to `path`: a sysctl, a knob of sysfs, tracefs, debugfs or a cgroup.
    Write {
        /// A file of the guest; a `*` in one component stands for every match.
        path: String,
        /// What is written, without a newline of its own.
        value: String,
        /// A kernel without the file, or that refuses the value, is no failure.
        optional: bool,
    },
    /// Run a program.
    Run(Program),
    /// Wait for that many milliseconds.
    Sleep(u64),
    /// Wait for the programs in the background.
    Wait,
    /// Cut the power: QEMU is killed. Only in a machine with a disk, which keeps what was written.
    Cut,
}

/// A program of the guest.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Program {
    /// The program's path and its arguments.
    pub command: Vec<String>,
    /// The file in [`OUT_DIR`] that takes its standard output; none shows it on the console.
    pub stdout: Option<String>,
    /// The file in [`OUT_DIR`] that takes its standard error; none shows it on the console.
    pub stderr: Option<String>,
    /// Do not wait for it before the next step.
    pub background: bool,
    /// Its working directory, made if it is not there; `/` by default.
    #[serde(default)]
    pub directory: Option<String>,
}

/// What came of a job.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobReport {
    /// `uname -r` and `uname -v` of the guest.
    pub kernel: String,
    /// What went wrong before the first step, or apart from the steps.
    #[serde(default)]
    pub problems: Vec<String>,
    /// One per step, in order; fewer when the guest did not get to the end.
    pub steps: Vec<StepReport>,
}

/// What came of one step.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepReport {
    /// The program's exit code; 128 + signal where one ended it, as shells say it.
    pub code: Option<i32>,
    /// Why it could not be done.
    pub error: Option<String>,
}
