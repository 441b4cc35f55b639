//! In what context an event happened, a letter each.

use super::Mode;
use super::text::put;
use crate::dat::RawEvent;
use whylate_events::ContextFlags;

/// Writes interrupts, rescheduling, handler, preemption, migration and, where it was recorded, the
/// big kernel lock. `Mode::TraceCmd` reads the flags as every kernel before 6.13 meant them.
pub(super) fn write_flags(event: &RawEvent<'_>, mode: Mode, out: &mut Vec<u8>) {
    match mode {
        Mode::TraceCmd => out.extend(as_trace_cmd(event.int("common_flags").unwrap_or(0) as u8)),
        Mode::Kernel => out.extend(as_kernel(event.context.flags)),
    }
    let count = event.int("common_preempt_count").unwrap_or(0) as u8;
    for depth in [count & 15, count >> 4] {
        match depth {
            0 => out.push(b'.'),
            depth => put!(out, "{depth:x}"),
        }
    }
    for name in ["common_migrate_disable", "common_lock_depth"] {
        match event.int(name) {
            None => {}
            Some(depth) if depth < 0 => out.push(b'.'),
            Some(depth) => put!(out, "{depth}"),
        }
    }
}

fn as_trace_cmd(flags: u8) -> [u8; 3] {
    let irqs = match flags & 3 {
        0 => b'.',
        2 => b'X',
        _ => b'd',
    };
    let handler = match flags & 0x18 {
        0x18 => b'H',
        0x08 => b'h',
        0x10 => b's',
        _ => b'.',
    };
    [irqs, if flags & 4 != 0 { b'N' } else { b'.' }, handler]
}

/// `trace_print_lat_fmt`, `kernel/trace/trace_output.c`.
fn as_kernel(flags: ContextFlags) -> [u8; 3] {
    use ContextFlags as F;
    let is = |flag| flags.contains(flag);
    let irqs = match (is(F::IRQS_OFF), is(F::SOFTIRQS_OFF)) {
        _ if is(F::IRQS_UNKNOWN) => b'X',
        (true, true) => b'D',
        (true, false) => b'd',
        (false, true) => b'b',
        (false, false) => b'.',
    };
    let resched = match (is(F::NEED_RESCHED), is(F::NEED_RESCHED_LAZY), is(F::PREEMPT_RESCHED)) {
        (true, true, true) => b'B',
        (true, false, true) => b'N',
        (false, true, true) => b'L',
        (true, true, false) => b'b',
        (true, false, false) => b'n',
        (false, true, false) => b'l',
        (false, false, true) => b'p',
        (false, false, false) => b'.',
    };
    let handler = match (is(F::NMI), is(F::HARDIRQ), is(F::SOFTIRQ)) {
        (true, true, _) => b'Z',
        (true, false, _) => b'z',
        (_, true, true) => b'H',
        (_, true, false) => b'h',
        (_, false, true) => b's',
        _ => b'.',
    };
    [irqs, resched, handler]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters() {
        for (flags, trace_cmd, kernel) in [
            (0x00, "...", "..."),
            (0x01, "d..", "d.."),
            (0x05, "dN.", "dn."),
            (0x1d, "dNH", "dnH"),
            (0xa5, "dN.", "DN."),
            (0x48, "..h", "..Z"),
        ] {
            assert_eq!(as_trace_cmd(flags), trace_cmd.as_bytes(), "{flags:x}");
            assert_eq!(as_kernel(ContextFlags(u16::from(flags))), kernel.as_bytes(), "{flags:x}");
        }
        assert_eq!(&as_trace_cmd(2), b"X..");
    }
}
