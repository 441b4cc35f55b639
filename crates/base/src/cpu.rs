//! CPUs and sets of them, in the kernel's list notation (`0-3,8`).

use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

/// A CPU's number, as in `/sys/devices/system/cpu/cpuN`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Cpu(pub u32);

impl Cpu {
    /// Which CPU it was is not recorded. Only in what another tool reports: the CPU of an event is known.
    pub const UNKNOWN: Cpu = Cpu(u32::MAX);

    /// Its number, where it is known.
    pub fn known(self) -> Option<u32> {
        (self != Cpu::UNKNOWN).then_some(self.0)
    }

    /// As an index into a table by CPU.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Display for Cpu {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Cpu::UNKNOWN { f.pad("?") } else { self.0.fmt(f) }
    }
}

/// No machine the kernel supports has more (`CONFIG_NR_CPUS` ends at 8192).
const MAX_CPUS: u32 = 8192;

/// A set of CPUs, parsed from and printed in the kernel's list format (`0-3,8`; see `cpuset(7)`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CpuSet(BTreeSet<Cpu>);

impl CpuSet {
    /// The empty set.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds one CPU.
    pub fn insert(&mut self, cpu: Cpu) {
        self.0.insert(cpu);
    }

    /// True when `cpu` is in the set.
    pub fn contains(&self, cpu: Cpu) -> bool {
        self.0.contains(&cpu)
    }

    /// In ascending order.
    pub fn iter(&self) -> impl Iterator<Item = Cpu> + '_ {
        self.0.iter().copied()
    }

    /// The CPUs of this set that `other` does not have.
    #[must_use]
    pub fn without(&self, other: &CpuSet) -> CpuSet {
        CpuSet(self.0.difference(&other.0).copied().collect())
    }

    /// The number of CPUs.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// True for the empty set.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl FromIterator<Cpu> for CpuSet {
    fn from_iter<I: IntoIterator<Item = Cpu>>(cpus: I) -> Self {
        CpuSet(cpus.into_iter().collect())
    }
}

/// The error for an invalid CPU list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CpuSetError {
    text: String,
}

impl fmt::Display for CpuSetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is not a CPU list: write it like 0-3,8", self.text)
    }
}

impl std::error::Error for CpuSetError {}

impl FromStr for CpuSet {
    type Err = CpuSetError;

    fn from_str(text: &str) -> Result<Self, CpuSetError> {
        let error = || CpuSetError { text: text.to_owned() };
        let number = |part: &str| part.trim().parse::<u32>().ok().filter(|&n| n < MAX_CPUS).ok_or_else(error);
        let mut set = CpuSet::new();
        if text.trim().is_empty() {
            return Ok(set);
        }
        for part in text.trim().split(',') {
            let (first, last) = match part.split_once('-') {
                Some((first, last)) => (number(first)?, number(last)?),
                None => (number(part)?, number(part)?),
            };
            if first > last {
                return Err(error());
            }
            set.0.extend((first..=last).map(Cpu));
        }
        Ok(set)
    }
}

impl fmt::Display for CpuSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut cpus = self.iter().peekable();
        let mut separator = "";
        while let Some(first) = cpus.next() {
            let mut last = first;
            while let Some(next) = cpus.next_if(|next| next.0 == last.0 + 1) {
                last = next;
            }
            match last == first {
                true => write!(f, "{separator}{first}")?,
                false => write!(f, "{separator}{first}-{last}")?,
            }
            separator = ",";
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_round_trip() {
        for text in ["", "0", "0-3", "0-3,8", "1,3,5-7,128"] {
            assert_eq!(text.parse::<CpuSet>().expect(text).to_string(), text);
        }
        assert_eq!("3,2,1,1".parse::<CpuSet>().expect("list").to_string(), "1-3");
    }

    #[test]
    fn nonsense_is_refused() {
        for bad in ["a", "3-1", "1-", "-1", "1,,2", "99999", "0-99999999"] {
            assert!(bad.parse::<CpuSet>().is_err(), "{bad}");
        }
    }
}
