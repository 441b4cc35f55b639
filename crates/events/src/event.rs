//! One event, decoded.

use crate::blocked::BlockedReason;
use crate::carriers::{CpuCall, Packet, Work};
use crate::kvm::Kvm;
use crate::names::{Marker, Name, Symbol};
use crate::task_state::TaskState;
use crate::tracers::{Noise, OsnoiseSample, Preemptirq, Timerlat};
use crate::{Context, Kind, KindSet};
use whylate_base::{Comm, Cpu, Ns, Priority, Tid};

/// Something that happened on a CPU at an instant.
// In this order: a reader of an event reads its time, CPU and thread first, and most payloads are short. So it is one
// line of a cache that is waited for, mostly.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Event {
    /// When, on the trace clock.
    pub ts: Ns,
    /// Where.
    pub cpu: Cpu,
    /// The thread that was current there.
    pub context: Context,
    /// What.
    pub kind: EventKind,
}

/// What happened. Named after the tracepoints; a field keeps the kernel's name where it has one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum EventKind {
    /// `sched_switch`
    Switch(Switch),
    /// `sched_waking`: in the waker's context, before the runqueue is touched.
    Waking(Wake),
    /// `sched_wakeup` (or `sched_wakeup_new` when `new`): the task is on the runqueue of `target_cpu`.
    Wakeup {
        /// The woken thread, and its CPU.
        wake: Wake,
        /// True for a thread's very first wake-up.
        new: bool,
    },
    /// `sched_migrate_task`
    Migrate {
        /// The thread that moves.
        tid: Tid,
        /// From this CPU's runqueue.
        from: Cpu,
        /// To this CPU's.
        to: Cpu,
    },
    /// `sched_process_fork`
    Fork {
        /// The thread that forked.
        parent: Tid,
        /// The new thread.
        child: Tid,
        /// Its name.
        comm: Comm,
    },
    /// `sched_process_exec` (the context's thread has a new program)
    Exec {
        /// Its id before, differing where a non-leader thread called `execve(2)`.
        old: Tid,
        /// Its id after.
        tid: Tid,
    },
    /// `sched_process_exit`
    Exit {
        /// The thread that ended.
        tid: Tid,
    },
    /// `sched_pi_setprio`: priority inheritance changed a lock owner's priority.
    PiSetprio {
        /// The lock's owner.
        tid: Tid,
        /// Its priority until now.
        old: Priority,
        /// The priority it runs at from now.
        new: Priority,
    },
    /// `sched_blocked_reason`
    BlockedReason(BlockedReason),
    /// `irq_handler_entry`
    IrqEntry {
        /// The line, as in `/proc/interrupts`.
        irq: u32,
        /// The action's name.
        name: Name,
    },
    /// `irq_handler_exit`
    IrqExit {
        /// The line.
        irq: u32,
    },
    /// Entry of an architecture vector (`irq_vectors:*_entry`: local_timer, reschedule, call_function ...).
    VectorEntry {
        /// The vector's name, without `_entry`.
        name: Name,
    },
    /// Exit of an architecture vector.
    VectorExit {
        /// The vector's name, without `_exit`.
        name: Name,
    },
    /// `softirq_raise`
    SoftirqRaise {
        /// HI, TIMER, NET_TX, NET_RX ... by number (`include/linux/interrupt.h`).
        vec: u32,
    },
    /// `softirq_entry`
    SoftirqEntry {
        /// As for raise.
        vec: u32,
    },
    /// `softirq_exit`
    SoftirqExit {
        /// As for raise.
        vec: u32,
    },
    /// `hrtimer_start`
    HrtimerStart(HrtimerStart),
    /// `hrtimer_cancel`
    HrtimerCancel {
        /// Address of the timer.
        hrtimer: u64,
    },
    /// `hrtimer_expire_entry`
    HrtimerExpire(HrtimerExpiry),
    /// `hrtimer_expire_exit`
    HrtimerExpireExit {
        /// Address of the timer.
        hrtimer: u64,
    },
    /// `timer_expire_entry`: a timer-wheel timer.
    TimerExpire {
        /// Address of the timer.
        timer: u64,
        /// Its callback, where the source gives a name.
        function: Symbol,
    },
    /// `timer_expire_exit`
    TimerExpireExit {
        /// Address of the timer.
        timer: u64,
    },
    /// `sys_enter` (raw_syscalls or one of `syscalls`)
    SyscallEnter(Syscall),
    /// `sys_exit`
    SyscallExit(SyscallReturn),
    /// `page_fault_user` or `page_fault_kernel`; the kernel traces its entry only.
    PageFault(PageFault),
    /// `contention_begin`: the current thread found a kernel lock taken (`lock` group, 5.19).
    ContentionBegin {
        /// Address of the lock.
        lock: u64,
        /// Its type.
        flags: ContentionFlags,
    },
    /// `contention_end`
    ContentionEnd {
        /// Address of the lock.
        lock: u64,
        /// 0 when taken.
        ret: i32,
    },
    /// `cpu_idle`: entry to an idle state, or `None` on leaving it.
    CpuIdle {
        /// The C-state's index.
        state: Option<u32>,
    },
    /// `nmi_handler`, after a handler ran for `delta`.
    Nmi {
        /// How long the handler took.
        delta: Ns,
    },
    /// `signal_generate`: a signal is sent to a thread, or to its process.
    Signal(Signal),
    /// `print` / `tracing_mark_write`: a line that a program wrote to `trace_marker`.
    Marker(Marker),
    /// A function-tracer line.
    Function {
        /// The function.
        name: Symbol,
        /// The function that called it; empty where it is not known.
        caller: Symbol,
    },
    /// `funcgraph_entry`: the function-graph tracer's entry of a function.
    FunctionEntry {
        /// The function.
        name: Symbol,
        /// How deep in the call stack.
        depth: u32,
    },
    /// `funcgraph_exit`: a function returned. Of a leaf in text, entry and exit are two events.
    FunctionExit {
        /// The function; empty where the text closes it with a bare brace.
        name: Symbol,
        /// As for entry.
        depth: u32,
        /// From its entry to here.
        duration: Ns,
    },
    /// One frame of a stack trace (`kernel_stack`, `=> function`), innermost first; it belongs to the event
    /// of the same CPU before it that is not a frame.
    StackFrame {
        /// The function.
        name: Symbol,
    },
    /// `timerlat`: a sample of the timerlat tracer.
    Timerlat(Timerlat),
    /// `nmi_noise`, `irq_noise`, `softirq_noise`, `thread_noise` (group `osnoise`): an interference that has
    /// ended, net of those that interrupted it.
    Noise(Noise),
    /// `osnoise`: a period's summary by the osnoise tracer.
    OsnoiseSample(OsnoiseSample),
    /// `sample_threshold` (group `osnoise`): one noise as the spinning thread saw it, with all that interfered in it.
    OsnoiseThreshold {
        /// When it began, on the trace clock.
        start: Ns,
        /// How long it was.
        duration: Ns,
        /// How many interferences were in it; none is hardware.
        interferences: u32,
    },
    /// `irq_disable`, `irq_enable`, `preempt_disable`, `preempt_enable` (group `preemptirq`).
    Preemptirq {
        /// What is disabled or enabled.
        what: Preemptirq,
        /// True for disable.
        disables: bool,
        /// The function that does it.
        caller: Symbol,
    },
    /// `hwlat`: a gap in the hwlat tracer's spinning with interrupts off.
    Hwlat {
        /// The longest gap between the two reads of one turn.
        inner: Ns,
        /// The longest gap between two turns.
        outer: Ns,
    },
    /// `napi_poll`: a network device's receive queue was polled.
    NapiPoll {
        /// The device.
        dev: Name,
        /// How many packets it gave.
        work: i32,
        /// How many it may give at once.
        budget: i32,
    },
    /// A packet passes a point of the network stack (groups `net` and `skb`).
    Packet(Packet),
    /// `workqueue_queue_work`, `workqueue_activate_work`, `workqueue_execute_start`, `workqueue_execute_end`
    Work(Work),
    /// `ipi_send_cpu`, `csd_queue_cpu`, `csd_function_entry`, `csd_function_exit`
    CpuCall(CpuCall),
    /// `cpu_frequency`
    CpuFrequency {
        /// The new frequency in kHz.
        khz: u32,
        /// Of this CPU.
        target: Cpu,
    },
    /// `kvm_entry`, `kvm_exit`
    Kvm(Kvm),
    /// Events were lost on this CPU up to this instant.
    Lost {
        /// How many, where the kernel counted them.
        count: Option<u64>,
        /// The last event before the gap, of the buffer that lost them; `None`: the CPU's previous event.
        since: Option<Ns>,
        /// What that buffer had recorded until then, where a recording has several buffers and
        /// the others lost nothing; empty: of any kind.
        kinds: KindSet,
    },
    /// An event this project has no type for. Its context still shows which thread ran.
    Other,
}

