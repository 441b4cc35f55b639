//! System calls in lines that name them instead of giving their number.
//!
//! ```text
//! sys_futex(uaddr: 7f5c3ad1e910, op: 189, val: 0)                      tracefs
//! sys_openat(dfd: 0xffffff9c, filename: 0x7ffd61 "/etc/passwd", ...    tracefs of later kernels
//! sys_futex -> 0xffffffffffffff92
//! sys_enter_nanosleep: rqtp: 0x7ffe5b2, rmtp: 0x00000000               trace-cmd report
//! sys_enter_futex: op=FUTEX_WAIT|FUTEX_PRIVATE_FLAG uaddr=0x7f5c ...
//! sys_exit_futex: 0xffffffffffffff92
//! ```
//!
//! Facts: `print_syscall_enter` and `print_syscall_exit` in kernel/trace/trace_syscalls.c; trace-cmd's
//! plugin for futex.

mod tables;

use super::fields::{address, field, first_word, number, trim_start};
use std::collections::HashMap;
use std::sync::LazyLock;
use tables::{FIRST_LATER, GENERIC, LATER, X86_64};
use whylate_events::{EventKind, Syscall, SyscallReturn};

type Table = HashMap<&'static str, i64>;

/// The numbers of the traced machine's system calls.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) enum Numbers {
    /// `arch/x86/entry/syscalls/syscall_64.tbl`. Also where a text does not show its machine: the ledger takes
    /// numbers of no known machine for these, so a call's name and its meaning stay together.
    #[default]
    X86_64,
    /// `scripts/syscall.tbl`: arm64, riscv64, loongarch64.
    Generic,
    /// A machine whose table is not known here.
    Unknown,
}

impl Numbers {
    /// Of a machine, as `uname -m` names it.
    pub(crate) fn of(machine: &str) -> Numbers {
        match machine {
            "x86_64" => Numbers::X86_64,
            "aarch64" | "aarch64_be" | "riscv64" | "loongarch64" => Numbers::Generic,
            _ => Numbers::Unknown,
        }
    }

    fn number(self, name: &str) -> Option<i64> {
        static TABLES: LazyLock<[Table; 2]> = LazyLock::new(|| [table(X86_64), table(GENERIC)]);
        let [x86_64, generic] = &*TABLES;
        let table = match self {
            Numbers::X86_64 => x86_64,
            Numbers::Generic => generic,
            Numbers::Unknown => return None,
        };
        table.get(name).copied()
    }
}

/// True of the name of a system call, also as strace names it (`fstat` of `newfstat`) and in the form of 32-bit machines (`fstat64`,
/// `_llseek`, `futex_time64`).
pub(super) fn is_known(name: &str) -> bool {
    let is_one =
        |name: &str| [Numbers::X86_64, Numbers::Generic].iter().any(|numbers| numbers.number(name).is_some());
    let is_known = |name: &str| is_one(name) || is_one(&format!("new{name}")) || is_one(&format!("{name}64"));
    let bare = name.strip_prefix("_l").unwrap_or(name);
    let ends = ["_time64", "64", "32", "2"];
    is_known(bare) || ends.iter().filter_map(|end| name.strip_suffix(end)).any(is_known)
}

fn table(names: &'static str) -> Table {
    let own = names.split_ascii_whitespace().zip(0..);
    let later = LATER.split_ascii_whitespace().zip(FIRST_LATER..);
    own.chain(later).filter(|(name, _)| *name != "-").collect()
}

/// tracefs' own lines; `None` for what is none of them, or of a call that is not known.
pub(crate) fn unnamed(body: &str, numbers: Numbers) -> Option<EventKind> {
    let rest = body.strip_prefix("sys_")?;
    let (name, rest) = rest.split_at_checked(rest.bytes().position(|byte| !is_of_name(byte))?)?;
    let nr = numbers.number(name)?;
    match rest.strip_prefix('(') {
        Some(list) => Some(EventKind::SyscallEnter(Syscall { nr, args: arguments(list)? })),
        None => exit(nr, rest.strip_prefix(" -> ")?),
    }
}

/// What stands behind `sys_enter_` and the call's name.
pub(crate) fn enter(name: &str, text: &str, numbers: Numbers) -> Option<EventKind> {
    let nr = numbers.number(name)?;
    let args = match name {
        "futex" if text.starts_with("op=") => futex(text)?,
        _ => arguments(text)?,
    };
    Some(EventKind::SyscallEnter(Syscall { nr, args }))
}

/// What stands behind `sys_exit_` and the call's name.
pub(crate) fn exit_named(name: &str, text: &str, numbers: Numbers) -> Option<EventKind> {
    exit(numbers.number(name)?, text)
}

fn exit(nr: i64, ret: &str) -> Option<EventKind> {
    Some(EventKind::SyscallExit(SyscallReturn { nr, ret: address(ret)? as i64 }))
}

