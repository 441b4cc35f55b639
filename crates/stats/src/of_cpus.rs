//! The part of a run that was measured on some CPUs: system cores apart from isolated ones.

use crate::{Measured, Run};
use std::fmt;
use whylate_base::CpuSet;

/// Why there is no such part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotOfCpus {
    /// The file does not show on which CPU this thread measured.
    Unknown {
        /// The thread's name.
        thread: String,
    },
    /// No thread measured on these CPUs.
    Nothing {
        /// The CPUs with a thread.
        measured: CpuSet,
    },
}

impl fmt::Display for NotOfCpus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NotOfCpus::Unknown { thread } => {
                write!(f, "the file does not show on which CPU {thread} measured")
            }
            NotOfCpus::Nothing { measured } => write!(f, "it was measured on CPUs {measured}"),
        }
    }
}

impl std::error::Error for NotOfCpus {}

impl Run {
    /// The threads that measured on these CPUs.
    ///
    /// # Errors
    /// [`NotOfCpus`] where there is none, or where a thread's CPU is not known.
    pub fn threads_of(&self, cpus: &CpuSet) -> Result<Vec<&Measured>, NotOfCpus> {
        if let Some(thread) = self.threads.iter().find(|thread| thread.cpu.is_none()) {
            return Err(NotOfCpus::Unknown { thread: thread.name.clone() });
        }
        let is_of = |thread: &&Measured| thread.cpu.is_some_and(|cpu| cpus.contains(cpu));
        let threads: Vec<&Measured> = self.threads.iter().filter(is_of).collect();
        match threads.is_empty() {
            true => Err(NotOfCpus::Nothing {
                measured: self.threads.iter().filter_map(|thread| thread.cpu).collect(),
            }),
            false => Ok(threads),
        }
    }

    /// The run as if only these CPUs had been measured. Its late samples are unknown where one of them shows no CPU.
    ///
    /// # Errors
    /// Those of [`threads_of`](Run::threads_of).
    pub fn of_cpus(&self, cpus: &CpuSet) -> Result<Run, NotOfCpus> {
        let threads = self.threads_of(cpus)?.into_iter().cloned().collect();
        let spikes = self.spikes.as_ref().filter(|spikes| spikes.iter().all(|late| late.cpu.is_some()));
        let spikes = spikes.map(|spikes| {
            let is_of = |late: &&crate::Late| late.cpu.is_some_and(|cpu| cpus.contains(cpu));
            spikes.iter().filter(is_of).cloned().collect()
        });
        Ok(Run { threads, spikes, ..self.clone() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Late;
    use whylate_base::{Cpu, Ns};

    fn thread(cpu: Option<u32>, latency: i64) -> Measured {
        let histogram = [Ns(latency)].into_iter().collect();
        Measured { cpu: cpu.map(Cpu), name: format!("thread {cpu:?}"), histogram, ..Measured::default() }
    }

    fn late(cpu: Option<u32>) -> Late {
        Late { cpu: cpu.map(Cpu), latency: Ns(9), ..Late::default() }
    }

    #[test]
    fn a_part_has_its_own_samples_and_late_ones() {
        let cpus = |list: &str| list.parse::<CpuSet>().expect("a list");
        let run = Run {
            threads: vec![thread(Some(0), 5), thread(Some(1), 7), thread(Some(2), 9)],
            spikes: Some(vec![late(Some(0)), late(Some(2))]),
            ..Run::default()
        };
        let part = run.of_cpus(&cpus("1-2,7")).expect("a part");
        assert_eq!((part.all().count(), part.all().min()), (2, Some(Ns(7))));
        assert_eq!(part.spikes.map(|spikes| spikes.len()), Some(1));
        assert_eq!(run.of_cpus(&cpus("3")), Err(NotOfCpus::Nothing { measured: cpus("0-2") }));
        let vague = Run { spikes: Some(vec![late(Some(0)), late(None)]), ..run.clone() };
        assert_eq!(vague.of_cpus(&cpus("0")).map(|part| part.spikes), Ok(None));
        let unknown = Run { threads: vec![thread(Some(0), 5), thread(None, 7)], ..run };
        assert!(matches!(unknown.of_cpus(&cpus("0")), Err(NotOfCpus::Unknown { .. })));
    }
}
