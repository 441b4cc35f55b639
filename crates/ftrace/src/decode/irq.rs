//! Interrupts and what is near them: `irq`, `irq_vectors`, `nmi`, `exceptions`, `lock`, `power`.

use super::field::{Int, Lookup, Str};
use crate::bytes::Endian;
use crate::tracefs::{PAGE_FAULT, PROBE_GROUP};
use whylate_base::Ns;
use whylate_events::{ContentionFlags, EventKind, Kind, Name, PageFault};

#[derive(Debug)]
pub(super) enum Irq {
    Entry { irq: Int, name: Str },
    Exit { irq: Int },
    VectorEntry { name: Name },
    VectorExit { name: Name },
    SoftirqRaise { vec: Int },
    SoftirqEntry { vec: Int },
    SoftirqExit { vec: Int },
    CpuIdle { state: Int },
    Nmi { delta: Int },
    PageFault { address: Int, ip: Int, error_code: Option<Int>, user: bool },
    ProbedFault { address: Int, flags: Int, ip: Option<Int> },
    ContentionBegin { lock: Int, flags: Int },
    ContentionEnd { lock: Int, ret: Int },
}

/// `cpu_idle`'s state on leaving idle, -1 (`PWR_EVENT_EXIT`, `include/trace/events/power.h`).
const IDLE_EXIT: u32 = u32::MAX;

/// `enum fault_flag` (`include/linux/mm_types.h`): the values are those of Linux 5.13 and later; before that they had the
/// same as macros (`include/linux/mm.h`).
const FAULT_FLAG_WRITE: i64 = 0x01;
const FAULT_FLAG_USER: i64 = 0x40;

pub(super) fn compile(f: &mut Lookup<'_>) -> Option<(Kind, Irq)> {
    let (system, name) = (f.format.system.as_str(), f.format.name.as_str());
    Some(match (system, name) {
        ("irq", "irq_handler_entry") => (Kind::Irq, Irq::Entry { irq: f.int("irq")?, name: f.text("name")? }),
        ("irq", "irq_handler_exit") => (Kind::Irq, Irq::Exit { irq: f.int("irq")? }),
        ("irq", "softirq_raise") => (Kind::Softirq, Irq::SoftirqRaise { vec: f.int("vec")? }),
        ("irq", "softirq_entry") => (Kind::Softirq, Irq::SoftirqEntry { vec: f.int("vec")? }),
        ("irq", "softirq_exit") => (Kind::Softirq, Irq::SoftirqExit { vec: f.int("vec")? }),
        ("irq_vectors", _) => match (name.strip_suffix("_entry"), name.strip_suffix("_exit")) {
            (Some(name), _) => (Kind::Vector, Irq::VectorEntry { name: Name::from(name) }),
            (_, Some(name)) => (Kind::Vector, Irq::VectorExit { name: Name::from(name) }),
            _ => return None,
        },
        ("power", "cpu_idle") => (Kind::CpuIdle, Irq::CpuIdle { state: f.int("state")? }),
        ("nmi", "nmi_handler") => (Kind::Nmi, Irq::Nmi { delta: f.int("delta_ns")? }),
        ("exceptions", "page_fault_user" | "page_fault_kernel") => (
            Kind::PageFault,
            Irq::PageFault {
                address: f.int("address")?,
                ip: f.int("ip")?,
                error_code: f.int("error_code"),
                user: name == "page_fault_user",
            },
        ),
        (PROBE_GROUP, PAGE_FAULT) => (
            Kind::PageFault,
            Irq::ProbedFault { address: f.int("address")?, flags: f.int("flags")?, ip: f.int("ip") },
        ),
        ("lock", "contention_begin") => {
            (Kind::Contention, Irq::ContentionBegin { lock: f.int("lock_addr")?, flags: f.int("flags")? })
        }
        ("lock", "contention_end") => {
            (Kind::Contention, Irq::ContentionEnd { lock: f.int("lock_addr")?, ret: f.int("ret")? })
        }
        _ => return None,
    })
}

impl Irq {
    #[inline(always)]
    pub(super) fn decode(&self, e: Endian, r: &[u8]) -> Option<EventKind> {
        Some(match *self {
            Irq::Entry { irq, name } => {
                EventKind::IrqEntry { irq: irq.read(e, r)? as u32, name: name.text(e, r) }
            }
            Irq::Exit { irq } => EventKind::IrqExit { irq: irq.read(e, r)? as u32 },
            Irq::VectorEntry { name } => EventKind::VectorEntry { name },
            Irq::VectorExit { name } => EventKind::VectorExit { name },
            Irq::SoftirqRaise { vec } => EventKind::SoftirqRaise { vec: vec.read(e, r)? as u32 },
            Irq::SoftirqEntry { vec } => EventKind::SoftirqEntry { vec: vec.read(e, r)? as u32 },
            Irq::SoftirqExit { vec } => EventKind::SoftirqExit { vec: vec.read(e, r)? as u32 },
            Irq::CpuIdle { state } => {
                let state = state.read(e, r)? as u32;
                EventKind::CpuIdle { state: (state != IDLE_EXIT).then_some(state) }
            }
            Irq::Nmi { delta } => EventKind::Nmi { delta: Ns(delta.read(e, r)?) },
            Irq::PageFault { address, ip, error_code, user } => EventKind::PageFault(PageFault {
                address: address.read(e, r)? as u64,
                ip: ip.read(e, r)? as u64,
                user,
                error_code: match error_code {
                    Some(code) => code.read(e, r)? as u64,
                    None => 0,
                },
            }),
            Irq::ProbedFault { address, flags, ip } => {
                let flags = flags.read(e, r)?;
                EventKind::PageFault(PageFault {
                    address: address.read(e, r)? as u64,
                    ip: match ip {
                        Some(ip) => ip.read(e, r)? as u64,
                        None => 0,
                    },
                    user: flags & FAULT_FLAG_USER != 0,
                    // Whether the page was present is not among them.
                    error_code: if flags & FAULT_FLAG_WRITE != 0 { PageFault::WRITE } else { 0 },
                })
            }
            Irq::ContentionBegin { lock, flags } => EventKind::ContentionBegin {
                lock: lock.read(e, r)? as u64,
                flags: ContentionFlags(flags.read(e, r)? as u32),
            },
            Irq::ContentionEnd { lock, ret } => {
                EventKind::ContentionEnd { lock: lock.read(e, r)? as u64, ret: ret.read(e, r)? as i32 }
            }
        })
    }
}
