//! The job that the host gives to a guest, and the guest's report.
//!
//! The job is `/job.json` of the initramfs; the report is `result.json` among the files that
//! come back. Both sides are this same program, so neither is a public format.

use serde::{Deserialize, Serialize};
use std::net::Ipv4Addr;

/// The path of the job in the guest.
pub const JOB_PATH: &str = "/job.json";
/// The directory of the guest whose files come back.
pub const OUT_DIR: &str = "/out";
/// The report's name in [`OUT_DIR`].
pub const REPORT_NAME: &str = "result.json";

/// The job of one boot.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GuestJob {
    /// Kernel modules, loaded in this order before the first step.
    pub modules: Vec<Module>,
    /// Environment variables of every program.
    #[serde(default)]
    pub environment: Vec<(String, String)>,
    /// The end of a cable to another guest, which is connected before the first step.
    #[serde(default)]
    pub network: Option<Network>,
    /// Done one after the other, also after a failed step.
    pub steps: Vec<GuestStep>,
}

/// A guest's end of a network of two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Network {
    /// Its own address, of a network of 4.
    pub address: Ipv4Addr,
    /// The other guest's.
    pub peer: Ipv4Addr,
}

/// A kernel module of the initramfs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Module {
    /// Its file in the guest.
    pub path: String,
    /// Its parameters, as of `insmod`.
    pub parameters: String,
}

/// One step of a job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GuestStep {
    /// Write `value` to `path`: a sysctl, a tunable of sysfs, tracefs, debugfs or a cgroup.
    Write {
        /// A file of the guest; a `*` in one component stands for every match.
        path: String,
        /// The text, to which no newline is added.
        value: String,
        /// A missing file, or a refused value, is no failure.
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

/// The report of a job.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobReport {
    /// `uname -r` and `uname -v` of the guest.
    pub kernel: String,
    /// Errors before the first step, or apart from the steps.
    #[serde(default)]
    pub problems: Vec<String>,
    /// One per step, in order; fewer when the guest did not reach the end.
    pub steps: Vec<GuestStepReport>,
}

/// The report of one step.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GuestStepReport {
    /// The program's exit code; 128 + signal where one ended it, as in shells.
    pub code: Option<i32>,
    /// The reason of a failure.
    pub error: Option<String>,
}
