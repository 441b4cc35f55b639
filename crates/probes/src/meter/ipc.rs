//! One thread wakes another: both sides, and what they share.

use super::channel::Channel;
use super::pace::{Meter, Pace};
use crate::Ipc;
use crate::recorder::Recorder;
use crate::sampler::Sampler;
use std::sync::Arc;
use std::sync::atomic::{
    AtomicBool, AtomicI64,
    Ordering::{AcqRel, Acquire, Relaxed, Release},
};
use whylate_base::Ns;
use whylate_sys::{Clock, SysError};

/// Between a thread and its waker.
pub(crate) struct Link {
    channel: Channel,
    /// The thread is about to sleep, or does. A waker that finds it so may wake it, once.
    waits: AtomicBool,
    /// The thread does not wait any more, and never will.
    ended: AtomicBool,
    /// Just before the waker's last call.
    sent: AtomicI64,
    /// Periods in which the thread was not back from the last turn, since the last report.
    missed: AtomicI64,
}

impl Link {
    pub(crate) fn open(by: Ipc) -> Result<Link, SysError> {
        Ok(Link {
            channel: Channel::open(by)?,
            waits: AtomicBool::new(false),
            ended: AtomicBool::new(false),
            sent: AtomicI64::new(0),
            missed: AtomicI64::new(0),
        })
    }

    /// The waker's part before all turns, in its thread.
    pub(crate) fn prepare_waker(&self) -> Result<(), SysError> {
        self.channel.prepare_waker()
    }

    /// The waker: from `first` on it wakes the thread once an interval, so many times or until the thread has ended.
    /// Gives when the next time would be due.
    pub(crate) fn wake_until(
        &self,
        first: Ns,
        interval: Ns,
        times: u64,
        recorder: &Recorder,
        turn: &mut u32,
    ) -> Result<Ns, SysError> {
        let mut pace = Pace { first, interval, warm_up: false };
        let mut woken = 0;
        while woken < times {
            whylate_sys::sleep_until(Clock::Monotonic, pace.due())?;
            if self.ended.load(Acquire) {
                break;
            }
            if self.waits.swap(false, AcqRel) {
                self.channel.before_wake(*turn)?;
                let sent = whylate_sys::now(Clock::Monotonic);
                recorder.due.store(sent.0, Relaxed);
                self.sent.store(sent.0, Release);
                self.channel.wake(*turn)?;
                *turn = turn.wrapping_add(1);
                woken += 1;
            } else {
                self.missed.fetch_add(1, Relaxed);
            }
            self.missed.fetch_add(pace.next(whylate_sys::now(Clock::Monotonic)), Relaxed);
        }
        Ok(pace.due())
    }
}

/// The thread that is woken, and measures.
pub(crate) struct Woken {
    link: Arc<Link>,
    turn: u32,
}

impl Woken {
    pub(crate) fn new(link: Arc<Link>) -> Result<Woken, SysError> {
        link.channel.prepare_woken()?;
        Ok(Woken { link, turn: 0 })
    }
}

impl Meter for Woken {
    /// The pace is the waker's. What it missed while this thread got ready does not count.
    fn start(&mut self, _: Pace) -> Result<(), SysError> {
        self.link.missed.store(0, Relaxed);
        Ok(())
    }

    #[inline]
    fn round(&mut self, sampler: &mut Sampler) -> Result<(), SysError> {
        let link = &*self.link;
        link.waits.store(true, Release);
        link.channel.wait(self.turn)?;
        let woken = whylate_sys::now(Clock::Monotonic);
        sampler.sample(Ns(link.sent.load(Acquire)), woken);
        link.channel.after_wait(self.turn)?;
        self.turn = self.turn.wrapping_add(1);
        sampler.recorder.miss(link.missed.swap(0, Relaxed));
        Ok(())
    }
}

/// However the thread ends, its waker ends as well.
impl Drop for Woken {
    fn drop(&mut self) {
        self.link.ended.store(true, Release);
    }
}
