//! System calls, threads, processes and programs.

use crate::bench::BenchError;
use crate::bench::case::{Case, timed};
use whylate_sys::{fork_and_wait, fork_exec_and_wait};

const GROUP: &str = "creation";
/// The program that `perf bench syscall execve` executes as well.
const PROGRAM: &std::ffi::CStr = c"/bin/true";

/// The names of rows that the verdict is about.
pub(super) const SYSTEM_CALL: &str = "system call (getppid)";
pub(super) const THREAD: &str = "thread: create and join";
pub(super) const FORK: &str = "fork, exit and wait";

pub(super) fn cases<'a>() -> Vec<Case<'a>> {
    let call = |calls: u32| {
        timed(|| {
            for _ in 0..calls {
                std::hint::black_box(rustix::process::getppid());
            }
            Ok::<(), BenchError>(())
        })
    };
    let thread = |threads: u32| {
        timed(|| {
            for _ in 0..threads {
                let thread = std::thread::Builder::new().spawn(|| {});
                let thread = thread.map_err(|error| BenchError::io("create a thread", error))?;
                thread.join().map_err(|_| BenchError::Thread("a thread ended early".to_owned()))?;
            }
            Ok::<(), BenchError>(())
        })
    };
    let fork = |forks: u32| {
        timed(|| {
            (0..forks)
                .try_for_each(|_| fork_and_wait().map_err(|error| BenchError::io("fork a process", error)))
        })
    };
    let exec = |programs: u32| {
        timed(|| {
            (0..programs).try_for_each(|_| match fork_exec_and_wait(PROGRAM) {
                Ok(0) => Ok(()),
                Ok(code) => {
                    Err(BenchError::Unavailable(format!("{} ended with {code}", PROGRAM.to_string_lossy())))
                }
                Err(error) => Err(BenchError::io("fork a process", error)),
            })
        })
    };
    vec![
        Case::new(GROUP, SYSTEM_CALL, call),
        Case::new(GROUP, THREAD, thread),
        Case::new(GROUP, FORK, fork),
        Case::new(GROUP, "fork, exec /bin/true and wait", exec),
    ]
}
