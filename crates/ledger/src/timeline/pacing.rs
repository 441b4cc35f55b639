//! How a thread keeps its period: does a late period make all later ones late, or is it made up for?
//!
//! The kind of call does not show. Python's `time.sleep` sleeps until an instant that it has just computed from now, and
//! so drifts; jackd's dummy driver sleeps for a while that it has shortened by its lateness, and does not. The expiries
//! show: with the response `r` from one expiry to the next call, and the distance `d` from that call to its expiry,
//! a thread that drifts leaves `d` as it is where `r` changes, and one that keeps its period changes `d` by `-r`. Where the
//! call takes whole milliseconds (epoll_wait(2), as asyncio uses it), `d` stays as it is for some periods, and then one
//! is shorter by the sum of their `r`.

use super::periods::Periods;
use super::wake_steps::WakeSteps;
use std::collections::VecDeque;
use whylate_base::{Ns, Tid};

/// A program that sleeps until `previous + period` moves the expiry by a constant, to the nanosecond.
const SAME_STEP: Ns = Ns::from_us(1);
/// Distances of one thread that are as near as this are the same for a period.
const SAME_DISTANCE: Ns = Ns::from_us(20);
/// A response that changes by less shows nothing: the way into the call varies as much.
const NOTABLE_CHANGE: Ns = Ns::from_us(5);
/// So many notable changes show.
const ENOUGH_CHANGES: u32 = 5;
/// Periods in a row over which small errors either add up or do not.
const ROW: usize = 8;
/// So many rows are enough to compare how much they vary.
const ENOUGH_ROWS: u32 = 16;
/// The variance of a row's length over that of as many independent periods: 1 where errors add up, 1/8 where each is
/// made up for in the next period.
const MADE_UP_FOR: f64 = 0.35;
/// The one of steps and distances that a thread does not plan varies so many times as much as the other: by its work.
const BY_WORK: f64 = 16.0;
/// The share of changes that leave the distance as it was of a thread that keeps it: others may look made up for by chance.
const MOSTLY_KEPT: f64 = 0.8;
/// So many shorter sleeps make up for the periods between them.
const ENOUGH_SHORTER: u32 = 3;
/// What one of them is shorter by, as a share of the responses since the one before.
const ABOUT_ALL: std::ops::RangeInclusive<f64> = 0.6..=1.5;
/// So many sleeping calls show of what kind they are.
const ENOUGH_CALLS: u32 = 5;

/// The sleeps that a thread programmed, in numbers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pacing {
    /// Sleeps relative to now, by their system calls.
    pub(crate) relative_calls: u32,
    /// Sleeps until an instant, by their system calls.
    pub(crate) absolute_calls: u32,
    pub(crate) periods: Periods,
    pub(crate) wake_steps: WakeSteps,
    first_expiry: Option<Ns>,
    last: Option<Sleep>,
    /// The last expiries, while the response changes little.
    row: VecDeque<Ns>,
    compared: u32,
    /// Those of the compared sleeps that their timers ended, and not something else before.
    expired: u32,
    /// The thread that waits for the end of this one: the sleeps are also its own.
    waiter: Option<Tid>,
    same_step: u32,
    /// The step that most sleeps had whose step was that of the one before, and by how many more than others.
    usual_step: Option<(Ns, u32)>,
    same_distance: u32,
    /// Notable changes of the response that left the distance as it was.
    kept: u32,
    /// Those that changed the distance by as much the other way.
    made_up_for: u32,
    /// A change that left the distance as it was, in the last sleep.
    pending: Option<Ns>,
    /// The distance that two sleeps in a row had.
    usual: Option<Ns>,
    /// The sleeps that were shorter than that, and those that were so by the responses since the one before.
    shorter: u32,
    settled: u32,
    /// Those responses; `None` where a sleep ended before its expiry, as by a packet.
    owed: Option<Ns>,
    steps: Variance,
    distances: Variance,
    rows: Variance,
}

