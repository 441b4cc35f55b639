//! System calls: `raw_syscalls` with number and six arguments, and `syscalls` with an event
//! for each call and a field for each of its arguments.

use super::field::{Int, Lookup};
use crate::bytes::Endian;
use crate::format::ValueAt;
use whylate_events::{EventKind, Syscall, SyscallReturn};

#[derive(Debug)]
pub(super) enum Syscalls {
    Enter {
        nr: Int,
        args: Vec<Int>,
    },
    /// `sys_enter` of a 64-bit machine.
    UsualEnter,
    Exit {
        nr: Int,
        ret: Int,
    },
}

pub(super) fn compile(f: &mut Lookup<'_>) -> Option<Syscalls> {
    let (system, name) = (f.format.system.as_str(), f.format.name.as_str());
    Some(match (system, name) {
        ("raw_syscalls", "sys_enter") if f.lies_as(&[("id", 8, 8), ("args", 16, 48)]) => {
            f.longs("args", 6)?;
            Syscalls::UsualEnter
        }
        ("raw_syscalls", "sys_enter") => Syscalls::Enter { nr: f.int("id")?, args: f.longs("args", 6)? },
        ("raw_syscalls", "sys_exit") => Syscalls::Exit { nr: f.int("id")?, ret: f.int("ret")? },
        ("syscalls", _) => {
            // Renamed in 3.10, where an argument called `nr` came in its way.
            let nr = f.int_of(&["__syscall_nr", "nr"])?;
            if name.starts_with("sys_enter_") {
                // The kernel adds fields of its own behind the arguments, as `__data_loc`.
                let names: Vec<_> = f
                    .format
                    .own_fields()
                    .skip(1)
                    .filter(|field| !field.array && field.place == ValueAt::Here)
                    .take(6)
                    .map(|field| field.name.clone())
                    .collect();
                Syscalls::Enter { nr, args: names.iter().map(|name| f.int(name)).collect::<Option<_>>()? }
            } else if name.starts_with("sys_exit_") {
                Syscalls::Exit { nr, ret: f.int("ret")? }
            } else {
                return None;
            }
        }
        _ => return None,
    })
}

/// The record of [`Syscalls::UsualEnter`].
#[inline(always)]
pub(super) fn decode_usual(record: &[u8]) -> Option<Syscall> {
    let words = record.first_chunk::<64>()?.as_chunks::<8>().0;
    let args = std::array::from_fn(|arg| u64::from_le_bytes(words[arg + 2]));
    Some(Syscall { nr: i64::from_le_bytes(words[1]), args })
}

impl Syscalls {
    #[inline(always)]
    pub(super) fn decode(&self, e: Endian, r: &[u8]) -> Option<EventKind> {
        Some(match self {
            Syscalls::UsualEnter => EventKind::SyscallEnter(decode_usual(r)?),
            Syscalls::Enter { nr, args: fields } => {
                let mut args = [0; 6];
                for (arg, field) in args.iter_mut().zip(fields) {
                    *arg = field.read(e, r)? as u64;
                }
                EventKind::SyscallEnter(Syscall { nr: nr.read(e, r)?, args })
            }
            Syscalls::Exit { nr, ret } => {
                EventKind::SyscallExit(SyscallReturn { nr: nr.read(e, r)?, ret: ret.read(e, r)? })
            }
        })
    }
}
