//! Page faults.

use super::Engine;
use whylate_base::{Cpu, Ns, Tid};
use whylate_events::{Event, PageFault};

/// Where a huge page is cleared, a page fault takes milliseconds; where memory is short, and the kernel must make room first,
/// tens of them.
pub(super) const LONGEST_FAULT: Ns = Ns::from_ms(50);

impl Engine<'_> {
    pub(super) fn page_fault(&mut self, at: Ns, event: &Event, fault: &PageFault) {
        self.timeline.threads.get_mut(event.context.tid).crossings.faults(at);
        self.in_fault(at, event.cpu, event.context.tid, fault.address);
        if fault.is_fetch()
            && let Some(open) = &mut self.timeline.threads.get_mut(event.context.tid).open
        {
            open.fetches_code();
        }
        if self.is_x86
            && fault.is_write_to_present()
            && let Some(open) = &mut self.timeline.threads.get_mut(event.context.tid).open
        {
            open.writes_to_protected();
        }
    }

    /// A thread is in a page fault's handler from here on, for what it touched at `address` (0: not recorded).
    pub(super) fn in_fault(&mut self, at: Ns, cpu: Cpu, tid: Tid, address: u64) {
        let thread = self.timeline.threads.get_mut(tid);
        thread.faulting = Some(at);
        if let Some(open) = &mut thread.open {
            open.fault(at, address, thread.crossings.huge_pages.contain(address));
            if let Some(cpu) = self.timeline.cpus.get_mut(cpu) {
                cpu.faulting = Some(tid);
            }
        }
    }
}
