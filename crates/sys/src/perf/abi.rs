//! The part of the kernel's interface that samples need (include/uapi/linux/perf_event.h), the same on every architecture.

use rustix::ioctl::{Opcode, opcode};
use std::ffi::c_char;

/// `struct perf_event_attr`, to its end in Linux 4.8 (`PERF_ATTR_SIZE_VER5`).
#[derive(Clone, Debug, Default)]
#[repr(C)]
pub(super) struct Attributes {
    pub(super) kind: u32,
    pub(super) size: u32,
    pub(super) config: u64,
    pub(super) sample_period: u64,
    pub(super) sample_type: u64,
    pub(super) read_format: u64,
    pub(super) flags: u64,
    pub(super) wakeup_watermark: u32,
    pub(super) breakpoint_type: u32,
    pub(super) config1: u64,
    pub(super) config2: u64,
    pub(super) branch_sample_type: u64,
    pub(super) sample_regs_user: u64,
    pub(super) sample_stack_user: u32,
    pub(super) clockid: i32,
    pub(super) sample_regs_intr: u64,
    pub(super) aux_watermark: u32,
    pub(super) sample_max_stack: u16,
    pub(super) reserved: u16,
}

const _: () = assert!(size_of::<Attributes>() == 112);

/// Flags of [`Attributes`], by their place among the bit fields.
#[derive(Clone, Copy)]
pub(super) enum Flag {
    Disabled = 0,
    Inherit = 1,
    ExcludeKernel = 5,
    ExcludeHypervisor = 6,
    ExcludeIdle = 7,
    Mmap = 8,
    Comm = 9,
    Task = 13,
    SampleIdAll = 18,
    ExcludeKernelChain = 21,
    ExcludeUserChain = 22,
    Mmap2 = 23,
    CommExec = 24,
    UseClockId = 25,
}

impl Attributes {
    /// Sets a flag. Compilers place the first bit field at the lowest bit of little-endian machines, and at the highest of
    /// the others.
    pub(super) fn set(&mut self, flag: Flag) {
        let place = flag as u32;
        self.flags |= 1 << if cfg!(target_endian = "big") { 63 - place } else { place };
    }
}

pub(super) const TYPE_SOFTWARE: u32 = 1;
pub(super) const TYPE_TRACEPOINT: u32 = 2;

pub(super) const CPU_CLOCK: u64 = 0;
pub(super) const CONTEXT_SWITCHES: u64 = 3;
pub(super) const PAGE_FAULTS_MIN: u64 = 5;
pub(super) const PAGE_FAULTS_MAJ: u64 = 6;
pub(super) const DUMMY: u64 = 9;

pub(super) const SAMPLE_TID: u64 = 1 << 1;
pub(super) const SAMPLE_TIME: u64 = 1 << 2;
pub(super) const SAMPLE_ADDR: u64 = 1 << 3;
pub(super) const SAMPLE_CALLCHAIN: u64 = 1 << 5;
pub(super) const SAMPLE_CPU: u64 = 1 << 7;
pub(super) const SAMPLE_PERIOD: u64 = 1 << 8;
pub(super) const SAMPLE_RAW: u64 = 1 << 10;
pub(super) const SAMPLE_REGS_USER: u64 = 1 << 12;
pub(super) const SAMPLE_STACK_USER: u64 = 1 << 13;
pub(super) const SAMPLE_IDENTIFIER: u64 = 1 << 16;

/// `PERF_FLAG_FD_CLOEXEC`
pub(super) const FD_CLOEXEC: libc::c_ulong = 1 << 3;

pub(super) const ENABLE: Opcode = opcode::none(b'$', 0);
pub(super) const DISABLE: Opcode = opcode::none(b'$', 1);
pub(super) const SET_OUTPUT: Opcode = opcode::none(b'$', 5);
pub(super) const SET_FILTER: Opcode = opcode::write::<*mut c_char>(b'$', 6);
pub(super) const ID: Opcode = opcode::read::<*mut u64>(b'$', 7);

/// Where the control page of a ring has `data_head` and `data_tail` of `struct perf_event_mmap_page`: behind its first KiB.
pub(super) const DATA_HEAD: usize = 1024;
pub(super) const DATA_TAIL: usize = 1032;
