//! The records of the function and function-graph tracers (`kernel/trace/trace_entries.h`), and `preemptirq`
//! (`include/trace/events/preemptirq.h`).

use super::field::{Int, Lookup};
use crate::bytes::Endian;
use crate::symbols::SymbolCache;
use whylate_base::Ns;
use whylate_events::{EventKind, Kind, Preemptirq};

#[derive(Debug)]
pub(super) enum Function {
    Call {
        ip: Int,
        parent: Int,
    },
    Entry {
        func: Int,
        depth: Int,
    },
    Exit {
        func: Int,
        depth: Int,
        calltime: Int,
        rettime: Int,
    },
    /// The caller is a distance from the beginning of the kernel's text.
    Preemptirq {
        what: Preemptirq,
        disables: bool,
        caller: Int,
    },
}

pub(super) fn compile(f: &mut Lookup<'_>) -> Option<(Kind, Function)> {
    Some(match f.format.name.as_str() {
        "function" => (Kind::Function, Function::Call { ip: f.int("ip")?, parent: f.int("parent_ip")? }),
        // The second is written instead of the first with the option `funcgraph-retaddr` (6.13); the arguments
        // that 6.15 puts behind have no field in an event.
        "funcgraph_entry" | "fgraph_retaddr_entry" => {
            (Kind::FunctionGraph, Function::Entry { func: f.int("func")?, depth: f.int("depth")? })
        }
        // Where they lie differs by version and by CONFIG_FUNCTION_GRAPH_RETVAL (6.5), and since 6.14 both times are
        // of the entry and no longer of the return in it. How they are called has not changed, up to 7.2: without
        // them there is no duration, and nothing is made up.
        "funcgraph_exit" => {
            let (func, depth) = (f.int("func")?, f.int("depth")?);
            let (calltime, rettime) = (f.int("calltime")?, f.int("rettime")?);
            (Kind::FunctionGraph, Function::Exit { func, depth, calltime, rettime })
        }
        _ => return None,
    })
}

pub(super) fn compile_preemptirq(f: &mut Lookup<'_>) -> Option<(Kind, Function)> {
    let (what, disables) = match f.format.name.as_str() {
        "irq_disable" => (Preemptirq::Interrupts, true),
        "irq_enable" => (Preemptirq::Interrupts, false),
        "preempt_disable" => (Preemptirq::Preemption, true),
        "preempt_enable" => (Preemptirq::Preemption, false),
        _ => return None,
    };
    Some((Kind::Preemptirq, Function::Preemptirq { what, disables, caller: f.int("caller_offs")? }))
}

impl Function {
    #[inline(always)]
    pub(super) fn decode(&self, e: Endian, r: &[u8], names: &mut SymbolCache) -> Option<EventKind> {
        Some(match *self {
            Function::Call { ip, parent } => EventKind::Function {
                name: names.name(ip.read(e, r)? as u64),
                caller: names.name(parent.read(e, r)? as u64),
            },
            Function::Entry { func, depth } => EventKind::FunctionEntry {
                name: names.name(func.read(e, r)? as u64),
                depth: depth.read(e, r)? as u32,
            },
            Function::Exit { func, depth, calltime, rettime } => EventKind::FunctionExit {
                name: names.name(func.read(e, r)? as u64),
                depth: depth.read(e, r)? as u32,
                duration: Ns(rettime.read(e, r)?.saturating_sub(calltime.read(e, r)?).max(0)),
            },
            Function::Preemptirq { what, disables, caller } => {
                EventKind::Preemptirq { what, disables, caller: names.in_kernel_text(caller.read(e, r)?) }
            }
        })
    }
}