/// `sched_switch`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Switch {
    /// The name of the thread that leaves the CPU.
    pub prev_comm: Comm,
    /// Its id.
    pub prev_tid: Tid,
    /// Its priority.
    pub prev_prio: Priority,
    /// The state it leaves in.
    pub prev_state: TaskState,
    /// The name of the thread that gets the CPU.
    pub next_comm: Comm,
    /// Its id.
    pub next_tid: Tid,
    /// Its priority.
    pub next_prio: Priority,
}

/// `sched_waking`, `sched_wakeup`, `sched_wakeup_new`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wake {
    /// The woken thread's name.
    pub comm: Comm,
    /// Its id.
    pub tid: Tid,
    /// Its priority.
    pub prio: Priority,
    /// The CPU it was last on (`sched_waking`) or is queued on (`sched_wakeup`).
    pub target_cpu: Cpu,
}

/// `hrtimer_start`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HrtimerStart {
    /// Address of the timer.
    pub hrtimer: u64,
    /// Its callback, where the source gives a name (`hrtimer_wakeup`); empty otherwise.
    pub function: Symbol,
    /// The latest it may fire, in the timer's own clock.
    pub expires: Ns,
    /// The earliest it may fire (`expires` less the timer slack), in the timer's own clock.
    pub softexpires: Ns,
}

