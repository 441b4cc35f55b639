//! Whether the clock runs faster than the hardware by which a CPU's timers come: as long as `adjtimex(2)` slews it.
//!
//! The kernel programs its timer hardware with the nominal rate (`clockevents_program_event()`, `kernel/time/clockevents.c`). By a
//! clock that runs fast the interrupt then comes late, by the same share of the time since the hardware was programmed. chronyd,
//! ntpd and phc2sys slew it by up to a tenth. Where the CPU is taken away, lateness has nothing to do with that time.
//!
//! ```text
//! programmed        due    handled
//!     |-------------|---|              a long one:  late by 8 %
//!     |-----|-|                        a short one: late by 8 %
//! ```

use std::collections::VecDeque;
use whylate_base::Ns;

/// Timers of a shorter time show nothing: interrupts take some microseconds.
const SHORTEST: Ns = Ns::from_us(200);
/// The kernel's ticks may be stretched by a tenth (`do_adjtimex()`), and its frequency by half a thousandth beside that.
const FASTEST: f64 = 0.11;
/// A slower slew delays no timer notably.
const SLOWEST: f64 = 0.005;
/// What else may delay a timer: so long, and so much of what the slew does.
const ELSE: f64 = 5_000.0;
const ELSE_SHARE: f64 = 0.125;
/// Its timers may be of several clocks, each of which it reads.
pub(crate) const ONE_INTERRUPT: Ns = Ns::from_us(20);
/// So many of the last timers show a slew.
const MATCHING: usize = 5;
const LAST: usize = 8;
/// One of them may have had the hardware programmed later than is seen.
const ON_TIME: usize = 1;
/// By so much the lateness of the one differs from that of another: what always takes as long is no slew.
const SPREAD: Ns = Ns::from_us(40);
/// After so many timers since the clock was adjusted it is known whether that is a slew, and after a few that are in time.
const UNDECIDED: u8 = 12;

/// A scheduler stops its own timer at most switches (`hrtick`).
const REMOVED: usize = 4;
const NEVER: Ns = Ns(i64::MIN);

/// A clock that runs faster than the timer hardware.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Slew {
    /// By which share.
    pub(crate) rate: f64,
    /// Several timers of different lengths show it. Otherwise this one may have been late for another reason.
    pub(crate) is_shown: bool,
}

/// The last timers of a CPU.
#[derive(Debug)]
pub(crate) struct SlewJudge {
    last: VecDeque<Sample>,
    /// When the clock was last seen to be adjusted.
    adjusted: Ns,
    /// How many timers more do not show whether it is slewed since.
    undecided: u8,
    /// The last timers that were stopped before they expired: when, and when they were due.
    removed: [(Ns, Ns); REMOVED],
    /// When the last two interrupts with expired timers came.
    interrupts: [Ns; 2],
}

/// A timer that expires in an interrupt.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Expired {
    /// When it was armed and when it was due, on the trace clock.
    pub(crate) armed: Ns,
    pub(crate) due: Ns,
    /// By how much it came too late by its own clock.
    pub(crate) late: Ns,
}

/// The same, and when the hardware was programmed for it.
#[derive(Clone, Copy, Debug)]
struct Sample {
    read: Ns,
    programmed: Ns,
    wait: Ns,
    late: Ns,
}

impl Default for SlewJudge {
    fn default() -> SlewJudge {
        SlewJudge {
            last: VecDeque::new(),
            adjusted: NEVER,
            undecided: 0,
            removed: [(NEVER, NEVER); REMOVED],
            interrupts: [NEVER; 2],
        }
    }
}

impl SlewJudge {
    /// An interrupt looked for expired timers, or left them to a softirq that does so now.
    pub(crate) fn looks(&mut self, read: Ns) {
        if read - self.interrupts[0] > ONE_INTERRUPT {
            self.interrupts = [read, self.interrupts[0]];
        }
    }

    /// A timer is stopped that was due later.
    pub(crate) fn removes(&mut self, at: Ns, due: Ns) {
        if at < due {
            self.removed.rotate_right(1);
            self.removed[0] = (at, due);
        }
    }

    /// A timer expires. Returns the slew to which its lateness can be put down; `adjusted`: when a program adjusted the clock last.
    pub(crate) fn expires(&mut self, timer: Expired, adjusted: Ns) -> Option<Slew> {
        let Expired { armed, due, late } = timer;
        if adjusted > self.adjusted {
            self.adjusted = adjusted;
            self.undecided = UNDECIDED;
        }
        let programmed = self.programmed(armed, due);
        let sample = Sample { read: self.interrupts[0], programmed, wait: due - programmed, late };
        if sample.wait < SHORTEST {
            return None;
        }
        match self.last.back_mut().filter(|last| last.read == sample.read) {
            // The interrupt came for the one that was due first.
            Some(last) if last.late >= late => {}
            Some(last) => *last = sample,
            None => {
                if self.last.len() == LAST {
                    self.last.pop_front();
                }
                self.last.push_back(sample);
                self.undecided = self.undecided.saturating_sub(1);
            }
        }
        self.judge(*self.last.back()?)
    }

    /// When the hardware was programmed for a timer: when that was armed, at the end of the interrupt before, or when a timer was
    /// stopped that was due earlier.
    fn programmed(&self, armed: Ns, due: Ns) -> Ns {
        let earlier = self.removed.iter().find(|removed| removed.1 <= due).map_or(NEVER, |removed| removed.0);
        armed.max(self.interrupts[1]).max(earlier)
    }

