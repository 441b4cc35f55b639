//! The time from a device's interrupt, a packet or a work item to the wake-up that it causes.
//!
//! ```text
//! irq 27 eth0 | NET_RX raised ...... ksoftirqd/1 queued behind hog | ksoftirqd/1 runs NET_RX | sched_waking
//!  irq          dispatch             softirq-deferred: hog           napi-poll
//! ```
//!
//! No thread is accused but one that has the CPU for which the carrier waits, and that goes first by the scheduler's
//! rules.

use super::attribution::Charge;
use super::blocked::LONGEST_WAKE_UP;
use super::charger::Charger;
use super::notes::{VerdictNote, carrier as carrier_of};
use super::overdue::LONGEST_IDLE_EXIT;
use super::precedence::{Contender, Relation};
use super::queue::ORDINARY_DISPATCH;
use crate::causes::Cause;
use crate::model::Culprit;
use crate::timeline::housekeeping::{
    does_requests, handles_interrupts, is_kworker, polls_network, runs_softirqs,
};
use crate::timeline::origins::{NET_RX, Origin, OriginKind, TIMER};
use crate::timeline::running::Running;
use crate::timeline::sleeps::Wait;
use crate::timeline::states::{State, Stay};
use crate::timeline::thread::Thread;
use whylate_base::{Confidence, Cpu, Evidence, Ns, Priority, Tid};

/// A longer way from thread to thread is not followed.
const MOST_HOPS: usize = 8;

/// What a carrier's wait for a CPU, and its run, are called.
#[derive(Clone, Copy)]
pub(super) struct Role {
    waits: Cause,
    runs: Cause,
    /// How sure it is that what it carries was there when it was woken.
    sure: Confidence,
}

const OF_WORK: Role = role_of(Cause::WorkItemDelayed, Cause::WorkItem);
/// While a thread of the file system runs, it hands requests to the device.
const OF_REQUESTS: Role = role_of(Cause::WorkItemDelayed, Cause::BlockIo);

const fn role_of(waits: Cause, runs: Cause) -> Role {
    Role { waits, runs, sure: Confidence::High }
}

impl Role {
    /// True where all that it does but waiting for a CPU is time of the device.
    fn is_for_device(self) -> bool {
        self.runs == Cause::BlockIo
    }
}

impl<'t> Charger<'t> {
    /// Charges up to `to` a time in which what wakes the thread was on its way.
    pub(super) fn carried(&mut self, origin: &Origin, to: Ns) {
        if let Some(late) = origin.late.and_then(|id| self.timeline.origins.late_maker(id))
            && let Some(carrier) = self.timeline.threads.get(late.carrier)
        {
            let role = role(carrier.comm_at(late.begun).as_str(), None);
            self.by_carrier(role, carrier, late.cpu, to.min(origin.since));
        }
        let Some(carrier) = origin.carrier.and_then(|tid| self.timeline.threads.get(tid)) else {
            return self.on_its_way(origin.done_on, to);
        };
        let role = role(carrier.comm_at(to).as_str(), Some(origin));
        if let OriginKind::Softirq(vec) = origin.kind
            && role.waits == Cause::SoftirqDeferred
        {
            self.notes.push(VerdictNote::Deferred(vec));
        }
        self.by_carrier(role, carrier, origin.cpu, to);
    }

    /// Charges up to `to` a time in which the device had raised its interrupt, or a timer had expired, and the kernel's thread
    /// `handler` was to handle it.
    pub(super) fn behind_handler(&mut self, handler: &Thread, to: Ns) {
        self.by_carrier(role(handler.comm_at(to).as_str(), None), handler, self.cpu, to);
    }

