//! The `signal` events (`include/trace/events/signal.h`).

use super::field::{Int, Lookup, Str};
use crate::bytes::Endian;
use whylate_base::Tid;
use whylate_events::{EventKind, Signal};

#[derive(Debug)]
pub(super) struct Generate {
    sig: Int,
    code: Int,
    comm: Str,
    tid: Int,
}

pub(super) fn compile(f: &mut Lookup<'_>) -> Option<Generate> {
    let wanted = f.format.name == "signal_generate";
    // The format's `pid` is the kernel's: a thread's id.
    wanted.then(|| {
        Some(Generate { sig: f.int("sig")?, code: f.int("code")?, comm: f.text("comm")?, tid: f.int("pid")? })
    })?
}

impl Generate {
    pub(super) fn decode(&self, e: Endian, r: &[u8]) -> Option<EventKind> {
        Some(EventKind::Signal(Signal {
            sig: self.sig.read(e, r)? as i32,
            code: self.code.read(e, r)? as i32,
            tid: Tid(self.tid.read(e, r)? as i32),
            comm: self.comm.text(e, r),
        }))
    }
}
