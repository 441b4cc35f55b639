//! What the threads waited for that were to answer a request.

use super::charger::Charger;
use super::notes::VerdictNote;
use crate::timeline::running::Running;
use crate::timeline::states::State;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use whylate_base::{Evidence, Ns, Priority, Tid};

/// So many threads are followed from one request on.
const MOST_SERVERS: usize = 4;
/// A server that waited less is not worth a sentence.
const NOTABLE_WAIT: Ns = Ns::from_us(100);

impl Charger<'_> {
    /// Notes which thread had the CPU for longest while the one that was to answer by `to` waited for it, or one that it had asked
    /// in turn.
    pub(super) fn note_answer(&mut self, from: Tid, to: Ns) {
        let timeline = self.timeline;
        let mut had: BTreeMap<(Tid, Tid, Priority), (Ns, Ns)> = BTreeMap::new();
        let mut servers = vec![from];
        let mut followed = 0;
        while let Some(&server) = servers.get(followed) {
            followed += 1;
            let Some(thread) = timeline.threads.get(server) else { continue };
            for stay in thread.history.between(self.at, to) {
                let on = match stay.state {
                    State::Queued(on) => on,
                    State::Blocked { waker: Some(waker), .. } => {
                        let is_new = waker != self.victim.tid && !servers.contains(&waker);
                        if is_new && servers.len() < MOST_SERVERS {
                            servers.push(waker);
                        }
                        continue;
                    }
                    _ => continue,
                };
                let Some(cpu) = timeline.cpus.get(on) else { continue };
                for (start, end, slice) in cpu.between(stay.from, stay.to) {
                    if let Running::Task(tid, priority) = slice.running
                        && tid != server
                    {
                        let (total, since) = had.entry((server, tid, priority)).or_insert((Ns::ZERO, start));
                        (*total, *since) = (*total + (end - start), (*since).min(start));
                    }
                }
            }
        }
        let most = had.into_iter().max_by_key(|(_, (total, since))| (*total, Reverse(*since)));
        let Some(((server, tid, priority), (total, since))) =
            most.filter(|(_, (total, _))| *total >= NOTABLE_WAIT)
        else {
            return;
        };
        let priority_of_server = timeline.threads.get(server).map(|thread| thread.priority_at(since));
        let Some(priority_of_server) = priority_of_server else { return };
        let waited = self.task(server, priority_of_server, since);
        let by = self.task(tid, priority, since);
        let text = format!("{waited}, which was to answer, waited for the CPU that {by} had for {total}");
        self.notes.push(VerdictNote::Note(Evidence::at(since, self.cpu, text)));
    }
}
