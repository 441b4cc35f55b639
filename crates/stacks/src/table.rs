//! Every address and every stack once, as samples arrive.

use std::collections::HashMap;
use whylate_base::Ns;
use whylate_events::{AddressId, CodeAddress, ModuleId, StackId, StackSample, Stacks};

/// A recording holds no more samples: a bound on memory and file, some 80 MB of memory. Later ones are counted as lost.
const MOST_SAMPLES: usize = 1 << 20;
/// So many are not worth a look at which of them may go.
const SOME_SAMPLES: usize = 1 << 12;

/// The stacks of a recording while it grows.
#[derive(Debug, Default)]
pub(crate) struct StackTable {
    stacks: Stacks,
    addresses: HashMap<(Option<ModuleId>, u64), AddressId>,
    stack_ids: HashMap<Vec<AddressId>, StackId>,
    /// Samples beyond [`MOST_SAMPLES`].
    beyond: u64,
    /// How many samples the last [`retain`](Self::retain) left.
    retained: usize,
}

impl StackTable {
    /// The address's number.
    pub(crate) fn address(&mut self, module: Option<ModuleId>, offset: u64) -> AddressId {
        if let Some(&id) = self.addresses.get(&(module, offset)) {
            return id;
        }
        let id = AddressId(self.stacks.addresses.len() as u32);
        self.stacks.addresses.push(CodeAddress { module, offset, locations: Vec::new() });
        self.addresses.insert((module, offset), id);
        id
    }

    /// The number of a stack, innermost address first.
    pub(crate) fn stack(&mut self, addresses: &[AddressId]) -> StackId {
        if let Some(&id) = self.stack_ids.get(addresses) {
            return id;
        }
        let id = StackId(self.stacks.stacks.len() as u32);
        self.stacks.stacks.push(addresses.to_vec());
        self.stack_ids.insert(addresses.to_vec(), id);
        id
    }

    /// Adds a sample.
    pub(crate) fn sample(&mut self, sample: StackSample) {
        match self.stacks.samples.len() < MOST_SAMPLES {
            true => self.stacks.samples.push(sample),
            false => self.beyond += 1,
        }
    }

    /// Counts samples that the kernel had no room for.
    pub(crate) fn lost(&mut self, count: u64) {
        self.stacks.lost = self.stacks.lost.saturating_add(count);
    }

    /// Forgets the other samples, once there are twice as many as the last time: a look at all of them takes time.
    pub(crate) fn retain(&mut self, keeps: impl Fn(Ns) -> bool) {
        if self.stacks.samples.len() < 2 * self.retained.max(SOME_SAMPLES) {
            return;
        }
        self.stacks.retain(keeps);
        self.retained = self.stacks.samples.len();
        let addresses = self.stacks.addresses.iter().zip(0..);
        self.addresses = addresses.map(|(one, id)| ((one.module, one.offset), AddressId(id))).collect();
        let stacks = self.stacks.stacks.iter().zip(0..);
        self.stack_ids = stacks.map(|(one, id)| (one.clone(), StackId(id))).collect();
    }

    /// Everything, with the samples in time order.
    pub(crate) fn finish(self) -> Stacks {
        let mut stacks = self.stacks;
        // Each CPU's are in order, and they are taken out in rounds: nearly sorted.
        stacks.samples.sort_by_key(|sample| sample.time);
        stacks.lost = stacks.lost.saturating_add(self.beyond);
        if self.beyond > 0 {
            stacks.notes.push(format!(
                "{} stack samples were left out: a recording holds {MOST_SAMPLES}; record fewer threads, or for a shorter time",
                self.beyond
            ));
        }
        stacks
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use whylate_base::{Cpu, Tid};
    use whylate_events::SampleKind;

    #[test]
    fn what_is_equal_has_one_number_and_samples_are_in_time_order() {
        let mut table = StackTable::default();
        let id = ModuleId(4);
        let (outer, inner) = (table.address(Some(id), 1), table.address(Some(id), 2));
        assert_eq!(table.address(Some(id), 1), outer);
        assert_ne!(table.address(None, 1), outer);
        let stack = table.stack(&[inner, outer]);
        assert_eq!((table.stack(&[inner, outer]), table.stack(&[outer])), (stack, StackId(1)));
        for time in [5, 3, 4] {
            let (tid, cpu, kind) = (Tid(7), Cpu(0), SampleKind::CpuClock);
            table.sample(StackSample { time: Ns(time), tid, pid: tid, cpu, kind, stack });
        }
        table.lost(2);
        let stacks = table.finish();
        assert_eq!(stacks.samples.iter().map(|sample| sample.time.0).collect::<Vec<_>>(), [3, 4, 5]);
        assert_eq!((stacks.addresses.len(), stacks.stacks.len()), (3, 2));
        assert_eq!(stacks.lost, 2);
    }

    #[test]
    fn what_is_forgotten_leaves_no_stack_and_new_samples_find_the_others() {
        let mut table = StackTable::default();
        let sample = |table: &mut StackTable, time: usize, offset: u64| {
            let address = table.address(None, offset);
            let stack = table.stack(&[address]);
            let (tid, cpu, kind) = (Tid(7), Cpu(0), SampleKind::CpuClock);
            table.sample(StackSample { time: Ns(time as i64), tid, pid: tid, cpu, kind, stack });
        };
        let last = 2 * SOME_SAMPLES;
        for time in 1..last {
            sample(&mut table, time, time as u64);
            table.retain(|_| false);
        }
        sample(&mut table, last, last as u64);
        table.retain(|time| time == Ns(3) || time == Ns(7));
        for offset in [7, 3, 2] {
            sample(&mut table, last, offset);
        }
        let stacks = table.finish();
        let seen: Vec<(i64, u64)> = stacks
            .samples
            .iter()
            .map(|sample| {
                let address = stacks.stacks[sample.stack.0 as usize][0];
                (sample.time.0, stacks.addresses[address.0 as usize].offset)
            })
            .collect();
        let last = last as i64;
        assert_eq!(seen, [(3, 3), (7, 7), (last, 7), (last, 3), (last, 2)]);
        assert_eq!(stacks.addresses.len(), 3);
    }
}
