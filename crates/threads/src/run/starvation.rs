//! Would a real-time program leave nothing to the rest of the machine?
//!
//! It may where it can run on every CPU, nothing throttles real-time threads, no deadline server serves the others, and no
//! guard watches: then an error of the program is the end of the machine, and no shell remains to end it.

use super::refusal::Refusal;
use super::report::RunStep;
use super::request::RunRequest;
use crate::protection::{Protection, protection};
use whylate_base::{CpuSet, Policy, Tid};
use whylate_host::FsRoot;

/// Whether a program of this request could starve the machine; without CPUs of its own it has those of `thread`.
pub(super) fn look(request: &RunRequest, thread: Tid) -> Result<Option<RunStep>, Box<Refusal>> {
    let Some(params) = request.scheduling.filter(|params| matches!(params.policy, Policy::Fifo | Policy::Rr))
    else {
        return Ok(None);
    };
    let tree = FsRoot::live();
    let online = tree.value::<CpuSet>("/sys/devices/system/cpu/online");
    let cpus = request.cpus.clone().or_else(|| whylate_sys::getaffinity(thread).ok());
    let left = online.known().zip(cpus.as_ref()).map(|(online, cpus)| online.without(cpus));
    const STEP: &str = "keep the rest of the machine running";
    match left {
        Some(left) if !left.is_empty() => {
            return Ok(Some(RunStep::done(STEP, format!("CPUs {left} are left to other threads"))));
        }
        _ => {}
    }
    match protection(&tree) {
        Protection::By(what) => Ok(Some(RunStep::done(STEP, what))),
        Protection::Unknown(what) => Ok(Some(RunStep::unknown(STEP, what))),
        Protection::None(_) if request.force => {
            Ok(Some(RunStep::done(STEP, "not ensured: a busy loop in it stops the machine (--force)")))
        }
        Protection::None(evidence) => Err(Box::new(Refusal {
            what: format!("{params} on every CPU"),
            errno: None,
            gate: "starvation",
            why: "a busy loop in it would stop every other program, the shells included: nothing limits real-time threads"
                .to_owned(),
            evidence,
            fix: vec![
                "leave a CPU to the others with --cpus".to_owned(),
                "sysctl kernel.sched_rt_runtime_us=950000, or turn the fair server on, or start `whylate guard`".to_owned(),
                "--force starts it all the same".to_owned(),
            ],
        })),
    }
}
