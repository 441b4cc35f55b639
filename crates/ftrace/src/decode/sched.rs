//! The `sched` events (`include/trace/events/sched.h`).

use super::field::{Int, Lookup, Str};
use super::task_state::StateBits;
use crate::bytes::Endian;
use whylate_base::{Cpu, Priority, Tid};
use whylate_events::{EventKind, Kind, Switch, Wake};

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
}

#[derive(Debug)]
pub(super) struct WakeFields {
    comm: Str,
    tid: Int,
    prio: Int,
    target_cpu: Int,
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
        _ => return None,
    })
}

impl WakeFields {
    fn compile(f: &mut Lookup<'_>) -> Option<WakeFields> {
        Some(WakeFields {
            comm: f.text("comm")?,
            tid: f.int("pid")?,
            prio: f.int("prio")?,
            target_cpu: f.int("target_cpu")?,
        })
    }

    #[inline]
    fn decode(&self, endian: Endian, record: &[u8]) -> Option<Wake> {
        Some(Wake {
            comm: self.comm.text(endian, record),
            tid: tid(self.tid, endian, record)?,
            prio: prio(self.prio, endian, record)?,
            target_cpu: cpu(self.target_cpu, endian, record)?,
        })
    }
}

#[inline]
fn tid(field: Int, endian: Endian, record: &[u8]) -> Option<Tid> {
    field.read(endian, record).map(|value| Tid(value as i32))
}

#[inline]
fn prio(field: Int, endian: Endian, record: &[u8]) -> Option<Priority> {
    field.read(endian, record).map(|value| Priority(value as i32))
}

#[inline]
fn cpu(field: Int, endian: Endian, record: &[u8]) -> Option<Cpu> {
    field.read(endian, record).map(|value| Cpu(value as u32))
}

impl Sched {
    #[inline]
    pub(super) fn decode(&self, e: Endian, r: &[u8]) -> Option<EventKind> {
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
        })
    }
}
