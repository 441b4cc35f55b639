//! What a run of pages shows: how many events, and which CPU's idle task ran.

use crate::dat::buffer::MOST_CPUS;
use crate::dat::container::Container;
use crate::dat::cpu::CpuRecords;
use crate::decode::Decoders;
use crate::format::EventFormat;
use std::collections::BTreeSet;
use whylate_base::Cpu;

/// Reads a run to its end: its events, whether something in it is damaged, and the CPU of
/// its idle task. A run that shows several CPUs' idle tasks is of no single CPU.
pub(super) fn read(
    mut records: CpuRecords,
    decoders: &Decoders,
    container: &Container,
) -> (u64, bool, Option<Cpu>) {
    let switch = container.formats.find("sched", "sched_switch");
    let (mut events, mut idle) = (0, BTreeSet::new());
    while let Some(record) = records.next() {
        let bytes = records.bytes(&record);
        let Some(id) = decoders.id(bytes) else { continue };
        events += 1;
        if let Some(switch) = switch.filter(|switch| switch.id == id) {
            for side in [["prev_pid", "prev_comm"], ["next_pid", "next_comm"]] {
                idle.extend(idle_cpu(switch, side, container, bytes));
            }
        }
    }
    let cpu = idle.first().copied().filter(|_| idle.len() == 1);
    (events, !records.damage.is_empty(), cpu)
}

/// The CPU of an idle task: thread 0, called `swapper/N` (`idle_init`, `kernel/smpboot.c`).
fn idle_cpu(
    switch: &EventFormat,
    [pid, comm]: [&str; 2],
    container: &Container,
    bytes: &[u8],
) -> Option<Cpu> {
    let thread = switch.field(pid)?.int(container.endian, bytes)?;
    let name = switch.field(comm)?.text(container.endian, bytes)?.strip_prefix(b"swapper/")?;
    let number = std::str::from_utf8(name).ok()?.parse().ok().filter(|&number| number < MOST_CPUS)?;
    (thread == 0).then_some(Cpu(number))
}
