//! What describes a recording: threads' names, the clock, the machine, and how many events were lost.

use super::{Index, MOST_CPUS, MOST_NAMES};
use crate::perfetto::wire::fields;
use whylate_base::{Comm, Tid};

impl Index {
    /// Takes up a `ProcessTree` (2), `ClockSnapshot` (6), `FtraceStats` (34) or `SystemInfo` (45).
    pub(super) fn describe(&mut self, number: u32, bytes: &[u8]) {
        match number {
            2 => {
                for field in fields(bytes).filter(|field| field.number == 2) {
                    self.thread(field.bytes(bytes).unwrap_or_default());
                }
            }
            6 => self.monotonic = Some(self.monotonic.unwrap_or(true) && is_monotonic(bytes)),
            34 => self.stats(bytes),
            _ => self.system(bytes),
        }
    }

    fn system(&mut self, bytes: &[u8]) {
        for field in fields(bytes) {
            match (field.number, field.bytes(bytes)) {
                (1, Some(utsname)) => {
                    for field in fields(utsname) {
                        let text =
                            field.bytes(utsname).map(|text| String::from_utf8_lossy(text).into_owned());
                        match field.number {
                            3 => self.release = text,
                            4 => self.machine = text,
                            _ => {}
                        }
                    }
                }
                (8, None) => self.cpus = field.int().unwrap_or(0).min(MOST_CPUS) as u32,
                _ => {}
            }
        }
    }

    fn thread(&mut self, bytes: &[u8]) {
        let (mut tid, mut comm) = (None, Comm::default());
        for field in fields(bytes) {
            match field.number {
                1 => tid = field.int().map(|tid| Tid(tid as i32)),
                2 => comm = Comm::from_bytes(field.bytes(bytes).unwrap_or_default()),
                _ => {}
            }
        }
        if let Some(tid) = tid.filter(|_| !comm.is_empty() && self.comms.len() < MOST_NAMES) {
            self.comms.insert(tid, comm);
        }
    }

    fn stats(&mut self, bytes: &[u8]) {
        let phase = fields(bytes).find(|field| field.number == 1).and_then(|field| field.int());
        let slot = match phase {
            Some(1) => 0,
            Some(2) => 1,
            _ => return,
        };
        for cpu in fields(bytes).filter(|field| field.number == 2) {
            let cpu = cpu.bytes(bytes).unwrap_or_default();
            let (mut number, mut lost) = (0, 0u64);
            for field in fields(cpu) {
                match field.number {
                    1 => number = field.int().unwrap_or(0),
                    // overrun, commit_overrun, dropped_events
                    3 | 4 | 8 => lost = lost.saturating_add(field.int().unwrap_or(0)),
                    _ => {}
                }
            }
            if number < MOST_CPUS
                && let Some(slot) = self.losses.entry(number).or_default().get_mut(slot)
            {
                *slot = Some(lost);
            }
        }
    }
}

/// True for a `ClockSnapshot` that puts the trace in monotonic time, with boot time, in which bundles are taken to
/// be, not a nanosecond from it. `FtraceClock` has no name for the clock `mono`, so this is how it is stored; of a
/// running machine two clocks are never read at once.
fn is_monotonic(snapshot: &[u8]) -> bool {
    const MONOTONIC: u64 = 3;
    const BOOTTIME: u64 = 6;
    let (mut primary, mut monotonic, mut boot) = (None, None, None);
    for field in fields(snapshot) {
        match (field.number, field.bytes(snapshot)) {
            (1, Some(clock)) => {
                let of = |number| fields(clock).find(|field| field.number == number)?.int();
                match of(1) {
                    Some(MONOTONIC) => monotonic = of(2),
                    Some(BOOTTIME) => boot = of(2),
                    _ => {}
                }
            }
            (2, None) => primary = field.int(),
            _ => {}
        }
    }
    primary == Some(MONOTONIC) && monotonic.is_some() && monotonic == boot
}
