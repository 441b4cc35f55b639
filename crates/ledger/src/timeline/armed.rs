//! The timers that a thread arms beside its sleeps, and by which it may keep its periods: timerfds, those of timer_settime(2) and
//! setitimer(2), and timeouts of io_uring. Each is judged as sleeps are, by its own expiries: a program may have a period by one
//! of them, and a watchdog by another.
//!
//! A sleep is programmed where the work is done. Such a timer may be armed where the work begins: what moves the next period
//! then is what came before that, and not all of the response.

use super::pacing::Pacing;
use whylate_base::Ns;
use whylate_events::Symbol;

/// A thread with more of them has no period by any.
const MOST: usize = 8;
/// Timeouts of io_uring are all one: each is a request of its own.
const OF_RING: u64 = 0;

/// See the module.
#[derive(Clone, Debug, Default)]
pub(crate) struct OwnTimers(Vec<OwnTimer>);

/// One of them.
#[derive(Clone, Debug, Default)]
struct OwnTimer {
    key: u64,
    pacing: Pacing,
    /// When it expired last, on the trace clock, since it was armed last.
    expired: Option<Ns>,
    /// How often it was armed after it had expired, and the sum of the times from the one to the other.
    times: u64,
    responses: Ns,
}

impl OwnTimers {
    /// A timer was armed at `now` (trace clock) to expire at `expires` (the timer's clock).
    pub(crate) fn program(&mut self, timer: (u64, Symbol), now: Ns, expires: Ns) {
        let Some(timer) = self.of(key(timer)) else { return };
        if let Some(expired) = timer.expired.take() {
            timer.times += 1;
            timer.responses += now - expired;
        }
        timer.pacing.program(now, expires);
    }

    /// A timer expired at `now` that was to do so at `expires`.
    pub(crate) fn expire(&mut self, timer: (u64, Symbol), now: Ns, expires: Ns) {
        let Some(timer) = self.of(key(timer)) else { return };
        timer.expired = Some(now);
        timer.pacing.expire(expires);
    }

    fn of(&mut self, key: u64) -> Option<&mut OwnTimer> {
        match self.0.iter().position(|timer| timer.key == key) {
            Some(place) => self.0.get_mut(place),
            None if self.0.len() < MOST => {
                self.0.push(OwnTimer { key, ..OwnTimer::default() });
                self.0.last_mut()
            }
            None => None,
        }
    }

    /// The timer that begins more than half of so many activations, where a late one makes all later ones late by most of the
    /// `response` at the median.
    pub(crate) fn drifting(&self, activations: u64, response: Ns) -> Option<&Pacing> {
        let drifts = |timer: &&OwnTimer| {
            timer.times * 2 > activations
                && timer.responses.0 / timer.times.max(1) as i64 * 2 > response.0
                && timer.pacing.drifts() == Some(true)
        };
        self.0.iter().find(drifts).map(|timer| &timer.pacing)
    }
}

/// True of the callback of a timer that a thread arms for itself (`fs/timerfd.c`, `kernel/time/posix-timers.c`,
/// `kernel/time/itimer.c`, `io_uring/timeout.c`).
pub(crate) fn is_own_timer(callback: Symbol) -> bool {
    const CALLBACKS: [&str; 4] = ["timerfd_tmrproc", "posix_timer_fn", "it_real_fn", RING];
    CALLBACKS.iter().any(|begin| callback.as_str().starts_with(begin))
}

const RING: &str = "io_timeout_fn";

fn key((hrtimer, callback): (u64, Symbol)) -> u64 {
    if callback.as_str().starts_with(RING) { OF_RING } else { hrtimer }
}
