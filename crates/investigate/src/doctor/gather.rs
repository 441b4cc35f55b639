//! From a recording and the looks at `/proc` to an [`Observation`].

use super::calls::SystemCall;
use super::facts::{Call, Fault, Observation, ThreadFacts};
use super::watch::{Watched, WatchedThread};
use super::{conclude, memory, path, place_calls};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;
use whylate_base::{Comm, Ns, Policy, Priority, Tid};
use whylate_events::{
    Event, EventKind, EventSource, Fact, Kind, PageFault, SampleKind, Signal, Stacks, Switch, Syscall,
    SyscallReturn, TaskState,
};

/// Calls beyond this many are counted and not examined: they take 120 bytes each.
const MAX_CALLS: usize = 500_000;
/// A stack sample and an event of one page fault are this close: both are taken in the handler.
const SAME_FAULT: Ns = Ns::from_us(200);

/// Of x86_64 and arm64 (`signal(7)`).
const SIGXCPU: i32 = 24;

/// What was seen of a thread while the events pass by.
#[derive(Default)]
struct Track {
    comm: Comm,
    /// The call that it is in, by index.
    open: Option<usize>,
    priority: Option<Priority>,
    realtime_since: Option<Ns>,
    is_boosted: bool,
    equal_preemptions: u64,
    running_since: Option<Ns>,
    awake: Ns,
    longest_awake: Ns,
    is_over_rttime: bool,
    executed: Option<Ns>,
    first: Option<Ns>,
    forked: Option<(Tid, Ns)>,
}

/// The events of a program's threads, taken in one by one.
#[derive(Default)]
struct Gatherer {
    followed: HashSet<Tid>,
    tracks: HashMap<Tid, Track>,
    calls: Vec<Call>,
    faults: Vec<(Ns, Tid, PageFault)>,
    ignored_calls: u64,
    rt_group_sched: Option<bool>,
}

/// The observation of the threads that `watched` has, and of what they started; the error list has what could not be
/// seen, in sentences.
pub(super) fn observation(source: &mut dyn EventSource, watched: Watched) -> (Observation, Vec<String>) {
    let mut gatherer =
        Gatherer { followed: watched.threads.keys().copied().collect(), ..Gatherer::default() };
    while let Some(event) = source.next_event() {
        gatherer.apply(event);
    }
    let info = source.info();
    let stacks = info.stacks.clone().unwrap_or_default();
    let sees_calls = info.recorded.is_none_or(|recorded| recorded.contains(Kind::Syscall));
    let mut unseen = Vec::new();
    let is_complete = info.lost_events == 0 && gatherer.ignored_calls == 0;
    if info.lost_events > 0 {
        unseen.push(format!(
            "{} events were lost: calls and faults may be missing, and counts are too small",
            info.lost_events
        ));
    }
    if gatherer.ignored_calls > 0 {
        unseen.push(format!(
            "only the first {MAX_CALLS} system calls were examined; {} more were not: choose a shorter --duration",
            gatherer.ignored_calls
        ));
    }
    let mut observation = gatherer.finish(watched, stacks);
    observation.sees_calls = sees_calls;
    observation.sees_all_calls = sees_calls && is_complete;
    (observation, unseen)
}

/// The observation without a trace: call stacks and `/proc` alone.
pub(super) fn without_trace(watched: Watched, stacks: Stacks) -> Observation {
    let switches: HashMap<Tid, WatchedThread> = watched.threads.clone().into_iter().collect();
    let mut observation = Gatherer::default().finish(watched, Arc::new(stacks));
    for thread in observation.threads.values_mut() {
        thread.path = switches.get(&thread.tid).and_then(path::by_looks);
    }
    observation
}

