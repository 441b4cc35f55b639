//! The `sched` events (`include/trace/events/sched.h`).

use super::field::{Int, Lookup, Str};
use super::task_state::StateBits;
use crate::bytes::Endian;
use crate::symbols::SymbolCache;
use whylate_base::{Comm, Cpu, Priority, Tid};
use whylate_events::{BlockedReason, EventKind, Kind, Switch, Symbol, Wake};

#[derive(Debug)]
pub(super) enum Sched {
    Switch(Box<SwitchFields>),
    Waking(WakeFields),
    Wakeup { wake: WakeFields, new: bool },
    Migrate { tid: Int, from: Int, to: Int },
    Fork { parent: Int, child: Int, comm: Str },
    Exec { old: Int, tid: Int },
    Exit { tid: Int },
    PiSetprio { tid: Int, old: Int, new: Int },
    BlockedReason { tid: Int, io_wait: Int, caller: Option<Int> },
}

#[derive(Debug)]
pub(super) struct SwitchFields {
    prev_comm: Str,
    prev_tid: Int,
    prev_prio: Int,
    prev_state: Int,
    states: StateBits,
    next_comm: Str,
    next_tid: Int,
    next_prio: Int,
    is_usual: bool,
}

#[derive(Debug)]
pub(super) struct WakeFields {
    comm: Str,
    tid: Int,
    prio: Int,
    target_cpu: Int,
    is_usual: bool,
}

/// A field of a record whose layout is known: at a fixed place, least significant byte first.
#[inline(always)]
fn int_at<const LEN: usize>(record: &[u8; LEN], at: usize) -> i32 {
    let mut bytes = [0; 4];
    bytes.copy_from_slice(&record[at..at + 4]);
    i32::from_le_bytes(bytes)
}

pub(super) fn compile(f: &mut Lookup<'_>) -> Option<(Kind, Sched)> {
    Some(match f.format.name.as_str() {
        "sched_switch" => {
            let fields = SwitchFields {
                prev_comm: f.text("prev_comm")?,
                prev_tid: f.int("prev_pid")?,
                prev_prio: f.int("prev_prio")?,
                prev_state: f.int("prev_state")?,
                states: StateBits::parse(&f.format.print_fmt),
                next_comm: f.text("next_comm")?,
                next_tid: f.int("next_pid")?,
                next_prio: f.int("next_prio")?,
                is_usual: f.lies_as(&[
                    ("prev_comm", 8, 16),
                    ("prev_pid", 24, 4),
                    ("prev_prio", 28, 4),
                    ("prev_state", 32, 8),
                    ("next_comm", 40, 16),
                    ("next_pid", 56, 4),
                    ("next_prio", 60, 4),
                ]),
            };
            (Kind::Switch, Sched::Switch(Box::new(fields)))
        }
        "sched_waking" => (Kind::Waking, Sched::Waking(WakeFields::compile(f)?)),
        "sched_wakeup" => (Kind::Wakeup, Sched::Wakeup { wake: WakeFields::compile(f)?, new: false }),
        "sched_wakeup_new" => (Kind::Wakeup, Sched::Wakeup { wake: WakeFields::compile(f)?, new: true }),
        "sched_migrate_task" => (
            Kind::Migrate,
            Sched::Migrate { tid: f.int("pid")?, from: f.int("orig_cpu")?, to: f.int("dest_cpu")? },
        ),
        "sched_process_fork" => (
            Kind::Fork,
            Sched::Fork {
                parent: f.int("parent_pid")?,
                child: f.int("child_pid")?,
                comm: f.text("child_comm")?,
            },
        ),
        "sched_process_exec" => (Kind::Exec, Sched::Exec { old: f.int("old_pid")?, tid: f.int("pid")? }),
        "sched_process_exit" => (Kind::Exit, Sched::Exit { tid: f.int("pid")? }),
        "sched_pi_setprio" => (
            Kind::PiSetprio,
            Sched::PiSetprio { tid: f.int("pid")?, old: f.int("oldprio")?, new: f.int("newprio")? },
        ),
        // `caller` is missing where a vendor's kernel has another field for it.
        "sched_blocked_reason" => (
            Kind::BlockedReason,
            Sched::BlockedReason {
                tid: f.int("pid")?,
                io_wait: f.int("io_wait").or_else(|| f.int("iowait"))?,
                caller: f.int("caller"),
            },
        ),
        _ => return None,
    })
}

