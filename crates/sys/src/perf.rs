//! Samples of threads: `perf_event_open(2)` with software events and tracepoints, and the ring buffer of their records.
//!
//! Only what samples need: each event writes records to a ring of its CPU, with the registers and the top of the stack of
//! the thread at that instant. The records are given out as bytes; they are decoded elsewhere, without `unsafe`.

mod abi;
mod ring;

pub use ring::PerfRing;

use crate::SysError;
use abi::{Attributes, Flag};
use std::ffi::CString;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use whylate_base::{Cpu, Tid};

/// What is counted; a sample is taken each time the count has grown by the period.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PerfCounter {
    /// A thread is switched out.
    ContextSwitches,
    /// A page fault without input.
    MinorFaults,
    /// A page fault that reads from a device.
    MajorFaults,
    /// Nanoseconds in which the thread runs.
    CpuClock,
    /// A tracepoint, by the number in its `events/GROUP/NAME/id`.
    Tracepoint(u64),
    /// Nothing: for the records of mappings, forks and exits alone.
    Nothing,
}

/// How an event is sampled.
#[derive(Clone, Copy, Debug)]
pub struct PerfOptions {
    /// What is counted.
    pub counter: PerfCounter,
    /// A sample is taken for each this many counts; nanoseconds of [`PerfCounter::CpuClock`].
    pub period: u64,
    /// Whether threads that the thread starts are sampled as well.
    pub inherit: bool,
    /// Whether what happens inside the kernel counts. Without privileges it must not, where
    /// `kernel.perf_event_paranoid` is 2 or more.
    pub kernel: bool,
    /// Whether the kernel's own call chain is recorded; needs `kernel`.
    pub kernel_stack: bool,
    /// Bytes copied from the top of the thread's stack, a multiple of 8 below 64 KiB. Zero copies neither stack nor registers.
    pub user_stack: u32,
    /// Whether the ring gets a record for each new executable mapping, exec, fork and exit of the thread.
    pub mappings: bool,
}

/// The registers in a sample, in the order of their numbers (`arch/*/include/uapi/asm/perf_regs.h`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PerfRegister {
    /// The frame pointer.
    Frame,
    /// The link register.
    Link,
    /// The stack pointer.
    Stack,
    /// The instruction pointer.
    Instruction,
    /// Another one that a called function saves before it uses it: which of [`SAVED_REGISTERS`].
    Saved(usize),
}

/// The registers besides the frame pointer that a called function saves before it uses them, by their numbers in call frame
/// information ("System V Application Binary Interface, AMD64 Architecture Processor Supplement", 3.2.3 and 3.6.2): `rbx`, `r12`
/// to `r15`. Empty where samples do not have them.
pub const SAVED_REGISTERS: &[u16] = if cfg!(target_arch = "x86_64") { &[3, 12, 13, 14, 15] } else { &[] };

/// The registers that a sample of this architecture has, in their order. Empty where it is not known to whylate.
pub const PERF_REGISTERS: &[(PerfRegister, u32)] = {
    use PerfRegister::*;
    if cfg!(target_arch = "x86_64") {
        &[
            (Saved(0), 1),
            (Frame, 6),
            (Stack, 7),
            (Instruction, 8),
            (Saved(1), 20),
            (Saved(2), 21),
            (Saved(3), 22),
            (Saved(4), 23),
        ]
    } else if cfg!(target_arch = "aarch64") {
        &[(Frame, 29), (Link, 30), (Stack, 31), (Instruction, 32)]
    } else {
        &[]
    }
};

/// An open event, disabled until [`enable`](Self::enable). Dropping it ends the sampling.
#[derive(Debug)]
pub struct PerfEvent {
    file: OwnedFd,
    cpu: Cpu,
}