/// `hrtimer_expire_entry`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HrtimerExpiry {
    /// Address of the timer.
    pub hrtimer: u64,
    /// Its callback, where the source gives a name.
    pub function: Symbol,
    /// The timer's own clock, read when the interrupt began to look for expired timers.
    pub now: Ns,
}

/// `sys_enter`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Syscall {
    /// The number, of the trace's architecture.
    pub nr: i64,
    /// The six arguments; zero where the source does not give them.
    pub args: [u64; 6],
}

/// `sys_exit`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SyscallReturn {
    /// The number, of the trace's architecture.
    pub nr: i64,
    /// What it returned.
    pub ret: i64,
}

/// `page_fault_user`, `page_fault_kernel`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageFault {
    /// The address that was touched.
    pub address: u64,
    /// The instruction that touched it.
    pub ip: u64,
    /// True when user code touched it.
    pub user: bool,
    /// The processor's error code (`arch/x86/include/asm/trap_pf.h`); 0 where the source does not give it.
    pub error_code: u64,
}

impl PageFault {
    /// The page was present, and its protection did not allow the access.
    pub const PROTECTION: u64 = 1;
    /// The access was a write.
    pub const WRITE: u64 = 2;

    /// True for a write to a page that is present and read-only: it is copied, or made writable, at this instant.
    pub fn is_write_to_present(&self) -> bool {
        let bits = PageFault::PROTECTION | PageFault::WRITE;
        self.error_code & bits == bits
    }

    /// True where user code touched the instruction that it was about to execute.
    pub fn is_fetch(&self) -> bool {
        self.user && self.ip != 0 && self.ip == self.address
    }
}

/// `signal_generate`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Signal {
    /// The signal's number, as in `signal(7)`.
    pub sig: i32,
    /// The kind of sender: [`Signal::SI_KERNEL`], or below or equal 0 a program (`sigaction(2)`).
    pub code: i32,
    /// The thread it is sent to; of a process-wide signal, the thread the kernel sent it by.
    pub tid: Tid,
    /// That thread's name.
    pub comm: Comm,
}

impl Signal {
    /// A limit on CPU time was exceeded; 24 on every architecture but MIPS and SPARC.
    pub const SIGXCPU: i32 = 24;
    /// Cannot be caught.
    pub const SIGKILL: i32 = 9;
    /// The `code` of a signal that the kernel sends of itself (`include/uapi/asm-generic/siginfo.h`).
    pub const SI_KERNEL: i32 = 0x80;

