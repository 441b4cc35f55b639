//! What threads ask of the scheduler, and what they are given: policies, CPUs, time limits.

use super::Engine;
use super::syscall_table::{Setting, SyscallTable};
use crate::timeline::settings::{PolicyRefusal, ResetOnFork, RtOverrun};
use crate::timeline::states::State;
use crate::timeline::thread::Thread;
use whylate_base::{Cpu, Ns, Policy, Priority, Tid};
use whylate_events::{Event, Signal};

/// `include/uapi/asm-generic/errno-base.h`
const EPERM: i64 = -1;
const EBUSY: i64 = -16;
/// RLIMIT_RTTIME is counted in ticks, and a sleep resets it: a thread that slept this shortly before has not
/// met it. The slowest tick is 10 ms.
const SHORTEST_LIMIT: Ns = Ns::from_ms(10);
/// A limit that is met each second fills no more than this.
const MAX_OVERRUNS: usize = 1_000;

/// From waking a new thread to giving it a priority.
const RIGHT_AFTER: Ns = Ns::from_ms(1);

/// A thread gets the CPU at `at`, which shows the priority that another one has given it meanwhile. A new thread is given its own
/// right after it is woken, and waits with that.
pub(super) fn shows_given_priority(thread: &mut Thread, at: Ns, priority: Priority) {
    let Some(given) = thread.policy_given.take() else { return };
    let queued = thread.since().filter(|&queued| given - queued <= RIGHT_AFTER);
    let since = queued.unwrap_or(given);
    if thread.priority_changes(since, at).next().is_none() {
        thread.set_priority(since, priority);
    }
}

