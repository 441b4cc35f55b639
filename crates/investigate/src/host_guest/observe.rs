//! The host's side of the join: when the threads of guests' CPUs could not execute the guest's code.

use super::gaps::SHORTEST;
use super::vcpu_names::{VcpuName, vcpu_name};
use std::collections::{BTreeMap, HashMap};
use whylate_base::{Comm, Cpu, Ns, Tid};
use whylate_events::{Event, EventKind, EventSource, Kvm, KvmExitReason, TraceInfo};

/// A time in which a CPU did not execute its guest's code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Away {
    pub(super) from: Ns,
    pub(super) to: Ns,
}

/// A time in the hypervisor, from an exit to the next entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Exited {
    pub(super) from: Ns,
    pub(super) to: Ns,
    pub(super) reason: KvmExitReason,
}

/// A thread that is a guest's CPU.
#[derive(Clone, Debug)]
pub(super) struct VcpuThread {
    pub(super) comm: Comm,
    /// By its name; `None` of a thread that was chosen by its id and has another name.
    pub(super) name: Option<VcpuName>,
    pub(super) away: Vec<Away>,
    pub(super) exits: Vec<Exited>,
    /// The first and the last event about it.
    pub(super) seen: Option<(Ns, Ns)>,
    /// Which threads woke it, and how often.
    pub(super) wakers: HashMap<Tid, u64>,
    /// Whether it has a CPU of the host; `None`: no event has shown it.
    on_cpu: Option<bool>,
    /// Its last exit, without an entry since.
    exited: Option<(Ns, KvmExitReason)>,
    away_since: Option<Ns>,
    /// Where entries are not recorded, an exit would last for ever.
    has_entries: bool,
}

/// The threads of guests' CPUs on a host.
#[derive(Debug, Default)]
pub(super) struct Observed {
    pub(super) threads: BTreeMap<Tid, VcpuThread>,
    pub(super) info: TraceInfo,
    first: Option<Ns>,
    chosen: Vec<Tid>,
    last_events: HashMap<Cpu, Ns>,
}

impl Observed {
    /// Reads all of a recording. `chosen` are threads that are guests' CPUs whatever their names are.
    pub(super) fn of(mut source: impl EventSource, chosen: &[Tid]) -> Observed {
        let mut observed = Observed { chosen: chosen.to_vec(), ..Observed::default() };
        loop {
            let batch = source.next_batch();
            if batch.is_empty() {
                break;
            }
            batch.iter().for_each(|event| observed.see(event));
        }
        observed.info = source.info().clone();
        observed
    }

    pub(super) fn see(&mut self, event: &Event) {
        let at = event.ts;
        let first = *self.first.get_or_insert(at);
        self.sight(event);
        match &event.kind {
            EventKind::Switch(switch) => {
                // Leaving before entering: both may be the same thread.
                if let Some(thread) = self.thread(switch.prev_tid, switch.prev_comm) {
                    // It was not seen to come back since it left: when it did is not known.
                    if thread.on_cpu == Some(false) {
                        thread.sighted();
                    }
                    thread.change(at, |thread| thread.on_cpu = Some(false));
                }
                if let Some(thread) = self.thread(switch.next_tid, switch.next_comm) {
                    thread.change(at, |thread| thread.on_cpu = Some(true));
                }
            }
            EventKind::Waking(wake) if !event.context.flags.in_interrupt() => {
                if let Some(thread) = self.threads.get_mut(&wake.tid) {
                    *thread.wakers.entry(event.context.tid).or_default() += 1;
                }
            }
            EventKind::Kvm(kvm) => {
                if let Some(thread) = self.threads.get_mut(&event.context.tid) {
                    thread.change(at, |thread| match *kvm {
                        Kvm::Exit { reason, .. } if thread.has_entries => thread.exited = Some((at, reason)),
                        Kvm::Exit { .. } => {}
                        Kvm::Entry { .. } => {
                            thread.has_entries = true;
                            if let Some((from, reason)) = thread.exited.take()
                                && at - from >= SHORTEST
                            {
                                thread.exits.push(Exited { from, to: at, reason });
                            }
                        }
                    });
                }
            }
            EventKind::Lost { since, .. } => {
                let since = since.or_else(|| self.last_events.get(&event.cpu).copied()).unwrap_or(first);
                self.threads.values_mut().for_each(|thread| thread.lost(since));
            }
            _ => {}
        }
        self.last_events.insert(event.cpu, at);
    }

    /// An event in a thread's context shows that it has a CPU, whether its switch was recorded or not.
    fn sight(&mut self, event: &Event) {
        let is_leaving =
            matches!(&event.kind, EventKind::Switch(switch) if switch.prev_tid == event.context.tid);
        if let Some(thread) = self.threads.get_mut(&event.context.tid).filter(|_| !is_leaving)
            && thread.on_cpu == Some(false)
        {
            thread.sighted();
        }
    }

    fn thread(&mut self, tid: Tid, comm: Comm) -> Option<&mut VcpuThread> {
        if tid == Tid::IDLE {
            return None;
        }
        let name = vcpu_name(&comm);
        if name.is_none() && !self.chosen.contains(&tid) && !self.threads.contains_key(&tid) {
            return None;
        }
        let thread = self.threads.entry(tid).or_insert_with(|| VcpuThread::new(comm));
        if name.is_some() {
            (thread.name, thread.comm) = (name, comm);
        }
        Some(thread)
    }
}

