//! The kernel's records: samples, mappings, forks and losses.
//!
//! The layout is that of `perf_event_open(2)`, "MMAP layout", for the members that `PerfEvent::SAMPLE` asks for. The
//! kernel writes the records, but a ring that is read askew has anything: no length is trusted.

use crate::sample::{UserRegisters, UserStack};
use whylate_base::{Cpu, Ns, Tid};
use whylate_sys::{PERF_REGISTERS, PerfRegister};

/// `enum perf_event_type` (`include/uapi/linux/perf_event.h`).
const LOST: u32 = 2;
const COMM: u32 = 3;
const EXIT: u32 = 4;
const FORK: u32 = 7;
const SAMPLE: u32 = 9;
const MMAP2: u32 = 10;
/// `misc` of a COMM record: the name changed by exec.
const COMM_EXEC: u16 = 1 << 13;
/// `misc` of a MMAP2 record: it has a build id in place of the file's numbers.
const MMAP_BUILD_ID: u16 = 1 << 14;
/// The four members that end every record but a sample: thread, time, CPU, id.
const TRAILER: usize = 32;
/// Markers in a call chain, such as PERF_CONTEXT_KERNEL, count down from the highest address.
const FIRST_MARKER: u64 = u64::MAX - 4095;
/// `enum perf_sample_regs_abi`: registers of a 64-bit program.
const ABI_64: u64 = 2;

/// One record.
#[derive(Debug, PartialEq)]
pub(crate) struct Record<'a> {
    /// When it was written; CLOCK_MONOTONIC.
    pub(crate) time: Ns,
    pub(crate) body: Body<'a>,
}

/// What a record reports.
#[derive(Debug, PartialEq)]
pub(crate) enum Body<'a> {
    Sample(Sample<'a>),
    /// A process mapped code.
    Mapped {
        pid: Tid,
        mapping: CodeMapping<'a>,
    },
    /// A process began another program.
    Executed {
        pid: Tid,
    },
    /// A process or a thread began; a thread where both are the same.
    Forked {
        pid: Tid,
        parent: Tid,
    },
    /// A thread ended.
    Exited {
        pid: Tid,
        tid: Tid,
    },
    /// Records that had no room.
    Lost(u64),
    Other,
}

/// A part of a file that is mapped to be executed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct CodeMapping<'a> {
    pub(crate) start: u64,
    pub(crate) length: u64,
    pub(crate) file_offset: u64,
    /// The file's inode; `None` where the kernel gives the build id instead.
    pub(crate) inode: Option<u64>,
    pub(crate) path: &'a [u8],
}

/// One sample as the kernel took it.
#[derive(Debug, PartialEq)]
pub(crate) struct Sample<'a> {
    /// The event's number.
    pub(crate) event: u64,
    pub(crate) pid: Tid,
    pub(crate) tid: Tid,
    pub(crate) cpu: Cpu,
    /// What was counted since the sample before.
    pub(crate) counts: u64,
    /// Of a page fault.
    pub(crate) address: u64,
    /// The kernel's addresses, innermost first.
    pub(crate) kernel: Addresses<'a>,
    /// The event's own data, of a tracepoint.
    pub(crate) raw: &'a [u8],
    /// Of a 64-bit program; none of a kernel thread.
    pub(crate) user: Option<(UserRegisters, UserStack<'a>)>,
}

/// Addresses of a call chain, in the record's bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Addresses<'a>(&'a [u8]);

impl Addresses<'_> {
    pub(crate) fn iter(&self) -> impl Iterator<Item = u64> {
        let numbers =
            self.0.chunks_exact(8).filter_map(|bytes| bytes.try_into().ok().map(u64::from_ne_bytes));
        numbers.filter(|&address| address < FIRST_MARKER)
    }
}

