//! How many events each CPU should have: the kernel's statistics, which stand before the pages.

use crate::dat::buffer::{CpuData, MOST_CPUS};
use whylate_base::Cpu;

/// What the statistics have of one buffer.
pub(super) struct Counted {
    pub(super) buffer: String,
    cpus: Vec<(Cpu, u64)>,
}

/// The CPUs of a buffer that have events, and how many, in the order of their pages.
#[derive(Default)]
pub(super) struct Counts(Vec<(Cpu, u64)>);

/// Reads the texts of `per_cpu/cpuN/stats`, in front of each `CPU: N`, and `Buffer: NAME`
/// in front of an instance's first. Those taken out of the kernel (`read events`) and those
/// still in there (`entries`: `trace-cmd extract`) are both in the file.
pub(super) fn parse(stats: &[String]) -> Vec<Counted> {
    let mut buffers: Vec<Counted> = Vec::new();
    for (key, value) in stats.iter().flat_map(|text| text.lines()).filter_map(|line| line.split_once(": ")) {
        let value = value.trim();
        let (name, number) = (key.trim(), value.parse::<u64>().ok());
        match (name, number) {
            ("Buffer", _) if buffers.last().is_none_or(|last| last.buffer != value) => {
                buffers.push(Counted { buffer: value.to_owned(), cpus: Vec::new() });
            }
            ("CPU", Some(cpu)) => {
                if buffers.is_empty() {
                    buffers.push(Counted { buffer: String::new(), cpus: Vec::new() });
                }
                if let Some(last) = buffers.last_mut().filter(|_| cpu < u64::from(MOST_CPUS)) {
                    last.cpus.push((Cpu(cpu as u32), 0));
                }
            }
            ("entries" | "read events", Some(count)) => {
                if let Some((_, sum)) = buffers.last_mut().and_then(|last| last.cpus.last_mut()) {
                    *sum = sum.saturating_add(count);
                }
            }
            _ => {}
        }
    }
    buffers
}

impl Counted {
    pub(super) fn counts(&self) -> Counts {
        Counts(self.cpus.iter().copied().filter(|&(_, count)| count > 0).collect())
    }

    pub(super) fn total(&self) -> u64 {
        self.cpus.iter().fold(0, |sum, &(_, count)| sum.saturating_add(count))
    }
}

impl Counts {
    /// How many events the CPU at this place in the file has.
    pub(super) fn at(&self, place: usize) -> Option<u64> {
        self.0.get(place).map(|&(_, count)| count)
    }

    pub(super) fn of(&self, cpu: Cpu) -> Option<u64> {
        self.0.iter().find(|&&(of, _)| of == cpu).map(|&(_, count)| count)
    }

    /// Those of which there is nothing.
    pub(super) fn without<'c>(&'c self, found: &'c [CpuData]) -> impl Iterator<Item = (Cpu, u64)> + 'c {
        self.0.iter().copied().filter(move |&(cpu, _)| found.iter().all(|data| data.cpu != cpu))
    }

    /// The CPU of each run of pages, given its events and whether it is whole; `None` when
    /// no CPUs in this order have as many.
    ///
    /// A whole run has exactly as many as were counted. One that is not has no more; it is
    /// taken for the next CPU's, so damage that swallows a whole run shows as a mismatch of
    /// the next whole one.
    pub(super) fn assign(&self, runs: &[(u64, bool)]) -> Option<Vec<Cpu>> {
        let fits = |&&(_, counted): &&(Cpu, u64), &(events, whole): &(u64, bool)| match whole {
            true => events == counted,
            false => events <= counted,
        };
        let mut counted = self.0.iter();
        runs.iter().map(|run| counted.next().filter(|next| fits(next, run)).map(|&(cpu, _)| cpu)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(cpus: &[(u32, u64)]) -> Counts {
        Counts(cpus.iter().map(|&(cpu, count)| (Cpu(cpu), count)).collect())
    }

    #[test]
    fn statistics_are_understood_with_their_buffers() {
        let text = |cpu: u32, entries: u64, read: u64| {
            format!("CPU: {cpu}\nentries: {entries}\noverrun: 9\nnow ts: 12.5\nread events: {read}\n")
        };
        let stats =
            [text(0, 0, 5), text(1, 0, 0), text(2, 7, 1), "\nBuffer: two\n\n".to_owned(), text(1, 3, 0)];
        let buffers = parse(&stats);
        let names: Vec<_> = buffers.iter().map(|buffer| buffer.buffer.as_str()).collect();
        assert_eq!(names, ["", "two"]);
        assert_eq!(buffers[0].counts().0, [(Cpu(0), 5), (Cpu(2), 8)]);
        assert_eq!(buffers[1].counts().0, [(Cpu(1), 3)]);
        assert_eq!(buffers[0].total(), 13);
        assert!(parse(&["entries: 5".to_owned(), "CPU: x".to_owned()]).is_empty());
        assert_eq!(parse(&[text(u32::MAX, 5, 0)])[0].total(), 0, "no machine has such a CPU");
    }

    #[test]
    fn runs_are_given_to_cpus_by_their_counts() {
        let counts = counts(&[(0, 10), (2, 20), (5, 30)]);
        let cpus = |cpus: &[u32]| Some(cpus.iter().copied().map(Cpu).collect::<Vec<_>>());
        for (runs, expected) in [
            (&[(10, true), (20, true), (30, true)][..], cpus(&[0, 2, 5])),
            (&[(10, true), (7, false)], cpus(&[0, 2])),
            (&[(3, false), (20, true)], cpus(&[0, 2])),
            (&[(20, true)], None),
            (&[(10, true), (21, false)], None),
            (&[(3, false), (30, true)], None),
            (&[(10, true), (20, true), (30, true), (0, false)], None),
            (&[], cpus(&[])),
        ] {
            assert_eq!(counts.assign(runs), expected, "{runs:?}");
        }
    }
}
