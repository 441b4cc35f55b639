//! What the threads did that were to answer a request.

use super::charger::Charger;
use super::notes::VerdictNote;
use crate::model::Culprit;
use crate::timeline::running::Running;
use crate::timeline::sleeps::{Asked, Itself, Wait};
use crate::timeline::states::{State, Stay};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use whylate_base::{Evidence, Ns, Priority, Tid};

/// So many threads are followed from one request on.
const MOST_SERVERS: usize = 4;
/// What took less of a server's time is not worth a sentence.
const NOTABLE: Ns = Ns::from_us(100);

/// A shorter stop for a tracer is no evidence of its own, nor are more than a few.
const LONG_STOP: Ns = Ns::from_ms(1);
const MOST_STOPS: usize = 3;

/// A server, the thread that had the CPU for which it waited, and the evidence.
struct Kept {
    server: Culprit,
    behind: Option<Culprit>,
    itself: Option<Itself>,
    seen: Evidence,
}

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
    /// This thread had stopped it.
    Stopped(Option<Tid>),
}

/// How long all the servers did what, and since when.
type Doings = BTreeMap<(Tid, Doing), (Ns, Ns)>;

impl Charger<'_> {
    /// Notes what took most of the time of the one that was to answer by `to`, or of those that it had asked in turn.
    /// `last` woke the late thread.
    pub(super) fn note_answer(&mut self, (from, asked): (Tid, Asked), last: Tid, to: Ns) {
        self.note_asked(from, asked);
        self.note_server(last, to, NOTABLE, "was to answer");
    }

    /// The same of a reply that `from` ended the wait for: where its time shows what kept it, it was to answer. Or the question came
    /// late to it, or the reply came late from it.
    pub(super) fn note_reply(&mut self, from: Tid, to: Ns) {
        let most = Ns((to - self.at).0 / 2);
        if self.note_server(from, to, most.max(NOTABLE), "let it go on") {
            self.note_asked(from, Asked::Message);
        }
    }

    fn note_asked(&mut self, from: Tid, asked: Asked) {
        if !self.notes.iter().any(|note| matches!(note, VerdictNote::Asked(tid, _) if *tid == from)) {
            self.notes.push(VerdictNote::Asked(from, asked));
        }
    }

    /// The same of a wait for a child that `child` ended.
    pub(super) fn note_child(&mut self, child: Tid, to: Ns) {
        let most = Ns((to - self.at).0 / 2);
        self.note_server(child, to, most.max(NOTABLE), "let it go on");
    }

    /// Notes which thread had the CPU for which the tracer of the late thread waited for most of a long stop until `to`.
    pub(super) fn note_tracer(&mut self, tracer: Tid, to: Ns) {
        let most = Ns((to - self.at).0 / 2);
        let kept = self.kept_server(tracer, to, most.max(LONG_STOP), "traces it");
        let Some(Kept { server, behind: Some(behind), seen, .. }) = kept else { return };
        let noted = self.notes.iter().filter(|note| matches!(note, VerdictNote::Tracer { .. })).count();
        if noted < MOST_STOPS {
            self.notes.push(VerdictNote::Note(seen));
            self.notes.push(VerdictNote::Tracer { tracer: server, behind });
        }
    }

    /// True where what took most of the server's time until `to` took `least` of it, and is noted; `as_what` says which server that is.
    fn note_server(&mut self, last: Tid, to: Ns, least: Ns, as_what: &str) -> bool {
        let Some(Kept { server, behind, itself, seen }) = self.kept_server(last, to, least, as_what) else {
            return false;
        };
        self.notes.push(VerdictNote::Note(seen));
        self.notes.push(VerdictNote::Answerer { server, behind, itself });
        true
    }

    /// What took most of the server's time until `to`, where that is `least` of it.
    fn kept_server(&self, last: Tid, to: Ns, least: Ns, as_what: &str) -> Option<Kept> {
        let doings = self.doings_of_servers(last, to);
        let all_behind = behind_others(&doings);
        let weight = |(&(server, doing), &(total, since)): (&(Tid, Doing), &(Ns, Ns))| {
            let all = matches!(doing, Doing::Behind(..)).then(|| all_behind.get(&server)).flatten();
            (all.map_or(total, |(all, _)| *all), total, Reverse(since))
        };
        let most = doings.iter().max_by_key(|&one| weight(one));
        let (&(server, doing), &(total, since)) = most.filter(|&one| weight(one).0 >= least)?;
        let others = all_behind.get(&server).copied().filter(|(all, _)| *all - total >= NOTABLE);
        let thread = self.timeline.threads.get(server)?;
        let server = self.task(server, Self::priority_in(thread, since, to), since);
        let (what, behind) = match doing {
            Doing::Behind(tid, priority) => {
                let by = self.task(tid, priority, since);
                let all = others.map_or_else(String::new, |(all, threads)| match threads - 1 {
                    1 => format!(" ({all} with another one)"),
                    others => format!(" ({all} with {others} others)"),
                });
                (format!("waited for the CPU that {by} had for {total}{all}"), Some(by))
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
            Doing::Stopped(by) => {
                let by = by.and_then(|by| self.thread_at(by, since));
                let by = by.map_or_else(String::new, |by| format!(" by {by}"));
                (format!("was stopped{by} for {total}"), None)
            }
            Doing::Timer => (format!("slept for {total} until a timer of its own expired"), None),
        };
        let text = format!("{server}, which {as_what}, {what}");
        let itself = match doing {
            Doing::Ran => Some(Itself::Ran),
            Doing::Timer => Some(Itself::Slept),
            _ => None,
        };
        Some(Kept { server, behind, itself, seen: Evidence::at(since, self.cpu, text) })
    }

    fn doings_of_servers(&self, from: Tid, to: Ns) -> Doings {
        let mut doings = Doings::new();
        let mut servers = vec![from];
        let mut followed = 0;
        while let Some(&server) = servers.get(followed) {
            followed += 1;
            let Some(thread) = self.timeline.threads.get(server) else { continue };
            for stay in thread.history.between(self.at, to) {
                for (doing, start, end) in self.doing(server, &stay) {
                    let (total, since) = doings.entry((server, doing)).or_insert((Ns::ZERO, start));
                    (*total, *since) = (*total + (end - start), (*since).min(start));
                }
                // It waited for a message: of the late thread itself, or of one that it had asked.
                if let State::Blocked { wait, waker: Some(waker) } = stay.state
                    && asleep(wait, None).is_none()
                    && waker != self.victim.tid
                    && !servers.contains(&waker)
                    && servers.len() < MOST_SERVERS
                {
                    servers.push(waker);
                }
            }
        }
        doings
    }

    /// What a server did in a stay of its history, from when to when.
    fn doing(&self, server: Tid, stay: &Stay) -> Vec<(Doing, Ns, Ns)> {
        let on = match stay.state {
            State::Queued(on) => on,
            State::Running(_) => return vec![(Doing::Ran, stay.from, stay.to)],
            State::Blocked { wait, waker } => {
                return asleep(wait, waker).map(|doing| (doing, stay.from, stay.to)).into_iter().collect();
            }
            State::Unknown => return Vec::new(),
        };
        let Some(cpu) = self.timeline.cpus.get(on) else { return Vec::new() };
        let slices = cpu.between(stay.from, stay.to).filter_map(|(start, end, slice)| match slice.running {
            Running::Task(tid, priority) if tid != server => Some((Doing::Behind(tid, priority), start, end)),
            Running::Idle => Some((Doing::Kept, start, end)),
            _ => None,
        });
        slices.collect()
    }
}

/// For how long each server waited for a CPU that others had, and how many those were.
fn behind_others(doings: &Doings) -> BTreeMap<Tid, (Ns, usize)> {
    let mut all = BTreeMap::new();
    for (&(server, doing), &(total, _)) in doings {
        if matches!(doing, Doing::Behind(..)) {
            let (time, threads) = all.entry(server).or_insert((Ns::ZERO, 0));
            (*time, *threads) = (*time + total, *threads + 1);
        }
    }
    all
}

/// What a server sleeps for; `None` of a wait for a message.
fn asleep(wait: Wait, waker: Option<Tid>) -> Option<Doing> {
    match wait {
        Wait::Io | Wait::Fault | Wait::Uninterruptible => Some(Doing::Device),
        Wait::Period | Wait::KernelTimer => Some(Doing::Timer),
        Wait::Lock { owner } | Wait::KernelLock { owner } => Some(Doing::Lock(waker.or(owner))),
        Wait::TimedLock { owner } | Wait::Semaphore { owner: Some((owner, _)) } => {
            Some(Doing::Lock(Some(owner)))
        }
        Wait::Stopped { by, .. } => Some(Doing::Stopped(by)),
        _ => None,
    }
}
