//! Faults made by other programs: Debian's packages on real kernels, judged against labels.
//!
//! ```text
//!  case      one fault, or a healthy load, as data: a shell script, the right answers, and how the truth is checked
//!  read      the files of `programs`
//!  boot      cases that need the same machine share a boot
//!  delays    which threads had the CPU while the victim waited, as `trace-cmd report` shows it
//!  truth     whether the fault took place: figures of programs and of the kernel, and the delays
//!  judge     compares an explanation with the label
//! ```
//!
//! An injector knows when its jobs were late; a program of Debian does not. So the label has the causes that are
//! right, and a *truth* that needs nothing of the analysis: without it, the fault counts as not provoked.

mod boot;
mod case;
mod delays;
mod files;
mod judge;
mod read;
mod truth;

pub use boot::{ProgramBoot, Programs, again, plan, run};
pub use case::{Case, Fault, Victims};
pub use read::{CaseError, built_in, find};

use std::collections::BTreeSet;

/// Programs of Debian that every case may use, beside those that make its fault.
const TOOLS: [&str; 12] = [
    "bash",
    "coreutils",
    "dash",
    "grep",
    "iproute2",
    "kmod",
    "libpython3-stdlib",
    "mawk",
    "mount",
    "procps",
    "sed",
    "util-linux",
];

/// The Debian suite of the programs. One for all kernels: the kernel is what differs.
pub const SUITE: &str = "bookworm";

/// The packages that these cases need.
pub fn packages(cases: &[Case]) -> Vec<&str> {
    let of_cases = cases.iter().flat_map(|case| case.packages.iter().map(String::as_str));
    of_cases.chain(TOOLS).collect::<BTreeSet<_>>().into_iter().collect()
}
