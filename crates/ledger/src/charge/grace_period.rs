//! The time a thread slept until RCU's readers were done on all CPUs: no thread holds what it waits for.

use super::carried::role;
use super::charger::Charger;
use super::notes::VerdictNote;
use super::queue::ORDINARY_DISPATCH;
use crate::timeline::sleeps::Wait;
use crate::timeline::states::{State, Stay};
use crate::timeline::thread::Thread;
use whylate_base::{Ns, Tid};

impl Charger<'_> {
    /// Charges up to `to` a sleep that the end of a grace period ended, by `waker` if that is a thread. It is the call's own time, but
    /// for what threads took that kept those of RCU off their CPUs.
    pub(super) fn grace_period(&mut self, waker: Option<Tid>, to: Ns) {
        let timeline = self.timeline;
        let is_of_rcu = |thread: &&Thread| {
            let comm = thread.comm_at(to);
            // The thread that runs the grace periods, of this name or that (`rcu_gp_kthread()`, `kernel/rcu/tree.c`).
            Some(thread.tid) == waker || ["rcu_preempt", "rcu_sched"].contains(&comm.as_str())
        };
        let mut waits: Vec<(Stay, &Thread)> = Vec::new();
        for thread in timeline.threads.iter().filter(is_of_rcu) {
            let stays = thread.history.between(self.at, to).into_iter();
            let queued = stays.filter(|stay| matches!(stay.state, State::Queued(_)));
            waits.extend(
                queued.filter(|stay| stay.to - stay.from > ORDINARY_DISPATCH).map(|stay| (stay, thread)),
            );
        }
        waits.sort_by_key(|(stay, thread)| (stay.from, thread.tid));
        for (stay, thread) in waits {
            let State::Queued(on) = stay.state else { continue };
            self.rcu_at_work(stay.from);
            if stay.to > self.at {
                let own_cpu = self.cpu;
                self.carrier_waits(role(thread.comm_at(to).as_str(), None), thread, on, stay.to);
                self.cpu = own_cpu;
            }
        }
        self.rcu_at_work(to);
    }

    fn rcu_at_work(&mut self, to: Ns) {
        if to > self.at {
            self.notes.push(VerdictNote::GracePeriod(to - self.at));
            self.own_wait(Wait::GracePeriod, None, to);
        }
    }
}
