//! The threads of the machine, and those that are meant: of a process, or of a name.

use std::fs;
use std::path::{Path, PathBuf};
use whylate_base::{Tid, glob};

/// A thread with its process and its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThreadName {
    /// Its process.
    pub pid: Tid,
    /// Its id.
    pub tid: Tid,
    /// Its name.
    pub comm: String,
}

/// The processes of the machine, in ascending order; kernel threads are processes of one thread each.
pub fn processes() -> Vec<Tid> {
    numbers(Path::new("/proc"))
}

/// The ids of a process's threads, in ascending order; none where it has ended.
pub fn thread_ids(pid: Tid) -> Vec<Tid> {
    numbers(&PathBuf::from(format!("/proc/{pid}/task")))
}

/// A thread with its name; `None` where it has ended.
pub fn named(pid: Tid, tid: Tid) -> Option<ThreadName> {
    let comm = fs::read(format!("/proc/{pid}/task/{tid}/comm")).ok()?;
    Some(ThreadName { pid, tid, comm: String::from_utf8_lossy(&comm).trim_end().to_owned() })
}

/// The threads of a process, in ascending order; none where it has ended.
pub fn threads_of(pid: Tid) -> Vec<ThreadName> {
    thread_ids(pid).into_iter().filter_map(|tid| named(pid, tid)).collect()
}

/// All threads of the machine.
pub fn all_threads() -> Vec<ThreadName> {
    processes().into_iter().flat_map(threads_of).collect()
}

/// Whether a thread is meant by a pattern: its name, in which `*` stands for anything, or its id.
pub fn is_meant(thread: &ThreadName, pattern: &str) -> bool {
    glob(pattern, &thread.comm) || pattern.parse() == Ok(thread.tid.0)
}

fn numbers(directory: &Path) -> Vec<Tid> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let mut numbers: Vec<Tid> =
        entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).map(Tid).collect();
    numbers.sort_unstable();
    numbers
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_named_thread_of_this_process_is_found() {
        let (stop, ended) = std::sync::mpsc::channel::<()>();
        let (told, tid) = std::sync::mpsc::channel();
        let body = move || {
            told.send(whylate_sys::gettid()).expect("the test waits");
            let _ = ended.recv();
        };
        let thread = std::thread::Builder::new().name("meant/7".into()).spawn(body).expect("a thread");
        let tid = tid.recv().expect("its id");
        let own = Tid(i32::try_from(std::process::id()).expect("a number"));
        let meant = |pattern: &str| {
            let found = threads_of(own).into_iter().filter(|thread| is_meant(thread, pattern));
            found.map(|thread| thread.tid).collect::<Vec<_>>()
        };
        assert_eq!(meant("meant/*"), [tid]);
        assert_eq!(meant(&tid.to_string()), [tid]);
        assert_eq!(meant("meant"), []);
        assert!(all_threads().iter().any(|thread| thread.tid == tid && thread.pid == own));
        drop(stop);
        thread.join().expect("it ends");
    }
}
