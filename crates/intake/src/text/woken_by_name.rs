//! Wake-ups whose line has the thread's name alone, as people shorten it: `sched_wakeup: ksoftirqd/4`, or
//! `sched_wakeup: ksoftirqd/4 success=1 CPU:004`. The thread is the one of the text that has this name, if exactly one has.

use super::collected::Collected;
use super::fields;
use super::tally::Tally;
use super::window::Window;
use std::collections::BTreeMap;
use whylate_base::{Comm, Cpu, Priority, Tid};
use whylate_events::{Event, EventKind, Wake};

/// More wake-ups of this form are not kept.
const MOST: usize = 1024;
/// Of a line that is no such wake-up after all, so many bytes are kept to be shown.
const SHOWN: usize = 80;

/// The wake-ups that wait for the whole text.
#[derive(Default)]
pub(crate) struct WokenByName {
    waiting: Vec<Waiting>,
}

struct Waiting {
    /// Of the line.
    number: u64,
    text: String,
    event: Event,
    comm: Comm,
    /// Where it was queued, if the line has that.
    target: Option<Cpu>,
    is_waking: bool,
}

impl WokenByName {
    /// Keeps the event of a line, if its `body` is such a wake-up.
    pub(crate) fn keep(&mut self, number: u64, body: &str, event: Event) -> bool {
        let Some((name, text)) = body.split_once(':') else { return false };
        let is_waking = match name {
            "sched_waking" => true,
            "sched_wakeup" => false,
            _ => return false,
        };
        let (text, target) = match text.rsplit_once(" CPU:").or_else(|| text.rsplit_once(" target_cpu=")) {
            Some((text, cpu)) => (text, fields::cpu_from(fields::trim(cpu).trim_matches(['[', ']']))),
            None => (text, None),
        };
        let comm = fields::trim(text.split_once(" success=").map_or(text, |(comm, _)| comm));
        // The kernel's names have 15 characters; fields of another form have signs of their own.
        let is_name = (1..=15).contains(&comm.len()) && !comm.contains(['=', '[', ' ', '(', '<', '"']);
        if !is_name || self.waiting.len() >= MOST {
            return false;
        }
        let text = body.chars().take(SHOWN).collect();
        self.waiting.push(Waiting { number, text, event, comm: Comm::from(comm), target, is_waking });
        true
    }

    /// The text has ended: adds the wake-ups to what was read, if all of that still waits. Others count as `strange`.
    pub(crate) fn end(&mut self, names: &[(Tid, Comm)], collected: &mut Collected, strange: &mut Tally) {
        let waiting = std::mem::take(&mut self.waiting);
        if waiting.is_empty() {
            return;
        }
        let threads = threads(names, &collected.window);
        for wake in waiting {
            match event(&wake, &threads).filter(|_| collected.window.is_whole()) {
                Some(event) => collected.keep(wake.number, event),
                None => strange.add(wake.number, &wake.text),
            }
        }
    }
}

/// What a text shows of a thread.
#[derive(Default)]
struct Known {
    comms: Vec<Comm>,
    /// Its priority where it was switched in first, and there.
    switched_in: Option<(Priority, Cpu)>,
}

fn threads(names: &[(Tid, Comm)], window: &Window) -> BTreeMap<Tid, Known> {
    let mut threads: BTreeMap<Tid, Known> = BTreeMap::new();
    let mut named = |tid: Tid, comm: Comm, switched_in| {
        let known = threads.entry(tid).or_default();
        if !known.comms.contains(&comm) {
            known.comms.push(comm);
        }
        known.switched_in = known.switched_in.or(switched_in);
    };
    names.iter().for_each(|&(tid, comm)| named(tid, comm, None));
    for event in window.events() {
        if let EventKind::Switch(switch) = event.kind {
            named(switch.prev_tid, switch.prev_comm, None);
            named(switch.next_tid, switch.next_comm, Some((switch.next_prio, event.cpu)));
        }
    }
    threads
}

fn event(waiting: &Waiting, threads: &BTreeMap<Tid, Known>) -> Option<Event> {
    let mut of_name = threads.iter().filter(|(_, known)| known.comms.contains(&waiting.comm));
    let (&tid, known) = of_name.next()?;
    let (prio, ran_on) = known.switched_in.filter(|_| of_name.next().is_none())?;
    let wake = Wake { comm: waiting.comm, tid, prio, target_cpu: waiting.target.unwrap_or(ran_on) };
    let kind = match waiting.is_waking {
        true => EventKind::Waking(wake),
        false => EventKind::Wakeup { wake, new: false },
    };
    Some(Event { kind, ..waiting.event })
}

#[cfg(test)]
mod tests {
    use super::*;
    use whylate_base::Ns;
    use whylate_events::{Context, KindSet, Switch, TaskState};

    fn event(us: i64, kind: EventKind) -> Event {
        Event { ts: Ns::from_us(us), cpu: Cpu(4), context: Context::default(), kind }
    }

    /// The wake-up that the body is taken for, in a text of which these threads are switched in.
    fn woken(body: &str, switched_in: &[(&str, i32)]) -> Option<Wake> {
        let mut collected = Collected::new(KindSet::ALL);
        for &(comm, tid) in switched_in {
            let switch = Switch {
                prev_comm: Comm::from("idle_inject/4"),
                prev_tid: Tid(37),
                prev_prio: Priority(50),
                prev_state: TaskState::Runnable,
                next_comm: Comm::from(comm),
                next_tid: Tid(tid),
                next_prio: Priority(120),
            };
            collected.event(2, event(20, EventKind::Switch(switch)));
        }
        let (mut by_name, mut strange) = (WokenByName::default(), Tally::default());
        let kept = by_name.keep(1, body, event(10, EventKind::Other));
        by_name.end(&[(Tid(7), Comm::from("bash"))], &mut collected, &mut strange);
        let wake = std::iter::from_fn(|| collected.next()).find_map(|event| match event.kind {
            EventKind::Waking(wake) | EventKind::Wakeup { wake, .. } => Some(wake),
            _ => None,
        });
        assert_eq!(strange.count() > 0, kept && wake.is_none(), "{body}");
        wake
    }

    #[test]
    fn the_one_thread_of_that_name_is_woken() {
        let one: &[(&str, i32)] = &[("ksoftirqd/4", 39)];
        for (body, threads, expected) in [
            ("sched_wakeup: ksoftirqd/4", one, Some((39, 4))),
            ("sched_waking: ksoftirqd/4 success=1 CPU:006", one, Some((39, 6))),
            ("sched_wakeup: ksoftirqd/4 CPU:[002]", one, Some((39, 2))),
            ("sched_wakeup: worker", &[("worker", 5), ("worker", 6)], None),
            ("sched_wakeup: worker", one, None),
            // Its priority is in no line.
            ("sched_wakeup: bash", one, None),
            ("sched_wakeup: ksoftirqd/4:39 [120", one, None),
            ("sched_stat: ksoftirqd/4", one, None),
        ] {
            let wake = woken(body, threads).map(|wake| (wake.tid.0, wake.target_cpu.0));
            assert_eq!(wake, expected, "{body}");
        }
    }
}