impl<'a> Record<'a> {
    /// Decodes a record with its header; `None` where it is shorter than its kind must be.
    pub(crate) fn parse(bytes: &'a [u8]) -> Option<Record<'a>> {
        let mut header = Bytes(bytes);
        let kind = header.u32()?;
        let misc = header.u16()?;
        header.u16()?;
        let body = header.0;
        if kind == SAMPLE {
            return sample(Bytes(body));
        }
        let (body, trailer) = body.split_at_checked(body.len().checked_sub(TRAILER)?)?;
        let mut trailer = Bytes(trailer);
        trailer.u64()?;
        let time = time(trailer.u64()?);
        let mut body = Bytes(body);
        let body = match kind {
            LOST => {
                body.u64()?;
                Body::Lost(body.u64()?)
            }
            COMM if misc & COMM_EXEC != 0 => Body::Executed { pid: body.tid()? },
            FORK | EXIT => {
                let (pid, parent, tid) = (body.tid()?, body.tid()?, body.tid()?);
                match kind {
                    FORK => Body::Forked { pid, parent },
                    _ => Body::Exited { pid, tid },
                }
            }
            MMAP2 => mapping(&mut body, misc)?,
            _ => Body::Other,
        };
        Some(Record { time, body })
    }
}

fn time(ns: u64) -> Ns {
    Ns(i64::try_from(ns).unwrap_or(i64::MAX))
}

fn mapping<'a>(body: &mut Bytes<'a>, misc: u16) -> Option<Body<'a>> {
    let pid = body.tid()?;
    body.u32()?;
    let (start, length, file_offset) = (body.u64()?, body.u64()?, body.u64()?);
    let file = body.take(24)?;
    let inode = file.get(8..16).and_then(|inode| inode.try_into().ok()).map(u64::from_ne_bytes);
    // Protection and flags.
    body.u64()?;
    let path = body.0.split(|&byte| byte == 0).next().unwrap_or_default();
    let inode = inode.filter(|_| misc & MMAP_BUILD_ID == 0);
    Some(Body::Mapped { pid, mapping: CodeMapping { start, length, file_offset, inode, path } })
}

fn sample(mut bytes: Bytes<'_>) -> Option<Record<'_>> {
    let event = bytes.u64()?;
    let (pid, tid) = (bytes.tid()?, bytes.tid()?);
    let time = time(bytes.u64()?);
    let address = bytes.u64()?;
    let cpu = Cpu(bytes.u32()?);
    bytes.u32()?;
    let counts = bytes.u64()?;
    let count = usize::try_from(bytes.u64()?).ok()?;
    let kernel = Addresses(bytes.take(count.checked_mul(8)?)?);
    let size = usize::try_from(bytes.u32()?).ok()?;
    let raw = bytes.take(size)?;
    let user = user(&mut bytes);
    Some(Record {
        time,
        body: Body::Sample(Sample { event, pid, tid, cpu, counts, address, kernel, raw, user }),
    })
}

fn user<'a>(bytes: &mut Bytes<'a>) -> Option<(UserRegisters, UserStack<'a>)> {
    let abi = bytes.u64()?;
    if abi == 0 {
        return None;
    }
    let mut registers = UserRegisters::default();
    for &(register, _) in PERF_REGISTERS {
        let value = bytes.u64()?;
        match register {
            PerfRegister::Frame => registers.fp = value,
            PerfRegister::Link => registers.lr = value,
            PerfRegister::Stack => registers.sp = value,
            PerfRegister::Instruction => registers.ip = value,
            PerfRegister::Saved(which) => {
                if let Some(saved) = registers.saved.get_mut(which) {
                    *saved = value;
                }
            }
        }
    }
    let size = usize::try_from(bytes.u64()?).ok()?;
    let copied = bytes.take(size)?;
    // The rest of the room that was asked for has nothing.
    let filled = bytes.u64().and_then(|filled| usize::try_from(filled).ok()).unwrap_or(0);
    let stack = UserStack { start: registers.sp, bytes: copied.get(..filled).unwrap_or(copied) };
    (abi == ABI_64).then_some((registers, stack))
}

