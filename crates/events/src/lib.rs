//! Typed kernel events: what a trace is to an analysis, whatever file it came from.
//!
//! ```text
//! trace.dat ─┐
//! text      ─┼─> readers ──> EventSource (one time-ordered stream) ──> analysis
//! live      ─┘                 Event { ts, cpu, context, kind }
//! ```
//!
//! An [`Event`] is plain data of a fixed size, so a reader decodes into it without
//! allocating. A recording's description of itself is in
//! [`TraceInfo`]; what could not be read is in its list of [`Damage`].

mod blocked;
mod carriers;
mod context;
mod event;
mod event_batch;
mod facts;
mod idle_functions;
mod info;
mod interrupt_entry;
mod kinds;
mod kvm;
mod latency;
mod merge;
mod mutexes;
mod names;
mod read_ahead;
mod softirqs;
mod source;
mod stacks;
mod task_state;
mod tracers;

pub use blocked::BlockedReason;
pub use carriers::{CpuCall, Packet, PacketStep, Work, WorkStep};
pub use context::{Context, ContextFlags};
pub use event::{
    ContentionFlags, Event, EventKind, HrtimerExpiry, HrtimerStart, PageFault, Signal, Switch, Syscall,
    SyscallReturn, Wake,
};
pub use event_batch::EventBatch;
pub use facts::{FACT_PREFIX, Fact};
pub use idle_functions::{IDLE_FUNCTIONS, is_idle_function, leads_to_idle};
pub use info::{Damage, Effect, LeftOut, ProbedActivations, Quality, TraceInfo};
pub use interrupt_entry::{InterruptEntry, interrupt_entry};
pub use kinds::{Kind, KindSet};
pub use kvm::{Kvm, KvmExitReason};
pub use latency::{
    Breakdown, BreakdownPart, LatencyTask, LatencyTrace, LatencyTracer, MarkedLine, PartKind, Tool,
};
pub use merge::Merge;
pub use mutexes::{MutexProtocol, MutexReading};
pub use names::{Marker, Name, PROBED_BEGIN, PROBED_END, Symbol, symbol_in_module};
pub use read_ahead::{BATCH, FillBatch, ReadAhead};
pub use softirqs::{SOFTIRQ_NAMES, softirq_name, softirq_of};
pub use source::{EventSource, VecSource, drain};
pub use stacks::{
    AddressId, CodeAddress, CodeLocation, CodeModule, Frame, ModuleId, ModuleKind, SampleKind, StackId,
    StackSample, Stacks,
};
pub use task_state::TaskState;
pub use tracers::{Noise, NoiseSource, OsnoiseSample, Preemptirq, Timerlat, TimerlatContext};
