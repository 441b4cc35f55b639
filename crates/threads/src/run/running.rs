//! Changes threads that run already: all of them, or none.

use super::change::ThreadChange;
use super::cpus;
use super::error::RunError;
use super::refusal::{self, Refusal};
use super::report::{RunReport, RunStep};
use super::request::RunRequest;
use super::starvation;
use crate::select::{self, ThreadName};
use whylate_base::{CpuSet, Tid};
use whylate_sys::{SchedParams, SysError};

/// Which threads are changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunTarget {
    /// Those of this process; `None`: of all.
    pub pid: Option<Tid>,
    /// Those with one of these names, in which `*` stands for anything, or ids; empty: all of the process.
    pub tasks: Vec<String>,
}

/// How a thread was.
struct Before {
    thread: ThreadName,
    scheduling: SchedParams,
    cpus: CpuSet,
}

/// Examines a change, and changes nothing.
///
/// # Errors
/// If there are no such threads, or something is asked for that only a start can do.
pub fn check_change(request: &RunRequest, target: &RunTarget) -> Result<RunReport, RunError> {
    let threads = chosen(request, target)?;
    let mut report = RunReport::default();
    look(request, &threads, &mut report);
    for thread in &threads {
        for change in ThreadChange::all(request) {
            let step = step(thread, &change);
            match refusal::predicted(&change, thread.tid) {
                Some(refusal) => report.refuse(Refusal { what: step, ..refusal }),
                None => report.steps.push(RunStep::unknown(step, "no gate is known to be closed")),
            }
        }
    }
    Ok(report)
}

/// Changes the threads, and reports what each became, read back from the kernel. Where one of them cannot be changed, those
/// before it are restored.
///
/// # Errors
/// If there are no such threads, something is asked for that only a start can do, or a thread cannot be changed.
pub fn change(request: &RunRequest, target: &RunTarget) -> Result<RunReport, RunError> {
    let threads = chosen(request, target)?;
    let mut report = RunReport::default();
    look(request, &threads, &mut report);
    if let Some(refusal) = report.refused.pop() {
        return Err(RunError::of_check(refusal));
    }
    let mut before = Vec::new();
    let mut threads = threads;
    // A thread that is not changed yet may start another one meanwhile.
    while !threads.is_empty() {
        for thread in &threads {
            before.push(read(thread).map_err(|error| undone(failed(thread, &error), &before))?);
            for change in ThreadChange::all(request) {
                let now = made(&change, thread).map_err(|error| undone(error, &before))?;
                report.steps.push(RunStep::done(step(thread, &change), now));
            }
        }
        let is_new =
            |thread: &ThreadName| !before.iter().any(|before: &Before| before.thread.tid == thread.tid);
        threads = chosen(request, target).unwrap_or_default().into_iter().filter(is_new).collect();
    }
    Ok(report)
}

/// The error, after what was changed before it is restored.
fn undone(error: RunError, before: &[Before]) -> RunError {
    match restore(before).as_slice() {
        [] => error,
        left => {
            let left: Vec<String> = left.iter().map(|(thread, why)| format!("{thread}: {why}")).collect();
            RunError::Input(format!("{error}\nthese threads could not be restored: {}", left.join("; ")))
        }
    }
}

fn step(thread: &ThreadName, change: &ThreadChange) -> String {
    format!("{}:{}: {change}", thread.comm, thread.tid)
}

/// The threads that are meant.
fn chosen(request: &RunRequest, target: &RunTarget) -> Result<Vec<ThreadName>, RunError> {
    let input = |text: String| Err(RunError::Input(text));
    if request.needs_parent() || request.user.is_some() || !request.memory_nodes.is_empty() {
        return input(
            "only a program that is started can have a user, NUMA nodes, a control group, a latency request, interrupts, or \
             settings of new threads: give a command after `--`"
                .to_owned(),
        );
    }
    if ThreadChange::all(request).is_empty() {
        return input("nothing is to be changed: give a policy, --cpus, --timer-slack or --limit".to_owned());
    }
    let all = match target.pid {
        Some(pid) => select::threads_of(pid),
        None => select::all_threads(),
    };
    if let (Some(pid), true) = (target.pid, all.is_empty()) {
        return input(format!("--pid {pid}: there is no such process"));
    }
    if let Some(pattern) =
        target.tasks.iter().find(|pattern| !all.iter().any(|thread| select::is_meant(thread, pattern)))
    {
        return input(format!("--task {pattern}: no thread has this name or id, so nothing is changed"));
    }
    let is_meant = |thread: &ThreadName| {
        target.tasks.is_empty() || target.tasks.iter().any(|pattern| select::is_meant(thread, pattern))
    };
    Ok(all.into_iter().filter(is_meant).collect())
}

/// What is refused before a thread is asked.
fn look(request: &RunRequest, threads: &[ThreadName], report: &mut RunReport) {
    if let Some(refusal) = Refusal::of_memory(request) {
        report.refuse(*refusal);
    }
    let first = threads.first().map_or(Tid(0), |thread| thread.tid);
    match starvation::look(request, first) {
        Ok(step) => report.steps.extend(step),
        Err(refusal) => report.refuse(*refusal),
    }
    if let Some(cpus) = &request.cpus
        && let Ok(Some(refusal)) = cpus::refuse(cpus)
    {
        report.refuse(refusal);
    }
}

