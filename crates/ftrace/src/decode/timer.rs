//! The `timer` events (`include/trace/events/timer.h`).

use super::field::{Int, Lookup};
use crate::bytes::Endian;
use crate::symbols::SymbolCache;
use whylate_base::Ns;
use whylate_events::{EventKind, HrtimerExpiry, HrtimerStart, Kind, Symbol};

#[derive(Debug)]
pub(super) enum Timer {
    Start { hrtimer: Int, function: Option<Int>, expires: Int, softexpires: Int },
    Cancel { hrtimer: Int },
    Expire { hrtimer: Int, function: Option<Int>, now: Int },
    ExpireExit { hrtimer: Int },
    WheelExpire { timer: Int, function: Option<Int> },
    WheelExpireExit { timer: Int },
}

pub(super) fn compile(f: &mut Lookup<'_>) -> Option<(Kind, Timer)> {
    Some(match f.format.name.as_str() {
        "hrtimer_start" => {
            let (hrtimer, function) = (f.int("hrtimer")?, f.int("function"));
            let (expires, softexpires) = (f.int("expires")?, f.int("softexpires")?);
            (Kind::HrtimerStart, Timer::Start { hrtimer, function, expires, softexpires })
        }
        "hrtimer_cancel" => (Kind::HrtimerStart, Timer::Cancel { hrtimer: f.int("hrtimer")? }),
        "hrtimer_expire_entry" => {
            let (hrtimer, function) = (f.int("hrtimer")?, f.int("function"));
            (Kind::HrtimerExpire, Timer::Expire { hrtimer, function, now: f.int("now")? })
        }
        "hrtimer_expire_exit" => (Kind::HrtimerExpire, Timer::ExpireExit { hrtimer: f.int("hrtimer")? }),
        "timer_expire_entry" => {
            (Kind::TimerExpire, Timer::WheelExpire { timer: f.int("timer")?, function: f.int("function") })
        }
        "timer_expire_exit" => (Kind::TimerExpire, Timer::WheelExpireExit { timer: f.int("timer")? }),
        _ => return None,
    })
}

#[inline]
fn name(function: Option<Int>, e: Endian, r: &[u8], names: &mut SymbolCache) -> Symbol {
    match function.and_then(|function| function.read(e, r)) {
        Some(address) => names.name(address as u64),
        None => Symbol::default(),
    }
}

impl Timer {
    #[inline(always)]
    pub(super) fn decode(&self, e: Endian, r: &[u8], names: &mut SymbolCache) -> Option<EventKind> {
        Some(match *self {
            Timer::Start { hrtimer, function, expires, softexpires } => {
                EventKind::HrtimerStart(HrtimerStart {
                    hrtimer: hrtimer.read(e, r)? as u64,
                    function: name(function, e, r, names),
                    expires: Ns(expires.read(e, r)?),
                    softexpires: Ns(softexpires.read(e, r)?),
                })
            }
            Timer::Cancel { hrtimer } => EventKind::HrtimerCancel { hrtimer: hrtimer.read(e, r)? as u64 },
            Timer::Expire { hrtimer, function, now } => EventKind::HrtimerExpire(HrtimerExpiry {
                hrtimer: hrtimer.read(e, r)? as u64,
                function: name(function, e, r, names),
                now: Ns(now.read(e, r)?),
            }),
            Timer::ExpireExit { hrtimer } => {
                EventKind::HrtimerExpireExit { hrtimer: hrtimer.read(e, r)? as u64 }
            }
            Timer::WheelExpire { timer, function } => EventKind::TimerExpire {
                timer: timer.read(e, r)? as u64,
                function: name(function, e, r, names),
            },
            Timer::WheelExpireExit { timer } => {
                EventKind::TimerExpireExit { timer: timer.read(e, r)? as u64 }
            }
        })
    }
}
