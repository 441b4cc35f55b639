//! What would become of a request: every gate is tried, and nothing is changed.

use super::cgroup;
use super::change::ThreadChange;
use super::cpus;
use super::irq;
use super::latency;
use super::program::Program;
use super::refusal::Refusal;
use super::report::{RunReport, RunStep};
use super::request::RunRequest;
use super::starvation;
use std::ffi::OsString;
use whylate_base::{Policy, Tid};
use whylate_sys::SysError;

const OWN: Tid = Tid(0);

/// Examines a request for a command. A thread of its own asks the kernel for the policy, and ends: its answer is the one
/// that the program would get.
pub fn check(request: &RunRequest, command: &[OsString]) -> RunReport {
    let mut report = RunReport::default();
    let program = Program::find(command).and_then(|program| program.of_user(request.user.as_deref()));
    match &program {
        Ok(program) => report.steps.push(RunStep::done(format!("find {}", program.name()), "it exists")),
        Err(error) => report.refuse(of_program(command, error.to_string())),
    }
    if let Some(refusal) = Refusal::of_memory(request) {
        report.refuse(*refusal);
    }
    match starvation::look(request, OWN) {
        Ok(step) => report.steps.extend(step),
        Err(refusal) => report.refuse(*refusal),
    }
    let changes = ThreadChange::all(request);
    let tried = std::thread::scope(|scope| {
        let attempt =
            scope.spawn(|| changes.iter().map(|change| attempt(change, request)).collect::<Vec<_>>());
        attempt.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    });
    for (change, tried) in changes.iter().zip(tried) {
        match tried {
            Ok(shown) => report.steps.push(RunStep::done(change.to_string(), shown)),
            Err(refusal) => report.refuse(*refusal),
        }
    }
    outside(request, &mut report);
    if let Ok(program) = program {
        let step = format!("execute {}", program.name());
        report.steps.push(match report.refused.is_empty() {
            true => RunStep::done(step, "every gate before it is open"),
            false => RunStep::refused(step, "not reached"),
        });
    }
    report
}

/// What is outside the program is only looked at.
fn outside(request: &RunRequest, report: &mut RunReport) {
    if let Some(us) = request.dma_latency_us {
        match latency::open() {
            Ok(_) => report
                .steps
                .push(RunStep::done(format!("hold a latency of {us} us"), "the device can be written")),
            Err(error) => report.refuse(*latency::refusal(us, &error)),
        }
    }
    for rule in &request.irqs {
        let step = format!("interrupts of {}: {}", rule.pattern, rule.setting);
        match irq::interrupts(rule) {
            Ok(irqs) => {
                let irqs: Vec<String> = irqs.iter().map(ToString::to_string).collect();
                report.steps.push(RunStep::unknown(
                    step,
                    format!("interrupts {}; they are set at the start", irqs.join(", ")),
                ));
            }
            Err(error) => report.refuse(Refusal {
                what: step,
                errno: None,
                gate: "irq",
                why: error.to_string(),
                evidence: Vec::new(),
                fix: vec!["name a device of /proc/interrupts".to_owned()],
            }),
        }
    }
    if let Some(cpus) = &request.isolated {
        match cgroup::partitions(cpus) {
            Ok(_) => report.steps.push(RunStep::unknown(
                format!("isolated CPUs {cpus}"),
                "the partition is made at the start",
            )),
            Err(refusal) => report.refuse(*refusal),
        }
    }
    if let Some(name) = &request.cgroup {
        report.steps.push(RunStep::unknown(format!("control group {name}"), "it is joined at the start"));
    }
}

/// Tries a change on the calling thread, which does nothing else.
fn attempt(change: &ThreadChange, request: &RunRequest) -> Result<String, Box<Refusal>> {
    let refused = |error: SysError| Refusal::of_change(change, &error, OWN);
    let ThreadChange::Cpus(set) = change else {
        return change.make(OWN).map(|now| format!("the kernel allows it: {now}")).map_err(refused);
    };
    if let Some(refusal) = cpus::refuse(set).map_err(refused)? {
        return Err(Box::new(refusal));
    }
    // Only for SCHED_DEADLINE the kernel asks for more than that they exist. Any other thread that moves there may not
    // get to run any more.
    if request.scheduling.is_some_and(|params| params.policy == Policy::Deadline) {
        change.make(OWN).map_err(refused)?;
    }
    Ok(format!("online, and in the cpuset: {set}"))
}

fn of_program(command: &[OsString], why: String) -> Refusal {
    let name = command.first().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let fix = vec!["give the path of the program, or put its directory into PATH".to_owned()];
    Refusal {
        what: format!("execute {name}"),
        errno: Some("ENOENT"),
        gate: "program",
        why,
        evidence: Vec::new(),
        fix,
    }
}
