//! Events as text, as the kernel's `trace` file or `trace-cmd report` show them.
//!
//! Every event's format file ends in a line of C, `print fmt: "prev_comm=%s ...", REC->prev_comm`,
//! that defines how the kernel prints it. It is compiled once ([`Printer::new`]) and then run over
//! the bytes of each record. What it expresses in words that only the kernel has, is printed field
//! by field behind `[FAILED TO PARSE]`, and counted ([`Printer::failed`]).
//!
//! ```text
//! print fmt ─> lex ─> parse ─> Format: pieces and arguments ─┐
//! records ───────────────────────────────────────────────────┴─> Printer ─> Lines
//! ```
//!
//! ```no_run
//! use whylate_ftrace::{dat::TraceFile, print::{Lines, Mode}};
//!
//! let file = TraceFile::open("trace.dat")?;
//! let mut lines = Lines::new(&file, Mode::TraceCmd);
//! let mut line = Vec::new();
//! while lines.next_line(&mut line) {
//!     print!("{}", String::from_utf8_lossy(&line));
//!     line.clear();
//! }
//! # Ok::<(), whylate_ftrace::dat::DatError>(())
//! ```
//!
//! # Where it differs from trace-cmd
//!
//! [`Mode::TraceCmd`] prints the lines of `trace-cmd report` (3.1 with libtraceevent 1.7, whose
//! lines have no column of flags unless requested). It differs on purpose where that is wrong:
//!
//! - `a & (b | c)`: libtraceevent goes by the operators' precedence and passes over the brackets,
//!   so a `timer_start` without flags shows `flags=D|P|I`.
//! - The state in `sched_switch` has the letters of the event's own `print fmt`, as in
//!   libtraceevent since 1.8. Before, `I` was shown as `W`, `P` as `x`, and `X` and `Z` for each other.
//! - Signed fields keep their sign: the priority of a deadline thread is `-1`, not `4294967295`, and
//!   a negative value that is in no table is shown as 64 bits, as by the kernel.
//! - `%c`, `%+d`, `%px`, `%*pb`, widths of flags and symbols (`%-8s`), escapes and missing texts at
//!   the end of a table, `sizeof(u32)` are understood; a table's value that is not a number never matches.
//! - What only the kernel knows (`jiffies`, `vmemmap_base`, statements in brackets) is `?`, where
//!   trace-cmd calculates with 0.
//! - A function that is known by several names at one address has the first in `kallsyms`.
//! - The forms of the plugins for kvm, jbd2, scsi, xen, tlb, mac80211 and cfg80211, and of
//!   `func_repeats`, are not there: these events are printed by their `print fmt`.
//!
//! # Where it differs from the kernel
//!
//! [`Mode::Kernel`] prints what the file `trace` shows, with these limits: addresses are not hashed
//! (`%p` prints them as they are); strings in the kernel's memory are found in `printk_formats` only;
//! `enum` names that the kernel left in a format stay unknown; system calls have the form of their
//! `print fmt` (`dfd: 0x3`) and not `sys_openat(dfd: 3)`; the tracers' own events (osnoise,
//! timerlat, function graph) are printed by their `print fmt` too, and the header is two lines.

mod bprint;
mod calls;
mod eval;
mod expr;
mod flags;
mod format;
mod lex;
mod lines;
mod parse;
mod pointer;
mod printer;
mod printf;
mod raw;
mod special;
mod text;
mod value;

pub use lines::Lines;
pub use printer::Printer;

use crate::symbols::Symbols;
use std::collections::HashMap;
use std::sync::Arc;

/// Whose text it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Mode {
    /// As tracefs shows it in the file `trace`: every event by its own `print fmt`.
    Kernel,
    /// As `trace-cmd report` prints it: some events in forms of its plugins.
    TraceCmd,
}

/// What the numbers of a record may point at.
pub(crate) struct Names {
    mode: Mode,
    long_size: usize,
    symbols: Arc<Symbols>,
    /// The kernel's constant strings, by address.
    printk: HashMap<u64, Box<[u8]>>,
}
