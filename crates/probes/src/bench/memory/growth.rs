//! Growing: the heap by brk(2) against mmap(2), and the stack of a thread.

use super::pages::pages;
use crate::bench::BenchError;
use crate::bench::case::{Case, timed};
use std::hint::black_box;
use whylate_base::Ns;
use whylate_sys::{Clock, Mapped, MappedMemory, SysError, grow_heap, now};

const GROUP: &str = "growing";
pub(super) const HEAP: &str = "brk: grow, write, shrink";
pub(super) const MAPPING: &str = "mmap, write, munmap";
const STACK: &str = "first use of a thread's stack";

/// One step down the stack takes a little more than this.
const FRAME: usize = 4096;
/// What a new thread uses itself, and what is left unused.
const SPARE: usize = 128 << 10;

pub(super) fn cases<'a>(page: usize) -> Vec<Case<'a>> {
    let mapping = move |pages: usize| {
        timed(|| {
            let mut mapping = MappedMemory::anonymous(pages * page, Mapped::Lazily)?;
            mapping.write(page);
            Ok::<(), SysError>(())
        })
    };
    vec![
        pages(GROUP, HEAP, move |pages| grow_heap(pages * page, page).map_err(BenchError::from)),
        pages(GROUP, MAPPING, mapping),
        pages(GROUP, STACK, stack),
    ]
}

/// The time that a new thread takes to go down its stack by so many pages, each for the first time: glibc gives the pages of
/// an ended thread's stack back (`advise_stack_range`, nptl/pthread_create.c).
fn stack(pages: usize) -> Result<Ns, BenchError> {
    let descend = move || {
        let start = now(Clock::Monotonic);
        down(pages);
        now(Clock::Monotonic) - start
    };
    // In a build without optimisation a frame takes more.
    let size = 4 * pages * FRAME + SPARE;
    let thread = std::thread::Builder::new().name("bench-stack".into()).stack_size(size).spawn(descend);
    let thread = thread.map_err(|error| BenchError::io("create a thread", error))?;
    thread.join().map_err(|_| BenchError::Thread("the thread ended early".to_owned()))
}

#[inline(never)]
fn down(frames: usize) -> u8 {
    let mut frame = std::mem::MaybeUninit::<[u8; FRAME]>::uninit();
    // Only one byte of the frame is touched.
    black_box(&mut frame);
    let below = if frames > 1 { down(frames - 1) } else { 1 };
    black_box(&frame);
    below.wrapping_add(1)
}