/// Bytes that are taken from the front.
struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn u16(&mut self) -> Option<u16> {
        self.take(2)?.try_into().ok().map(u16::from_ne_bytes)
    }

    fn u32(&mut self) -> Option<u32> {
        self.take(4)?.try_into().ok().map(u32::from_ne_bytes)
    }

    fn u64(&mut self) -> Option<u64> {
        self.take(8)?.try_into().ok().map(u64::from_ne_bytes)
    }

    fn tid(&mut self) -> Option<Tid> {
        self.u32().map(|id| Tid(id.cast_signed()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn words(values: &[u64]) -> Vec<u8> {
        values.iter().flat_map(|value| value.to_ne_bytes()).collect()
    }

    fn record(kind: u32, misc: u16, body: &[u8]) -> Vec<u8> {
        let mut bytes = kind.to_ne_bytes().to_vec();
        bytes.extend(misc.to_ne_bytes());
        bytes.extend((body.len() as u16 + 8).to_ne_bytes());
        bytes.extend(body);
        bytes
    }

    fn pair(low: u32, high: u32) -> u64 {
        u64::from_ne_bytes([low.to_ne_bytes(), high.to_ne_bytes()].concat().try_into().expect("8 bytes"))
    }

    #[test]
    fn a_sample_has_chain_registers_and_the_filled_part_of_the_stack() {
        let registers: Vec<u64> =
            PERF_REGISTERS.iter().map(|&(_, number)| 0x1000 + u64::from(number)).collect();
        let mut body =
            words(&[77, pair(10, 11), 5_000, 0xdead, pair(3, 0), 50, 2, u64::MAX - 127, 0xffff_ff00]);
        body.extend(words(&[pair(4, 0), 2]));
        body.extend(words(&registers));
        body.extend(words(&[24, 1, 2, 0, 16]));
        let bytes = record(SAMPLE, 2, &body);
        let parsed = Record::parse(&bytes).expect("a sample");
        assert_eq!(parsed.time, Ns(5_000));
        let Body::Sample(sample) = parsed.body else { panic!("{parsed:?}") };
        assert_eq!((sample.event, sample.pid, sample.tid, sample.cpu), (77, Tid(10), Tid(11), Cpu(3)));
        assert_eq!(sample.counts, 50);
        assert_eq!(sample.kernel.iter().collect::<Vec<_>>(), [0xffff_ff00], "without its marker");
        let (user, stack) = sample.user.expect("a user part");
        assert_eq!((stack.start, stack.bytes), (user.sp, words(&[1, 2]).as_slice()));
        assert_ne!((user.ip, user.sp, user.fp), (0, 0, 0));
    }

    #[test]
    fn a_mapping_has_its_file_and_its_time() {
        let mut body = words(&[pair(10, 11), 0x4000, 0x1000, 0x2000, pair(8, 1), 4711, 0, pair(5, 2)]);
        body.extend(b"/usr/bin/true\0\0\0");
        body.extend(words(&[pair(10, 11), 900, 0, 5]));
        let bytes = record(MMAP2, 0, &body);
        let parsed = Record::parse(&bytes).expect("a mapping");
        let mapping = CodeMapping {
            start: 0x4000,
            length: 0x1000,
            file_offset: 0x2000,
            inode: Some(4711),
            path: b"/usr/bin/true",
        };
        assert_eq!(parsed, Record { time: Ns(900), body: Body::Mapped { pid: Tid(10), mapping } });
    }

    #[test]
    fn forks_losses_and_execs_are_told_apart() {
        let trailer = [pair(10, 11), 900, 0, 5];
        let of = |kind, misc, body: &[u64]| record(kind, misc, &words(&[body, &trailer].concat()));
        let ids = [pair(20, 10), pair(21, 11), 900];
        for (bytes, body) in [
            (of(FORK, 0, &ids), Body::Forked { pid: Tid(20), parent: Tid(10) }),
            (of(EXIT, 0, &ids), Body::Exited { pid: Tid(20), tid: Tid(21) }),
            (of(LOST, 0, &[5, 12]), Body::Lost(12)),
            (of(COMM, COMM_EXEC, &[pair(20, 21), 0]), Body::Executed { pid: Tid(20) }),
            (of(COMM, 0, &[pair(20, 21), 0]), Body::Other),
        ] {
            assert_eq!(Record::parse(&bytes), Some(Record { time: Ns(900), body }));
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_survived(kind in 0u32..20, misc in any::<u16>(), body in prop::collection::vec(any::<u8>(), 0..200)) {
            let bytes = record(kind, misc, &body);
            if let Some(Record { body: Body::Sample(sample), .. }) = Record::parse(&bytes) {
                prop_assert!(sample.kernel.iter().count() * 8 <= body.len());
            }
        }
    }
}