impl Engine<'_> {
    /// `caller` begins a call that asks for a `setting` of `target`.
    pub(super) fn asks(&mut self, at: Ns, caller: Tid, setting: Setting, target: Tid) {
        let thread = self.timeline.threads.get_mut(target);
        match setting {
            Setting::Affinity => {
                if caller == target {
                    thread.pins_itself(at);
                }
                thread.affinity.change(at);
            }
            Setting::Priority { policy, .. } => {
                thread.policy_asked = Some(at);
                if caller == target {
                    let rises = policy.is_none_or(Policy::is_realtime);
                    thread.asks_for_policy(at, rises);
                    if let Some(since) = thread.history.awake_since().filter(|_| !rises) {
                        let is_last = |one: &&mut RtOverrun| one.tid == target && one.at >= since;
                        let last = self.timeline.rt_overruns.iter_mut().rev().find(is_last);
                        last.map(|last| last.steps_down.get_or_insert(at));
                    }
                }
            }
        }
    }

    /// The call returned `ret`.
    pub(super) fn is_answered(&mut self, at: Ns, event: &Event, setting: Setting, target: Tid, ret: i64) {
        let Setting::Priority { call, policy, resets_on_fork } = setting else {
            let thread = self.timeline.threads.get_mut(target);
            thread.affinity.change(at);
            if let State::Running(cpu) = thread.state() {
                thread.affinity.used(cpu);
            }
            return;
        };
        let thread = self.timeline.threads.get_mut(target);
        let asked = thread.policy_asked.take();
        let no_room = match ret {
            EPERM => false,
            EBUSY => true,
            0 => {
                // Its priority shows at its next switch only.
                if let Some(policy) = policy {
                    thread.set_policy(at, policy);
                    let resets = Some(policy).filter(|policy| policy.is_realtime() && resets_on_fork);
                    let (by, comm) = (target, thread.comm());
                    let resets = resets.map(|policy| ResetOnFork { at, cpu: event.cpu, by, comm, policy });
                    thread.lifetime.resets_on_fork = resets.map(Box::new);
                }
                if matches!(thread.state(), State::Queued(_)) {
                    thread.policy_given = Some(at);
                }
                if let State::Running(cpu) = thread.state() {
                    thread.policy_changed = Some(at);
                    let is_within = asked.zip(thread.since()).is_some_and(|(asked, since)| since <= asked);
                    let unshown = std::mem::replace(&mut thread.priority_unshown, is_within.then_some(at));
                    let priority = thread.priority();
                    if let Some(cpu) = self.timeline.cpus.get_mut(cpu) {
                        if let Some(since) = unshown {
                            // The switch will show what it is from here on.
                            cpu.forget_priority(since, target, priority);
                        }
                        cpu.sight(at, target, priority);
                    }
                }
                return;
            }
            _ => return,
        };
        let by = Some(event.context.tid).filter(|by| *by != target);
        thread.stays_as_it_was();
        if policy.is_some_and(|policy| !policy.is_realtime()) {
            return;
        }
        let comm = thread.comm();
        let times = thread.refused.map_or(0, |refusal| refusal.times) + 1;
        thread.refused = Some(PolicyRefusal { at, cpu: event.cpu, comm, by, call, policy, no_room, times });
    }

    /// `signal_generate`: the kernel's own SIGXCPU or SIGKILL to a real-time thread that has not slept.
    ///
    /// The limit is checked in the thread's own tick, or on its way out of the kernel
    /// (`check_thread_timers`, `kernel/time/posix-cpu-timers.c`), so it is current then.
    pub(super) fn signal(&mut self, at: Ns, event: &Event, signal: &Signal) {
        let limit = matches!(signal.sig, Signal::SIGXCPU | Signal::SIGKILL);
        if !limit || signal.code != Signal::SI_KERNEL || event.context.tid != signal.tid {
            return;
        }
        let Some(thread) = self.timeline.threads.get(signal.tid) else { return };
        // The OOM killer sends SIGKILL, too: in a page fault, or in a system call.
        let allocates =
            (thread.faulting.is_some() || thread.syscall.is_some()) && !event.context.flags.in_interrupt();
        let warned = self.timeline.rt_overruns.iter().any(|overrun| overrun.tid == signal.tid);
        let realtime =
            thread.own_priority().is_realtime() || thread.policy().is_some_and(Policy::is_realtime);
        let Some(since) = thread.history.awake_since().filter(|_| realtime) else { return };
        let awake = at - since;
        let killed = signal.sig == Signal::SIGKILL;
        if awake < SHORTEST_LIMIT
            || (killed && allocates && !warned)
            || self.timeline.rt_overruns.len() >= MAX_OVERRUNS
        {
            return;
        }
        let whole = thread.open.as_ref().is_some_and(|open| open.woken.is_some());
        self.timeline.rt_overruns.push(RtOverrun {
            tid: signal.tid,
            comm: thread.comm(),
            priority: thread.own_priority(),
            at,
            cpu: event.cpu,
            killed,
            awake,
            whole,
            steps_down: None,
        });
    }

    /// `sched_process_fork`: what a thread is given by the one that starts it.
    pub(super) fn fork(&mut self, at: Ns, parent: Tid, child: Tid, comm: whylate_base::Comm) {
        let affinity = self.timeline.threads.get(parent).map(|parent| parent.affinity.inherited());
        let call = self.timeline.threads.get(parent).and_then(|by| SyscallTable::call_of(self.syscalls, by));
        let is_thread = call.is_some_and(|(call, table)| table.starts_thread(call));
        if call.is_some_and(|(call, table)| table.copies_memory(call)) {
            self.timeline.threads.get_mut(parent).lifetime.forked = Some(at);
        }
        let was_reset = self.timeline.threads.get(parent).and_then(|by| by.lifetime.resets_on_fork.clone());
        let child = self.timeline.threads.begin(child);
        child.lifetime.was_reset = was_reset.filter(|_| is_thread);
        child.rename(at, comm);
        child.started_by = Some(parent);
        child.forked_by = Some(parent);
        child.lifetime.began = Some(at);
        child.lifetime.is_of_parents_process = is_thread;
        child.affinity = affinity.unwrap_or_default();
    }

    /// `sched_process_exec` by a thread that is not its process's first: it goes on by that one's id.
    pub(super) fn change_id(&mut self, at: Ns, cpu: Cpu, old: Tid, tid: Tid) {
        let before = self.timeline.threads.get_mut(old);
        let (comm, priority, policy) = (before.comm(), before.priority(), before.policy());
        let affinity = std::mem::take(&mut before.affinity);
        self.end(old, Some(at), at);
        self.timeline.threads.get_mut(old).enter(at, State::Unknown);
        self.end(tid, Some(at), at);
        let after = self.timeline.threads.get_mut(tid);
        after.rename(at, comm);
        after.affinity = affinity;
        if let Some(policy) = policy {
            after.set_policy(at, policy);
        }
        after.enter(at, State::Unknown);
        after.set_priority(at, priority);
        if let Some(timeline) = self.timeline.cpus.get_mut(cpu)
            && timeline.current() == Some(old)
        {
            timeline.sight(at, tid, priority);
        }
        self.found(at, cpu, tid);
    }
}
