//! Typed wrappers of the system calls whylate needs, and all of its `unsafe` code.
//!
//! Each function is one call, named after it, with the link to its man page. Nothing is
//! retried or guessed here beyond what the call's own documentation asks for (`EINTR`).
//! A failure is a [`SysError`]: the call, what was tried, the errno, and for the refusals
//! that real-time programs meet a [`SysError::hint`] with the missing permission.

mod affinity;
mod child;
mod clock;
mod condition;
#[cfg(feature = "counting-allocator")]
mod counting;
mod cpu_latency;
mod error;
mod eventfd;
mod file_map;
mod fork;
mod futex;
mod limits;
mod loopback;
mod mapping;
mod memory;
mod memory_nodes;
mod network_namespace;
mod output_file;
mod perf;
mod posix_clock;
mod pthread;
mod queue;
mod sched;
mod signal;
mod signal_wait;
mod socket_options;
mod thread;
mod thread_signal;
mod timerfd;
mod trace;
mod usage;
mod user;
mod wide;

pub use affinity::{getaffinity, setaffinity};
pub use child::{SleepingChild, die_with_parent, fork_and_wait, fork_exec_and_wait, new_session};
pub use clock::{Clock, now, sleep_until};
pub use condition::Condition;
#[cfg(feature = "counting-allocator")]
pub use counting::{CountingAllocator, allocator_calls, most_allocated};
pub use cpu_latency::{CPU_DMA_LATENCY, request_cpu_latency};
pub use error::SysError;
pub use eventfd::EventFd;
pub use file_map::FileMap;
pub use fork::fork_single_threaded;
pub use futex::{PiLock, futex_wait, futex_wake};
pub use limits::{Limit, Resource, getrlimit, raise_open_files};
pub use loopback::loopback_up;
pub use mapping::{Mapped, MappedMemory, grow_heap};
pub use memory::{Lock, mlockall, munlockall, return_free_memory, return_large_blocks};
pub use memory_nodes::bind_memory;
pub use network_namespace::{create_veth, enter_network_namespace, set_address};
pub use output_file::{OutputError, OutputFile, OutputPart, OutputPlace};
pub use perf::{
    PERF_REGISTERS, PerfCounter, PerfEvent, PerfOptions, PerfRegister, PerfRing, SAVED_REGISTERS,
};
pub use posix_clock::PosixClock;
pub use pthread::{PthreadBarrier, PthreadMutex};
pub use queue::MessageQueue;
pub use sched::{DeadlineParams, SchedParams, getattr, is_setattr_filtered, setattr};
pub use signal::QueuedSignal;
pub use signal_wait::{BlockedSignals, ReceivedSignal};
pub use socket_options::{set_busy_poll, set_cork, set_quick_ack};
pub use thread::{current_cpu, gettid, set_timer_slack, timer_slack};
pub use thread_signal::{SignalTimer, ThreadSignal};
pub use timerfd::TimerFd;
pub use trace::{SystemCall, kill_at_change};
pub use usage::{Usage, thread_cpu_time, thread_usage};
pub use user::{UserAccount, run_as};
