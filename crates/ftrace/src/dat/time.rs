//! From the times in the ring buffer to nanoseconds of one clock, as a file's options define:
//!
//! ```text
//! recorded ── TIME_SHIFT: a guest's clock to its host's ── TSC2NSEC: ticks to ns ── DATE, OFFSET ──> shown
//! ```
//!
//! The order is that of `trace-cmd report`; `--raw-ts` there leaves all of it out.

use crate::bytes::Endian;
use std::sync::Arc;
use whylate_base::{Cpu, Ns};

/// A file's corrections of its times.
#[derive(Clone, Debug, Default)]
pub(super) struct Times {
    pub(super) sync: Option<Sync>,
    pub(super) tsc: Option<TscToNs>,
    /// Nanoseconds to add, DATE and OFFSET together.
    pub(super) offset: i64,
}

/// How one CPU's times are turned into nanoseconds.
#[derive(Clone, Debug)]
pub(super) struct CpuTimes {
    interpolate: bool,
    samples: Arc<[Sample]>,
    tsc: Option<TscToNs>,
    offset: i64,
}

/// The TIME_SHIFT option: a guest's clock, compared with its host's now and then.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Sync {
    /// The session id of the host's file.
    pub(super) peer: u64,
    /// Whether the offset changes steadily between two comparisons.
    interpolate: bool,
    cpus: Vec<Arc<[Sample]>>,
}

/// One comparison of the two clocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Sample {
    /// When it was made, on the guest's clock.
    time: i64,
    /// The guest's time times `scaling / 2^fraction`, plus this, is the host's.
    offset: i64,
    scaling: i64,
    fraction: u32,
}

/// The TSC2NSEC option: how to turn TSC ticks into nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TscToNs {
    multiplier: u32,
    shift: u32,
}

impl Times {
    /// The conversion for a CPU; `None` where its times are nanoseconds as they are.
    pub(super) fn of(&self, cpu: Cpu) -> Option<CpuTimes> {
        let sync = self.sync.as_ref();
        let samples = sync.and_then(|sync| sync.cpus.get(cpu.0 as usize)).cloned().unwrap_or_default();
        if samples.is_empty() && self.tsc.is_none() && self.offset == 0 {
            return None;
        }
        let interpolate = sync.is_some_and(|sync| sync.interpolate);
        Some(CpuTimes { interpolate, samples, tsc: self.tsc, offset: self.offset })
    }

    /// True when what is shown is not the trace clock's own time.
    pub(super) fn shifted(&self) -> bool {
        self.offset != 0 || self.sync.as_ref().is_some_and(|sync| sync.cpus.iter().any(|cpu| !cpu.is_empty()))
    }
}

impl CpuTimes {
    /// The instant of a recorded time.
    pub(super) fn ns(&self, recorded: u64) -> Ns {
        let host = self.on_host(recorded);
        let ns = match self.tsc {
            None => host,
            Some(tsc) => tsc.ns(host),
        };
        Ns((ns as i64).wrapping_add(self.offset))
    }

    fn on_host(&self, guest: u64) -> u64 {
        let (first, second) = match &*self.samples {
            [] => return guest,
            // trace-cmd does not scale by a single comparison, and files are made for it.
            [only] => return guest.wrapping_add_signed(only.offset),
            samples => {
                let behind = samples.partition_point(|sample| sample.time <= guest as i64);
                let at = behind.saturating_sub(1).min(samples.len() - 2);
                (samples[at], samples[at + 1])
            }
        };
        let offset = match i128::from(second.time) - i128::from(first.time) {
            1.. if self.interpolate => {
                let span = i128::from(second.time) - i128::from(first.time);
                let since = i128::from(guest as i64) - i128::from(first.time);
                let change = since.wrapping_mul(i128::from(second.offset) - i128::from(first.offset));
                first.offset.wrapping_add(((change + span / 2) / span) as i64)
            }
            _ => first.offset,
        };
        let scaled = (i128::from(guest).wrapping_mul(i128::from(first.scaling))) >> first.fraction.min(127);
        (scaled as u64).wrapping_add_signed(offset)
    }
}