    /// Charges up to `to` a wait for a work item, which `kworker` was to do.
    pub(super) fn behind_work(&mut self, kworker: Option<Tid>, to: Ns) {
        let Some(kworker) = kworker.and_then(|tid| self.timeline.threads.get(tid)) else {
            return self.charge(to, Charge::unexplained());
        };
        self.before_item(kworker, to);
        // Up to then it had nothing to do: a device had.
        let asleep = |stay: &Stay| matches!(stay.state, State::Blocked { .. });
        let idle = kworker.history.between(self.at, to).into_iter().take_while(asleep).last();
        if let Some(idle) = idle.filter(|idle| idle.to - self.at > ORDINARY_DISPATCH) {
            let waker = if let State::Blocked { waker, .. } = idle.state { waker } else { None };
            self.waits_for_device(kworker, Wait::Io, waker, idle.to);
        }
        self.by_carrier(OF_WORK, kworker, self.cpu, to);
    }

    /// Charges the beginning of a wait for a work item up to when the item was queued in which `kworker` ended the wait: a request was held back,
    /// as by a suspended device of the device mapper (`dm_wq_work()`, `drivers/md/dm.c`), after an item of the thread's own had left it.
    fn before_item(&mut self, kworker: &Thread, to: Ns) {
        let own = self.victim.slept_in.first_item(self.at);
        let done = self.victim.slept_in.done_since(self.at);
        let queued = done.filter(|(ended, _)| own.is_some() && *ended <= to + LONGEST_WAKE_UP);
        let Some((_, since)) = queued.filter(|(_, since)| *since - self.at > LONGEST_WAKE_UP) else { return };
        let text = format!(
            "a work item was queued, in which {}:{} woke the thread: up to then its request was held back, which the work item that it queued \
             itself had not ended (a device of the device mapper that is suspended does so)",
            kworker.comm_at(to),
            kworker.tid
        );
        self.notes.push(VerdictNote::Note(Evidence::at(since, self.cpu, text)));
        self.charge(since.min(to), Charge::to(Cause::BlockIo, None, Confidence::Low));
    }

    /// Charges the beginning of a sleep for a device that lasts up to `to`: as long as the first work item that the thread itself queued
    /// in its call waited for a CPU. Its request may have passed others as well.
    pub(super) fn before_own_item(&mut self, to: Ns) {
        let begun = self.victim.slept_in.first_item(self.at).filter(|(_, at)| *at <= to);
        let Some((kworker, at)) = begun.and_then(|(tid, at)| Some((self.timeline.threads.get(tid)?, at)))
        else {
            return;
        };
        let waited = kworker.history.time_queued(self.at, at);
        if waited > ORDINARY_DISPATCH {
            self.at_most(Confidence::Medium, |charger| charger.by_carrier(OF_WORK, kworker, charger.cpu, at));
        }
    }

    /// Charges up to `to` a sleep of a thread of the kernel until a device was done, and until that was handled: or, where a thread
    /// ended the sleep that does work for others, and had no CPU before, until that was done with it.
    fn waits_for_device(&mut self, sleeper: &Thread, wait: Wait, waker: Option<Tid>, to: Ns) {
        if let Some((hop, since)) = self.late_hop(sleeper, waker, to) {
            self.charge(since, Charge::device());
            let role = if is_kworker(hop.comm_at(to).as_str()) { OF_WORK } else { OF_REQUESTS };
            self.hops += 1;
            self.by_carrier(role, hop, self.cpu, to);
            self.hops -= 1;
            return;
        }
        let handled = self.late_handler(sleeper, wait, waker, to);
        let until = handled.map_or(to, |(_, since)| since);
        self.charge(until, Charge::device());
        if let Some((handler, _)) = handled {
            self.behind_handler(handler, to);
        }
    }

