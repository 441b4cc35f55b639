//! Reads the mutexes that sampled threads wait for, while they wait.
//!
//! A thread that was switched out last may be in a futex wait: `/proc/PID/task/TID/syscall` shows the call and its arguments.
//! The mutex is read between two looks at it. Where both show the same wait, it was read during that wait, unless the thread
//! got the lock and waited for it again within microseconds; the reading has both instants, and the trace shows the rest.

use crate::data_symbols::DataSymbols;
use crate::mutex::{MUTEX_BYTES, held_mutex};
use std::collections::{BTreeMap, HashMap};
use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::Path;
use whylate_base::Tid;
use whylate_events::MutexReading;
use whylate_sys::{Clock, now};

/// Readings that are kept: a bound on memory and file.
const MOST: usize = 1 << 16;

/// The readings of one recording.
#[derive(Debug, Default)]
pub(crate) struct LockReader {
    readings: Vec<MutexReading>,
    /// Threads that were switched out since the last look, with their process.
    off_cpu: BTreeMap<Tid, Tid>,
    symbols: DataSymbols,
    /// Whether a process's threads have the same ids here as in their own PID namespace.
    is_numbered_here: HashMap<Tid, bool>,
}

impl LockReader {
    /// The thread's last sample: a switch, or another.
    pub(crate) fn sampled(&mut self, pid: Tid, tid: Tid, is_switch: bool) {
        match is_switch {
            true => self.off_cpu.insert(tid, pid),
            false => self.off_cpu.remove(&tid),
        };
    }

    /// Looks once at each thread that was switched out since the last time.
    pub(crate) fn look(&mut self) {
        for (tid, pid) in std::mem::take(&mut self.off_cpu) {
            if self.readings.len() < MOST {
                let reading = self.read(pid, tid);
                self.readings.extend(reading);
            }
        }
    }

    /// All readings, in time order.
    pub(crate) fn finish(self) -> Vec<MutexReading> {
        self.readings
    }

    fn read(&mut self, pid: Tid, tid: Tid) -> Option<MutexReading> {
        let wait = syscall(pid, tid)?;
        let address = mutex_of_wait(&wait)?;
        let from = now(Clock::Monotonic);
        let mut bytes = [0; MUTEX_BYTES];
        // The same rights as of process_vm_readv(2): PTRACE_MODE_ATTACH.
        File::open(format!("/proc/{pid}/mem")).ok()?.read_exact_at(&mut bytes, address).ok()?;
        let to = now(Clock::Monotonic);
        if syscall(pid, tid)? != wait {
            return None;
        }
        let mutex = held_mutex(&bytes)?;
        let is_numbered_here = *self.is_numbered_here.entry(pid).or_insert_with(|| is_numbered_here(pid));
        let is_thread = Path::new(&format!("/proc/{pid}/task/{}", mutex.owner)).exists();
        // A shared mutex may belong to another process; its address proves no thread of this one.
        if !is_numbered_here || !is_thread || mutex.owner == tid {
            return None;
        }
        let symbol = self.symbols.name(pid, address);
        Some(MutexReading {
            from,
            to,
            waiter: tid,
            pid,
            address,
            protocol: mutex.protocol,
            owner: mutex.owner,
            symbol,
        })
    }
}

/// The line of `/proc/PID/task/TID/syscall` (`proc_pid_syscall(5)`); `None` where the thread runs or has ended.
fn syscall(pid: Tid, tid: Tid) -> Option<String> {
    fs::read_to_string(format!("/proc/{pid}/task/{tid}/syscall")).ok()
}

/// `futex` in the kernel's tables.
const FUTEX: &str = if cfg!(target_arch = "x86_64") { "202" } else { "98" };
/// `include/uapi/linux/futex.h`
const WAIT: u64 = 0;
const LOCK_PI: u64 = 6;
const WAIT_BITSET: u64 = 9;
const LOCK_PI2: u64 = 13;
/// Above are FUTEX_PRIVATE_FLAG and FUTEX_CLOCK_REALTIME.
const OPERATION: u64 = 0x7f;
/// What glibc's mutexes wait for; a robust one for its owner and FUTEX_WAITERS.
const LOCKED_WITH_WAITERS: u64 = 2;
const WAITERS: u64 = 0x8000_0000;

/// The address of the mutex that the call waits for; `None` of other calls, and of waits for other than mutexes.
fn mutex_of_wait(call: &str) -> Option<u64> {
    let mut words = call.split_ascii_whitespace();
    if words.next()? != FUTEX {
        return None;
    }
    let mut argument = || u64::from_str_radix(words.next()?.strip_prefix("0x")?, 16).ok();
    let (address, operation, value) = (argument()?, argument()?, argument()? & 0xffff_ffff);
    let is_lock = match operation & OPERATION {
        LOCK_PI | LOCK_PI2 => true,
        WAIT | WAIT_BITSET => value == LOCKED_WITH_WAITERS || value & WAITERS != 0,
        _ => false,
    };
    is_lock.then_some(address)
}

/// Whether the process's threads have no other ids in a PID namespace of their own (`NSpid`, `proc_pid_status(5)`): a mutex
/// holds the id that its owner has there.
fn is_numbered_here(pid: Tid) -> bool {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let ids = status.lines().find_map(|line| line.strip_prefix("NSpid:"));
    ids.is_some_and(|ids| ids.split_ascii_whitespace().count() == 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_waits_for_mutexes_are_read() {
        for (what, call, address) in [
            ("a mutex", "202 0x5581 0x80 0x2 0x0 0x0 0x0 0x7ffc 0x7f12", Some(0x5581)),
            ("with a time", "202 0x5581 0x189 0x2 0x7ffc 0x0 0xffffffff 0x7ffc 0x7f12", Some(0x5581)),
            ("with inheritance", "202 0x5581 0x86 0x0 0x0 0x0 0x0 0x7ffc 0x7f12", Some(0x5581)),
            ("robust", "202 0x5581 0x0 0x80000007 0x0 0x0 0x0 0x7ffc 0x7f12", Some(0x5581)),
            ("a condition variable", "202 0x5581 0x189 0x0 0x0 0x0 0xffffffff 0x7ffc 0x7f12", None),
            ("a wake-up", "202 0x5581 0x81 0x2 0x0 0x0 0x0 0x7ffc 0x7f12", None),
            ("a sleep", "230 0x1 0x1 0x2 0x0 0x0 0x0 0x7ffc 0x7f12", None),
            ("no call", "running", None),
            ("no call either", "-1 0x7ffc 0x7f12", None),
            ("nothing", "", None),
        ] {
            let call = if cfg!(target_arch = "x86_64") { call.to_owned() } else { call.replace("202", "98") };
            assert_eq!(mutex_of_wait(&call), address, "{what}");
        }
    }

    #[test]
    fn a_thread_that_does_not_wait_has_no_mutex() {
        let (pid, tid) = (Tid(std::process::id() as i32), whylate_sys::gettid());
        let mut reader = LockReader::default();
        reader.sampled(pid, tid, true);
        reader.look();
        assert!(reader.off_cpu.is_empty());
        assert_eq!(reader.finish(), []);
    }
}
