//! Contended locks of the kernel.

use super::Engine;
use whylate_base::Ns;
use whylate_events::Event;

impl Engine<'_> {
    pub(super) fn contention_begin(&mut self, at: Ns, event: &Event, lock: u64) {
        if !event.context.flags.in_interrupt() {
            self.timeline.threads.get_mut(event.context.tid).contending = Some((lock, at));
        }
    }

    pub(super) fn contention_end(&mut self, at: Ns, event: &Event) {
        if event.context.flags.in_interrupt() {
            return;
        }
        let thread = self.timeline.threads.get_mut(event.context.tid);
        let began = thread.contending.take();
        if let (Some((_, since)), Some(open)) = (began, &mut thread.open) {
            open.spin(since, at);
        }
    }
}
