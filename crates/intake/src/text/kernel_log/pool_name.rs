//! Which pool of workers a line of the kernel's log is about (`pr_cont_pool_info()` in `kernel/workqueue.c`).

use crate::text::fields;
use std::fmt;
use whylate_base::{Cpu, CpuSet};

/// Which pool of workers it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PoolName {
    /// `4`, `0-7`: those on which its workers may run.
    cpus: String,
    /// The workers' nice value; -20 for work of high priority.
    nice: Option<i64>,
    /// Its workers are bound to no CPU (`POOL_DISASSOCIATED`), though they may run on one alone. Not all lines show it.
    is_unbound: Option<bool>,
}

/// `POOL_DISASSOCIATED` in `kernel/workqueue.c`
const DISASSOCIATED: u64 = 1 << 2;

impl PoolName {
    /// That of `pool cpus=4 node=0 flags=0x0 nice=0 ...`
    pub(super) fn of(pool: &str) -> Option<PoolName> {
        let value = |name: &str| pool.split_whitespace().find_map(|word| word.strip_prefix(name));
        let cpus = value("cpus=")?;
        let is_list = cpus.starts_with(|sign: char| sign.is_ascii_digit())
            && cpus.bytes().all(|sign| sign.is_ascii_digit() || matches!(sign, b',' | b'-'));
        Some(PoolName {
            cpus: is_list.then(|| cpus.to_owned())?,
            nice: value("nice=").and_then(|nice| nice.parse().ok()),
            is_unbound: value("flags=0x")
                .and_then(|flags| u64::from_str_radix(flags, 16).ok())
                .map(|flags| flags & DISASSOCIATED != 0),
        })
    }

    /// True of a CPU on which its workers may run.
    pub(super) fn has_cpu(&self, cpu: u32) -> bool {
        self.cpus.parse().is_ok_and(|cpus: CpuSet| cpus.contains(Cpu(cpu)))
    }

    /// Its CPU, where it is alone and the workers are bound to none: that CPU is offline, unless the workers are of an unbound workqueue.
    pub(super) fn cpu_without_workers(&self) -> Option<u32> {
        fields::number(&self.cpus).filter(|_| self.is_unbound == Some(true))
    }

    /// True where nothing shows that they are two.
    pub(super) fn may_be(&self, other: &PoolName) -> bool {
        self.cpus == other.cpus
            && self.nice.zip(other.nice).is_none_or(|(one, other)| one == other)
            && self.is_unbound.zip(other.is_unbound).is_none_or(|(one, other)| one == other)
    }
}

/// `CPU 4`, `CPUs 0-7 (nice -20)`, `unbound workers (CPU 0)`
impl fmt::Display for PoolName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let PoolName { cpus, nice, is_unbound } = self;
        match (fields::digits(cpus), is_unbound) {
            (Some(_), Some(true)) => write!(f, "unbound workers (CPU {cpus})")?,
            (Some(_), _) => write!(f, "CPU {cpus}")?,
            (None, _) => write!(f, "CPUs {cpus}")?,
        }
        nice.filter(|&nice| nice != 0).map_or(Ok(()), |nice| write!(f, " (nice {nice})"))
    }
}
