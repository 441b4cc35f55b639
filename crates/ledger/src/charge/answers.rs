//! What the threads did that were to answer a request.

use super::charger::Charger;
use super::notes::VerdictNote;
use crate::model::Culprit;
use crate::timeline::running::Running;
use crate::timeline::sleeps::Wait;
use crate::timeline::states::State;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use whylate_base::{Evidence, Ns, Priority, Tid};

/// So many threads are followed from one request on.
const MOST_SERVERS: usize = 4;
/// What took less of a server's time is not worth a sentence.
const NOTABLE: Ns = Ns::from_us(100);

/// What a server did with its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Doing {
    /// It waited for the CPU that this thread had.
    Behind(Tid, Priority),
    /// It was runnable, and its CPU was idle: it was not let run.
    Kept,
    Ran,
    Device,
    Lock(Option<Tid>),
    Timer,
}

/// How long all the servers did what, and since when.
type Doings = BTreeMap<(Tid, Doing), (Ns, Ns)>;

impl Charger<'_> {
    /// Notes what took most of the time of the one that was to answer by `to`, or of those that it had asked in turn.
    pub(super) fn note_answer(&mut self, from: Tid, to: Ns) {
        let doings = self.doings_of_servers(from, to);
        let most = doings.into_iter().max_by_key(|(_, (total, since))| (*total, Reverse(*since)));
        let Some(((server, doing), (total, since))) = most.filter(|(_, (total, _))| *total >= NOTABLE) else {
            return;
        };
        let Some(server) = self.thread_at(server, since) else { return };
        let (what, behind) = match doing {
            Doing::Behind(tid, priority) => {
                let by = self.task(tid, priority, since);
                (format!("waited for the CPU that {by} had for {total}"), Some(by))
            }
            Doing::Kept => (
                format!("was runnable for {total} while its CPU was idle, as where a quota is used up"),
                None,
            ),
            Doing::Ran => (format!("itself ran for {total}"), None),
            Doing::Device => (format!("slept for {total} for a device"), None),
            Doing::Lock(owner) => {
                let owner = owner.and_then(|owner| self.thread_at(owner, since));
                let of = owner.map_or_else(String::new, |owner| format!(" of {owner}"));
                (format!("waited for {total} for a lock{of}"), None)
            }
            Doing::Timer => (format!("slept for {total} until a timer of its own expired"), None),
        };
        let text = format!("{server}, which was to answer, {what}");
        self.notes.push(VerdictNote::Note(Evidence::at(since, self.cpu, text)));
        self.notes.push(VerdictNote::Answerer { server, behind });
    }

    fn doings_of_servers(&self, from: Tid, to: Ns) -> Doings {
        let timeline = self.timeline;
        let mut doings = Doings::new();
        let mut add = |server: Tid, doing: Doing, from: Ns, to: Ns| {
            let (total, since) = doings.entry((server, doing)).or_insert((Ns::ZERO, from));
            (*total, *since) = (*total + (to - from), (*since).min(from));
        };
        let mut servers = vec![from];
        let mut followed = 0;
        while let Some(&server) = servers.get(followed) {
            followed += 1;
            let Some(thread) = timeline.threads.get(server) else { continue };
            for stay in thread.history.between(self.at, to) {
                match stay.state {
                    State::Queued(on) => {
                        let slices = timeline.cpus.get(on).map(|cpu| cpu.between(stay.from, stay.to));
                        for (start, end, slice) in slices.into_iter().flatten() {
                            match slice.running {
                                Running::Task(tid, priority) if tid != server => {
                                    add(server, Doing::Behind(tid, priority), start, end);
                                }
                                Running::Idle => add(server, Doing::Kept, start, end),
                                _ => {}
                            }
                        }
                    }
                    State::Running(_) => add(server, Doing::Ran, stay.from, stay.to),
                    State::Blocked { wait: Wait::Io | Wait::Fault | Wait::Uninterruptible, .. } => {
                        add(server, Doing::Device, stay.from, stay.to);
                    }
                    State::Blocked { wait: Wait::Period | Wait::KernelTimer, .. } => {
                        add(server, Doing::Timer, stay.from, stay.to);
                    }
                    State::Blocked { wait: Wait::Lock { owner } | Wait::KernelLock { owner }, waker } => {
                        add(server, Doing::Lock(waker.or(owner)), stay.from, stay.to);
                    }
                    State::Blocked { wait: Wait::Semaphore { owner: Some((owner, _)) }, .. } => {
                        add(server, Doing::Lock(Some(owner)), stay.from, stay.to);
                    }
                    // It waited for a message: of the late thread itself, or of one that it had asked.
                    State::Blocked { waker: Some(waker), .. } => {
                        let is_new = waker != self.victim.tid && !servers.contains(&waker);
                        if is_new && servers.len() < MOST_SERVERS {
                            servers.push(waker);
                        }
                    }
                    State::Blocked { waker: None, .. } | State::Unknown => {}
                }
            }
        }
        doings
    }

    /// A thread as it was at an instant.
    fn thread_at(&self, tid: Tid, at: Ns) -> Option<Culprit> {
        let thread = self.timeline.threads.get(tid)?;
        Some(self.task(tid, thread.priority_at(at), at))
    }
}
