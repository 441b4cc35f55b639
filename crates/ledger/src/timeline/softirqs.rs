//! How long the handlers of each softirq take, and what raised them.

use super::irqs::IrqId;
use super::lengths::Lengths;
use super::origins::{OF_DEVICES, RaisedBy};
use rustc_hash::FxHashMap;
use whylate_base::{Cpu, Ns, Tid};

/// `include/linux/interrupt.h` has ten.
const SOFTIRQS: usize = 16;
/// Pairs of a softirq of a CPU and what raises it that are remembered.
const MOST_RAISERS: usize = 4096;
/// What raises less than this share of a softirq's time is not the one to name.
const MOST_OF_IT: i64 = 80;

/// What raises a softirq.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Raiser {
    /// A thread: it sends packets, for example.
    Task(Tid),
    /// A device's interrupt.
    Irq(IrqId),
}

/// See the module.
#[derive(Default)]
pub(crate) struct Softirqs {
    usual: [Lengths; SOFTIRQS],
    /// The time of the handlers of those that serve devices, by what raised them; `None`: not seen.
    raised: FxHashMap<(Cpu, u32, Option<Raiser>), Ns>,
}

impl Softirqs {
    /// How long the handlers of a softirq usually take.
    pub(crate) fn usual(&self, vec: u32) -> Option<&Lengths> {
        self.usual.get(vec as usize)
    }

    /// A handler took so long, which that raised.
    pub(crate) fn took(&mut self, cpu: Cpu, vec: u32, length: Ns, by: Option<RaisedBy>) {
        let Some(usual) = self.usual.get_mut(vec as usize) else { return };
        usual.add(length);
        // The others serve the kernel, and what raises them shows nothing.
        if !OF_DEVICES.contains(&vec) {
            return;
        }
        let by = match by {
            Some(RaisedBy::Task(tid)) => Some(Raiser::Task(tid)),
            Some(RaisedBy::Irq(id, _)) => Some(Raiser::Irq(id)),
            Some(RaisedBy::Other) | None => None,
        };
        let is_full = self.raised.len() >= MOST_RAISERS;
        match self.raised.get_mut(&(cpu, vec, by)) {
            Some(time) => *time += length,
            None if is_full => {}
            None => drop(self.raised.insert((cpu, vec, by), length)),
        }
    }

    /// What raised nearly all of the time that a softirq has taken on a CPU so far; `None` where that was not seen, or where several
    /// share it.
    pub(crate) fn raised_by(&self, cpu: Cpu, vec: u32) -> Option<Raiser> {
        let of_it = || self.raised.iter().filter(|((on, number, _), _)| *on == cpu && *number == vec);
        let all: Ns = of_it().map(|(_, time)| *time).sum();
        let ((_, _, by), time) = of_it().max_by_key(|(_, time)| **time)?;
        by.filter(|_| i128::from(time.0) * 100 >= i128::from(all.0) * i128::from(MOST_OF_IT))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_raised_nearly_all_of_it_is_named() {
        let mut softirqs = Softirqs::default();
        let (cpu, flood) = (Cpu(1), RaisedBy::Task(Tid(7)));
        assert_eq!(softirqs.raised_by(cpu, 3), None);
        softirqs.took(cpu, 3, Ns(80), Some(flood));
        softirqs.took(cpu, 3, Ns(20), Some(RaisedBy::Task(Tid(8))));
        assert_eq!(softirqs.raised_by(cpu, 3), Some(Raiser::Task(Tid(7))));
        assert_eq!(softirqs.raised_by(Cpu(0), 3), None, "another CPU");
        assert_eq!(softirqs.raised_by(cpu, 1), None, "another softirq");
        softirqs.took(cpu, 3, Ns(1), Some(RaisedBy::Other));
        assert_eq!(softirqs.raised_by(cpu, 3), None, "less than four fifths");
        // What was not seen is nothing to name, however much it is.
        softirqs.took(cpu, 3, Ns(10_000), None);
        assert_eq!(softirqs.raised_by(cpu, 3), None);
        softirqs.took(cpu, 900, Ns(1), Some(flood));
        assert_eq!(softirqs.raised_by(cpu, 900), None, "no softirq has that number");
    }
}