    /// The kworker, or another thread for requests, that ended a sleep of a thread of the kernel, and since when it was to: where it
    /// waited for a CPU for longer than usual.
    fn late_hop(&self, sleeper: &Thread, waker: Option<Tid>, to: Ns) -> Option<(&'t Thread, Ns)> {
        let hop = self.timeline.threads.get(waker.filter(|_| self.hops < MOST_HOPS)?)?;
        let comm = hop.comm_at(to);
        if hop.tid == sleeper.tid || !(is_kworker(comm.as_str()) || does_requests(comm.as_str())) {
            return None;
        }
        // A work item may be older than the kworker's last sleep, and newer than what it did before.
        let queued = sleeper.slept_in.done_since(self.at).filter(|(ended, _)| *ended <= to + LONGEST_WAKE_UP);
        let is_awake = |stay: &&Stay| matches!(stay.state, State::Queued(_) | State::Running(_));
        let stays = hop.history.between(self.at, to);
        let woken = || stays.iter().rev().take_while(is_awake).last().map(|stay| stay.from);
        let since = queued.map(|(_, since)| since).or_else(woken)?.max(self.at);
        let waited = hop.history.time_queued(since, to);
        (waited > ORDINARY_DISPATCH).then_some((hop, since))
    }

    /// Charges up to `to` a wait for the `thread` of a file system or a driver that does requests for others.
    pub(super) fn behind_requests(&mut self, thread: Option<Tid>, to: Ns) {
        match thread.and_then(|tid| self.timeline.threads.get(tid)) {
            Some(thread) => self.by_carrier(OF_REQUESTS, thread, self.cpu, to),
            None => self.charge(to, Charge::unexplained()),
        }
    }

    fn by_carrier(&mut self, role: Role, carrier: &Thread, before_on: Cpu, to: Ns) {
        for stay in carrier.history.between(self.at, to) {
            match stay.state {
                State::Queued(on) => self.carrier_waits(role, carrier, on, stay.to),
                State::Running(on) => self.carrier_runs(role, carrier, on, stay.to),
                // What it does for the late thread needs a device.
                State::Blocked { wait, waker }
                    if role.is_for_device() || wait == Wait::Io && role.runs == Cause::WorkItem =>
                {
                    self.waits_for_device(carrier, wait, waker, stay.to);
                }
                State::Unknown if role.is_for_device() => {
                    self.charge(stay.to, Charge::device());
                }
                State::Blocked { .. } | State::Unknown => self.on_its_way(before_on, stay.to),
            }
        }
    }

    /// The carrier was runnable.
    pub(super) fn carrier_waits(&mut self, role: Role, carrier: &Thread, cpu: Cpu, to: Ns) {
        self.cpu = cpu;
        let recorded = self.timeline.cpus.get(cpu).filter(|_| self.timeline.is_recorded(cpu));
        let Some(timeline) = recorded else { return self.unseen(to) };
        for (from, end, slice) in timeline.between(self.at, to) {
            let charge = match slice.running {
                Running::Task(tid, theirs) => self.carrier_behind(role, carrier, (from, end), tid, theirs),
                Running::Idle if end - from <= LONGEST_IDLE_EXIT => self.late_from_idle(cpu, from, end),
                Running::Idle => Charge::unexplained(),
                _ => self.interruption((from, end, slice)).unwrap_or_else(Charge::unexplained),
            };
            if charge.cause == role.waits && carrier_of(&self.notes).is_none() {
                let waits = self.task(carrier.tid, carrier.priority_at(from), from);
                self.notes.push(VerdictNote::Carrier(waits));
            }
            self.charge_but_idle_ways(slice.running, end, charge);
        }
    }

    /// A thread had the CPU while the carrier was runnable there.
    fn carrier_behind(
        &self,
        role: Role,
        carrier: &Thread,
        (from, end): (Ns, Ns),
        tid: Tid,
        theirs: Priority,
    ) -> Charge {
        let by = self.task(tid, theirs, from);
        let Some(runner) = Contender::of(&by) else { return Charge::unexplained() };
        match Relation::of(&Contender::at(carrier, from), &runner) {
            Relation::SameThread => Charge::to(Cause::Dispatch, None, Confidence::High),
            Relation::StopClass
            | Relation::Deadline
            | Relation::HigherPriority
            | Relation::EqualPriority
            | Relation::Fair => Charge::to(role.waits, Some(by), role.sure),
            Relation::LowerPriority if end - from <= ORDINARY_DISPATCH => {
                Charge::to(Cause::Dispatch, None, Confidence::Medium)
            }
            Relation::LowerPriority | Relation::Unknown => Charge::unexplained(),
        }
    }