fn is_of_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// `name: value, name: value)`, in hexadecimal with or without `0x`. Before a name may stand its type, behind a
/// value what it points to: `"text"` or `(bytes)`. A list that ends in the middle of an argument is none.
fn arguments(list: &str) -> Option<[u64; 6]> {
    let mut args = [0; 6];
    let mut rest = trim_start(list);
    for arg in &mut args {
        if rest.is_empty() || rest.starts_with(')') {
            break;
        }
        let (_, value) = rest.split_once(": ")?;
        let value = trim_start(value);
        let end = value.bytes().position(|byte| !is_of_name(byte)).unwrap_or(value.len());
        *arg = address(value.get(..end)?)?;
        rest = behind_pointed(value.get(end..)?)?;
    }
    Some(args)
}

/// The next argument, or the list's end; an argument's value ends where `text` begins.
fn behind_pointed(text: &str) -> Option<&str> {
    let text = if let Some(quoted) = text.strip_prefix(" \"") {
        // A quote may be in the text itself: behind the one that ends it the list goes on.
        let end = ["\", ", "\")"].iter().filter_map(|end| quoted.find(end)).min()?;
        quoted.get(end + 1..)?
    } else if let Some(bytes) = text.strip_prefix(" (") {
        bytes.split_once(')')?.1
    } else {
        text
    };
    Some(text.strip_prefix(',').map_or(text, trim_start))
}

/// The names of the operations, by number (`include/uapi/linux/futex.h`).
const FUTEX_OPERATIONS: [&str; 14] = [
    "FUTEX_WAIT",
    "FUTEX_WAKE",
    "FUTEX_FD",
    "FUTEX_REQUEUE",
    "FUTEX_CMP_REQUEUE",
    "FUTEX_WAKE_OP",
    "FUTEX_LOCK_PI",
    "FUTEX_UNLOCK_PI",
    "FUTEX_TRYLOCK_PI",
    "FUTEX_WAIT_BITSET",
    "FUTEX_WAKE_BITSET",
    "FUTEX_WAIT_REQUEUE_PI",
    "FUTEX_CMP_REQUEUE_PI",
    "FUTEX_LOCK_PI2",
];

/// The flags of an operation, in the same file.
const FUTEX_FLAGS: [(&str, u64); 2] = [("FUTEX_PRIVATE_FLAG", 128), ("FUTEX_CLOCK_REALTIME", 256)];

fn futex(text: &str) -> Option<[u64; 6]> {
    let value = |key| field(text, key).map_or(Some(0), number::<u64>);
    let mut op = 0;
    for word in first_word(field(text, "op")?).split('|') {
        let flag = FUTEX_FLAGS.iter().find(|(name, _)| *name == word).map(|&(_, bit)| bit);
        let number = || FUTEX_OPERATIONS.iter().position(|name| *name == word).map(|number| number as u64);
        op |= flag.or_else(number)?;
    }
    // Where it is a count, the fourth argument goes by another name.
    let fourth = value("utime")?.max(value("val2")?);
    Some([value("uaddr")?, op, value("val")?, fourth, value("uaddr2")?, value("val3")?])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_their_machines_numbers() {
        for (name, x86_64, generic) in [
            ("read", Some(0), Some(63)),
            ("newuname", Some(63), Some(160)),
            ("futex", Some(202), Some(98)),
            ("clock_nanosleep", Some(230), Some(115)),
            ("sched_setattr", Some(314), Some(274)),
            ("rseq", Some(334), Some(293)),
            ("open", Some(2), None),
            ("pidfd_send_signal", Some(424), Some(424)),
            ("futex_wait", Some(455), Some(455)),
            ("file_setattr", Some(469), Some(469)),
            ("-", None, None),
            ("stat", None, None),
        ] {
            assert_eq!(Numbers::of("x86_64").number(name), x86_64, "{name}");
            assert_eq!(Numbers::default().number(name), x86_64, "{name}");
            for machine in ["aarch64", "riscv64", "loongarch64"] {
                assert_eq!(Numbers::of(machine).number(name), generic, "{name} of {machine}");
            }
            assert_eq!(Numbers::of("armv7l").number(name), None);
        }
    }

    #[test]
    fn what_is_pointed_to_is_no_argument() {
        for (list, expected) in [
            (")", Some([0; 6])),
            ("", Some([0; 6])),
            ("fd: 3)", Some([3, 0, 0, 0, 0, 0])),
            (
                "unsigned int fd: 3, char * buf: 7ffe5b2, size_t count: 400)",
                Some([3, 0x7ffe5b2, 0x400, 0, 0, 0]),
            ),
            (
                "dfd: 0xffffff9c, name: 0x7f00 \"a\" (b: 7\", flags: 2)",
                Some([0xffff_ff9c, 0x7f00, 2, 0, 0, 0]),
            ),
            ("fd: 1, buf: 0x7f00 (68:69:0a, ...), count: 0x10)", Some([1, 0x7f00, 0x10, 0, 0, 0])),
            ("name: 0x7f00 \"cut", None),
            ("a: 1, b", None),
            ("a: x)", None),
            ("a: 1, b: 2, c: 3, d: 4, e: 5, f: 6, g: 7)", Some([1, 2, 3, 4, 5, 6])),
        ] {
            assert_eq!(arguments(list), expected, "{list}");
        }
    }
}