impl VcpuThread {
    fn new(comm: Comm) -> VcpuThread {
        VcpuThread {
            comm,
            name: None,
            away: Vec::new(),
            exits: Vec::new(),
            seen: None,
            wakers: HashMap::new(),
            on_cpu: None,
            exited: None,
            away_since: None,
            has_entries: false,
        }
    }

    /// Whether it may execute the guest's code: what is not known allows it.
    fn may_execute(&self) -> bool {
        self.on_cpu != Some(false) && self.exited.is_none()
    }

    /// It has a CPU, and no event shows since when: its time away has no known end.
    fn sighted(&mut self) {
        (self.on_cpu, self.away_since) = (Some(true), None);
    }

    fn change(&mut self, at: Ns, change: impl FnOnce(&mut VcpuThread)) {
        let (first, last) = self.seen.unwrap_or((at, at));
        self.seen = Some((first.min(at), last.max(at)));
        let before = self.may_execute();
        change(self);
        match (before, self.may_execute()) {
            (true, false) => self.away_since = Some(at),
            (false, true) => {
                if let Some(from) = self.away_since.take()
                    && at - from >= SHORTEST
                {
                    self.away.push(Away { from, to: at });
                }
            }
            _ => {}
        }
    }

    /// Events were lost since then: it may have executed meanwhile.
    fn lost(&mut self, since: Ns) {
        (self.on_cpu, self.exited, self.away_since) = (None, None, None);
        while self.away.last().is_some_and(|away| away.to > since) {
            self.away.pop();
        }
        while self.exits.last().is_some_and(|exit| exit.to > since) {
            self.exits.pop();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use whylate_base::Priority;
    use whylate_events::{Context, Switch, TaskState, Wake};

    const CPU0: Tid = Tid(50);

    fn event(us: i64, tid: Tid, kind: EventKind) -> Event {
        Event { ts: Ns::from_us(us), cpu: Cpu(0), context: Context { tid, ..Context::default() }, kind }
    }

    fn switch(us: i64, from: Tid, to: Tid) -> Event {
        let comm = |tid| Comm::from(if tid == CPU0 { "CPU 0/KVM" } else { "other" });
        let kind = EventKind::Switch(Switch {
            prev_comm: comm(from),
            prev_tid: from,
            prev_prio: Priority::DEFAULT,
            prev_state: TaskState::Preempted,
            next_comm: comm(to),
            next_tid: to,
            next_prio: Priority::DEFAULT,
        });
        event(us, from, kind)
    }

    fn away(events: &[Event]) -> Vec<(i64, i64)> {
        let mut observed = Observed::default();
        events.iter().for_each(|event| observed.see(event));
        let thread = &observed.threads[&CPU0];
        assert_eq!(thread.name, Some(VcpuName::Of(0)));
        thread.away.iter().map(|away| (away.from.0 / 1_000, away.to.0 / 1_000)).collect()
    }

    #[test]
    fn a_thread_is_away_from_its_switch_out_to_its_switch_in() {
        let events = [switch(100, CPU0, Tid(7)), switch(5_100, Tid(7), CPU0), switch(5_200, CPU0, Tid(7))];
        assert_eq!(away(&events), [(100, 5_100)]);
    }

    #[test]
    fn an_exit_ends_the_guests_code_until_the_next_entry() {
        let reason = KvmExitReason { isa: KvmExitReason::VMX, code: 1 };
        let exit = |us| event(us, CPU0, EventKind::Kvm(Kvm::Exit { vcpu: Some(0), reason }));
        let entry = |us| event(us, CPU0, EventKind::Kvm(Kvm::Entry { vcpu: Some(0) }));
        let events = [
            switch(0, Tid(7), CPU0),
            entry(10),
            exit(90),
            switch(100, CPU0, Tid(7)),
            switch(5_100, Tid(7), CPU0),
            entry(5_110),
            exit(6_000),
            entry(6_050),
        ];
        assert_eq!(away(&events), [(90, 5_110), (6_000, 6_050)]);
        let mut observed = Observed::default();
        events.iter().for_each(|event| observed.see(event));
        assert_eq!(observed.threads[&CPU0].exits.len(), 2);
    }

    /// Not every switch is in a recording.
    #[test]
    fn a_return_that_was_not_recorded_bounds_nothing() {
        let twice = [switch(100, CPU0, Tid(7)), switch(900, CPU0, Tid(7)), switch(1_900, Tid(7), CPU0)];
        assert_eq!(away(&twice), [(900, 1_900)]);
        let woken = Wake { comm: "x".into(), tid: Tid(9), prio: Priority::DEFAULT, target_cpu: Cpu(0) };
        let sighted = [
            switch(100, CPU0, Tid(7)),
            event(500, CPU0, EventKind::Waking(woken)),
            switch(1_900, Tid(7), CPU0),
        ];
        assert_eq!(away(&sighted), []);
    }

    #[test]
    fn what_was_lost_bounds_nothing() {
        let lost = |us, since| {
            let kinds = whylate_events::KindSet::NONE;
            event(us, Tid(0), EventKind::Lost { count: None, since: Some(Ns::from_us(since)), kinds })
        };
        let events = [
            switch(100, CPU0, Tid(7)),
            switch(200, Tid(7), CPU0),
            switch(300, CPU0, Tid(7)),
            switch(400, Tid(7), CPU0),
            switch(500, CPU0, Tid(7)),
            lost(600, 350),
            switch(700, Tid(7), CPU0),
        ];
        assert_eq!(away(&events), [(100, 200)]);
    }
}
