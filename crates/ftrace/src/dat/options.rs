//! The options of a trace.dat that mean the same in both versions.
//!
//! | option | what becomes of it |
//! |---|---|
//! | DATE, OFFSET, TIME_SHIFT, TSC2NSEC | [`super::time`] |
//! | UNAME, CPUCOUNT, VERSION, TRACEID, GUEST | kept |
//! | BUFFER, BUFFER_TEXT, TRACECLOCK, CPUSTAT, and those that point to sections | each version's own |
//! | HOOK, PROCMAPS | for printing only: ignored |
//! | STRINGS | names of sections: ignored |
//! | BTF_FILE, MODULES_FILE, LAST_BOOT_INFO | for printing arguments and addresses of modules: ignored |
//!
//! A number that is not known is from a later trace-cmd, and ignored.

use super::container::Container;
use super::session::Guest;
use super::time::{Sync, TscToNs};
use crate::bytes::until_nul;
use whylate_base::{Cpu, Tid};
use whylate_events::Damage;

pub(super) const DONE: u16 = 0;
const DATE: u16 = 1;
pub(super) const CPUSTAT: u16 = 2;
pub(super) const BUFFER: u16 = 3;
pub(super) const TRACECLOCK: u16 = 4;
pub(super) const UNAME: u16 = 5;
const OFFSET: u16 = 7;
pub(super) const CPUCOUNT: u16 = 8;
pub(super) const VERSION: u16 = 9;
const TRACEID: u16 = 11;
const TIME_SHIFT: u16 = 12;
const GUEST: u16 = 13;
const TSC2NSEC: u16 = 14;
pub(super) const STRINGS: u16 = 15;
pub(super) const HEADER_INFO: u16 = 16;
pub(super) const FTRACE_EVENTS: u16 = 17;
pub(super) const EVENT_FORMATS: u16 = 18;
pub(super) const KALLSYMS: u16 = 19;
pub(super) const PRINTK: u16 = 20;
pub(super) const CMDLINES: u16 = 21;
pub(super) const BUFFER_TEXT: u16 = 22;
/// The highest number a section has, of trace-cmd 3.4: MODULES_FILE.
pub(super) const LAST: u16 = 25;

/// Takes in an option that stands at `at`, if it is one of both versions.
pub(super) fn take(container: &mut Container, id: u16, data: &[u8], at: u64) {
    let endian = container.endian;
    let text = || String::from_utf8_lossy(until_nul(data)).trim_end().to_owned();
    let understood = match id {
        DATE => number(&text()).map(|us| add(container, us.saturating_mul(1000))).is_some(),
        OFFSET => number(&text()).map(|ns| add(container, ns)).is_some(),
        UNAME => {
            container.uname = Some(text());
            true
        }
        VERSION => {
            container.writer = Some(text());
            true
        }
        CPUCOUNT => endian.u32(data, 0).map(|count| container.cpu_count = count).is_some(),
        TRACEID => {
            container.session.id = endian.u64(data, 0);
            container.session.id.is_some()
        }
        TIME_SHIFT => {
            container.times.sync = Sync::parse(endian, data);
            container.session.host = container.times.sync.as_ref().map(|sync| sync.peer);
            container.times.sync.is_some()
        }
        TSC2NSEC => {
            container.times.tsc = TscToNs::parse(endian, data);
            data.len() >= 16
        }
        GUEST => {
            let guest = guest(container, data);
            let known = guest.is_some();
            container.session.guests.extend(guest);
            known
        }
        _ => true,
    };
    if !understood {
        let (name, cost) = match id {
            DATE | OFFSET => ("the offset of the times", "they are shown as recorded"),
            TIME_SHIFT => ("the comparison with the host's clock", "times are the guest's own"),
            TSC2NSEC => ("the speed of the clock", "times are in its ticks"),
            _ => ("an option", "ignored"),
        };
        container.note(Damage::at(at, format!("{name} was not understood: {cost}")).detail());
    }
}

fn add(container: &mut Container, ns: i64) {
    container.times.offset = container.times.offset.saturating_add(ns);
}

/// A number as `strtoll(3)` reads it with base 0: decimal, `0x` hexadecimal, or octal behind a 0.
fn number(text: &str) -> Option<i64> {
    let (negative, digits) = match text.trim().strip_prefix(['-', '+']) {
        Some(digits) => (text.trim().starts_with('-'), digits),
        None => (false, text.trim()),
    };
    let (base, digits) = match digits.strip_prefix("0x").or(digits.strip_prefix("0X")) {
        Some(digits) => (16, digits),
        None if digits.len() > 1 && digits.starts_with('0') => (8, digits),
        None => (10, digits),
    };
    let end = digits.find(|c: char| !c.is_digit(base)).unwrap_or(digits.len());
    let value = i128::from_str_radix(digits.get(..end)?, base).ok()?;
    i64::try_from(if negative { -value } else { value }).ok()
}

/// `name NUL | id u64 | count u32 | count times: cpu u32, pid u32`
fn guest(container: &Container, data: &[u8]) -> Option<Guest> {
    let endian = container.endian;
    let name = until_nul(data);
    let rest = data.get(name.len() + 1..)?;
    let (id, count) = (endian.u64(rest, 0)?, endian.u32(rest, 8)?);
    let entries = rest.get(12..)?.chunks_exact(8);
    if entries.len() < count as usize {
        return None;
    }
    let entry = |bytes: &[u8]| Some((Cpu(endian.u32(bytes, 0)?), Tid(endian.u32(bytes, 4)? as i32)));
    let cpus = entries.take(count as usize).map(entry).collect::<Option<_>>()?;
    Some(Guest { name: String::from_utf8_lossy(name).into_owned(), id, cpus })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bytes::Endian;
    use crate::dat::session::Session;

    #[test]
    fn numbers_are_read_as_c_does() {
        for (text, expected) in [
            ("0", Some(0)),
            ("-12", Some(-12)),
            ("0x1c", Some(28)),
            ("-0x10\n", Some(-16)),
            ("017", Some(15)),
            ("5 s", Some(5)),
            ("", None),
            ("x", None),
            ("99999999999999999999", None),
        ] {
            assert_eq!(number(text), expected, "{text:?}");
        }
    }

    #[test]
    fn options_are_taken_in_or_noted() {
        let mut container = Container::new(7, Endian::Little, 8);
        let guest = [&b"vm\0"[..], &9u64.to_le_bytes(), &1u32.to_le_bytes(), &[0; 4], &77u32.to_le_bytes()];
        for (id, data) in [
            (DATE, &b"0x10\0"[..]),
            (OFFSET, b"-1000\0"),
            (TRACEID, &5u64.to_le_bytes()),
            (VERSION, b"3.2 \0"),
            (GUEST, &guest.concat()),
            (6, b"hook"),
            (4711, b""),
        ] {
            take(&mut container, id, data, 0);
        }
        assert_eq!(container.times.offset, 15_000);
        assert_eq!(container.writer.as_deref(), Some("3.2"));
        let vm = Guest { name: "vm".into(), id: 9, cpus: vec![(Cpu(0), Tid(77))] };
        assert_eq!(container.session, Session { id: Some(5), host: None, guests: vec![vm] });
        assert_eq!(container.damage, []);
        for (id, data) in
            [(DATE, &b"\0"[..]), (TIME_SHIFT, b"short"), (TSC2NSEC, &[1; 8]), (GUEST, b"vm"), (TRACEID, b"")]
        {
            let before = container.damage.len();
            take(&mut container, id, data, 7);
            assert_eq!(container.damage.len(), before + 1, "{id}");
        }
    }
}
