//! The behaviours of a thread besides its job, as in real programs: it moves between CPUs, it
//! changes its name.

use std::ffi::CString;
use whylate_base::{Comm, Cpu, CpuSet, Ns, Tid};
use whylate_sys::setaffinity;

/// A thread stays this many jobs on one CPU.
const JOBS_PER_CPU: u32 = 7;

/// The behaviours of one thread; none by default.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Behaviours {
    /// It moves from the first to the second and back.
    pub(crate) moves: Option<[Cpu; 2]>,
    /// From the first job done after this instant on it has another name.
    pub(crate) renames: Option<(Ns, Comm)>,
    jobs: u32,
}

impl Behaviours {
    /// To be called by the thread itself after each job.
    pub(crate) fn after_job(&mut self, time: Ns) {
        self.jobs = self.jobs.wrapping_add(1);
        if let Some([here, there]) = self.moves
            && self.jobs.is_multiple_of(JOBS_PER_CPU)
        {
            let odd = (self.jobs / JOBS_PER_CPU) % 2 == 1;
            // Both were allowed at the start; if one no longer is, the thread stays on its CPU.
            let _ = setaffinity(Tid(0), &CpuSet::from_iter([if odd { there } else { here }]));
        }
        if let Some((from, name)) = self.renames
            && time >= from
        {
            self.renames = None;
            rename(name);
        }
    }
}

/// Gives the calling thread a name.
fn rename(name: Comm) {
    if let Ok(name) = CString::new(name.as_bytes()) {
        // PR_SET_NAME documents no error for a name that can be read.
        let _ = rustix::thread::set_name(&name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use whylate_sys::getaffinity;

    fn own_name() -> String {
        let path = format!("/proc/self/task/{}/comm", whylate_sys::gettid());
        std::fs::read_to_string(path).expect("comm").trim_end().to_owned()
    }

    #[test]
    fn a_thread_is_renamed_once_and_in_time() {
        std::thread::spawn(|| {
            let before = own_name();
            let mut behaviours =
                Behaviours { renames: Some((Ns(10), Comm::from("other-name"))), ..Behaviours::default() };
            behaviours.after_job(Ns(9));
            assert_eq!(own_name(), before);
            behaviours.after_job(Ns(10));
            assert_eq!(own_name(), "other-name");
            assert_eq!(behaviours.renames, None);
        })
        .join()
        .expect("thread");
    }

    #[test]
    fn a_thread_moves_to_and_fro() {
        std::thread::spawn(|| {
            let allowed = getaffinity(Tid(0)).expect("affinity");
            let here = allowed.iter().next().expect("a CPU");
            let there = allowed.iter().last().expect("a CPU");
            let mut behaviours = Behaviours { moves: Some([here, there]), ..Behaviours::default() };
            for expected in [there, here, there] {
                (0..JOBS_PER_CPU).for_each(|_| behaviours.after_job(Ns(0)));
                assert_eq!(getaffinity(Tid(0)).expect("affinity"), CpuSet::from_iter([expected]));
            }
        })
        .join()
        .expect("thread");
    }
}