impl Gatherer {
    fn apply(&mut self, event: &Event) {
        let tid = event.context.tid;
        match &event.kind {
            EventKind::Marker(marker) => {
                if let Some(Fact::RtGroupSched(on)) = Fact::parse(marker.as_str()) {
                    self.rt_group_sched = Some(on);
                }
            }
            EventKind::Fork { parent, child, .. } if self.followed.contains(parent) => {
                self.followed.insert(*child);
                self.tracks.entry(*child).or_default().forked = Some((*parent, event.ts));
            }
            EventKind::HrtimerStart(timer)
                if self.followed.contains(&tid) && !event.context.flags.in_interrupt() =>
            {
                self.armed(tid, timer.softexpires);
            }
            EventKind::Waking(wake) if self.followed.contains(&wake.tid) => {
                let waker = (!event.context.flags.in_interrupt()).then_some((tid, event.ts));
                self.woken(wake.tid, waker);
            }
            EventKind::Exec { tid, .. } if self.followed.contains(tid) => self.executed(*tid, event.ts),
            EventKind::PiSetprio { tid, .. } => {
                if let Some(track) = self.tracks.get_mut(tid) {
                    track.is_boosted = true;
                }
            }
            EventKind::Switch(switch) => self.switched(event.ts, switch),
            EventKind::Signal(signal) if (signal.sig, signal.code) == (SIGXCPU, Signal::SI_KERNEL) => {
                self.tracks.entry(signal.tid).or_default().is_over_rttime = true;
            }
            EventKind::SyscallEnter(call) if self.followed.contains(&tid) => {
                self.entered(event.ts, tid, call)
            }
            EventKind::SyscallExit(ret) if self.followed.contains(&tid) => self.left(event.ts, tid, ret),
            EventKind::PageFault(fault) if self.followed.contains(&tid) && self.faults.len() < MAX_CALLS => {
                self.faults.push((event.ts, tid, *fault));
            }
            _ => {}
        }
    }

    /// A new program: what its thread did before belongs to the one that started it.
    fn executed(&mut self, tid: Tid, at: Ns) {
        let track = self.tracks.entry(tid).or_default();
        let realtime = track.realtime_since.map(|_| at);
        *track = Track {
            executed: Some(at),
            realtime_since: realtime,
            priority: track.priority,
            running_since: track.running_since,
            forked: track.forked,
            ..Track::default()
        };
    }

    fn switched(&mut self, at: Ns, switch: &Switch) {
        if self.followed.contains(&switch.prev_tid) {
            let track = self.tracks.entry(switch.prev_tid).or_default();
            track.see(at, switch.prev_comm, switch.prev_prio);
            let ran = track.running_since.take().map_or(Ns::ZERO, |since| at.since(since));
            track.awake += ran;
            track.longest_awake = track.longest_awake.max(track.awake);
            let in_yield = track.open.and_then(|open| self.calls.get(open)).map(|call| call.call)
                == Some(SystemCall::SchedYield);
            if !switch.prev_state.is_runnable() {
                track.awake = Ns::ZERO;
                if let Some(call) = track.open.and_then(|open| self.calls.get_mut(open)) {
                    call.slept = true;
                    call.slept_interruptibly |= switch.prev_state == TaskState::Interruptible;
                }
            } else if switch.next_prio == switch.prev_prio
                && switch.prev_prio.realtime_user().is_some()
                && !in_yield
            {
                track.equal_preemptions += 1;
            }
        }
        if self.followed.contains(&switch.next_tid) {
            let track = self.tracks.entry(switch.next_tid).or_default();
            track.see(at, switch.next_comm, switch.next_prio);
            track.running_since = Some(at);
        }
    }

    /// The first timer that a thread arms in a sleep is that of the sleep.
    fn armed(&mut self, tid: Tid, due: Ns) {
        let open = self.tracks.get(&tid).and_then(|track| track.open);
        let call = open.and_then(|open| self.calls.get_mut(open));
        let sleeps = |call: &&mut Call| {
            matches!(call.call, SystemCall::Nanosleep | SystemCall::ClockNanosleep | SystemCall::Futex)
        };
        if let Some(call) = call.filter(sleeps) {
            call.due.get_or_insert(due);
        }
    }

    fn woken(&mut self, tid: Tid, waker: Option<(Tid, Ns)>) {
        let open = self.tracks.get(&tid).and_then(|track| track.open);
        if let Some(call) = open.and_then(|open| self.calls.get_mut(open)) {
            call.woken_by = waker;
        }
    }

    fn entered(&mut self, at: Ns, tid: Tid, call: &Syscall) {
        let track = self.tracks.entry(tid).or_default();
        track.first.get_or_insert(at);
        let open = track.open.take();
        if open.and_then(|open| self.calls.get(open)).is_some_and(|open| open.call == SystemCall::of(call.nr))
        {
            // No thread enters a call twice: both buffers of the recording have the calls of the scheduler.
            track.open = open;
            return;
        }
        if self.calls.len() == MAX_CALLS {
            self.ignored_calls += 1;
            return;
        }
        track.open = Some(self.calls.len());
        self.calls.push(Call {
            tid,
            call: SystemCall::of(call.nr),
            args: call.args,
            start: at,
            end: None,
            ret: None,
            slept: false,
            slept_interruptibly: false,
            woken_by: None,
            due: None,
            stack: None,
        });
    }