/// One sleep.
#[derive(Clone, Copy, Debug)]
struct Sleep {
    expires: Ns,
    /// Its timer has ended it.
    expired: bool,
    /// From the call to the expiry, give or take a constant between the trace's clock and the timer's.
    distance: Ns,
    /// From the expiry before to the call, give or take the same constant.
    response: Option<Ns>,
    /// From the expiry before.
    step: Option<Ns>,
}

impl Pacing {
    /// A sleep was programmed at `now` (trace clock) to end at `expires` (the timer's clock).
    pub(crate) fn program(&mut self, now: Ns, expires: Ns) {
        let distance = expires - now;
        let mut sleep = Sleep { expires, expired: false, distance, response: None, step: None };
        if let Some(last) = self.last {
            sleep.response = Some(now - last.expires);
            sleep.step = Some(expires - last.expires);
            self.compare(&last, &sleep);
        }
        self.first_expiry.get_or_insert(expires);
        self.last = Some(sleep);
    }

    /// The sleep that was programmed last is also one of the thread `waiter`, which waits for its end.
    pub(crate) fn is_for(&mut self, waiter: Tid) {
        self.waiter = Some(waiter);
    }

    /// The timer of a sleep expired that was to end at `expires`; returns the thread of which it also is a sleep.
    pub(crate) fn expire(&mut self, expires: Ns) -> Option<Tid> {
        let last = self.last.as_mut().filter(|last| last.expires == expires)?;
        last.expired = true;
        self.waiter
    }

    /// The mean time from one expiry to the next.
    pub(crate) fn mean_period(&self) -> Option<Ns> {
        let all = self.last?.expires - self.first_expiry?;
        (self.compared > 0).then(|| Ns(all.0 / i64::from(self.compared)))
    }

    fn compare(&mut self, last: &Sleep, next: &Sleep) {
        self.compared += 1;
        self.expired += u32::from(last.expired);
        let shortened = last.distance - next.distance;
        self.owed = self
            .owed
            .zip(next.response.filter(|&response| response > Ns::ZERO))
            .map(|(owed, more)| owed + more);
        match self.usual {
            _ if size(shortened) <= SAME_DISTANCE => {
                self.same_distance += 1;
                self.usual = Some(next.distance);
            }
            Some(usual) if usual - next.distance > SAME_DISTANCE => {
                let by = (usual - next.distance).0 as f64;
                self.shorter += 1;
                self.settled +=
                    u32::from(self.owed.is_some_and(|owed| ABOUT_ALL.contains(&(by / owed.0 as f64))));
                self.owed = Some(Ns::ZERO);
            }
            _ => {}
        }
        if let (Some(before), Some(step)) = (last.step, next.step)
            && size(step - before) <= SAME_STEP
        {
            self.same_step += 1;
            self.repeated(step);
        }
        let (Some(before), Some(response)) = (last.response, next.response) else { return };
        let longer = response - before;
        let changes_by = |by: Ns, change: Ns| size(shortened - by) <= Ns(size(change).0 / 4).max(SAME_STEP);
        // jackd measures when it woke, and shortens the sleep after the next one.
        if self.pending.take().is_some_and(|pending| changes_by(pending, pending)) {
            self.kept -= 1;
            self.made_up_for += 1;
        }
        if size(longer) >= NOTABLE_CHANGE {
            if changes_by(Ns::ZERO, longer) && next.step.is_some_and(|step| self.leaves_out(step)) {
                self.made_up_for += 1;
            } else if changes_by(Ns::ZERO, longer) {
                self.kept += 1;
                self.pending = Some(longer);
            }
            self.made_up_for += u32::from(changes_by(longer, longer));
        }
        // A step over whole periods is longer by a plan, and not by the work.
        if size(longer) > SAME_DISTANCE || next.step.is_some_and(|step| self.leaves_out(step)) {
            self.row.clear();
            return;
        }
        if let (Some(first), Some(step)) = (self.row.front(), next.step)
            && self.row.len() == ROW
        {
            self.steps.add(step);
            self.distances.add(next.distance);
            self.rows.add(next.expires - *first);
            self.row.pop_front();
        }
        self.row.push_back(next.expires);
    }

