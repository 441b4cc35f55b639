//! The kernel's stack behind an event, which the option `stacktrace` writes (`trace-cmd record -T`;
//! `__ftrace_trace_stack`, `kernel/trace/trace.c`).

use super::field::{Int, Lookup};
use crate::bytes::Endian;
use crate::symbols::SymbolCache;
use whylate_events::Symbol;

/// The most that is read of one.
const DEEPEST: usize = 64;
/// Where the length is fixed, it is this (`FTRACE_STACK_ENTRIES`, up to 3.1).
const FIXED: usize = 8;

#[derive(Debug)]
pub(super) struct Stack {
    offset: usize,
    /// How many callers there are. The format has room for 8 up to 6.2, and each record for as many as it has.
    count: Option<Int>,
    /// What the format has room for, in bytes.
    room: usize,
}

pub(super) fn compile(f: &mut Lookup<'_>) -> Option<Stack> {
    let (offset, room) = f.array("caller")?;
    let count = f.int("size");
    (room > 0 || count.is_some()).then_some(Stack { offset, count, room })
}

impl Stack {
    /// The functions, innermost first.
    pub(super) fn functions(&self, endian: Endian, record: &[u8], names: &mut SymbolCache) -> Vec<Symbol> {
        let callers = record.get(self.offset..).unwrap_or_default();
        let count = match self.count {
            Some(count) => {
                count.read(endian, record).and_then(|count| usize::try_from(count).ok()).unwrap_or(0)
            }
            None => FIXED,
        };
        // Without room, no field has the size of one.
        let long = match self.room {
            0 if callers.len() / 8 < count => 4,
            0 => 8,
            room => room / FIXED,
        };
        // What is not used of a fixed length is all ones or none.
        let is_used = |&address: &u64| address != 0 && address != u64::MAX && address != u64::from(u32::MAX);
        let addresses =
            (0..count.min(DEEPEST)).map_while(|n| endian.long(callers, n * long, long).filter(is_used));
        addresses.map(|address| names.name(address)).filter(|name| !name.is_empty()).collect()
    }
}
