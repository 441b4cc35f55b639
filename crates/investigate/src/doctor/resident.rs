//! How much of a process's memory is resident and locked, and which of it are stacks (proc_pid_smaps(5),
//! proc_pid_syscall(5)).

use super::facts::MemoryRange;
use super::process_files::numbers;
use std::fs;
use std::path::Path;
use whylate_base::Tid;
use whylate_host::status_value;
use whylate_stacks::parse_maps;

/// The kernel walks the page tables for this file, and meanwhile the process cannot change its mappings: where more is
/// resident, it is not read.
const MOST_RESIDENT_KIB: u64 = 1 << 20;

/// The memory of a process; `None` where it is not read, or may not be.
pub(super) fn memory(pid: Tid, status: &str) -> Option<Vec<MemoryRange>> {
    let resident: u64 = status_value(status, "VmRSS")?.split_ascii_whitespace().next()?.parse().ok()?;
    if resident > MOST_RESIDENT_KIB {
        return None;
    }
    let directory = Path::new("/proc").join(pid.to_string());
    let text = fs::read(directory.join("smaps")).ok()?;
    let mut ranges = parse(&String::from_utf8_lossy(&text));
    for tid in numbers(&directory.join("task")) {
        let file = directory.join("task").join(tid.to_string()).join("syscall");
        let Some(pointer) = fs::read_to_string(file).ok().and_then(|text| stack_pointer(&text)) else {
            continue;
        };
        let stack = ranges.iter_mut().find(|range| range.start <= pointer && pointer < range.end);
        if let Some(range) = stack {
            range.stack_of = Some(Tid(tid));
        }
    }
    (!ranges.is_empty()).then_some(ranges)
}

/// The ranges, each with the lines that follow it.
fn parse(text: &str) -> Vec<MemoryRange> {
    let mut ranges: Vec<MemoryRange> = Vec::new();
    for line in text.lines() {
        if let Some(range) = parse_maps(line.as_bytes()).next() {
            let path = range.mapping.path.as_os_str();
            ranges.push(MemoryRange {
                start: range.mapping.start,
                end: range.mapping.end(),
                resident: 0,
                is_locked: false,
                is_data: range.is_writable && (path.is_empty() || path == "[heap]"),
                stack_of: None,
            });
            continue;
        }
        let (Some(range), Some((name, text))) = (ranges.last_mut(), line.split_once(':')) else { continue };
        let mut words = text.split_ascii_whitespace();
        match name {
            "Rss" => {
                let kib = words.next().and_then(|kib| kib.parse::<u64>().ok());
                range.resident = kib.and_then(|kib| kib.checked_mul(1024)).unwrap_or(0);
            }
            "VmFlags" => {
                let flags: Vec<&str> = words.collect();
                range.is_locked = flags.contains(&"lo") && !flags.contains(&"lf");
            }
            _ => {}
        }
    }
    ranges
}

/// The user's stack pointer of a thread that is in a system call: the last word but one. One that runs has no words.
fn stack_pointer(text: &str) -> Option<u64> {
    let mut words = text.split_ascii_whitespace().rev();
    u64::from_str_radix(words.nth(1)?.strip_prefix("0x")?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Cut from a file of Linux 6.18.
    const SMAPS: &str = "\
7f1c10000000-7f1c11000000 rw-p 00000000 00:00 0
Size:              16384 kB
KernelPageSize:        4 kB
Rss:                   4 kB
Locked:                0 kB
THPeligible:           0
VmFlags: rd wr mr mw me ac sd nh
7f1c11000000-7f1c11040000 rw-p 00000000 00:00 0                          [heap]
Rss:                 256 kB
VmFlags: rd wr mr mw me lo ac sd
7f1c11040000-7f1c11041000 ---p 00000000 00:00 0
Rss:                   0 kB
VmFlags: mr mw me lo lf sd
7f1c12000000-7f1c12001000 rw-p 00003000 08:01 393230                     /usr/bin/x
Rss:                   4 kB
";

    #[test]
    fn ranges_have_what_is_resident_and_locked() {
        let ranges = parse(SMAPS);
        let read: Vec<_> =
            ranges.iter().map(|range| (range.missing() >> 10, range.is_locked, range.is_data)).collect();
        assert_eq!(read, [(16_380, false, true), (0, true, true), (4, false, false), (0, false, false)]);
        for cut in 0..SMAPS.len() {
            assert!(parse(&SMAPS[..cut]).len() <= 4);
        }
    }

    #[test]
    fn a_thread_in_a_call_has_a_stack_pointer() {
        let text = "230 0x1 0x1 0x7ffd 0x0 0x0 0x0 0x7f1c1103fe40 0x7f1c13d0a1b7\n";
        assert_eq!(stack_pointer(text), Some(0x7f1c_1103_fe40));
        assert_eq!(stack_pointer("-1 0x7f00 0x55aa\n"), Some(0x7f00));
        assert_eq!(stack_pointer("running\n"), None);
        assert_eq!(stack_pointer(""), None);
    }

    #[test]
    fn the_memory_of_this_process_is_read() {
        let own = Tid(i32::try_from(std::process::id()).expect("an id"));
        let status = fs::read_to_string("/proc/self/status").expect("a file");
        let ranges = memory(own, &status).expect("one's own memory");
        assert!(ranges.iter().any(|range| range.is_data && range.resident > 0));
        assert!(ranges.iter().any(|range| range.stack_of.is_some()));
        assert_eq!(memory(own, "VmRSS:\t 2000000 kB\n"), None);
    }
}
