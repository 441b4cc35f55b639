//! One measurement, of any tool: what is plotted, claimed and compared.

use crate::{Histogram, Maxima};
use whylate_base::{Cpu, Ns};

/// A measurement that has ended, or as much as there is of it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Run {
    /// By what a reader knows it: the file's name, or what the user calls it.
    pub label: String,
    /// The program that measured: `whylate measure`, `cyclictest`, `oslat`.
    pub tool: String,
    /// What a sample is: `timer`, `busy`, `ipc pipe`. Runs are compared with their like.
    pub probe: String,
    /// From one sample of a thread to its next, where they are periodic.
    pub interval: Option<Ns>,
    /// How long it took, where that is known.
    pub elapsed: Option<Ns>,
    /// Each measuring thread.
    pub threads: Vec<Measured>,
    /// The latest samples, with their causes, where these are known; `None`: none were listed, so nothing is known of
    /// causes.
    pub spikes: Option<Vec<Late>>,
    /// How the machine was set: name and value, ascending by name. Empty: not known.
    pub machine: Vec<(String, String)>,
    /// What a reader must know of the numbers: `counted in buckets of 1 us`, `3 samples off the scale`.
    pub notes: Vec<String>,
}

/// What one thread measured.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Measured {
    /// The CPU it was bound to; `None`: none, or not known.
    pub cpu: Option<Cpu>,
    /// Its name among the others: `CPU 3`, `thread 0`.
    pub name: String,
    /// How often how late.
    pub histogram: Histogram,
    /// And when; `None`: not known.
    pub maxima: Option<Maxima>,
    /// So many periods passed without a sample, because the thread was late; `None`: not known.
    pub missed: Option<u64>,
    /// True of a stage of the same wake-ups that another thread of the run measured as a whole: rtla's `IRQ` columns beside
    /// its `Thr` columns. A gate checks it, and the sums of the run leave it out.
    pub is_stage: bool,
}

/// A late sample and its cause.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Late {
    /// Where.
    pub cpu: Option<Cpu>,
    /// How late.
    pub latency: Ns,
    /// The cause's code, `higher-priority-task`; `None`: not explained.
    pub cause: Option<String>,
    /// The culprit, `multipathd (RR 99)`; `None`: none, or not known.
    pub culprit: Option<String>,
}

impl Run {
    /// True where another one is by the same program, of the same thing.
    pub fn is_of_kind(&self, other: &Run) -> bool {
        (&self.tool, &self.probe) == (&other.tool, &other.probe)
    }

    /// True where its samples are how long something took (`on-CPU time`, `softirq time`), and not how late something was.
    pub fn measures_time(&self) -> bool {
        self.probe.ends_with(" time")
    }

    /// The threads whose samples are all samples of the run, each once.
    pub fn whole(&self) -> impl Iterator<Item = &Measured> {
        self.threads.iter().filter(|thread| !thread.is_stage)
    }

    /// The share of all periods that passed without a sample; `None`: not known of all threads.
    pub fn missed(&self) -> Option<f64> {
        let missed: u64 = self.whole().map(|thread| thread.missed).sum::<Option<u64>>()?;
        let taken: u64 = self.whole().map(|thread| thread.histogram.count()).sum();
        Some(missed as f64 / (missed as f64 + taken as f64).max(1.0))
    }

    /// The samples of all threads together.
    pub fn all(&self) -> Histogram {
        let mut all = Histogram::default();
        self.whole().for_each(|thread| all.merge(&thread.histogram));
        all
    }

    /// The largest of all threads in each stretch of time; `None` where one of them does not show.
    pub fn maxima(&self) -> Option<Maxima> {
        let each: Option<Vec<&Maxima>> = self.whole().map(|thread| thread.maxima.as_ref()).collect();
        each?.into_iter().cloned().reduce(|all, one| all.with(&one))
    }

    /// How many samples there are in a second, of all threads together; `None` where the time is not known.
    pub fn rate(&self) -> Option<f64> {
        let seconds = self.elapsed.filter(|elapsed| *elapsed > Ns::ZERO)?.0 as f64 / 1e9;
        Some(self.whole().map(|thread| thread.histogram.count()).sum::<u64>() as f64 / seconds)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_are_summed_up() {
        let thread = |latencies: &[i64], blocks: Vec<Option<Ns>>, length| Measured {
            histogram: latencies.iter().map(|&latency| Ns(latency)).collect(),
            maxima: Some(Maxima::of_blocks(Ns(length), blocks)),
            ..Measured::default()
        };
        let run = Run {
            elapsed: Some(Ns::from_secs(2)),
            threads: vec![
                thread(&[1, 5, 9], vec![Some(Ns(5)), None, Some(Ns(9))], 10),
                thread(&[7], vec![Some(Ns(7))], 20),
            ],
            ..Run::default()
        };
        assert_eq!((run.all().count(), run.all().max(), run.rate()), (4, Some(Ns(9)), Some(2.0)));
        assert_eq!(run.maxima().map(|maxima| maxima.blocks().to_vec()), Some(vec![Some(Ns(7)), Some(Ns(9))]));
        let mut staged = run.clone();
        staged.threads[1].is_stage = true;
        assert_eq!((staged.all().count(), staged.rate()), (3, Some(1.5)));
        assert_eq!(Run { threads: vec![Measured::default()], ..run }.maxima(), None);
    }
}
