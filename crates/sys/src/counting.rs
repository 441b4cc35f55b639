//! An allocator that counts each thread's calls: with it a test shows that a measuring thread
//! makes none; and all bytes, to show that they are bounded. Feature `counting-allocator`, for tests only.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use whylate_base::Tid;

/// Thread ids share a counter only when they are this far apart.
const COUNTERS: usize = 1 << 16;
static CALLS: [AtomicU64; COUNTERS] = [const { AtomicU64::new(0) }; COUNTERS];

static HELD: AtomicUsize = AtomicUsize::new(0);
static MOST_HELD: AtomicUsize = AtomicUsize::new(0);

/// The system's allocator, counting. Install it with `#[global_allocator]`.
pub struct CountingAllocator;

/// How many allocator calls (allocate, grow, free) thread `tid` has made so far.
pub fn allocator_calls(tid: Tid) -> u64 {
    counter(tid).load(Ordering::SeqCst)
}

/// Runs `work`; returns the maximum number of additional bytes that were allocated meanwhile, by all threads
/// together. Calls that overlap count each other's bytes.
pub fn most_allocated(work: impl FnOnce()) -> usize {
    let before = HELD.load(Ordering::SeqCst);
    MOST_HELD.store(before, Ordering::SeqCst);
    work();
    MOST_HELD.load(Ordering::SeqCst).saturating_sub(before)
}

fn take(bytes: usize) {
    let held = HELD.fetch_add(bytes, Ordering::Relaxed) + bytes;
    MOST_HELD.fetch_max(held, Ordering::Relaxed);
}

fn give_back(bytes: usize) {
    HELD.fetch_sub(bytes, Ordering::Relaxed);
}

fn counter(tid: Tid) -> &'static AtomicU64 {
    &CALLS[tid.0 as usize % COUNTERS]
}

fn count() {
    counter(crate::gettid()).fetch_add(1, Ordering::SeqCst);
}

// SAFETY: every call is handed to the system's allocator unchanged; counting allocates nothing.
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        take(layout.size());
        // SAFETY: the caller keeps `GlobalAlloc::alloc`'s contract, which is `System`'s.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count();
        give_back(layout.size());
        // SAFETY: `pointer` came from `System` with this layout, as all of ours do.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        count();
        take(new_size);
        give_back(layout.size());
        // SAFETY: `pointer` came from `System` with this layout, as all of ours do.
        unsafe { System.realloc(pointer, layout, new_size) }
    }
}
