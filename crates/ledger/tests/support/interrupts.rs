//! Timers, interrupts and softirqs.

use super::scene::{Scene, Thread};
use whylate_base::Ns;
use whylate_events::{ContextFlags, EventKind, HrtimerExpiry, HrtimerStart};

impl Scene {
    /// A timer expires and wakes `thread` on this CPU, all in one instant.
    pub(crate) fn timer_wakes(self, thread: Thread) -> Scene {
        let timer = 0xffff_0000 + thread.tid as u64;
        let cpu = self.cpu;
        self.fire(timer).wake(thread, cpu).fired(timer)
    }

    /// `hrtimer_start`, to expire at `us`.
    pub(crate) fn arm(self, timer: u64, us: i64) -> Scene {
        self.arm_with_slack(timer, us, us)
    }

    /// `hrtimer_start`, to expire between two instants.
    pub(crate) fn arm_with_slack(self, hrtimer: u64, soft: i64, hard: i64) -> Scene {
        self.event(EventKind::HrtimerStart(HrtimerStart {
            hrtimer,
            function: "hrtimer_wakeup".into(),
            expires: Ns::from_us(hard),
            softexpires: Ns::from_us(soft),
        }))
    }

    /// `hrtimer_start` of a callback, to expire at `us`.
    pub(crate) fn arm_named(self, hrtimer: u64, function: &str, us: i64) -> Scene {
        let (expires, softexpires) = (Ns::from_us(us), Ns::from_us(us));
        let function = function.into();
        self.event(EventKind::HrtimerStart(HrtimerStart { hrtimer, function, expires, softexpires }))
    }

    /// `hrtimer_expire_entry` of a sleep, which reads the clock as it is.
    pub(crate) fn fire(self, hrtimer: u64) -> Scene {
        self.fire_named(hrtimer, "hrtimer_wakeup")
    }

    /// `hrtimer_expire_entry` of a callback.
    pub(crate) fn fire_named(self, hrtimer: u64, function: &str) -> Scene {
        let now = self.now;
        let function = function.into();
        self.flag(ContextFlags::HARDIRQ, true).event(EventKind::HrtimerExpire(HrtimerExpiry {
            hrtimer,
            function,
            now,
        }))
    }

    /// `hrtimer_expire_exit`
    pub(crate) fn fired(self, hrtimer: u64) -> Scene {
        self.event(EventKind::HrtimerExpireExit { hrtimer }).flag(ContextFlags::HARDIRQ, false)
    }

    /// Interrupts below may nest: this one ends with `vector_exit`, whatever timers ran in it.
    pub(crate) fn callback(self, hrtimer: u64, function: &str, us: i64) -> Scene {
        let end = self.now + Ns::from_us(us);
        let mut scene = self.fire_named(hrtimer, function);
        scene.now = end;
        scene.event(EventKind::HrtimerExpireExit { hrtimer })
    }

    /// The interrupt is over, and its end is not recorded.
    pub(crate) fn no_longer_in_interrupt(self) -> Scene {
        self.flag(ContextFlags::HARDIRQ, false)
    }

    /// `irq_handler_entry`
    pub(crate) fn irq(self, irq: u32, name: &str) -> Scene {
        self.flag(ContextFlags::HARDIRQ, true).event(EventKind::IrqEntry { irq, name: name.into() })
    }

    /// `irq_handler_exit`
    pub(crate) fn irq_exit(self, irq: u32) -> Scene {
        self.event(EventKind::IrqExit { irq }).flag(ContextFlags::HARDIRQ, false)
    }

    /// A device's handler has returned, and the kernel wakes the thread of the interrupt, still in the interrupt.
    pub(crate) fn irq_exit_wakes(self, irq: u32, thread: Thread, cpu: u32) -> Scene {
        let scene = self.event(EventKind::IrqExit { irq }).wake(thread, cpu);
        scene.flag(ContextFlags::HARDIRQ, false)
    }

    /// Entry of an architecture's vector, such as the local timer's.
    pub(crate) fn vector(self, name: &str) -> Scene {
        self.flag(ContextFlags::HARDIRQ, true).event(EventKind::VectorEntry { name: name.into() })
    }

    /// Exit of an architecture's vector.
    pub(crate) fn vector_exit(self, name: &str) -> Scene {
        self.event(EventKind::VectorExit { name: name.into() }).flag(ContextFlags::HARDIRQ, false)
    }

    /// `softirq_entry`
    pub(crate) fn softirq(self, vec: u32) -> Scene {
        self.flag(ContextFlags::SOFTIRQ, true).event(EventKind::SoftirqEntry { vec })
    }

    /// `softirq_exit`
    pub(crate) fn softirq_exit(self, vec: u32) -> Scene {
        self.event(EventKind::SoftirqExit { vec }).flag(ContextFlags::SOFTIRQ, false)
    }
}
