//! Very many threads are explained in bounded memory, by work that grows with their number and no faster.
//!
//! A test program of its own, as it counts all memory that is in use.

use whylate_base::{Comm, Cpu, Ns, Priority, Tid};
use whylate_events::{
    Context, ContextFlags, Event, EventKind, EventSource, Switch, TaskState, TraceInfo, Wake,
};
use whylate_ledger::{Explanation, Options, explain};
use whylate_sys::{CountingAllocator, allocator_calls, gettid, most_allocated};

#[global_allocator]
static MEMORY: CountingAllocator = CountingAllocator;

/// The first of the threads.
const FIRST: i32 = 1_000;
/// The most that are listed.
const LISTED: u64 = 1_000;

/// Threads that are each woken on an idle CPU, one after the other, run once, and sleep to the end.
struct Crowd {
    threads: u64,
    priority: Priority,
    step: u64,
    event: Option<Event>,
    info: TraceInfo,
}

impl Crowd {
    fn of(threads: u64, priority: Priority) -> Crowd {
        Crowd { threads, priority, step: 0, event: None, info: TraceInfo::default() }
    }

    fn at(&self, step: u64) -> Option<(Tid, EventKind)> {
        let nth = step / 4;
        if nth >= self.threads {
            return None;
        }
        let tid = Tid(FIRST + nth as i32);
        let (comm, priority) = (Comm::from("crowd"), self.priority);
        let wake = Wake { comm, tid, prio: priority, target_cpu: Cpu(0) };
        let idle = Comm::from("swapper/0");
        let switch_in = Switch {
            prev_comm: idle,
            prev_tid: Tid::IDLE,
            prev_prio: Priority(120),
            prev_state: TaskState::Runnable,
            next_comm: comm,
            next_tid: tid,
            next_prio: priority,
        };
        let switch_out = Switch {
            prev_comm: comm,
            prev_tid: tid,
            prev_prio: priority,
            prev_state: TaskState::Interruptible,
            next_comm: idle,
            next_tid: Tid::IDLE,
            next_prio: Priority(120),
        };
        Some(match step % 4 {
            0 => (Tid::IDLE, EventKind::Waking(wake)),
            1 => (Tid::IDLE, EventKind::Wakeup { wake, new: false }),
            2 => (Tid::IDLE, EventKind::Switch(switch_in)),
            _ => (tid, EventKind::Switch(switch_out)),
        })
    }
}

impl EventSource for Crowd {
    fn next_event(&mut self) -> Option<&Event> {
        let (tid, kind) = self.at(self.step)?;
        // Some work for longer than others.
        let ts = Ns(self.step as i64 * 2_000 + (self.step / 4 * 7_919 % 1_013) as i64);
        self.step += 1;
        let context = Context { tid, flags: ContextFlags::default(), preempt_depth: Some(0) };
        self.event = Some(Event { ts, cpu: Cpu(0), context, kind });
        self.event.as_ref()
    }

    /// As a text, it knows the names at its end.
    fn comms(&self) -> Vec<(Tid, Comm)> {
        (0..self.step / 4).map(|nth| (Tid(FIRST + nth as i32), Comm::from("crowd"))).collect()
    }

    fn info(&self) -> &TraceInfo {
        &self.info
    }
}

/// What explaining so many real-time threads takes: memory in bytes, and calls of the allocator.
fn cost_of(threads: u64) -> (usize, u64) {
    let before = allocator_calls(gettid());
    let mut explanation: Option<Explanation> = None;
    let used = most_allocated(|| {
        explanation = Some(explain(Crowd::of(threads, Priority::realtime(50)), &Options::default()))
    });
    let calls = allocator_calls(gettid()) - before;
    let explanation = explanation.expect("an explanation");
    let listed = explanation.tasks.len() as u64;
    assert_eq!((listed, explanation.unlisted), (threads.min(LISTED), threads.saturating_sub(LISTED)));
    assert!(explanation.activations.iter().all(|activation| activation.is_whole()));
    (used, calls)
}

#[test]
fn very_many_threads_are_explained_in_bounded_memory_and_linear_work() {
    let (_, of_few) = cost_of(2_000);
    let (at_20_000, of_many) = cost_of(20_000);
    assert!(of_many < 11 * of_few, "{of_many} calls for ten times the threads of {of_few} calls");
    let (at_400_000, of_most) = cost_of(400_000);
    assert!(of_most < 22 * of_many, "{of_most} calls for twenty times the threads of {of_many} calls");
    let limit = 128 << 20;
    assert!(at_20_000 < limit && at_400_000 < limit, "{} and {} MiB", at_20_000 >> 20, at_400_000 >> 20);
    // Nor are those kept that are not explained.
    let memory_of = |threads: u64| {
        let crowd = Crowd::of(threads, Priority::DEFAULT);
        most_allocated(|| assert!(explain(crowd, &Options::default()).tasks.is_empty()))
    };
    let memory = [20_000, 400_000].map(memory_of);
    assert!(memory.iter().all(|&used| used < limit), "{memory:?} bytes");
}
