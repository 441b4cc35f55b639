//! For what a sleeping thread waits, as far as the functions of its stack show it.

use std::fmt;

/// Functions that sleep for a lock, by how their names begin (`kernel/locking`).
const LOCKS: [&str; 16] = [
    "mutex_lock",
    "__mutex_lock",
    "__ww_mutex_lock",
    "rt_mutex_lock",
    "__rt_mutex_",
    "rt_mutex_slowlock",
    "rt_spin_lock",
    "rtlock_slowlock",
    "rwbase_",
    "rwsem_down_",
    "down_read",
    "down_write",
    "__down_read",
    "__down_write",
    "__down_common",
    "percpu_rwsem_wait",
];
/// The same for the lock of a page (`mm/filemap.c`).
const PAGE_LOCKS: [&str; 4] = ["__lock_page", "lock_page", "__folio_lock", "folio_lock"];
/// The same for input or output (`mm/filemap.c`, `fs/buffer.c`).
const INPUT_OUTPUT: [&str; 11] = [
    "io_schedule",
    "bit_wait_io",
    "sleep_on_page",
    "sleep_on_buffer",
    "wait_on_page_",
    "__wait_on_buffer",
    "wait_on_buffer",
    "folio_wait_bit",
    "folio_wait_writeback",
    "filemap_fdatawait",
    "submit_bio_wait",
];
/// Such a function is one of the innermost ones.
const INNERMOST: usize = 8;

/// What lockdep, RCU's checks and preemption by an interrupt do within a function that sleeps, by how their names begin (`kernel/locking`,
/// `kernel/rcu`).
const ABOVE_LOCKS: [&str; 9] = [
    "preempt_schedule",
    "__traceiter_",
    "trace_",
    "rcu_is_watching",
    "rcu_lockdep_",
    "lock_acquire",
    "lock_contended",
    "lock_release",
    "lock_is_held",
];

/// True of a function in which a thread sleeps for a lock.
pub(super) fn is_lock(name: &str) -> bool {
    LOCKS.iter().any(|begin| name.starts_with(begin))
}

/// True of a function that a function of a lock calls before it sleeps, or after that.
pub(super) fn is_above_lock(name: &str) -> bool {
    ABOVE_LOCKS.iter().any(|begin| name.starts_with(begin))
}

/// For what a thread waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WaitsFor {
    Lock,
    PageLock,
    InputOutput,
}

/// For what the thread of a stack waits, with its innermost function first and those that any thread sleeps in.
pub(super) fn waits_for<'a>(functions: impl Iterator<Item = &'a str> + Clone) -> Option<WaitsFor> {
    let has = |list: &[&str]| {
        let mut innermost = functions.clone().take(INNERMOST);
        innermost.any(|name| list.iter().any(|begin| name.starts_with(begin)))
    };
    // A page's lock is waited for as input and output are.
    if has(&PAGE_LOCKS) {
        Some(WaitsFor::PageLock)
    } else if has(&LOCKS) {
        Some(WaitsFor::Lock)
    } else {
        has(&INPUT_OUTPUT).then_some(WaitsFor::InputOutput)
    }
}

/// `for a lock`
impl fmt::Display for WaitsFor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            WaitsFor::Lock => "for a lock",
            WaitsFor::PageLock => {
                "for the lock of a page, which is held while a device reads the page, for example"
            }
            WaitsFor::InputOutput => "for the input or output of a device",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{WaitsFor, waits_for};

    #[test]
    fn the_innermost_functions_show_what_a_thread_waits_for() {
        let cases: [(&[&str], Option<WaitsFor>); 7] = [
            (&["__mutex_lock_slowpath", "mutex_lock", "do_open"], Some(WaitsFor::Lock)),
            (&["__rt_mutex_slowlock", "take_it"], Some(WaitsFor::Lock)),
            (&["rwsem_down_write_slowpath", "down_write", "map_it"], Some(WaitsFor::Lock)),
            (
                &["io_schedule", "sleep_on_page", "__wait_on_bit_lock", "__lock_page"],
                Some(WaitsFor::PageLock),
            ),
            (&["io_schedule", "bit_wait_io", "__wait_on_bit"], Some(WaitsFor::InputOutput)),
            (&["wait_for_completion", "flush_all"], None),
            (&[], None),
        ];
        for (functions, expected) in cases {
            assert_eq!(waits_for(functions.iter().copied()), expected, "{functions:?}");
        }
    }
}
