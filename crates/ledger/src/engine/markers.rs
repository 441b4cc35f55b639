//! Markers of a program, where these begin and end the activations of its threads. Sleeps between two of them belong to the
//! activation.

use super::Engine;
use crate::timeline::activations::{Begin, Open};
use whylate_base::Ns;
use whylate_events::{Event, FACT_PREFIX, Marker};

impl Engine<'_> {
    /// A line in `trace_marker`, or what a probe left, of the thread that runs.
    pub(super) fn marker(&mut self, at: Ns, event: &Event, text: &Marker) {
        if is_about_lateness(text.as_str())
            && let Some(thread) = self.timeline.threads.get_if_seen_mut(event.context.tid)
            && let Some(open) = &mut thread.open
        {
            open.says(at, *text);
        }
        let text = text.as_str();
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

/// True of a line with which a program reports that it was late, as cyclictest with a limit does: `hit latency threshold (72 > 30)`.
fn is_about_lateness(text: &str) -> bool {
    const WORDS: [&str; 6] = ["latency", "overrun", "xrun", "missed", "deadline", "too late"];
    !text.starts_with(FACT_PREFIX) && WORDS.iter().any(|word| text.contains(word))
}