impl Sync {
    /// Reads the option; `None` where it makes no sense.
    pub(super) fn parse(endian: Endian, data: &[u8]) -> Option<Sync> {
        const INTERPOLATE: u32 = 1;
        let (peer, flags) = (endian.u64(data, 0)?, endian.u32(data, 8)?);
        let cpus = data.get(12..)?;
        // trace-cmd 2.9 had no scaling yet.
        let cpus = samples(endian, cpus, true).or_else(|| samples(endian, cpus, false))?;
        Some(Sync { peer, interpolate: flags & INTERPOLATE != 0, cpus })
    }
}

/// `count u32 | for each CPU: count u32, times, offsets, scalings | for each CPU: fractions`,
/// all in 8 bytes, the fractions where the writer knew of them.
fn samples(endian: Endian, data: &[u8], scaled: bool) -> Option<Vec<Arc<[Sample]>>> {
    let columns = if scaled { 3 } else { 2 };
    let mut at = 4;
    let mut cpus: Vec<Vec<Sample>> = Vec::new();
    for _ in 0..endian.u32(data, 0)? {
        let count = endian.u32(data, at)? as usize;
        at += 4;
        let size = count.checked_mul(8 * columns)?;
        let table = data.get(at..)?.get(..size)?;
        at += size;
        let number = |column: usize, row: usize| endian.u64(table, (column * count + row) * 8);
        let sample = |row| {
            let scaling = if scaled { number(2, row)? as i64 } else { 1 };
            Some(Sample {
                time: number(0, row)? as i64,
                offset: number(1, row)? as i64,
                scaling,
                fraction: 0,
            })
        };
        cpus.push((0..count).map(sample).collect::<Option<_>>()?);
    }
    if at < data.len() && scaled {
        for sample in cpus.iter_mut().flatten() {
            sample.fraction = u32::try_from(endian.u64(data, at)?).ok()?;
            at += 8;
        }
    }
    if at != data.len() {
        return None;
    }
    Some(cpus.into_iter().map(in_order).collect())
}

/// By time, and one of each.
fn in_order(mut samples: Vec<Sample>) -> Arc<[Sample]> {
    samples.sort_by_key(|sample| sample.time);
    samples.dedup_by_key(|sample| sample.time);
    samples.into()
}

impl TscToNs {
    fn ns(self, ticks: u64) -> u64 {
        ((u128::from(ticks) * u128::from(self.multiplier)) >> self.shift.min(127)) as u64
    }

