//! How late the end of a short sleep is: the resolution of timers that a program sees.

use crate::bench::BenchError;
use crate::bench::case::Case;
use whylate_base::Ns;
use whylate_sys::{Clock, TimerFd, now, set_timer_slack, sleep_until};

const GROUP: &str = "timer";
/// How long each sleep is to take.
pub(super) const SLEEP: Ns = Ns::from_us(100);
/// prctl(2): zero restores the default, and timers of threads without real-time policy may be that late.
const DEFAULT_SLACK: Ns = Ns::ZERO;
const LEAST_SLACK: Ns = Ns(1);

/// The name of the row that the verdict is about.
pub(super) const NANOSLEEP: &str = "clock_nanosleep 100 us, slack 1 ns: late by";

/// Sleeps by each means. A row has the time beyond the requested one.
pub(super) fn cases<'a>() -> Result<Vec<Case<'a>>, BenchError> {
    let timer = TimerFd::new()?;
    let nanosleep = |slack: Ns| {
        move |sleeps: u32| {
            set_timer_slack(slack)?;
            let late = sleep(sleeps, |due| sleep_until(Clock::Monotonic, due).map_err(Into::into));
            set_timer_slack(DEFAULT_SLACK)?;
            late
        }
    };
    let timerfd = move |sleeps: u32| {
        sleep(sleeps, |due| {
            timer.arm(due, Ns::ZERO)?;
            timer.wait()?;
            Ok(())
        })
    };
    Ok(vec![
        Case::new(GROUP, NANOSLEEP, nanosleep(LEAST_SLACK)).at_most(1),
        Case::new(GROUP, "clock_nanosleep 100 us, default slack: late by", nanosleep(DEFAULT_SLACK))
            .at_most(1),
        Case::new(GROUP, "timerfd 100 us: late by", timerfd).at_most(1),
    ])
}

/// By how much all sleeps together were late.
fn sleep(sleeps: u32, wait: impl Fn(Ns) -> Result<(), BenchError>) -> Result<Ns, BenchError> {
    let mut late = Ns::ZERO;
    for _ in 0..sleeps {
        let due = now(Clock::Monotonic) + SLEEP;
        wait(due)?;
        late += now(Clock::Monotonic) - due;
    }
    Ok(late)
}
