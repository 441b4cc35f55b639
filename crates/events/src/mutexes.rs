//! Mutexes of a recorded program, read from its memory while a thread waited for them.

use std::fmt;
use whylate_base::{Ns, Tid};

/// A mutex that a thread waited for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MutexReading {
    /// Before it was read; the thread waited for it then.
    pub from: Ns,
    /// After it was read; the thread waited for it still, or again.
    pub to: Ns,
    /// The thread that waited.
    pub waiter: Tid,
    /// Its process.
    pub pid: Tid,
    /// The mutex's address.
    pub address: u64,
    /// What it does about priorities.
    pub protocol: MutexProtocol,
    /// The thread that held it.
    pub owner: Tid,
    /// The variable that it is or that it lies in, or module and offset; `None` where it is in no file's data.
    pub symbol: Option<String>,
}

/// What a mutex does about the priorities of its owner: `pthread_mutexattr_setprotocol(3p)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MutexProtocol {
    /// PTHREAD_PRIO_NONE
    None,
    /// PTHREAD_PRIO_INHERIT
    Inherit,
    /// PTHREAD_PRIO_PROTECT
    Protect,
}

/// ``mutex `queue_lock` (0x5581c0de4060, without priority inheritance)``
impl fmt::Display for MutexReading {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let protocol = match self.protocol {
            MutexProtocol::None => "without priority inheritance",
            MutexProtocol::Inherit => "with priority inheritance",
            MutexProtocol::Protect => "with a priority ceiling",
        };
        match &self.symbol {
            Some(symbol) => write!(f, "mutex `{symbol}` ({:#x}, {protocol})", self.address),
            None => write!(f, "mutex at {:#x} ({protocol})", self.address),
        }
    }
}
