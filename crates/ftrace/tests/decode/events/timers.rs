//! Timers of both kinds: armed, cancelled, expired.

use crate::Case;
use crate::common::Value::Int;
use whylate_base::Ns;
use whylate_events::{EventKind, HrtimerExpiry, HrtimerStart};

pub(super) fn cases() -> Vec<Case> {
    vec![
        (
            "timer",
            "hrtimer_start",
            &["void * hrtimer", "void * function", "s64 expires", "s64 softexpires", "int mode"],
            &[
                ("hrtimer", Int(0xc100_2000)),
                ("function", Int(0xc000_0100)),
                ("expires", Int(1 << 40)),
                ("softexpires", Int(-5)),
            ],
            EventKind::HrtimerStart(HrtimerStart {
                hrtimer: 0xc100_2000,
                function: "hrtimer_wakeup".into(),
                expires: Ns(1 << 40),
                softexpires: Ns(-5),
            }),
        ),
        (
            "timer",
            "hrtimer_cancel",
            &["void * hrtimer"],
            &[("hrtimer", Int(6))],
            EventKind::HrtimerCancel { hrtimer: 6 },
        ),
        (
            "timer",
            "hrtimer_expire_entry",
            &["void * hrtimer", "s64 now", "void * function"],
            &[("hrtimer", Int(6)), ("now", Int(1 << 50)), ("function", Int(0xc000_0204))],
            EventKind::HrtimerExpire(HrtimerExpiry {
                hrtimer: 6,
                function: "process_timeout".into(),
                now: Ns(1 << 50),
            }),
        ),
        (
            "timer",
            "hrtimer_expire_exit",
            &["void * hrtimer"],
            &[("hrtimer", Int(6))],
            EventKind::HrtimerExpireExit { hrtimer: 6 },
        ),
        (
            "timer",
            "timer_expire_entry",
            &["void * timer", "unsigned long now", "void * function"],
            &[("timer", Int(6)), ("function", Int(0xc000_0210))],
            EventKind::TimerExpire { timer: 6, function: "process_timeout".into() },
        ),
        (
            "timer",
            "timer_expire_exit",
            &["void * timer"],
            &[("timer", Int(6))],
            EventKind::TimerExpireExit { timer: 6 },
        ),
    ]
}