    /// Counts a step that two sleeps in a row had: a late thread may leave out as many periods twice.
    fn repeated(&mut self, step: Ns) {
        self.usual_step = match self.usual_step {
            Some((usual, times)) if size(step - usual) <= SAME_STEP => Some((usual, times + 1)),
            Some((usual, times)) if times > 1 => Some((usual, times - 1)),
            _ => Some((step, 1)),
        };
    }

    /// True of a step over whole periods: what lets the thread go on at even distances, as the refills of a quota do, may make its sleeps
    /// alike all the same.
    fn leaves_out(&self, step: Ns) -> bool {
        let Some((usual, _)) = self.usual_step.filter(|(usual, _)| *usual > SAME_STEP) else { return false };
        let periods = (step.0 + usual.0 / 2) / usual.0;
        periods > 1 && size(step - Ns(usual.0 * periods)) <= SAME_STEP
    }

    /// True for a thread whose timers end more than half of its sleeps. A timeout that hardly ever comes is no period: a server
    /// waits for requests. What ends the calls that sleep is the timer, unless it is a signal.
    fn is_paced(&self) -> bool {
        let by_kind = self.relative_calls + self.absolute_calls;
        self.compared == 0 || self.expired.max(by_kind).saturating_mul(2) > self.compared
    }

    /// True where the expiries of its sleeps were seen; without them only the kind of its calls is known.
    pub(crate) fn shows_expiries(&self) -> bool {
        self.compared > 0
    }

    /// True when a late period makes the later ones late: the thread sleeps relative to now. `None` when that cannot be
    /// told.
    pub(crate) fn drifts(&self) -> Option<bool> {
        if !self.is_paced() {
            return None;
        }
        if self.makes_up_now_and_then() || self.keeps_steps() {
            return Some(false);
        }
        let periodic = self.same_distance * 5 >= self.compared * 4;
        let told = self.kept + self.made_up_for;
        let kept = (told >= ENOUGH_CHANGES).then(|| f64::from(self.kept) / f64::from(told));
        // Where the work hardly varies, steps are alike without any plan.
        if periodic && (kept.is_some_and(|share| share > MOSTLY_KEPT) || self.varies_by_work()) {
            return Some(true);
        }
        let same_steps = self.compared >= 10 && self.same_step * 2 > self.compared;
        if same_steps || kept.is_some_and(|share| share < 0.5) {
            return Some(false);
        }
        if self.rows.count >= ENOUGH_ROWS && self.steps.sum_of_squares > 0.0 {
            let as_many = ROW as f64 * self.steps.sum_of_squares;
            if self.rows.sum_of_squares / as_many < MADE_UP_FOR {
                return Some(false);
            }
        }
        let calls = self.relative_calls + self.absolute_calls;
        let relative = self.relative_calls > 4 * self.absolute_calls;
        (calls >= ENOUGH_CALLS && (periodic || !relative)).then_some(relative)
    }

    /// True of a thread whose work hardly varies, and each of whose steps is longer by what varies of it: it sleeps for a time, or until an
    /// instant that it computes from now.
    fn varies_by_work(&self) -> bool {
        self.distances.count >= ENOUGH_ROWS && self.steps.varies_more_than(&self.distances)
    }

    /// True of the opposite: its steps are planned, whatever single ones are, as where it skips periods.
    fn keeps_steps(&self) -> bool {
        self.steps.count >= ENOUGH_ROWS && self.distances.varies_more_than(&self.steps)
    }

    /// True where most sleeps are as long as usual, and most of the others shorter by as much as the responses between them.
    fn makes_up_now_and_then(&self) -> bool {
        self.same_distance * 2 > self.compared
            && self.settled >= ENOUGH_SHORTER
            && self.settled * 2 > self.shorter
    }
}

/// Without its sign.
fn size(difference: Ns) -> Ns {
    Ns(difference.0.saturating_abs())
}

/// How much some lengths vary (Welford's method).
#[derive(Clone, Copy, Debug, Default)]
struct Variance {
    count: u32,
    mean: f64,
    sum_of_squares: f64,
}

