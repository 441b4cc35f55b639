//! Events of the scheduler: switches, wake-ups, migrations, the lives of threads, inherited priorities.

use super::scene::{Scene, Thread};
use whylate_base::{Comm, Cpu, Priority, Tid};
use whylate_events::{ContextFlags, EventKind, Switch, TaskState, Wake};

impl Scene {
    /// `next` gets the CPU; the current thread is recorded in this state.
    pub(crate) fn switch_as(self, state: TaskState, next: Thread) -> Scene {
        self.switch(state, next)
    }

    /// Switches have these flags from here on, as recordings with flags have them.
    pub(crate) fn flagged_switches(mut self, flags: ContextFlags) -> Scene {
        self.of_switches = flags;
        self
    }

    fn switch(mut self, state: TaskState, next: Thread) -> Scene {
        let prev = self.on().current;
        let switch = Switch {
            prev_comm: prev.name.into(),
            prev_tid: Tid(prev.tid),
            prev_prio: Priority(prev.prio),
            prev_state: state,
            next_comm: next.name.into(),
            next_tid: Tid(next.tid),
            next_prio: Priority(next.prio),
        };
        let flags = self.of_switches;
        let mut scene = self.event_with(flags, EventKind::Switch(switch));
        scene.on().current = next;
        scene
    }

    /// `next` gets the CPU; the current thread is preempted.
    pub(crate) fn run(self, next: Thread) -> Scene {
        self.switch(TaskState::Preempted, next)
    }

    /// The current thread goes to sleep; `next` gets it.
    pub(crate) fn sleep(self, next: Thread) -> Scene {
        self.switch(TaskState::Interruptible, next)
    }

    /// The current thread goes to sleep uninterruptibly; `next` gets it.
    pub(crate) fn block(self, next: Thread) -> Scene {
        self.switch(TaskState::Uninterruptible, next)
    }

    /// The current thread ends; `next` gets it.
    pub(crate) fn die(self, next: Thread) -> Scene {
        self.switch(TaskState::Dead, next)
    }

    pub(crate) fn wake_event(thread: Thread, target: u32) -> Wake {
        let comm = Comm::from(thread.name);
        Wake { comm, tid: Tid(thread.tid), prio: Priority(thread.prio), target_cpu: Cpu(target) }
    }

    /// `sched_waking`
    pub(crate) fn waking(self, thread: Thread, target: u32) -> Scene {
        self.event(EventKind::Waking(Scene::wake_event(thread, target)))
    }

    /// `sched_wakeup`
    pub(crate) fn wakeup(self, thread: Thread, target: u32) -> Scene {
        self.event(EventKind::Wakeup { wake: Scene::wake_event(thread, target), new: false })
    }

    /// The current thread wakes `thread`, which is put on the runqueue of `target`.
    pub(crate) fn wake(self, thread: Thread, target: u32) -> Scene {
        self.waking(thread, target).wakeup(thread, target)
    }

    /// `sched_migrate_task` to this CPU.
    pub(crate) fn migrate(self, thread: Thread, from: u32, to: u32) -> Scene {
        self.event(EventKind::Migrate { tid: Tid(thread.tid), from: Cpu(from), to: Cpu(to) })
    }

    /// `sched_process_fork`
    pub(crate) fn fork(self, parent: Thread, child: Thread) -> Scene {
        self.event(EventKind::Fork {
            parent: Tid(parent.tid),
            child: Tid(child.tid),
            comm: Comm::from(child.name),
        })
    }

    /// `sched_process_exec` by the current thread, which goes on as `thread`.
    pub(crate) fn exec(mut self, thread: Thread) -> Scene {
        let old = Tid(self.on().current.tid);
        self.on().current = thread;
        self.event(EventKind::Exec { old, tid: Tid(thread.tid) })
    }

    /// `sched_pi_setprio`
    pub(crate) fn inherit(self, thread: Thread, old: Thread, new: Thread) -> Scene {
        self.event(EventKind::PiSetprio {
            tid: Tid(thread.tid),
            old: Priority(old.prio),
            new: Priority(new.prio),
        })
    }
}