impl PerfEvent {
    /// Opens an event of a thread, for the time that it is on one CPU: an event that is inherited cannot have one ring for
    /// all CPUs. Its samples have the members of [`PERF_SAMPLE`](Self::SAMPLE), and its times are CLOCK_MONOTONIC.
    ///
    /// # Errors
    /// `EACCES` or `EPERM` where `kernel.perf_event_paranoid`, a container's seccomp filter or ptrace's rules refuse it;
    /// `ESRCH` when the thread is gone; `EMFILE` when no descriptor is left; `ENOENT` when the kernel has no such event.
    ///
    /// [`perf_event_open(2)`](https://man7.org/linux/man-pages/man2/perf_event_open.2.html)
    pub fn open(options: &PerfOptions, tid: Tid, cpu: Cpu) -> Result<PerfEvent, SysError> {
        let what = || format!("{:?} of thread {tid} on CPU {cpu}", options.counter);
        PerfEvent::open_at(attributes(options), tid.0, cpu, what)
    }

    /// Opens an event of all threads that run on a CPU; its idle task is none of them.
    ///
    /// # Errors
    /// As [`open`](Self::open). It needs root, CAP_PERFMON, or `kernel.perf_event_paranoid` 0.
    pub fn open_on_cpu(options: &PerfOptions, cpu: Cpu) -> Result<PerfEvent, SysError> {
        let mut attr = attributes(options);
        attr.set(Flag::ExcludeIdle);
        PerfEvent::open_at(attr, ALL_THREADS, cpu, || format!("{:?} of CPU {cpu}", options.counter))
    }

    fn open_at(
        attr: Attributes,
        pid: libc::pid_t,
        cpu: Cpu,
        what: impl FnOnce() -> String,
    ) -> Result<PerfEvent, SysError> {
        let number = libc::c_int::try_from(cpu.0).unwrap_or(libc::c_int::MAX);
        // SAFETY: `attr` is a valid attribute block of the size that it states; the call keeps no pointer to it.
        let file = unsafe {
            libc::syscall(libc::SYS_perf_event_open, &raw const attr, pid, number, -1, abi::FD_CLOEXEC)
        };
        let file = RawFd::try_from(file).unwrap_or(-1);
        if file < 0 {
            return Err(SysError::last("perf_event_open", what()));
        }
        // SAFETY: the call has just returned this descriptor, and no one else has it.
        Ok(PerfEvent { file: unsafe { OwnedFd::from_raw_fd(file) }, cpu })
    }

    /// The members of a sample, in this order: id, pid and tid, time, address, CPU, counts since the sample before, the
    /// kernel's call chain, raw data, user registers, user stack.
    pub const SAMPLE: u64 = abi::SAMPLE_IDENTIFIER
        | abi::SAMPLE_TID
        | abi::SAMPLE_TIME
        | abi::SAMPLE_ADDR
        | abi::SAMPLE_CPU
        | abi::SAMPLE_PERIOD
        | abi::SAMPLE_CALLCHAIN
        | abi::SAMPLE_RAW
        | abi::SAMPLE_REGS_USER
        | abi::SAMPLE_STACK_USER;

    /// The number by which its samples, and those of the events inherited from it, name it.
    ///
    /// # Errors
    /// None that `perf_event_open(2)` documents.
    pub fn id(&self) -> Result<u64, SysError> {
        let mut id = 0u64;
        // SAFETY: PERF_EVENT_IOC_ID writes one u64 to the pointer.
        let result = unsafe { libc::ioctl(self.file.as_raw_fd(), abi::ID as _, &raw mut id) };
        self.check(result, "PERF_EVENT_IOC_ID").map(|()| id)
    }

    /// The CPU whose ring it writes to.
    pub fn cpu(&self) -> Cpu {
        self.cpu
    }

    /// Begins the sampling.
    ///
    /// # Errors
    /// None that `perf_event_open(2)` documents.
    pub fn enable(&self) -> Result<(), SysError> {
        // SAFETY: no pointer is given.
        let result = unsafe { libc::ioctl(self.file.as_raw_fd(), abi::ENABLE as _, 0) };
        self.check(result, "PERF_EVENT_IOC_ENABLE")
    }

    /// Ends the sampling; what is in the ring stays.
    ///
    /// # Errors
    /// None that `perf_event_open(2)` documents.
    pub fn disable(&self) -> Result<(), SysError> {
        // SAFETY: no pointer is given.
        let result = unsafe { libc::ioctl(self.file.as_raw_fd(), abi::DISABLE as _, 0) };
        self.check(result, "PERF_EVENT_IOC_DISABLE")
    }