    /// Reads the option; `None` where ticks stay unchanged.
    pub(super) fn parse(endian: Endian, data: &[u8]) -> Option<TscToNs> {
        let (multiplier, shift) = (endian.u32(data, 0)?, endian.u32(data, 4)?);
        // An offset follows, which trace-cmd writes and does not use.
        endian.u64(data, 8)?;
        (multiplier != 0).then_some(TscToNs { multiplier, shift })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A TIME_SHIFT option of one CPU: times, offsets, scalings and fractions.
    fn option(flags: u32, rows: &[(i64, i64, i64, i64)]) -> Vec<u8> {
        let mut data = [&7u64.to_le_bytes()[..], &flags.to_le_bytes(), &1u32.to_le_bytes()].concat();
        data.extend((rows.len() as u32).to_le_bytes());
        for column in 0..4 {
            for &(time, offset, scaling, fraction) in rows {
                data.extend([time, offset, scaling, fraction][column].to_le_bytes());
            }
        }
        data
    }

    fn host(flags: u32, rows: &[(i64, i64, i64, i64)]) -> CpuTimes {
        let sync = Sync::parse(Endian::Little, &option(flags, rows)).expect("an option");
        assert_eq!(sync.peer, 7);
        Times { sync: Some(sync), ..Times::default() }.of(Cpu(0)).expect("times")
    }

    #[test]
    fn tsc_ticks_become_nanoseconds() {
        // 2 GHz: half a nanosecond a tick.
        let tsc = TscToNs { multiplier: 1 << 20, shift: 21 };
        assert_eq!(tsc.ns(u64::MAX), u64::MAX / 2);
        assert_eq!(TscToNs::parse(Endian::Little, &[0; 16]), None);
        assert_eq!(TscToNs { multiplier: 1, shift: u32::MAX }.ns(5), 0);
    }

    #[test]
    fn a_guests_times_become_its_hosts() {
        let one = host(0, &[(100, -40, 9, 3)]);
        assert_eq!((one.ns(50), one.ns(5000)), (Ns(10), Ns(4960)), "one comparison: only its offset");
        let steps = host(0, &[(100, 10, 1, 0), (200, 20, 1, 0), (300, 40, 1, 0)]);
        for (guest, expected) in
            [(0, 10), (100, 110), (199, 209), (200, 220), (299, 319), (300, 320), (900, 920)]
        {
            assert_eq!(steps.ns(guest), Ns(expected), "{guest}");
        }
        let slopes = host(1, &[(300, 40, 1, 0), (100, 10, 1, 0), (200, 20, 1, 0), (200, 99, 1, 0)]);
        for (guest, expected) in [(0, 1), (100, 110), (150, 165), (250, 280), (300, 340), (400, 460)] {
            assert_eq!(slopes.ns(guest), Ns(expected), "{guest}");
        }
        // A guest whose TSC runs at half its host's speed.
        let scaled = host(0, &[(0, 5, 3 << 47, 48), (1 << 40, 5, 3 << 47, 48)]);
        assert_eq!(scaled.ns(1 << 40), Ns((3 << 39) + 5));
    }

    #[test]
    fn what_has_no_fractions_or_no_scalings_is_read_too() {
        let rows = [(100, 10, 1, 0), (200, 20, 1, 0)];
        let whole = option(0, &rows);
        let expected = Sync::parse(Endian::Little, &whole).expect("an option");
        assert_eq!(Sync::parse(Endian::Little, &whole[..whole.len() - 16]), Some(expected.clone()));
        assert_eq!(Sync::parse(Endian::Little, &whole[..whole.len() - 32]), Some(expected));
        for cut in (0..whole.len()).filter(|cut| whole.len() - cut != 16 && whole.len() - cut != 32) {
            assert_eq!(Sync::parse(Endian::Little, &whole[..cut]), None, "{cut}");
        }
        let mut endless = whole.clone();
        endless[16..20].fill(0xff);
        assert_eq!(Sync::parse(Endian::Little, &endless), None);
    }

    #[test]
    fn times_that_need_nothing_are_left_alone() {
        assert!(Times::default().of(Cpu(0)).is_none());
        let times = Times { offset: -5, ..Times::default() };
        assert_eq!(times.of(Cpu(3)).map(|times| times.ns(3)), Some(Ns(-2)));
        assert!(times.shifted());
        let tsc = TscToNs::parse(Endian::Big, &[0, 0, 0, 3, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0]);
        let times = Times { tsc, ..Times::default() };
        assert_eq!(times.of(Cpu(0)).map(|times| times.ns(10)), Some(Ns(15)));
        assert!(!times.shifted());
    }

    proptest! {
        #[test]
        fn no_comparison_breaks_it(
            rows in prop::collection::vec(any::<(i64, i64, i64, u16)>(), 0..5),
            flags in 0u32..2,
            guest in any::<u64>(),
        ) {
            let rows: Vec<_> = rows.into_iter().map(|(t, o, s, f)| (t, o, s, i64::from(f))).collect();
            let sync = Sync::parse(Endian::Little, &option(flags, &rows)).expect("an option");
            if let Some(times) = (Times { sync: Some(sync), ..Times::default() }).of(Cpu(0)) {
                times.ns(guest);
            }
        }
    }
}
