//! The CPUs that the events of a text are on, and those that they name.

use whylate_base::Cpu;
use whylate_events::{Event, EventKind};

/// `CONFIG_NR_CPUS` ends at this.
const MOST: u32 = 8192;

/// A bit for each CPU.
#[derive(Default)]
pub(crate) struct SeenCpus(Vec<u64>);

impl SeenCpus {
    /// Takes in the CPUs of an event.
    pub(crate) fn of(&mut self, event: &Event) {
        self.add(event.cpu);
        match event.kind {
            EventKind::Waking(wake) | EventKind::Wakeup { wake, .. } => self.add(wake.target_cpu),
            EventKind::Migrate { from, to, .. } => {
                self.add(from);
                self.add(to);
            }
            _ => {}
        }
    }

    fn add(&mut self, cpu: Cpu) {
        if cpu.0 >= MOST {
            return;
        }
        let (word, bit) = (cpu.index() / 64, cpu.0 % 64);
        if self.0.len() <= word {
            self.0.resize(word + 1, 0);
        }
        if let Some(word) = self.0.get_mut(word) {
            *word |= 1 << bit;
        }
    }

    /// All of them, in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = Cpu> + '_ {
        (0..).zip(&self.0).flat_map(|(at, word)| {
            (0..64_u32).filter(move |bit| word >> bit & 1 == 1).map(move |bit| Cpu(at * 64 + bit))
        })
    }
}
