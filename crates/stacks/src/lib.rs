//! Call stacks of chosen threads, without a rebuild of the program and without BPF.
//!
//! ```text
//! perf software events ─> record.rs: samples, mappings ─┬─> space.rs: what each process has mapped
//!   context switches, page faults, CPU clock            └─> unwind.rs: registers and copied stack -> addresses
//!                                                              │
//! events::Stacks <── symbols.rs: functions and lines <── table.rs: every stack once
//! ```
//!
//! A sampling may last for days: then records wait until it is known which spans matter (`StackSampler::choose`), and only
//! the samples of these are unwound.
//!
//! Of an interpreter's frames `python.rs` finds which line of Python they are at.
//!
//! A thread that was switched out last may wait for a mutex: `lock_reader.rs` reads it from the program's memory.
//!
//! The kernel copies a thread's registers and the top of its stack; this process unwinds them with the call frame
//! information of `.eh_frame`, which every x86_64 and arm64 program has, or by frame pointers where there is none.
#![cfg_attr(
    not(any(target_arch = "x86_64", target_arch = "aarch64")),
    expect(dead_code, reason = "without an unwinder no frame table is read")
)]

mod called_functions;
mod cfi;
mod clock_period;
mod collector;
mod constant_calls;
mod cost;
mod data_symbols;
mod debug_files;
mod demangle;
mod elf;
mod files;
mod frame;
mod function_place;
mod image;
mod kind;
mod lock_reader;
mod maps;
mod mini_debug_info;
mod missing;
mod mutex;
mod names;
#[cfg_attr(not(any(target_arch = "x86_64", target_arch = "aarch64")), path = "native_none.rs")]
mod native;
mod plain_file;
mod probed_place;
mod program_file;
mod python;
mod ranges;
mod record;
mod sample;
mod sampler;
mod shared;
mod source;
mod space;
mod symbols;
mod table;
mod unwind;
mod usdt;

pub use called_functions::called_functions;
pub use clock_period::{ClockPeriod, DEFAULT_PERIOD};
pub use constant_calls::{ConstantCall, constant_calls};
pub use files::ModuleFiles;
pub use function_place::{FunctionPlace, FunctionPlaceError};
pub use maps::{Mapping, MapsLine, parse_maps};
pub use mutex::{HeldMutex, MUTEX_BYTES, held_mutex};
pub use probed_place::ProbedPlace;
pub use sample::{UserRegisters, UserStack};
pub use sampler::{SamplerError, SamplerOptions, StackSampler};
pub use source::SampledTracepoint;
pub use symbols::{SymbolOptions, symbolize};
pub use unwind::{CodePlace, MOST_FRAMES, Unwinder};
pub use usdt::{UsdtError, UsdtProbe, UsdtSite};