    /// The carrier had the CPU.
    fn carrier_runs(&mut self, role: Role, carrier: &Thread, cpu: Cpu, to: Ns) {
        self.cpu = cpu;
        let Some(timeline) = self.timeline.cpus.get(cpu) else { return self.unseen(to) };
        for (from, end, slice) in timeline.between(self.at, to) {
            let own = || {
                if role.is_for_device() {
                    return Charge::device();
                }
                let by = self.task(carrier.tid, carrier.priority_at(from), from);
                Charge::to_handler(role.runs, by, timeline.silences.around(from, end).is_some())
            };
            let charge = match slice.running {
                Running::Softirq(NET_RX) => own(),
                _ => self.interruption((from, end, slice)).unwrap_or_else(own),
            };
            self.charge(end, charge);
        }
    }

    /// No thread had it to carry, or not yet: handlers ran on `cpu`, or were to run.
    fn on_its_way(&mut self, cpu: Cpu, to: Ns) {
        self.cpu = cpu;
        let recorded = self.timeline.cpus.get(cpu).filter(|_| self.timeline.is_recorded(cpu));
        let Some(timeline) = recorded else { return self.unseen(to) };
        let shortly = |from: Ns, end: Ns| match end - from <= ORDINARY_DISPATCH {
            true => Charge::to(Cause::Dispatch, None, Confidence::High),
            false => Charge::unexplained(),
        };
        // A CPU that idles for longer has nothing to do: what is on its way waits for something else.
        let idle = timeline.between(self.at, to).filter(|(_, _, slice)| slice.running == Running::Idle);
        let idles: Ns = idle.map(|(from, end, _)| end - from).sum();
        for (from, end, slice) in timeline.between(self.at, to) {
            let charge = match slice.running {
                Running::Softirq(NET_RX) if !self.kept_from_softirq(cpu, from, end) => {
                    let by = Culprit::Softirq { vec: NET_RX };
                    Charge::to_handler(Cause::NapiPoll, by, timeline.silences.around(from, end).is_some())
                }
                // The thread that sent it is on its way to hand it over, or softirqs are disabled for a moment.
                Running::Task(..) => shortly(from, end),
                Running::Idle if idles <= LONGEST_IDLE_EXIT => self.late_from_idle(cpu, from, end),
                Running::Idle => Charge::unexplained(),
                _ => self.interruption((from, end, slice)).unwrap_or_else(Charge::unexplained),
            };
            self.charge(end, charge);
        }
    }
}

/// What a thread of this name does as the carrier, where it is known of what.
pub(super) fn role(comm: &str, origin: Option<&Origin>) -> Role {
    if is_kworker(comm) {
        return OF_WORK;
    }
    if handles_interrupts(comm) {
        return role_of(Cause::IrqThreadDelayed, Cause::IrqThread);
    }
    // Else it may have been woken for something else, before.
    let sure = match origin {
        Some(origin) if !matches!(origin.kind, OriginKind::Poll | OriginKind::Softirq(TIMER)) => {
            Confidence::High
        }
        _ => Confidence::Medium,
    };
    if polls_network(comm) {
        return Role { sure, ..role_of(Cause::NapiThreadDelayed, Cause::NapiPoll) };
    }
    let is_network = |origin: &Origin| {
        matches!(origin.kind, OriginKind::Packet { .. } | OriginKind::Irq(_) | OriginKind::Softirq(NET_RX))
    };
    let runs = match origin.is_some_and(is_network) && runs_softirqs(comm) {
        true => Cause::NapiPoll,
        false => Cause::Softirq,
    };
    Role { sure, ..role_of(Cause::SoftirqDeferred, runs) }
}
