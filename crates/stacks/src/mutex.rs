//! A POSIX mutex in the memory of another process, as glibc lays it out.
//!
//! Sources: `sysdeps/nptl/bits/struct_mutex.h` and its x86 and arm versions: on 64-bit machines `__lock` at 0, `__count` at 4,
//! `__owner` at 8, `__nusers` at 12, `__kind` at 16; `nptl/pthreadP.h` for the bits of `__kind`. A wait's futex is `__lock`.

use whylate_base::Tid;
use whylate_events::MutexProtocol;

/// Bytes from the beginning of a mutex up to the end of `__kind`.
pub const MUTEX_BYTES: usize = 20;

/// `__lock` of a mutex without priority inheritance that is held and has waiters.
const LOCKED_WITH_WAITERS: u32 = 2;
/// `__lock` of one with inheritance, or of a robust one: its owner (`FUTEX_TID_MASK`), and that there are waiters.
const WAITERS: u32 = 0x8000_0000;
const OWNER: u32 = 0x3fff_ffff;

/// `PTHREAD_MUTEX_*_NP` of `__kind`: type, robust, inherit, protect, shared, elision; above them the priority ceiling.
const ROBUST: u32 = 0x10;
const INHERIT: u32 = 0x20;
const PROTECT: u32 = 0x40;
const KNOWN: u32 = 0x3ff;
const CEILING: u32 = 0xfff8_0000;

/// A mutex that is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeldMutex {
    /// Whether its owner inherits priorities.
    pub protocol: MutexProtocol,
    /// The thread that holds it, by the id in its own PID namespace.
    pub owner: Tid,
}

/// The mutex in these bytes; `None` where they are no mutex that one thread holds while others wait.
pub fn held_mutex(bytes: &[u8; MUTEX_BYTES]) -> Option<HeldMutex> {
    let word = |at: usize| bytes.get(at..at + 4)?.try_into().ok().map(u32::from_ne_bytes);
    let (lock, owner, users, kind) = (word(0)?, word(8)?, word(12)?, word(16)?);
    let protocol = match (kind & INHERIT != 0, kind & PROTECT != 0) {
        (false, false) => MutexProtocol::None,
        (true, false) => MutexProtocol::Inherit,
        (false, true) => MutexProtocol::Protect,
        (true, true) => return None,
    };
    let has_ceiling = protocol == MutexProtocol::Protect;
    if users == 0 || kind & !KNOWN & !(if has_ceiling { CEILING } else { 0 }) != 0 {
        return None;
    }
    let is_held = match protocol {
        MutexProtocol::Inherit => lock & WAITERS != 0 && lock & OWNER == owner,
        MutexProtocol::None if kind & ROBUST != 0 => lock & WAITERS != 0 && lock & OWNER == owner,
        MutexProtocol::None => lock == LOCKED_WITH_WAITERS,
        // The ceiling is in the word's upper bits.
        MutexProtocol::Protect => lock & !CEILING == LOCKED_WITH_WAITERS,
    };
    let owner = i32::try_from(owner).ok().filter(|&owner| owner > 0)?;
    is_held.then_some(HeldMutex { protocol, owner: Tid(owner) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes([lock, owner, users, kind]: [u32; 4]) -> [u8; MUTEX_BYTES] {
        let words = [lock, 0, owner, users, kind];
        let mut bytes = [0; MUTEX_BYTES];
        for (to, word) in bytes.chunks_exact_mut(4).zip(words) {
            to.copy_from_slice(&word.to_ne_bytes());
        }
        bytes
    }

    #[test]
    fn only_a_held_mutex_with_waiters_is_one() {
        let held = |protocol| Some(HeldMutex { protocol, owner: Tid(7) });
        for (what, words, expected) in [
            ("normal", [2, 7, 1, 0], held(MutexProtocol::None)),
            ("recursive, shared", [2, 7, 1, 0x81], held(MutexProtocol::None)),
            ("robust", [WAITERS | 7, 7, 1, 0x10], held(MutexProtocol::None)),
            ("inheritance", [WAITERS | 7, 7, 1, 0x20], held(MutexProtocol::Inherit)),
            ("ceiling", [2 | 50 << 19, 7, 1, 0x40 | 50 << 19], held(MutexProtocol::Protect)),
            ("without waiters", [1, 7, 1, 0], None),
            ("just taken, its owner not yet written", [2, 0, 1, 0], None),
            ("just released", [0, 0, 0, 0], None),
            ("no user", [2, 7, 0, 0], None),
            ("two protocols", [2, 7, 1, 0x60], None),
            ("bits that no kind has", [2, 7, 1, 0x1000], None),
            ("another owner in the word", [WAITERS | 8, 7, 1, 0x20], None),
            ("no thread id", [2, u32::MAX, 1, 0], None),
        ] {
            assert_eq!(held_mutex(&bytes(words)), expected, "{what}");
        }
    }
}
