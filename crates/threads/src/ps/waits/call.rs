//! The system call in which a thread sleeps, of `/proc/PID/task/TID/syscall` (proc_pid_syscall(5)).

use super::futex::Wait;
use super::numbers::Number;
use std::fs::File;
use std::os::unix::fs::FileExt;
use whylate_host::FsRoot;

/// Descriptors that are looked at, of those that a thread waits for.
const MOST: usize = 64;

/// A call and its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct WaitingCall {
    number: Number,
    arguments: Vec<u64>,
    /// Of 32 bits on a 64-bit kernel, by the address of its stack: its calls have other numbers.
    narrow: bool,
}

impl WaitingCall {
    /// `202 0x7f... 0x80 0x0 0x0 0x0 0x0 SP PC`; `None` for `running`, and for a sleep outside of any call.
    pub(super) fn parse(text: &str) -> Option<WaitingCall> {
        let mut words = text.split_ascii_whitespace();
        let number = words.next()?.parse().ok().filter(|&number: &i64| number >= 0)?;
        let mut arguments: Vec<u64> =
            words.map_while(|word| u64::from_str_radix(word.strip_prefix("0x")?, 16).ok()).collect();
        if arguments.len() != 8 {
            return None;
        }
        let stack = arguments.get(6).copied()?;
        arguments.truncate(6);
        Some(WaitingCall { number: Number(number), arguments, narrow: u32::try_from(stack).is_ok() })
    }

    fn argument(&self, index: usize) -> u64 {
        self.arguments.get(index).copied().unwrap_or_default()
    }

    /// The futex that it waits for.
    pub(super) fn futex(&self) -> Option<Wait> {
        if !self.number.is_futex() || self.narrow {
            return None;
        }
        Wait::of(self.argument(0), self.argument(1), self.argument(2))
    }

    /// The file descriptors that it waits for.
    pub(super) fn descriptors(&self, tree: &FsRoot, pid: i32, memory: bool) -> Vec<u64> {
        let mut descriptors = match () {
            () if self.narrow => Vec::new(),
            () if self.number.reads_descriptor() => vec![self.argument(0)],
            () if self.number.is_epoll() => polled(tree, pid, self.argument(0)),
            () if self.number.is_poll() && memory => {
                poll_set(pid, self.argument(0), self.argument(1)).unwrap_or_default()
            }
            () => Vec::new(),
        };
        descriptors.truncate(MOST);
        descriptors
    }
}

/// What an epoll instance polls: lines `tfd:        7 events: ...` (proc_pid_fdinfo(5)).
fn polled(tree: &FsRoot, pid: i32, epoll: u64) -> Vec<u64> {
    let info = tree.text(&format!("/proc/{pid}/fdinfo/{epoll}")).value.unwrap_or_default();
    info.lines()
        .filter_map(|line| line.strip_prefix("tfd:")?.split_ascii_whitespace().next()?.parse().ok())
        .collect()
}

/// The array of `struct pollfd` in the program's memory: a descriptor of 4 bytes, and two sets of events.
fn poll_set(pid: i32, address: u64, count: u64) -> Option<Vec<u64>> {
    let count = usize::try_from(count).ok()?.min(MOST);
    let mut bytes = vec![0; count * 8];
    File::open(format!("/proc/{pid}/mem")).ok()?.read_exact_at(&mut bytes, address).ok()?;
    let descriptor = |entry: &[u8]| i32::from_ne_bytes(*entry.first_chunk::<4>()?).try_into().ok();
    // A negative descriptor is one that poll() ignores.
    Some(bytes.chunks_exact(8).filter_map(descriptor).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_call_with_all_its_arguments_is_one() {
        let call = "202 0x7f10 0x80 0x2 0x0 0x0 0x0 0x7ffe00001000 0x7f0000001234\n";
        let parsed = WaitingCall::parse(call).expect("a call");
        assert_eq!((parsed.number, parsed.argument(1), parsed.narrow), (Number(202), 0x80, false));
        for text in ["running\n", "-1 0x7ffe00001000 0x7f0000001234\n", "202 0x1\n", ""] {
            assert_eq!(WaitingCall::parse(text), None, "{text}");
        }
        let narrow = WaitingCall::parse(&call.replace("0x7ffe00001000", "0xff801000")).expect("a call");
        assert!(narrow.futex().is_none(), "numbers of 32-bit programs are others");
    }

    #[test]
    fn an_epoll_instance_shows_what_it_polls() {
        let info = "pos:\t0\nflags:\t02\ntfd:        7 events:       19 data: 7  pos:0 ino:4 sdev:d\ntfd:  9 events: 1\n";
        let tree = FsRoot::memory(&[("/proc/3/fdinfo/5", info)]);
        assert_eq!(polled(&tree, 3, 5), [7, 9]);
        assert_eq!(polled(&tree, 3, 6), [0u64; 0]);
    }
}