    /// True of a signal that a program sent by a call, such as kill(2) (`SI_FROMUSER`, `include/uapi/asm-generic/siginfo.h`).
    pub fn is_sent_by_program(&self) -> bool {
        self.code <= 0
    }
}

/// The type of a contended kernel lock (`LCB_F_*`, `include/trace/events/lock.h`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ContentionFlags(pub u32);

impl ContentionFlags {
    /// A spinning lock.
    pub const SPIN: u32 = 0x01;
    /// A real-time lock: on PREEMPT_RT most spinlocks are.
    pub const RT: u32 = 0x08;
    /// A read-write lock whose readers are counted on each CPU (`LCB_F_PERCPU`, `include/trace/events/lock.h`).
    pub const PERCPU: u32 = 0x10;
    /// A mutex.
    pub const MUTEX: u32 = 0x20;
}

impl EventKind {
    /// The kind, without its fields.
    // Of its own it is a look-up in a table; as a part of its caller, a jump that no CPU predicts.
    #[inline(never)]
    pub fn kind(&self) -> Kind {
        match self {
            EventKind::Switch(_) => Kind::Switch,
            EventKind::Waking(_) => Kind::Waking,
            EventKind::Wakeup { .. } => Kind::Wakeup,
            EventKind::Migrate { .. } => Kind::Migrate,
            EventKind::Fork { .. } => Kind::Fork,
            EventKind::Exec { .. } => Kind::Exec,
            EventKind::Exit { .. } => Kind::Exit,
            EventKind::PiSetprio { .. } => Kind::PiSetprio,
            EventKind::BlockedReason(_) => Kind::BlockedReason,
            EventKind::IrqEntry { .. } | EventKind::IrqExit { .. } => Kind::Irq,
            EventKind::VectorEntry { .. } | EventKind::VectorExit { .. } => Kind::Vector,
            EventKind::SoftirqRaise { .. }
            | EventKind::SoftirqEntry { .. }
            | EventKind::SoftirqExit { .. } => Kind::Softirq,
            EventKind::HrtimerStart(_) | EventKind::HrtimerCancel { .. } => Kind::HrtimerStart,
            EventKind::HrtimerExpire(_) | EventKind::HrtimerExpireExit { .. } => Kind::HrtimerExpire,
            EventKind::TimerExpire { .. } | EventKind::TimerExpireExit { .. } => Kind::TimerExpire,
            EventKind::SyscallEnter(_) | EventKind::SyscallExit(_) => Kind::Syscall,
            EventKind::PageFault(_) => Kind::PageFault,
            EventKind::ContentionBegin { .. } | EventKind::ContentionEnd { .. } => Kind::Contention,
            EventKind::CpuIdle { .. } => Kind::CpuIdle,
            EventKind::Nmi { .. } => Kind::Nmi,
            EventKind::Signal(_) => Kind::Signal,
            EventKind::Marker(_) => Kind::Marker,
            EventKind::Function { .. } => Kind::Function,
            EventKind::FunctionEntry { .. } | EventKind::FunctionExit { .. } => Kind::FunctionGraph,
            EventKind::StackFrame { .. } => Kind::Stack,
            EventKind::Timerlat(_) => Kind::Timerlat,
            EventKind::Noise(_) | EventKind::OsnoiseSample(_) | EventKind::OsnoiseThreshold { .. } => {
                Kind::Osnoise
            }
            EventKind::Preemptirq { .. } => Kind::Preemptirq,
            EventKind::Hwlat { .. } => Kind::Hwlat,
            EventKind::NapiPoll { .. } => Kind::NapiPoll,
            EventKind::Packet(_) => Kind::Packet,
            EventKind::Work(_) => Kind::Work,
            EventKind::CpuCall(_) => Kind::CpuCall,
            EventKind::CpuFrequency { .. } => Kind::CpuFrequency,
            EventKind::Kvm(_) => Kind::Kvm,
            EventKind::Lost { .. } => Kind::Lost,
            EventKind::Other => Kind::Other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_stays_within_two_cache_lines() {
        assert!(size_of::<Event>() <= 128, "{} bytes", size_of::<Event>());
    }
}
