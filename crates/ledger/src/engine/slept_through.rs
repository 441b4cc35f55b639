//! The wake-ups of real-time threads of which neither system calls nor timers are recorded: do they keep a period?

use super::Engine;
use crate::model::irq_kind::IrqKind;
use crate::timeline::activations::WakeCause;
use crate::timeline::origins::{HRTIMER, TIMER};
use crate::timeline::sleeps::Wait;
use crate::timeline::wake_steps::OtherSleep;
use crate::timeline::waking::Waking;
use whylate_base::{Ns, Tid};
use whylate_events::Kind;

impl Engine<'_> {
    /// A sleep of the thread ends at `at`. What continues an activation is in its ledger.
    pub(super) fn note_step(&mut self, at: Ns, tid: Tid, wait: Wait, waking: &Waking) {
        let shows_timers = self.timeline.seen.contains(Kind::HrtimerStart);
        let thread = self.timeline.threads.get_mut(tid);
        if thread.syscalls_recorded || shows_timers || !thread.priority().is_realtime() {
            return;
        }
        let by_timer = match waking.cause {
            WakeCause::Timer { .. } | WakeCause::Unseen | WakeCause::Softirq(TIMER | HRTIMER) => true,
            WakeCause::Irq(id) => self.timeline.irqs.kind(id) == IrqKind::OwnTimer,
            WakeCause::Thread(_) | WakeCause::Upon(_) | WakeCause::Softirq(_) => false,
        };
        let from = thread.since().unwrap_or(at);
        match by_timer {
            _ if wait.continues() => {}
            true => thread.pacing.wake_steps.by_timer(waking.at),
            false => thread.pacing.wake_steps.by_another(OtherSleep {
                from,
                to: waking.at,
                by: waking.cause.waker(),
            }),
        }
    }
}