    fn left(&mut self, at: Ns, tid: Tid, ret: &SyscallReturn) {
        let open = self.tracks.get_mut(&tid).and_then(|track| track.open.take());
        let call = open.and_then(|open| self.calls.get_mut(open));
        if let Some(call) = call.filter(|call| call.call == SystemCall::of(ret.nr)) {
            call.end = Some(at);
            call.ret = Some(ret.ret);
        }
    }

    fn finish(mut self, watched: Watched, stacks: Arc<Stacks>) -> Observation {
        let began = |tid: &Tid| self.tracks.get(tid).and_then(|track| track.executed).unwrap_or(Ns(i64::MIN));
        self.calls.retain(|call| call.start >= began(&call.tid));
        place_calls::place(&mut self.calls, &stacks);
        let pids: HashMap<Tid, Tid> = stacks.samples.iter().map(|sample| (sample.tid, sample.pid)).collect();
        let followed: BTreeSet<Tid> = self.tracks.keys().chain(watched.threads.keys()).copied().collect();
        let mut observation = Observation { rt_group_sched: self.rt_group_sched, ..Observation::default() };
        for tid in followed {
            let seen = watched.threads.get(&tid);
            let pid = seen.map(|seen| seen.pid).or_else(|| pids.get(&tid).copied()).unwrap_or(tid);
            observation.threads.insert(tid, thread(tid, pid, self.tracks.get(&tid), seen));
        }
        observation.faults = faults(&stacks, &self.faults, &began);
        observation.calls = std::mem::take(&mut self.calls);
        observation.processes = watched.processes;
        observation.nodes = watched.nodes;
        observation.observers = watched.observers;
        observation.stacks = stacks;
        conclude::all(&mut observation);
        memory::find_causes(&mut observation);
        observation
    }
}

impl Track {
    fn see(&mut self, at: Ns, comm: Comm, priority: Priority) {
        self.comm = comm;
        self.priority = Some(priority);
        if priority.is_realtime() && !self.is_boosted {
            self.realtime_since.get_or_insert(at);
        }
    }
}

fn thread(tid: Tid, pid: Tid, track: Option<&Track>, seen: Option<&WatchedThread>) -> ThreadFacts {
    let mut thread = ThreadFacts::new(tid, pid);
    if let Some(WatchedThread { last, realtime, realtime_since, .. }) = seen {
        (thread.policy, thread.priority) = realtime.unwrap_or((last.policy, last.priority));
        thread.comm = last.comm;
        thread.cpus.clone_from(&last.cpus);
        thread.minor_faults = last.minor_faults;
        thread.major_faults = last.major_faults;
        thread.voluntary_switches = last.voluntary_switches;
        thread.involuntary_switches = last.involuntary_switches;
        thread.run_delay = last.run_delay;
        thread.realtime_since = *realtime_since;
    }
    let Some(track) = track else { return thread };
    if !track.comm.is_empty() {
        thread.comm = track.comm;
    }
    thread.equal_preemptions = track.equal_preemptions;
    (thread.longest_awake, thread.is_over_rttime) = (track.longest_awake, track.is_over_rttime);
    (thread.forked, thread.executed) = (track.forked, track.executed);
    let own = track.priority.filter(|_| !track.is_boosted && seen.and_then(|seen| seen.realtime).is_none());
    if let Some(priority) = own.filter(|priority| priority.is_realtime()) {
        // No look saw it: the events do not show FIFO or RR.
        (thread.policy, thread.priority) = match priority.realtime_user() {
            Some(user) => (Policy::Fifo, user.unsigned_abs()),
            None => (Policy::Deadline, 0),
        };
    }
    if thread.policy.is_realtime() {
        let seen = [track.realtime_since, thread.realtime_since].into_iter().flatten().min();
        thread.realtime_since = seen.or(track.first);
    }
    thread
}

