//! What threads ask of the scheduler, and what they are given: policies, CPUs, time limits.

use super::Engine;
use crate::sleeps::Setting;
use crate::threads::{Refusal, State};
use whylate_base::{Cpu, Ns, Policy, Tid};
use whylate_events::{Event, Signal};

/// `include/uapi/asm-generic/errno-base.h`
const EPERM: i64 = -1;
const EBUSY: i64 = -16;
/// RLIMIT_RTTIME is counted in ticks, and a sleep resets it: who slept this shortly before has not
/// met it. The slowest tick is 10 ms.
const SHORTEST_LIMIT: Ns = Ns::from_ms(10);
/// A limit that is met each second fills no more than this.
const MAX_OVERRUNS: usize = 1_000;

/// A real-time thread ran for longer, without sleeping, than RLIMIT_RTTIME lets it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RtOverrun {
    pub(crate) tid: Tid,
    pub(crate) at: Ns,
    pub(crate) cpu: Cpu,
    /// Killed (the hard limit), rather than warned by SIGXCPU (the soft one).
    pub(crate) killed: bool,
    /// How long it had not slept then.
    pub(crate) awake: Ns,
    /// True when its beginning was seen.
    pub(crate) whole: bool,
}

impl Engine<'_> {
    /// `caller` begins a call that asks for a `setting` of `target`.
    pub(super) fn asks(&mut self, at: Ns, caller: Tid, setting: Setting, target: Tid) {
        let thread = self.threads.get_mut(target);
        match setting {
            Setting::Affinity => {
                // A priority it has just raised shows only at its next switch.
                if caller == target && !thread.prio.is_realtime() && thread.raised.is_none() {
                    thread.pinned_fair = Some(at);
                }
                thread.allowed.change();
            }
            Setting::Priority { .. } if caller == target => thread.raised = Some(at),
            Setting::Priority { .. } => {}
        }
    }

    /// The call returned `ret`.
    pub(super) fn is_answered(&mut self, at: Ns, event: &Event, setting: Setting, target: Tid, ret: i64) {
        let Setting::Priority { call, policy } = setting else {
            let thread = self.threads.get_mut(target);
            thread.allowed.changed();
            if let State::Running(cpu) = thread.state() {
                thread.allowed.used(cpu);
            }
            return;
        };
        let thread = self.threads.get_mut(target);
        let no_room = match ret {
            EPERM => false,
            EBUSY => true,
            0 => {
                // Its priority shows at its next switch only.
                thread.policy = policy.or(thread.policy);
                thread.ever_realtime |= policy.is_some_and(Policy::is_realtime);
                return;
            }
            _ => return,
        };
        // It has asked, and is where it was.
        thread.raised = None;
        if policy.is_some_and(|policy| !policy.is_realtime()) {
            return;
        }
        let times = thread.refused.map_or(0, |refusal| refusal.times) + 1;
        thread.refused = Some(Refusal { at, cpu: event.cpu, call, policy, no_room, times });
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
        let Some(thread) = self.threads.get(signal.tid) else { return };
        // The OOM killer sends SIGKILL, too: in a page fault, or in a system call.
        let allocates =
            (thread.faulting.is_some() || thread.syscall.is_some()) && !event.context.flags.in_interrupt();
        let warned = self.rt_overruns.iter().any(|overrun| overrun.tid == signal.tid);
        let realtime = thread.own_priority().is_realtime() || thread.policy.is_some_and(Policy::is_realtime);
        let Some(since) = thread.awake_since().filter(|_| realtime) else { return };
        let awake = at - since;
        let killed = signal.sig == Signal::SIGKILL;
        if awake < SHORTEST_LIMIT
            || (killed && allocates && !warned)
            || self.rt_overruns.len() >= MAX_OVERRUNS
        {
            return;
        }
        let whole = thread.open.as_ref().is_some_and(|open| open.woken.is_some());
        self.rt_overruns.push(RtOverrun { tid: signal.tid, at, cpu: event.cpu, killed, awake, whole });
    }

    /// `sched_process_fork`: what a thread is given by the one that starts it.
    pub(super) fn fork(&mut self, parent: Tid, child: Tid, comm: whylate_base::Comm) {
        let allowed = self.threads.get(parent).map(|parent| parent.allowed.clone());
        let child = self.threads.begin(child);
        child.comm = comm;
        child.allowed = allowed.unwrap_or_default();
    }

    /// `sched_process_exec` by a thread that is not its process's first: it goes on by that one's id.
    pub(super) fn change_id(&mut self, at: Ns, cpu: Cpu, old: Tid, tid: Tid) {
        let before = self.threads.get_mut(old);
        let (comm, prio, policy, allowed) =
            (before.comm, before.prio, before.policy, std::mem::take(&mut before.allowed));
        self.end(old, Some(at), at);
        self.threads.get_mut(old).enter(at, State::Unknown);
        self.end(tid, Some(at), at);
        let after = self.threads.get_mut(tid);
        (after.comm, after.policy, after.allowed) = (comm, policy, allowed);
        after.enter(at, State::Unknown);
        after.set_priority(prio);
        if let Some(timeline) = self.cpus.get_mut(cpu)
            && timeline.current() == Some(old)
        {
            timeline.sight(at, tid, prio);
        }
        self.found(at, cpu, tid);
    }
}
