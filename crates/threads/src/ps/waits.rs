//! What a sleeping thread is blocked on: the kernel's function, the lock and its owner, or the device.

mod call;
mod devices;
mod futex;
mod numbers;

use call::WaitingCall;
use whylate_base::Tid;
use whylate_host::{FsRoot, Thread};

/// What a sleeping thread waits for. What could not be read is empty: other users' threads need root.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BlockedOn {
    /// The kernel's function in which it sleeps (`/proc/PID/task/TID/wchan`).
    pub function: Option<String>,
    /// The futex that it waits for.
    pub futex: Option<FutexWait>,
    /// What the file descriptors refer to that it waits for, such as `/dev/uio0`.
    pub files: Vec<String>,
    /// The interrupts of the devices behind these descriptors.
    pub irqs: Vec<u32>,
}

/// A wait for a futex (futex(2)).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FutexWait {
    /// The address in the program.
    pub address: u64,
    /// The thread that holds the lock; `None` if the futex is no lock, or its owner is not known.
    pub owner: Option<Tid>,
}

/// What `thread` waits for; `None` if it does not sleep or nothing could be read. With `memory` its memory is read as well:
/// only where `tree` is this machine.
pub(super) fn blocked_on(tree: &FsRoot, thread: &Thread, memory: bool) -> Option<BlockedOn> {
    if !matches!(thread.state, Some('S' | 'D')) {
        return None;
    }
    let directory = format!("/proc/{}/task/{}", thread.pid, thread.tid);
    let text = |name: &str| tree.text(&format!("{directory}/{name}")).value.ok();
    // `0`: it runs again, or the reader may not know.
    let function = text("wchan").filter(|name| !matches!(name.trim(), "" | "0"));
    let call = || text("syscall").and_then(|text| WaitingCall::parse(&text));
    let waiting = call();
    let futex = waiting.as_ref().and_then(WaitingCall::futex).map(|wait| {
        let owner = memory.then(|| futex::owner(thread.pid, &wait)).flatten();
        // An owner that was read after the wait had ended is the owner of another time.
        let owner = owner.filter(|_| call() == waiting);
        FutexWait { address: wait.address, owner }
    });
    let descriptors =
        waiting.as_ref().map(|call| call.descriptors(tree, thread.pid, memory)).unwrap_or_default();
    let mut files: Vec<String> = Vec::new();
    let mut irqs: Vec<u32> = Vec::new();
    for descriptor in descriptors {
        let Ok(target) = tree.link_target(&format!("/proc/{}/fd/{descriptor}", thread.pid)).value else {
            continue;
        };
        irqs.extend(devices::irqs(tree, &target));
        files.push(target);
    }
    irqs.sort_unstable();
    irqs.dedup();
    let blocked = BlockedOn { function: function.map(|name| name.trim().to_owned()), futex, files, irqs };
    (blocked != BlockedOn::default()).then_some(blocked)
}

#[cfg(test)]
mod tests {
    use super::*;
    use whylate_host::Threads;

    fn thread(tree: &FsRoot) -> Thread {
        Threads::list(tree).need().expect("threads")[0].clone()
    }

    const STAT: &str = "412 (x) S 1 412 412 0 -1 64 1 0 0 0 0 0 0 0 -51 0 1 0 37 1 1 1 0 0 0 0 0 0 0 0 0 0 0 0 17 3 \
                        50 1 0 0 0 0 0 0 0 0 0 0 0 0\n";

    #[test]
    fn a_reader_of_a_device_waits_for_its_interrupts() {
        // read(4, ...), on either architecture.
        let read = if cfg!(target_arch = "x86_64") { 0 } else { 63 };
        let call = format!("{read} 0x4 0x7ffe1000 0x4 0x0 0x0 0x0 0x7ffe0ff8 0x7f001234\n");
        let capture = [
            ("/proc/412/task/412/stat", STAT),
            ("/proc/412/task/412/wchan", "uio_read"),
            ("/proc/412/task/412/syscall", call.as_str()),
        ];
        let tree = FsRoot::memory(&capture);
        let blocked = blocked_on(&tree, &thread(&tree), false).expect("it sleeps");
        assert_eq!(blocked.function.as_deref(), Some("uio_read"));
        assert_eq!(blocked.futex, None);
    }

    #[test]
    fn a_thread_that_runs_waits_for_nothing() {
        let running = STAT.replace(" S ", " R ");
        let tree = FsRoot::memory(&[
            ("/proc/412/task/412/stat", running.as_str()),
            ("/proc/412/task/412/wchan", "x"),
        ]);
        assert_eq!(blocked_on(&tree, &thread(&tree), false), None);
    }

    #[test]
    fn what_may_not_be_read_is_left_out() {
        let tree = FsRoot::memory(&[("/proc/412/task/412/stat", STAT), ("/proc/412/task/412/wchan", "0")]);
        assert_eq!(blocked_on(&tree, &thread(&tree), false), None);
    }
}