impl Variance {
    /// Of as many lengths.
    fn varies_more_than(&self, other: &Variance) -> bool {
        self.sum_of_squares > BY_WORK * other.sum_of_squares
    }

    fn add(&mut self, length: Ns) {
        let length = length.0 as f64;
        self.count += 1;
        let from_old_mean = length - self.mean;
        self.mean += from_old_mean / f64::from(self.count);
        self.sum_of_squares += from_old_mean * (length - self.mean);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PERIOD: i64 = 10_000_000;

    /// A thread that works for `response(n)` in its n-th period, and then sleeps until `wake(n, now, expiry before)`.
    fn pacing(response: impl Fn(i64) -> i64, wake: impl Fn(i64, i64, i64) -> i64) -> Pacing {
        let mut pacing = Pacing::default();
        let mut expiry = 0;
        for n in 0..40 {
            let now = expiry + response(n);
            expiry = wake(n, now, expiry);
            pacing.program(Ns(now), Ns(expiry));
            pacing.expire(Ns(expiry));
        }
        pacing
    }

    /// Some microseconds that no rule foresees.
    fn jitter(n: i64) -> i64 {
        (n * n * 7919 + n * 104_729) % 1_500
    }

    fn varied(n: i64) -> i64 {
        300_000 + (n * n * 7919) % 400_000
    }

    fn nearly_constant(n: i64) -> i64 {
        24_000 + jitter(n)
    }

    #[test]
    fn the_expiries_tell_which_thread_drifts() {
        for response in [varied, nearly_constant] {
            let absolute = pacing(response, |_, _, last| last + PERIOD);
            assert_eq!(absolute.drifts(), Some(false));
        }
        // Python: until an instant computed from now. A call of another kind changes nothing.
        let mut python = pacing(varied, |n, now, _| now + PERIOD + jitter(n));
        assert_eq!(python.drifts(), Some(true));
        python.absolute_calls = 40;
        assert_eq!(python.drifts(), Some(true));
        // jackd: for a while, which is shortened by the response and rounded to a microsecond.
        for response in [varied, nearly_constant] {
            let mut jackd = pacing(response, |n, now, last| {
                let rest = last / PERIOD * PERIOD + PERIOD - now;
                now + rest / 1_000 * 1_000 + 1_500 + jitter(n) / 2
            });
            jackd.relative_calls = 40;
            assert_eq!(jackd.drifts(), Some(false));
        }
    }

    #[test]
    fn what_is_made_up_for_one_sleep_later_is_no_drift() {
        let usual = 45_000;
        let response = |n: i64| if n % 3 == 0 { usual + 11_000 } else { usual } + jitter(n) / 3;
        let late = |n: i64| response(n) - usual;
        let mut jackd = pacing(response, |n, now, _| now + PERIOD - usual - late(n - 1));
        jackd.relative_calls = 40;
        assert_eq!(jackd.drifts(), Some(false));
    }

    #[test]
    fn calls_tell_where_the_response_never_changes() {
        let mut pacing = pacing(|_| 24_000, |n, now, _| now + PERIOD + (n * n * 7919) % 4_000);
        assert_eq!(pacing.drifts(), None);
        pacing.relative_calls = 40;
        assert_eq!(pacing.drifts(), Some(true));
    }

    #[test]
    fn an_instant_computed_from_now_shows_where_the_response_hardly_varies() {
        let from_now = |n: i64, now: i64, _| now + PERIOD + jitter(n) / 20;
        let mut pacing = pacing(|n| 2_520_000 + 2 * jitter(n * 3), from_now);
        pacing.absolute_calls = 40;
        assert_eq!(pacing.drifts(), Some(true));
    }

    /// A program that is late now and then, and sleeps on until the next start of its plan.
    #[test]
    fn planned_steps_show_where_many_periods_are_skipped() {
        let work = |n: i64| if n % 8 == 0 { 3 * PERIOD + 100_000 } else { 30_000 + 4 * jitter(n) };
        let plan = |_, now: i64, last: i64| last + ((now - last) / PERIOD + 1) * PERIOD;
        assert_eq!(pacing(work, plan).drifts(), Some(false));
    }

    /// An event loop that once has another timer to look after.
    #[test]
    fn a_quota_that_ends_late_periods_at_even_distances_makes_no_drift() {
        let late = |n: i64| if n % 5 == 4 { PERIOD * (1 + n % 2) } else { 0 };
        let response = |n: i64| 2_200_000 + late(n) + jitter(n) / 2;
        let absolute = pacing(response, |_, now, _| (now / PERIOD + 1) * PERIOD);
        assert_eq!(absolute.drifts(), Some(false));
        // One that counts from now is later by the same.
        let python = pacing(response, |n, now, _| now + PERIOD - 2_200_000 + jitter(n));
        assert_eq!(python.drifts(), Some(true));
    }

    #[test]
    fn a_change_that_looks_made_up_for_is_one_of_many() {
        let work = |n: i64| 3_000_000 + if n % 6 == 0 { 9_000 } else { 0 } + jitter(n) / 10;
        let once = |n: i64, now: i64, _| now + PERIOD - if n == 18 { 9_000 } else { 0 };
        let pacing = pacing(work, once);
        assert!(pacing.made_up_for > 0, "{pacing:?}");
        assert_eq!(pacing.drifts(), Some(true));
    }

    #[test]
    fn sleeps_of_all_lengths_are_no_period() {
        let mut erratic = pacing(varied, |n, now, _| now + PERIOD + (n * n * 31) % 9 * 1_000_000);
        assert_eq!(erratic.drifts(), None);
        erratic.relative_calls = 40;
        assert_eq!(erratic.drifts(), None);
    }

    #[test]
    fn steps_that_are_alike_by_the_work_are_no_plan() {
        let work = |n: i64| 2_650_000 + if n % 4 == 0 { 9_000 } else { 0 };
        assert_eq!(pacing(work, |_, now, _| now + PERIOD).drifts(), Some(true));
        assert_eq!(pacing(work, |_, _, last| last + PERIOD).drifts(), Some(false));
    }

    /// asyncio: for whole milliseconds, until the next one after an instant that moves by a constant.
    #[test]
    fn whole_milliseconds_are_made_up_for_now_and_then() {
        const MS: i64 = 1_000_000;
        let asyncio = |response: fn(i64) -> i64| {
            let mut asyncio = pacing(response, |n, now, _| {
                let rest = (n + 1) * PERIOD - now;
                now + (rest + MS - 1) / MS * MS + jitter(n)
            });
            asyncio.relative_calls = 40;
            asyncio.drifts()
        };
        assert_eq!(asyncio(|n| 130_000 + jitter(n)), Some(false));
        // Once a packet comes first.
        assert_eq!(asyncio(|n| if n == 12 { -3_000_000 } else { 160_000 + jitter(n) }), Some(false));
        // Nearly every second sleep is shorter.
        assert_ne!(asyncio(|n| 400_000 + 20 * jitter(n)), Some(true));
    }

    /// A thread that runs at some ticks of its CPU alone for a while, as where the CPU's owner gives it no other time: at even distances to
    /// its plan.
    #[test]
    fn steps_over_whole_periods_do_not_vary_by_work() {
        let late = |n: i64| if n > 18 { [3, 3, 3, 4][n as usize % 4] * PERIOD } else { 0 };
        let response = |n: i64| 20_000 + late(n) + jitter(n) / 2;
        let plan = |_, now: i64, _| (now / PERIOD + 1) * PERIOD;
        assert_eq!(pacing(response, plan).drifts(), Some(false));
    }

    #[test]
    fn skipped_periods_are_made_up_for() {
        let overruns = pacing(
            |n| if n % 5 == 0 { 12_500_000 } else { 100_000 },
            |_, now, last| last + ((now - last) / PERIOD + 1) * PERIOD,
        );
        assert_eq!(overruns.drifts(), Some(false));
    }
}
