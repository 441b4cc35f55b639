//! Something of each CPU, by its number.

use whylate_base::Cpu;

/// A CPU number beyond this is a damaged event, not a machine.
const MAX_CPUS: usize = 16 * 1024;

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct PerCpu<T>(Vec<T>);

impl<T: Default> PerCpu<T> {
    /// That of the CPU, known from now on; `None` for a number no machine has.
    #[inline]
    pub(crate) fn get_mut(&mut self, cpu: Cpu) -> Option<&mut T> {
        if cpu.index() >= self.0.len() {
            self.add(cpu);
        }
        self.0.get_mut(cpu.index())
    }

    /// Apart from [`get_mut`](Self::get_mut), which every event calls several times: without it, that is inlined.
    #[cold]
    fn add(&mut self, cpu: Cpu) {
        if cpu.index() < MAX_CPUS {
            self.0.resize_with(cpu.index() + 1, T::default);
        }
    }

    /// That of the CPU, if it was seen.
    pub(crate) fn get(&self, cpu: Cpu) -> Option<&T> {
        self.0.get(cpu.index())
    }

    /// All of them with the CPUs' numbers.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (Cpu, &T)> {
        self.0.iter().enumerate().map(|(index, one)| (Cpu(index as u32), one))
    }

    /// All of them.
    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.0.iter_mut()
    }
}
