//! Markers of a program, where these begin and end the activations of its threads. Sleeps between two of them belong to the
//! activation.

use super::Engine;
use crate::timeline::activations::{Begin, Open};
use whylate_base::Ns;
use whylate_events::Event;

impl Engine<'_> {
    /// A line in `trace_marker`, or what a probe left, of the thread that runs.
    pub(super) fn marker(&mut self, at: Ns, event: &Event, text: &str) {
        let Some(markers) = &self.options.markers else { return };
        let tid = event.context.tid;
        if tid.is_idle() {
            return;
        }
        let (begins, ends) = (markers.begins(text), markers.ends(text));
        // Of a thread that marks the end, the beginning of the next activation only shows that the end was lost.
        let is_next = begins && markers.end.is_none();
        if (begins || ends) && self.timeline.threads.get_mut(tid).is_marked {
            self.end(tid, (ends || is_next).then_some(at), at);
        }
        if !begins {
            return;
        }
        let thread = self.timeline.threads.get_mut(tid);
        thread.is_marked = true;
        thread.last_due = Some(at);
        let began_fair = !thread.priority().is_realtime();
        let open = thread.open.insert(Open::new(Begin::Marked, at, at));
        (open.woken, open.running) = (Some(at), Some(at));
        (open.cpu, open.ran_on) = (Some(event.cpu), Some(event.cpu));
        (open.began_fair, open.returned) = (began_fair, true);
    }
}