impl SwitchFields {
    /// Of a record that lies as usual; `None` of another.
    #[inline(always)]
    pub(super) fn decode_usual(&self, record: &[u8]) -> Option<Switch> {
        let r = record.first_chunk::<64>().filter(|_| self.is_usual)?;
        Some(Switch {
            prev_comm: Comm::from_bytes(&r[8..24]),
            prev_tid: Tid(int_at(r, 24)),
            prev_prio: Priority(int_at(r, 28)),
            prev_state: self.states.of(i64::from(int_at(r, 36)) << 32 | i64::from(int_at(r, 32) as u32)),
            next_comm: Comm::from_bytes(&r[40..56]),
            next_tid: Tid(int_at(r, 56)),
            next_prio: Priority(int_at(r, 60)),
        })
    }
}

impl WakeFields {
    fn compile(f: &mut Lookup<'_>) -> Option<WakeFields> {
        Some(WakeFields {
            comm: f.text("comm")?,
            tid: f.int("pid")?,
            prio: f.int("prio")?,
            target_cpu: f.int("target_cpu")?,
            is_usual: f.lies_as(&[("comm", 8, 16), ("pid", 24, 4), ("prio", 28, 4), ("target_cpu", 32, 4)]),
        })
    }

    /// Of a record that lies as usual; `None` of another.
    #[inline(always)]
    pub(super) fn decode_usual(&self, record: &[u8]) -> Option<Wake> {
        let r = record.first_chunk::<36>().filter(|_| self.is_usual)?;
        Some(Wake {
            comm: Comm::from_bytes(&r[8..24]),
            tid: Tid(int_at(r, 24)),
            prio: Priority(int_at(r, 28)),
            target_cpu: Cpu(int_at(r, 32) as u32),
        })
    }

    #[inline(always)]
    fn decode(&self, endian: Endian, record: &[u8]) -> Option<Wake> {
        Some(Wake {
            comm: self.comm.text(endian, record),
            tid: tid(self.tid, endian, record)?,
            prio: prio(self.prio, endian, record)?,
            target_cpu: cpu(self.target_cpu, endian, record)?,
        })
    }
}

#[inline(always)]
fn tid(field: Int, endian: Endian, record: &[u8]) -> Option<Tid> {
    field.read(endian, record).map(|value| Tid(value as i32))
}

#[inline(always)]
fn prio(field: Int, endian: Endian, record: &[u8]) -> Option<Priority> {
    field.read(endian, record).map(|value| Priority(value as i32))
}

#[inline(always)]
fn cpu(field: Int, endian: Endian, record: &[u8]) -> Option<Cpu> {
    field.read(endian, record).map(|value| Cpu(value as u32))
}

impl Sched {
    #[inline(always)]
    pub(super) fn decode(&self, e: Endian, r: &[u8], names: &mut SymbolCache) -> Option<EventKind> {
        Some(match self {
            Sched::Switch(f) => EventKind::Switch(Switch {
                prev_comm: f.prev_comm.text(e, r),
                prev_tid: tid(f.prev_tid, e, r)?,
                prev_prio: prio(f.prev_prio, e, r)?,
                prev_state: f.states.of(f.prev_state.read(e, r)?),
                next_comm: f.next_comm.text(e, r),
                next_tid: tid(f.next_tid, e, r)?,
                next_prio: prio(f.next_prio, e, r)?,
            }),
            Sched::Waking(wake) => EventKind::Waking(wake.decode(e, r)?),
            Sched::Wakeup { wake, new } => EventKind::Wakeup { wake: wake.decode(e, r)?, new: *new },
            Sched::Migrate { tid: who, from, to } => {
                EventKind::Migrate { tid: tid(*who, e, r)?, from: cpu(*from, e, r)?, to: cpu(*to, e, r)? }
            }
            Sched::Fork { parent, child, comm } => EventKind::Fork {
                parent: tid(*parent, e, r)?,
                child: tid(*child, e, r)?,
                comm: comm.text(e, r),
            },
            Sched::Exec { old, tid: who } => EventKind::Exec { old: tid(*old, e, r)?, tid: tid(*who, e, r)? },
            Sched::Exit { tid: who } => EventKind::Exit { tid: tid(*who, e, r)? },
            Sched::PiSetprio { tid: who, old, new } => {
                EventKind::PiSetprio { tid: tid(*who, e, r)?, old: prio(*old, e, r)?, new: prio(*new, e, r)? }
            }
            Sched::BlockedReason { tid: who, io_wait, caller } => EventKind::BlockedReason(BlockedReason {
                tid: tid(*who, e, r)?,
                io_wait: io_wait.read(e, r)? != 0,
                caller: match caller.and_then(|caller| caller.read(e, r)) {
                    Some(address) => names.name(address as u64),
                    None => Symbol::default(),
                },
            }),
        })
    }
}
