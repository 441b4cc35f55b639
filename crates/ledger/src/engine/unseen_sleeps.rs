//! Sleeps that no switch shows. A thread that seems to run is woken: it slept meanwhile, where the recording evidently lacks
//! switches of its CPU. A wake-up of a thread that has not yet left the CPU is common as well, and begins nothing.

use super::Engine;
use crate::timeline::cpus::CpuTimeline;
use crate::timeline::states::State;
use crate::timeline::thread::Thread;
use crate::timeline::waking::Waking;
use whylate_base::{Cpu, Ns, Tid};
use whylate_events::{Event, Kind};

/// So many switches of a CPU that no event shows are no accident.
const SEVERAL: u64 = 2;

/// True of a CPU most of whose switches were not recorded.
fn lacks_switches(cpu: &CpuTimeline) -> bool {
    cpu.unseen_switches >= SEVERAL && cpu.unseen_switches >= cpu.switches
}

impl Engine<'_> {
    /// A thread that seems to run is woken from another CPU: on one most of whose switches were not recorded, it has slept since the
    /// last event there.
    #[inline]
    pub(super) fn may_have_slept(&mut self, at: Ns, event: &Event, tid: Tid) {
        let Some(thread) = self.timeline.threads.get(tid) else { return };
        let State::Running(on) = thread.state() else { return };
        if on == event.cpu || thread.is_marked {
            return;
        }
        let Some(cpu) = self.timeline.cpus.get(on) else { return };
        if (lacks_switches(cpu) || self.records_no_switches) && is_last_of(cpu, tid, at) {
            self.slept(at, on, tid);
        }
    }

    /// The trace ended: the wake-up of a thread that seems to run is the last that was seen of it.
    pub(crate) fn end_unseen_sleeps(&mut self) {
        let has_switches = self.timeline.seen.contains(Kind::Switch);
        let woken = |thread: &Thread| {
            let State::Running(on) = thread.state() else { return None };
            let cpu = self.timeline.cpus.get(on).filter(|cpu| !has_switches || lacks_switches(cpu))?;
            let waking = thread.waking.or(thread.woken_on_cpu).filter(|_| !thread.is_marked)?;
            is_last_of(cpu, thread.tid, waking.at).then_some((thread.tid, on, waking))
        };
        let all: Vec<(Tid, Cpu, Waking)> = self.timeline.threads.iter().filter_map(woken).collect();
        for (tid, on, waking) in all {
            self.slept(waking.at, on, tid);
            self.timeline.threads.get_mut(tid).waking = None;
            self.woken(waking.at, tid, on, &waking);
        }
    }

    /// A thread was asleep by `at`, since its last event on a CPU at the earliest.
    fn slept(&mut self, at: Ns, on: Cpu, tid: Tid) {
        self.vanish(at, on, tid);
        self.slept_at_end(tid);
    }

    /// When the work of this activation was done, no event shows.
    pub(super) fn slept_at_end(&mut self, tid: Tid) {
        if let Some(open) = &mut self.timeline.threads.get_mut(tid).open {
            open.ends_unseen = true;
        }
    }
}

/// True where the last event of a CPU before `at` is of this thread.
fn is_last_of(cpu: &CpuTimeline, tid: Tid, at: Ns) -> bool {
    cpu.current() == Some(tid) && cpu.last_event.is_some_and(|last| last < at)
}