    fn judge(&mut self, sample: Sample) -> Option<Slew> {
        let is_slew = |rate: &f64| (SLOWEST..=FASTEST).contains(rate);
        if sample.programmed >= self.adjusted && !is_slew(&sample.rate()) {
            self.undecided = self.undecided.saturating_sub(UNDECIDED / 3);
        }
        if let Some(rate) = self.shown().filter(is_slew) {
            return match sample.is_of(rate) {
                true => Some(Slew { rate, is_shown: true }),
                // The hardware may have been programmed later, which no event shows.
                false => sample
                    .is_within(rate)
                    .then(|| Slew { rate: sample.rate(), is_shown: false })
                    .filter(|slew| is_slew(&slew.rate)),
            };
        }
        let rate = Some(sample.rate()).filter(is_slew).filter(|_| self.undecided > 0)?;
        let since = || self.last.iter().filter(|other| other.programmed >= self.adjusted);
        let alike = since().filter(|other| other.is_of(rate)).count();
        (since().count() == 0 || alike * 2 > since().count()).then_some(Slew { rate, is_shown: false })
    }

    /// The rate by which most of the last timers were late.
    fn shown(&self) -> Option<f64> {
        if self.last.len() < MATCHING {
            return None;
        }
        let mut rates: Vec<f64> = self.last.iter().map(Sample::rate).collect();
        rates.sort_unstable_by(f64::total_cmp);
        let rate = rates[rates.len() / 2];
        let matching = || self.last.iter().filter(|sample| sample.is_of(rate)).map(|sample| sample.late);
        let spread = matching().max()? - matching().min()?;
        let on_time = self.last.iter().filter(|sample| sample.is_on_time(rate)).count();
        (matching().count() >= MATCHING && on_time <= ON_TIME && spread >= SPREAD).then_some(rate)
    }
}

impl Sample {
    fn rate(&self) -> f64 {
        self.late.0 as f64 / self.wait.0 as f64
    }

    fn is_of(&self, rate: f64) -> bool {
        let expected = rate * self.wait.0 as f64;
        (self.late.0 as f64 - expected).abs() <= ELSE + expected * ELSE_SHARE
    }

    fn is_within(&self, rate: f64) -> bool {
        let expected = rate * self.wait.0 as f64;
        self.late.0 as f64 <= ELSE + expected * (1.0 + ELSE_SHARE)
    }

    /// True of one that should have been late by that rate, and was not.
    fn is_on_time(&self, rate: f64) -> bool {
        !self.is_of(rate) && self.late.0 as f64 * 4.0 < rate * self.wait.0 as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A timer expires that is programmed at an instant, with its wait and lateness, in microseconds.
    fn expires(judge: &mut SlewJudge, (at, wait, late): (i64, i64, i64), adjusted: Ns) -> Option<Slew> {
        let us = Ns::from_us;
        judge.looks(us(at + wait + late));
        judge.expires(Expired { armed: us(at), due: us(at + wait), late: us(late) }, adjusted)
    }

    /// What is found of the last of timers with these waits and lateness.
    fn last(timers: &[(i64, i64)]) -> Option<Slew> {
        let mut judge = SlewJudge::default();
        let mut at = 0;
        let mut found = None;
        for &(wait, late) in timers {
            found = expires(&mut judge, (at, wait, late), NEVER);
            at += wait + late + 10;
        }
        found
    }

    #[test]
    fn lateness_by_the_same_share_of_different_waits_is_a_slew() {
        let slewed = [(2_000, 162), (500, 42), (1_500, 122), (900, 74), (2_400, 193)];
        let slew = last(&slewed).expect("a slew");
        assert!(slew.is_shown && (0.08..0.085).contains(&slew.rate), "{slew:?}");
        let others: [&[(i64, i64)]; 4] = [
            // Not enough of them.
            &slewed[..4],
            // Always as long.
            &[(2_000, 120), (1_900, 120), (2_100, 120), (2_000, 120), (2_050, 120), (2_000, 120)],
            // Sleeps in between that are right on time.
            &[(2_000, 162), (500, 2), (1_500, 122), (900, 3), (2_400, 193), (2_000, 162)],
            // More than any adjustment does.
            &[(2_000, 400), (500, 100), (1_500, 300), (900, 180), (2_400, 480)],
        ];
        for timers in others {
            assert_eq!(last(timers), None, "{timers:?}");
        }
        let and_taken_away = [&slewed[..], &[(2_000, 900)]].concat();
        assert_eq!(last(&and_taken_away), None);
    }

    #[test]
    fn the_hardware_is_programmed_anew_where_an_earlier_timer_is_stopped() {
        let mut judge = SlewJudge::default();
        let us = Ns::from_us;
        judge.removes(us(300), us(900));
        judge.removes(us(400), us(5_000));
        judge.removes(us(2_000), us(1_500));
        assert_eq!(judge.programmed(us(100), us(1_000)), us(300));
        assert_eq!(judge.programmed(us(350), us(1_000)), us(350));
        assert_eq!(judge.programmed(us(100), us(6_000)), us(400));
        assert_eq!(judge.programmed(us(100), us(800)), us(100));
    }

    #[test]
    fn behind_an_adjustment_it_is_not_known_at_once() {
        let mut judge = SlewJudge::default();
        let mut expires = |at: i64, late: i64, adjusted: i64| {
            let slew = expires(&mut judge, (at, 1_000, late), Ns::from_us(adjusted));
            slew.map(|slew| slew.is_shown)
        };
        assert_eq!(expires(0, 2, -1), None);
        assert_eq!(expires(2_000, 80, -1), None, "the clock was right");
        assert_eq!(expires(3_400, 40, 3_500), Some(false), "programmed before");
        assert_eq!(expires(5_000, 80, 3_500), Some(false));
        assert_eq!(expires(7_000, 40, 3_500), None, "not by the same share");
    }
}