fn read(thread: &ThreadName) -> Result<Before, SysError> {
    let (scheduling, cpus) = (whylate_sys::getattr(thread.tid)?, whylate_sys::getaffinity(thread.tid)?);
    Ok(Before { thread: thread.clone(), scheduling, cpus })
}

/// Makes a change, and has it confirmed: the kernel leaves CPUs out that the thread's cpuset does not have.
fn made(change: &ThreadChange, thread: &ThreadName) -> Result<String, RunError> {
    let now = change.make(thread.tid).map_err(|error| match error.is_no_such_thread() {
        true => failed(thread, &error),
        false => RunError::from(of_thread(*Refusal::of_change(change, &error, thread.tid), thread)),
    })?;
    match change {
        ThreadChange::Cpus(cpus) if now != format!("CPUs {cpus}") => Err(RunError::Input(format!(
            "{}:{}: the kernel accepted CPUs {cpus}, and it reads {now}: its cpuset does not have the others",
            thread.comm, thread.tid
        ))),
        _ => Ok(now),
    }
}

fn of_thread(refusal: Refusal, thread: &ThreadName) -> Box<Refusal> {
    Box::new(Refusal { what: format!("{} for {}:{}", refusal.what, thread.comm, thread.tid), ..refusal })
}

fn failed(thread: &ThreadName, error: &SysError) -> RunError {
    match error.is_no_such_thread() {
        true => RunError::Input(format!(
            "{}:{} has ended meanwhile, and nothing is changed: try again, or choose threads with --task",
            thread.comm, thread.tid
        )),
        false => RunError::Input(format!("{}:{}: {error}", thread.comm, thread.tid)),
    }
}

/// Restores threads, last first; returns those that could not be restored.
fn restore(threads: &[Before]) -> Vec<(String, SysError)> {
    let mut left = Vec::new();
    for before in threads.iter().rev() {
        let tid = before.thread.tid;
        // Wider CPUs first, so that a thread that is no longer real-time can run.
        let cpus = || match whylate_sys::getaffinity(tid)? == before.cpus {
            true => Ok(()),
            false => whylate_sys::setaffinity(tid, &before.cpus),
        };
        let scheduling = || match whylate_sys::getattr(tid)? == before.scheduling {
            true => Ok(()),
            false => whylate_sys::setattr(tid, &before.scheduling),
        };
        let restored: Result<(), SysError> = cpus().and_then(|()| scheduling());
        match restored {
            Err(error) if !error.is_no_such_thread() => {
                left.push((format!("{}:{tid}", before.thread.comm), error));
            }
            _ => {}
        }
    }
    left
}

#[cfg(test)]
mod tests {
    use super::*;
    use whylate_base::Policy;

    /// A thread of this process that waits while the test runs.
    fn with_thread(name: &str, test: impl FnOnce(Tid)) {
        let (stop, ended) = std::sync::mpsc::channel::<()>();
        let (tell, tid) = std::sync::mpsc::channel();
        let body = move || {
            tell.send(whylate_sys::gettid()).expect("the test waits");
            let _ = ended.recv();
        };
        let thread = std::thread::Builder::new().name(name.into()).spawn(body).expect("a thread");
        test(tid.recv().expect("its id"));
        drop(stop);
        thread.join().expect("it ends");
    }

    fn target(pattern: &str) -> RunTarget {
        RunTarget { pid: Some(Tid(std::process::id().cast_signed())), tasks: vec![pattern.to_owned()] }
    }

    fn policy(policy: Policy) -> RunRequest {
        let scheduling = Some(SchedParams { policy, ..SchedParams::OTHER });
        RunRequest { scheduling, ..RunRequest::default() }
    }

    #[test]
    fn chosen_threads_are_changed_and_read_back() {
        with_thread("changed/1", |tid| {
            let report = change(&policy(Policy::Batch), &target("changed/*")).expect("needs no right");
            assert_eq!(report.steps.len(), 1, "{report:?}");
            assert_eq!(report.steps[0].reason.as_deref(), Some("SCHED_BATCH nice 0"));
            assert_eq!(whylate_sys::getattr(tid).expect("alive").policy, Policy::Batch);
        });
    }

    #[test]
    fn a_refusal_leaves_everything_as_it_was() {
        with_thread("kept/1", |tid| {
            let request = RunRequest { cpus: "8191".parse().ok(), ..policy(Policy::Batch) };
            assert_eq!(change(&request, &target("kept/*")).expect_err("no such CPU").exit_code(), 125);
            assert_eq!(whylate_sys::getattr(tid).expect("alive").policy, Policy::Other);
            // A policy that no kernel takes is refused after the first change.
            let wrong = RunRequest { scheduling: Some(SchedParams::fifo(100)), ..RunRequest::default() };
            let error = change(&wrong, &target("kept/*")).expect_err("no such priority");
            assert!(error.to_string().contains("1 to 99"), "{error}");
            assert_eq!(whylate_sys::getattr(tid).expect("alive").policy, Policy::Other);
        });
    }

    #[test]
    fn what_matches_nothing_is_refused() {
        for (wanted, words) in [
            (target("no such thread"), "no thread has this name"),
            (RunTarget { pid: Some(Tid(i32::MAX)), tasks: Vec::new() }, "no such process"),
        ] {
            let error = change(&policy(Policy::Batch), &wanted).expect_err("nothing is meant");
            assert!(error.to_string().contains(words), "{error}");
        }
        let error = change(&RunRequest::default(), &target("*")).expect_err("nothing is asked for");
        assert!(error.to_string().contains("nothing is to be changed"), "{error}");
    }
}
