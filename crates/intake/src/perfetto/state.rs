//! What the bits of `prev_state` mean. A Perfetto trace has no print formats to read it from, only the
//! kernel's release (`TASK_REPORT_MAX` and the letters in `include/linux/sched.h`, `fs/proc/array.c`).

use whylate_events::TaskState;

/// The bits of one kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct StateBits {
    /// The mark of a thread that was taken off while it wanted to run.
    preempted: u64,
    dead: u64,
    idle: u64,
    /// 4.2 to 4.13: does not count as load; with `D` an idle kernel thread.
    no_load: u64,
}

const INTERRUPTIBLE: u64 = 1;
const UNINTERRUPTIBLE: u64 = 2;
const STOPPED: u64 = 4;
const TRACED: u64 = 8;

impl StateBits {
    /// Of a kernel by `uname -r`; without it, of one of the last years.
    pub(super) fn of_release(release: Option<&str>) -> StateBits {
        let mut numbers = release.unwrap_or_default().split(|c: char| !c.is_ascii_digit());
        let mut number = || numbers.next().and_then(|number| number.parse::<u32>().ok());
        let version = number().zip(number()).unwrap_or((u32::MAX, 0));
        let old = |preempted, no_load| StateBits { preempted, dead: 16 | 32 | 64, idle: 0, no_load };
        match version {
            (4, 14..) | (5.., _) => StateBits { preempted: 256, dead: 16 | 32, idle: 128, no_load: 0 },
            (4, 8..) => old(4096, 1024),
            (4, 2..) => old(2048, 1024),
            _ => old(1024, 0),
        }
    }

    #[inline]
    pub(super) fn of(self, state: i64) -> TaskState {
        let any = |bits: u64| state as u64 & bits != 0;
        if any(self.preempted) {
            TaskState::Preempted
        } else if state as u64 & (self.preempted - 1) == 0 {
            // Bits above the mark show how it waits, not that it does.
            TaskState::Runnable
        } else if any(self.dead) {
            TaskState::Dead
        } else if any(self.idle) || any(UNINTERRUPTIBLE) && any(self.no_load) {
            TaskState::Idle
        } else if any(UNINTERRUPTIBLE) {
            TaskState::Uninterruptible
        } else if any(INTERRUPTIBLE) {
            TaskState::Interruptible
        } else if any(STOPPED) {
            TaskState::Stopped
        } else if any(TRACED) {
            TaskState::Traced
        } else {
            TaskState::Other
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use TaskState::*;

    #[test]
    fn each_kernels_own_bits() {
        for (release, state, expected) in [
            (None, 0, Runnable),
            (None, 256, Preempted),
            (Some("6.1.0-18-rt-amd64"), 1, Interruptible),
            (Some("6.1.0"), 2, Uninterruptible),
            (Some("4.14.7"), 128, Idle),
            (Some("5.10"), 0x2000, Runnable),
            (Some("5.10"), 32, Dead),
            (Some("5.10"), 4, Stopped),
            (Some("5.10"), 8, Traced),
            (Some("5.10"), 64, Other),
            (Some("4.9.1"), 4096, Preempted),
            (Some("4.9.1"), 1026, Idle),
            (Some("4.4"), 2048, Preempted),
            (Some("3.18.0"), 1024, Preempted),
            (Some("3.18.0"), 64, Dead),
            (Some("3.18.0"), 128, Other),
        ] {
            assert_eq!(StateBits::of_release(release).of(state), expected, "{state} in {release:?}");
        }
    }
}
