//! What timers show of the kernel: its tick, and the period of real-time bandwidth.

use rustc_hash::FxHashMap;
use whylate_base::{Cpu, Ns};
use whylate_events::HrtimerExpiry;

/// The ticks that kernels are built with (`CONFIG_HZ`).
const TICKS: [Ns; 4] = [Ns(10_000_000), Ns(4_000_000), Ns(3_333_333), Ns(1_000_000)];

/// The kernel's own timers in a recording.
#[derive(Debug, Default)]
pub(super) struct KernelTimers {
    last_ticks: FxHashMap<Cpu, Ns>,
    shortest: Option<Ns>,
    a_tick: Option<Ns>,
    rt_period: Option<Ns>,
    goes_on: Option<Ns>,
    /// Timers whose function is known, and whether one of them is that of a deadline server or reservation.
    named: u32,
    has_deadline_timer: bool,
}

/// The default of `kernel.sched_rt_period_us`; another one finds the first expiry.
const RT_PERIOD: Ns = Ns::from_secs(1);
/// So many timers without one of a server: the servers are off.
const ENOUGH_TIMERS: u32 = 100;

impl KernelTimers {
    pub(super) fn armed(&mut self, function: &str) {
        self.named =
            self.named.saturating_add(u32::from(!function.is_empty() && !function.starts_with("0x")));
        self.has_deadline_timer |= function.starts_with("dl_task_timer");
    }

    /// Real-time threads go on after they were passed over.
    pub(super) fn goes_on(&mut self, at: Ns) {
        self.goes_on.get_or_insert(at);
    }

    /// An instant at which a period of real-time bandwidth ends.
    pub(super) fn rt_period_end(&self) -> Option<Ns> {
        self.rt_period.or(self.goes_on)
    }

    /// True where no fair server is armed although timers are recorded: it is off.
    pub(super) fn show_no_server(&self) -> bool {
        self.named >= ENOUGH_TIMERS && !self.has_deadline_timer
    }

    pub(super) fn expired(&mut self, at: Ns, cpu: Cpu, expiry: &HrtimerExpiry) {
        let function = expiry.function.as_str();
        if function.starts_with("tick_") {
            if let Some(last) = self.last_ticks.insert(cpu, at) {
                let gap = at - last;
                if gap > Ns::from_us(500) && self.shortest.is_none_or(|shortest| gap < shortest) {
                    self.shortest = Some(gap);
                    self.a_tick = Some(at);
                }
            }
        } else if function.starts_with("sched_rt_period_timer") {
            // The one that was handled the soonest after its expiry.
            let is_sooner = |before: Ns| (at - before).0.rem_euclid(RT_PERIOD.0) > RT_PERIOD.0 / 2;
            if self.rt_period.is_none_or(is_sooner) {
                self.rt_period = Some(at);
            }
        }
    }

    /// The tick's length, and when the first one is, from the beginning of the recording.
    pub(super) fn tick(&self, start: Ns) -> Option<(Ns, Ns)> {
        let (gap, at) = (self.shortest?, self.a_tick?);
        let tick = TICKS.into_iter().min_by_key(|tick| (tick.0 - gap.0).abs())?;
        Some((tick, Ns((at - start).0.rem_euclid(tick.0))))
    }
}
