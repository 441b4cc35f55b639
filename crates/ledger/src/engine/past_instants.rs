//! Sleeps until an instant that has passed. Up to 6.x the thread goes to sleep, and the timer's interrupt comes at once. From 7.0 on
//! the call returns at once: no switch and no wake-up shows that one period ended there and the next one began.
//!
//! ```text
//! work ........ due ........ | sys_enter, hrtimer_start until due, sys_exit = 0 | work of the next period
//! ```
//!
//! (`do_nanosleep()`, `kernel/time/hrtimer.c`)

use super::Engine;
use crate::timeline::activations::{SleptOn, WakeCause};
use crate::timeline::sleeps::Wait;
use crate::timeline::states::State;
use crate::timeline::waking::Waking;
use whylate_base::{Ns, Tid};

impl Engine<'_> {
    /// A call of the thread to sleep until an instant returns at `at`, and is over. Where the thread did not sleep in it, the instant had
    /// passed by then. A sleep for no time at all ends no period.
    pub(super) fn slept_until_past(&mut self, at: Ns, tid: Tid) {
        let thread = self.timeline.threads.get_mut(tid);
        let (State::Running(cpu), Some(open)) = (thread.state(), &thread.open) else { return };
        let (entered, instant) = thread.crossings.sleep_begun();
        let has_slept = open.waking >= entered || open.due >= entered;
        if has_slept || thread.is_marked {
            return;
        }
        // How the clock of the timer relates to that of the trace may not be known.
        let due = instant.filter(|instant| *instant <= at).unwrap_or(entered);
        let begun = entered.max(due);
        let (comm, prio) = (thread.comm(), thread.priority());
        let cause = WakeCause::Timer { cpu, hard_due: due, expirer: None };
        let waking = Waking { due, cause, ..Waking::unseen(begun, comm, prio) };
        // It was due in the start of the program, which is no deadline's matter.
        let was_fair = !thread.own_priority_at(due).is_realtime();
        thread.pacing.periods.note_wait(entered, Wait::Period);
        self.end(tid, Some(entered), entered);
        if let Some(open) = &mut self.begin(begun, tid, cpu, &waking, Some(begun)).open {
            (open.ran_on, open.returned, open.slept_on) = (Some(cpu), true, SleptOn::Other);
            open.began_fair |= was_fair;
        }
    }
}