    /// Has it write to the ring of another event of the same CPU, in place of its own; a [`PerfRing`], or a descriptor of
    /// the event that it was made for.
    ///
    /// # Errors
    /// `EINVAL` when the CPUs or the clocks differ.
    pub fn write_to(&self, ring_owner: impl AsFd) -> Result<(), SysError> {
        // SAFETY: the number is a descriptor, which the kernel checks.
        let result = unsafe {
            libc::ioctl(self.file.as_raw_fd(), abi::SET_OUTPUT as _, ring_owner.as_fd().as_raw_fd())
        };
        self.check(result, "PERF_EVENT_IOC_SET_OUTPUT")
    }

    /// Has a tracepoint count only what the filter selects, in ftrace's filter language.
    ///
    /// # Errors
    /// `EINVAL` for a filter that the kernel does not understand, and for other events than tracepoints.
    pub fn filter(&self, filter: &str) -> Result<(), SysError> {
        let text = CString::new(filter).map_err(|_| {
            SysError::new("ioctl", "PERF_EVENT_IOC_SET_FILTER: NUL in the filter", libc::EINVAL)
        })?;
        // SAFETY: the kernel reads the string up to its NUL and keeps no pointer to it.
        let result = unsafe { libc::ioctl(self.file.as_raw_fd(), abi::SET_FILTER as _, text.as_ptr()) };
        self.check(result, "PERF_EVENT_IOC_SET_FILTER")
    }

    fn check(&self, result: libc::c_int, call: &'static str) -> Result<(), SysError> {
        match result {
            0 => Ok(()),
            _ => Err(SysError::last("ioctl", format!("{call} of an event on CPU {}", self.cpu))),
        }
    }
}

impl AsFd for PerfEvent {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

fn attributes(options: &PerfOptions) -> Attributes {
    let mut attr = Attributes { size: size_of::<Attributes>() as u32, ..Default::default() };
    (attr.kind, attr.config) = match options.counter {
        PerfCounter::ContextSwitches => (abi::TYPE_SOFTWARE, abi::CONTEXT_SWITCHES),
        PerfCounter::MinorFaults => (abi::TYPE_SOFTWARE, abi::PAGE_FAULTS_MIN),
        PerfCounter::MajorFaults => (abi::TYPE_SOFTWARE, abi::PAGE_FAULTS_MAJ),
        PerfCounter::CpuClock => (abi::TYPE_SOFTWARE, abi::CPU_CLOCK),
        PerfCounter::Nothing => (abi::TYPE_SOFTWARE, abi::DUMMY),
        PerfCounter::Tracepoint(id) => (abi::TYPE_TRACEPOINT, id),
    };
    attr.sample_period = options.period;
    attr.sample_type = PerfEvent::SAMPLE;
    attr.sample_regs_user = match options.user_stack {
        0 => 0,
        _ => PERF_REGISTERS.iter().fold(0, |mask, &(_, number)| mask | 1 << number),
    };
    if attr.sample_regs_user == 0 {
        attr.sample_type &= !(abi::SAMPLE_REGS_USER | abi::SAMPLE_STACK_USER);
    }
    attr.sample_stack_user = options.user_stack;
    attr.clockid = libc::CLOCK_MONOTONIC;
    let wanted = [
        (Flag::Disabled, true),
        (Flag::Inherit, options.inherit),
        (Flag::ExcludeKernel, !options.kernel),
        (Flag::ExcludeHypervisor, true),
        (Flag::ExcludeUserChain, true),
        (Flag::ExcludeKernelChain, !options.kernel_stack),
        (Flag::SampleIdAll, true),
        (Flag::Mmap, options.mappings),
        (Flag::Mmap2, options.mappings),
        (Flag::Comm, options.mappings),
        (Flag::CommExec, options.mappings),
        (Flag::Task, options.mappings),
        (Flag::UseClockId, true),
    ];
    wanted.into_iter().filter(|(_, is_set)| *is_set).for_each(|(flag, _)| attr.set(flag));
    attr
}

/// `perf_event_open(2)`, `pid`.
const ALL_THREADS: libc::pid_t = -1;
