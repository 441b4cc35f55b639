//! What a scene knows of its recording: kernel, clock, markers, lost events and damage.

use super::scene::Scene;
use whylate_base::Ns;
use whylate_events::{Damage, EventKind, Fact, Kind, KindSet, LeftOut, Marker};

impl Scene {
    /// A file of which it is known that it has these kinds of events, and no text.
    pub(crate) fn file_with(mut self, kinds: KindSet) -> Scene {
        self.info.recorded = Some(kinds);
        self
    }

    /// Of this kernel.
    pub(crate) fn kernel(mut self, release: &str) -> Scene {
        self.info.kernel_release = Some(release.into());
        self
    }

    /// Of a machine with so many CPUs.
    pub(crate) fn of_cpus(mut self, cpus: u32) -> Scene {
        self.info.cpus = cpus;
        self
    }

    /// By this trace clock.
    pub(crate) fn clock(mut self, clock: &str) -> Scene {
        self.info.clock = Some(clock.into());
        self
    }

    /// Of a file in this state.
    pub(crate) fn damaged(mut self, damage: Damage) -> Scene {
        self.info.damage.push(damage);
        self
    }

    /// A mark shows that lines of the text are left out here.
    pub(crate) fn left_out(mut self) -> Scene {
        self.info.left_out.push(LeftOut { at: self.now, line: 7, ends_piece: false });
        self
    }

    /// A fact that the recording carries.
    pub(crate) fn fact(self, fact: Fact) -> Scene {
        self.event(EventKind::Marker(Marker::from(fact.to_string().as_str())))
    }

    /// The current thread writes a line to `trace_marker`.
    pub(crate) fn mark(self, line: &str) -> Scene {
        self.event(EventKind::Marker(Marker::from(line)))
    }

    /// Events were lost on this CPU up to now.
    pub(crate) fn lose(mut self) -> Scene {
        self.info.lost_events += 1;
        self.event(EventKind::Lost { count: Some(1), since: None, kinds: KindSet::NONE })
    }

    /// The rows of the text are interrupted here.
    pub(crate) fn cut(mut self) -> Scene {
        self.info.left_out.push(LeftOut { at: self.now, line: 7, ends_piece: true });
        self.event(EventKind::Lost { count: None, since: None, kinds: KindSet::NONE })
    }

    /// The buffer with system calls and page faults lost events since `since` (us); the scheduler's did not.
    pub(crate) fn lose_workings(mut self, since: i64) -> Scene {
        self.info.lost_events += 1;
        let kinds = KindSet::of(&[Kind::Syscall, Kind::PageFault]);
        self.event(EventKind::Lost { count: Some(1), since: Some(Ns(since * 1_000)), kinds })
    }

    /// The buffer with the scheduler's events lost some since `since` (us); that with system calls did not.
    pub(crate) fn lose_switches(mut self, since: i64) -> Scene {
        self.info.lost_events += 1;
        let kinds = KindSet::of(&[Kind::Switch, Kind::Waking]);
        self.event(EventKind::Lost { count: None, since: Some(Ns(since * 1_000)), kinds })
    }
}