/// The faults that were sampled; the event of the same fault shows what kind of access it was.
fn faults(stacks: &Stacks, events: &[(Ns, Tid, PageFault)], began: &impl Fn(&Tid) -> Ns) -> Vec<Fault> {
    let mut by_page: HashMap<(Tid, u64), Vec<(Ns, PageFault)>> = HashMap::new();
    for &(at, tid, fault) in events {
        by_page.entry((tid, fault.address)).or_default().push((at, fault));
    }
    let event = |tid: Tid, address: u64, time: Ns| {
        let all = by_page.get(&(tid, address))?.iter();
        let close = all.filter(|(at, _)| (at.0 - time.0).abs() <= SAME_FAULT.0);
        close.min_by_key(|(at, _)| (at.0 - time.0).abs()).map(|(_, fault)| fault.is_write_to_present())
    };
    let sampled = stacks.samples.iter().filter_map(|sample| {
        let (address, is_major) = match sample.kind {
            SampleKind::MinorFault { address } => (address, false),
            SampleKind::MajorFault { address } => (address, true),
            _ => return None,
        };
        let (tid, time) = (sample.tid, sample.time);
        let is_write_to_present = event(tid, address, time);
        Some(Fault { tid, time, address, is_major, is_write_to_present, cause: None, stack: sample.stack })
    });
    sampled.filter(|fault| fault.time >= began(&fault.tid)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::facts::{Descriptor, Look, ProcessFacts};
    use crate::doctor::made_up::task;
    use whylate_base::Cpu;
    use whylate_events::{Context, TraceInfo, VecSource};

    fn event(at: i64, tid: i32, kind: EventKind) -> Event {
        let context = Context { tid: Tid(tid), ..Context::default() };
        Event { ts: Ns(at), cpu: Cpu(0), context, kind }
    }

    fn enter(at: i64, tid: i32, call: SystemCall, args: &[u64]) -> Event {
        let nr = (0..500).find(|&nr| SystemCall::of(nr) == call).expect("a number");
        let mut all = [0; 6];
        all.iter_mut().zip(args).for_each(|(to, from)| *to = *from);
        event(at, tid, EventKind::SyscallEnter(Syscall { nr, args: all }))
    }

    fn exit(at: i64, tid: i32, call: SystemCall, ret: i64) -> Event {
        let nr = (0..500).find(|&nr| SystemCall::of(nr) == call).expect("a number");
        event(at, tid, EventKind::SyscallExit(SyscallReturn { nr, ret }))
    }

    fn switch(at: i64, prev: (i32, i32, TaskState), next: (i32, i32)) -> Event {
        let switch = Switch {
            prev_comm: format!("t{}", prev.0).as_str().into(),
            prev_tid: Tid(prev.0),
            prev_prio: Priority(prev.1),
            prev_state: prev.2,
            next_comm: format!("t{}", next.0).as_str().into(),
            next_tid: Tid(next.0),
            next_prio: Priority(next.1),
        };
        event(at, prev.0, EventKind::Switch(switch))
    }

    /// What is gathered of process 10 from these events.
    fn gathered(events: Vec<Event>) -> Observation {
        let mut watched = Watched::default();
        let thread = WatchedThread {
            pid: Tid(10),
            last: task("t10", Policy::Other, 0),
            realtime: None,
            realtime_since: None,
            switches: Vec::new(),
        };
        watched.threads.insert(Tid(10), thread);
        observation(&mut VecSource::new(events, TraceInfo::default(), false), watched).0
    }

    #[test]
    fn a_call_of_both_buffers_is_one_call() {
        use SystemCall::SchedSetScheduler as Set;
        let observation = gathered(vec![
            enter(1, 10, Set, &[0, 1]),
            enter(2, 10, Set, &[0, 1]),
            exit(3, 10, Set, 0),
            exit(4, 10, Set, 0),
        ]);
        let [call] = observation.calls[..] else { panic!("{:?}", observation.calls) };
        assert_eq!((call.start, call.end, call.ret), (Ns(1), Some(Ns(3)), Some(0)));
        let thread = &observation.threads[&Tid(10)];
        assert_eq!((thread.requests.len(), thread.policy), (1, Policy::Fifo));
        assert_eq!(thread.realtime_since, Some(Ns(3)));
    }

    #[test]
    fn a_thread_that_only_tries_a_priority_is_not_real_time() {
        use SystemCall::{Nanosleep as Sleep, SchedSetScheduler as Set};
        let sleeps = |at: i64| {
            (0..4)
                .flat_map(move |n| [enter(at + 10 * n, 10, Sleep, &[]), exit(at + 10 * n + 5, 10, Sleep, 0)])
        };
        let set = |at, policy| [enter(at, 10, Set, &[0, policy]), exit(at + 1, 10, Set, 0)];
        let tried = gathered(set(1, 1).into_iter().chain(set(3, 0)).chain(sleeps(100)).collect());
        let thread = &tried.threads[&Tid(10)];
        assert_eq!((thread.policy, thread.path), (Policy::Other, None));
        let worked = gathered(
            set(1, 1).into_iter().chain(sleeps(100)).chain(set(200, 0)).chain(sleeps(300)).collect(),
        );
        let thread = &worked.threads[&Tid(10)];
        assert_eq!((thread.policy, thread.path.map(|path| path.end)), (Policy::Fifo, Some(Ns(135))));
        let raised = gathered(set(1, 0).into_iter().chain(set(3, 1)).chain(sleeps(100)).collect());
        assert_eq!(raised.threads[&Tid(10)].policy, Policy::Fifo);
    }

    #[test]
    fn a_descriptor_that_was_closed_since_is_not_what_a_look_saw() {
        let mut observation = gathered(vec![
            enter(1, 10, SystemCall::Read, &[3]),
            exit(2, 10, SystemCall::Read, 8),
            enter(3, 10, SystemCall::Close, &[3]),
            exit(4, 10, SystemCall::Close, 0),
            enter(5, 10, SystemCall::Dup2, &[1, 7]),
            exit(6, 10, SystemCall::Dup2, 7),
        ]);
        let table = [3, 4, 7].map(|fd| (fd, Descriptor::Pipe)).into_iter().collect();
        let process = ProcessFacts { descriptors: vec![(Ns(100).into(), table)], ..ProcessFacts::default() };
        observation.processes.insert(Tid(10), process);
        for (fd, at, is_known) in
            [(3, 1, false), (3, 4, true), (3, 200, true), (4, 1, true), (7, 1, false), (7, 6, true)]
        {
            let found = observation.descriptor(Tid(10), fd, Ns(at));
            assert_eq!(found.is_some(), is_known, "{fd} at {at}");
        }
        // A look during which it was closed shows neither what it was before nor what it is since.
        let process = observation.processes.get_mut(&Tid(10)).expect("a process");
        process.descriptors[0].0 = Look { begin: Ns(2), end: Ns(9) };
        for (fd, at, is_known) in [(3, 1, false), (3, 200, false), (4, 1, true), (4, 200, true)] {
            let found = observation.descriptor(Tid(10), fd, Ns(at));
            assert_eq!(found.is_some(), is_known, "{fd} at {at}");
        }
    }

    #[test]
    fn threads_that_it_starts_are_followed_and_others_are_not() {
        let fork = EventKind::Fork { parent: Tid(10), child: Tid(11), comm: Comm::default() };
        let observation = gathered(vec![
            event(1, 10, fork),
            enter(2, 11, SystemCall::Fsync, &[3]),
            enter(3, 12, SystemCall::Fsync, &[3]),
        ]);
        assert_eq!(observation.calls.iter().map(|call| call.tid).collect::<Vec<_>>(), [Tid(11)]);
    }

    #[test]
    fn what_was_before_an_exec_belongs_to_another_program() {
        let exec = EventKind::Exec { old: Tid(10), tid: Tid(10) };
        let observation = gathered(vec![
            enter(1, 10, SystemCall::SchedSetAffinity, &[0]),
            exit(2, 10, SystemCall::SchedSetAffinity, 8),
            event(3, 10, exec),
            enter(4, 10, SystemCall::Fsync, &[3]),
        ]);
        assert_eq!(observation.calls.iter().map(|call| call.call).collect::<Vec<_>>(), [SystemCall::Fsync]);
        assert_eq!(observation.threads[&Tid(10)].pinned, [] as [usize; 0]);
    }

    #[test]
    fn a_boost_makes_no_thread_real_time() {
        let ran = |prio| switch(2, (10, prio, TaskState::Interruptible), (0, 120));
        let boost = EventKind::PiSetprio { tid: Tid(10), old: Priority(120), new: Priority(39) };
        let first = enter(0, 10, SystemCall::Fsync, &[3]);
        let policy = |events| gathered(events).threads[&Tid(10)].policy;
        assert_eq!(policy(vec![first, ran(39)]), Policy::Fifo);
        assert_eq!(policy(vec![first, event(1, 10, boost), ran(39)]), Policy::Other);
        assert_eq!(policy(vec![first, ran(120)]), Policy::Other);
        assert_eq!(policy(vec![first, ran(-1)]), Policy::Deadline);
    }

    #[test]
    fn cpu_time_counts_from_sleep_to_sleep() {
        use TaskState::{Interruptible, Preempted};
        let observation = gathered(vec![
            switch(0, (0, 120, Preempted), (10, 49)),
            switch(100, (10, 49, Preempted), (12, 49)),
            switch(150, (12, 49, Interruptible), (10, 49)),
            enter(160, 10, SystemCall::ClockNanosleep, &[1, 1]),
            switch(170, (10, 49, Interruptible), (0, 120)),
            switch(300, (0, 120, Preempted), (10, 49)),
            switch(350, (10, 49, Interruptible), (0, 120)),
        ]);
        let thread = &observation.threads[&Tid(10)];
        assert_eq!((thread.longest_awake, thread.equal_preemptions), (Ns(120), 1));
        assert!(observation.calls[0].slept && observation.calls[0].slept_interruptibly);
    }
}
