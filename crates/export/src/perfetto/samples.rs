//! Sampled call stacks as `PerfSample`s.
//!
//! A sequence of packets has one timebase, so each kind of sample has a sequence of its own: ui.perfetto.dev shows them as
//! separate rows of flame graphs. Strings, files, frames and stacks are interned in the packet that uses them first.

use super::packets::{FIRST_SAMPLE_SEQUENCE, NEEDS_STATE, Packets, STATE_CLEARED, packet, time};
use super::proto::Message;
use crate::cut::Selected;
use std::collections::{BTreeMap, HashMap};
use std::io;
use whylate_base::Ns;
use whylate_events::{
    AddressId, CodeAddress, ModuleId, ModuleKind, SampleKind, StackId, StackSample, Stacks,
};

/// `TracePacketDefaults.perf_sample_defaults`, `PerfSampleDefaults.timebase`
const DEFAULTS: u32 = 12;
const TIMEBASE: u32 = 1;

/// `PerfEvents.Timebase`
mod timebase {
    pub(super) const PERIOD: u32 = 1;
    pub(super) const TRACEPOINT: u32 = 3;
    pub(super) const COUNTER: u32 = 4;
    pub(super) const NAME: u32 = 10;
}

/// `PerfSample`
mod perf_sample {
    pub(super) const CPU: u32 = 1;
    pub(super) const PID: u32 = 2;
    pub(super) const TID: u32 = 3;
    pub(super) const CALLSTACK: u32 = 4;
    pub(super) const CPU_MODE: u32 = 5;
    /// `Profiling.CpuMode`
    pub(super) const MODE_KERNEL: u32 = 1;
    pub(super) const MODE_USER: u32 = 2;
}

/// `InternedData`
mod interned {
    pub(super) const FUNCTION_NAMES: u32 = 5;
    pub(super) const FRAMES: u32 = 6;
    pub(super) const CALLSTACKS: u32 = 7;
    pub(super) const BUILD_IDS: u32 = 16;
    pub(super) const MAPPING_PATHS: u32 = 17;
    pub(super) const SOURCE_PATHS: u32 = 18;
    pub(super) const MAPPINGS: u32 = 19;
}

/// `InternedString`, `Mapping`, `Frame` and `Callstack` all have their number there.
const IID: u32 = 1;

/// Writes the samples that the cut keeps; gives back how many those are.
pub(super) fn write(stacks: &Stacks, selected: &Selected<'_>, packets: &mut Packets<'_>) -> io::Result<u64> {
    let mut sequences: BTreeMap<Timebase, Interned<'_>> = BTreeMap::new();
    let mut written = 0;
    for sample in stacks.samples.iter().filter(|sample| selected.keeps_sample(sample)) {
        let timebase = Timebase::of(sample.kind);
        let interned = sequences.entry(timebase).or_insert_with(|| Interned::new(stacks));
        write_sample(sample, timebase, interned, packets)?;
        written += 1;
    }
    Ok(written)
}

fn write_sample(
    sample: &StackSample,
    timebase: Timebase,
    interned: &mut Interned<'_>,
    packets: &mut Packets<'_>,
) -> io::Result<()> {
    let stacks = interned.stacks;
    let is_first = interned.is_empty();
    let mut new = Message::new();
    let callstack = interned.callstack(sample.stack, &mut new);
    packets.write(|out| {
        out.uint(packet::TIMESTAMP, time(sample.time));
        out.uint(packet::SEQUENCE_ID, FIRST_SAMPLE_SEQUENCE + timebase as u32);
        out.uint(packet::SEQUENCE_FLAGS, if is_first { STATE_CLEARED | NEEDS_STATE } else { NEEDS_STATE });
        if is_first {
            out.message(packet::DEFAULTS, |out| {
                out.message(DEFAULTS, |out| {
                    out.message(TIMEBASE, |out| timebase.write(stacks.period, out));
                });
            });
        }
        if !new.is_empty() {
            out.message(packet::INTERNED_DATA, |out| out.append(&new));
        }
        out.message(packet::PERF_SAMPLE, |out| {
            out.uint(perf_sample::CPU, sample.cpu.0);
            out.int(perf_sample::PID, sample.pid.0);
            out.int(perf_sample::TID, sample.tid.0);
            let innermost = stacks.frames(sample.stack).next();
            let is_kernel = innermost.is_some_and(|frame| frame.kind() == ModuleKind::Kernel);
            let mode = if is_kernel { perf_sample::MODE_KERNEL } else { perf_sample::MODE_USER };
            out.uint(perf_sample::CPU_MODE, mode);
            out.uint(perf_sample::CALLSTACK, callstack);
        });
    })
}

/// What a sequence of samples counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Timebase {
    CpuClock,
    SwitchOut,
    MinorFault,
    MajorFault,
    Wake,
    Syscall,
    Timer,
}

impl Timebase {
    fn of(kind: SampleKind) -> Timebase {
        match kind {
            SampleKind::CpuClock => Timebase::CpuClock,
            SampleKind::SwitchOut => Timebase::SwitchOut,
            SampleKind::MinorFault { .. } => Timebase::MinorFault,
            SampleKind::MajorFault { .. } => Timebase::MajorFault,
            SampleKind::Wake { .. } => Timebase::Wake,
            SampleKind::Syscall { .. } => Timebase::Syscall,
            SampleKind::Timer => Timebase::Timer,
        }
    }

    /// perf's name of the event.
    fn name(self) -> &'static str {
        match self {
            Timebase::CpuClock => "cpu-clock",
            Timebase::SwitchOut => "context-switches",
            Timebase::MinorFault => "minor-faults",
            Timebase::MajorFault => "major-faults",
            Timebase::Wake => "sched:sched_waking",
            Timebase::Syscall => "raw_syscalls:sys_enter",
            Timebase::Timer => "timer:hrtimer_expire_entry",
        }
    }

    /// `PerfEvents.Counter`; `None` of a tracepoint.
    fn counter(self) -> Option<u32> {
        match self {
            Timebase::CpuClock => Some(1),
            Timebase::SwitchOut => Some(4),
            Timebase::MinorFault => Some(6),
            Timebase::MajorFault => Some(7),
            Timebase::Wake | Timebase::Syscall | Timebase::Timer => None,
        }
    }

    fn write(self, clock_period: Ns, out: &mut Message) {
        let period = match self {
            Timebase::CpuClock => u64::try_from(clock_period.0).unwrap_or(1),
            _ => 1,
        };
        out.uint(timebase::PERIOD, period);
        match self.counter() {
            Some(counter) => out.uint(timebase::COUNTER, counter),
            None => out.message(timebase::TRACEPOINT, |out| out.text(1, self.name())),
        }
        out.text(timebase::NAME, self.name());
    }
}

/// What a sequence has interned. Numbers begin with 1.
struct Interned<'a> {
    stacks: &'a Stacks,
    strings: HashMap<(u32, &'a str), u64>,
    mappings: HashMap<ModuleId, u64>,
    /// The frames of an address, innermost first: several where functions were inlined.
    frames: HashMap<AddressId, Vec<u64>>,
    last_frame: u64,
    callstacks: HashMap<StackId, u64>,
}

impl<'a> Interned<'a> {
    fn new(stacks: &'a Stacks) -> Interned<'a> {
        Interned {
            stacks,
            strings: HashMap::new(),
            mappings: HashMap::new(),
            frames: HashMap::new(),
            last_frame: 0,
            callstacks: HashMap::new(),
        }
    }

    fn is_empty(&self) -> bool {
        self.callstacks.is_empty()
    }

    /// The number of a stack; what is new of it is added to `out`.
    fn callstack(&mut self, stack: StackId, out: &mut Message) -> u64 {
        if let Some(&known) = self.callstacks.get(&stack) {
            return known;
        }
        let addresses = self.stacks.stacks.get(stack.0 as usize).map(Vec::as_slice).unwrap_or_default();
        let mut frames = Vec::new();
        for &address in addresses {
            frames.extend(self.frames_of(address, out));
        }
        let iid = self.callstacks.len() as u64 + 1;
        self.callstacks.insert(stack, iid);
        out.message(interned::CALLSTACKS, |out| {
            out.uint(IID, iid);
            // `Callstack.frame_ids`: the outermost first.
            frames.iter().rev().for_each(|&frame| out.uint(2, frame));
        });
        iid
    }

    fn frames_of(&mut self, id: AddressId, out: &mut Message) -> Vec<u64> {
        if let Some(known) = self.frames.get(&id) {
            return known.clone();
        }
        let Some(address) = self.stacks.addresses.get(id.0 as usize) else { return Vec::new() };
        let mapping = address.module.and_then(|module| self.mapping(module, out));
        let count = address.locations.len().max(1);
        let frames = (0..count).map(|depth| self.frame(address, depth, mapping, out)).collect::<Vec<_>>();
        self.frames.insert(id, frames.clone());
        frames
    }

    fn frame(
        &mut self,
        address: &'a CodeAddress,
        depth: usize,
        mapping: Option<u64>,
        out: &mut Message,
    ) -> u64 {
        let location = address.locations.get(depth);
        let function = location.and_then(|location| location.function.as_deref());
        let function = function.map(|name| self.string(interned::FUNCTION_NAMES, name, out));
        let file = location.and_then(|location| location.file.as_deref());
        let file = file.map(|path| self.string(interned::SOURCE_PATHS, path, out));
        let module = address.module.and_then(|id| self.stacks.modules.get(id.0 as usize));
        self.last_frame += 1;
        let iid = self.last_frame;
        out.message(interned::FRAMES, |out| {
            out.uint(IID, iid);
            function.into_iter().for_each(|name| out.uint(2, name));
            if let Some(mapping) = mapping {
                out.uint(3, mapping);
                // A symbolizer finds the file's own addresses there: the mapping has no load bias.
                out.uint(4, address.offset);
            }
            file.into_iter().for_each(|path| out.uint(5, path));
            location.and_then(|location| location.line).into_iter().for_each(|line| out.uint(6, line));
            // `Frame.Kind`
            match module.map(|module| module.kind) {
                Some(ModuleKind::Program | ModuleKind::System) => out.uint(7, 1u32),
                Some(ModuleKind::Kernel) => out.uint(7, 2u32),
                Some(ModuleKind::Jit) => out.uint(7, 4u32),
                None => {}
            }
        });
        iid
    }

    fn mapping(&mut self, id: ModuleId, out: &mut Message) -> Option<u64> {
        if let Some(&known) = self.mappings.get(&id) {
            return Some(known);
        }
        let module = self.stacks.modules.get(id.0 as usize)?;
        let build_id = module.build_id.as_deref().map(|hex| self.string(interned::BUILD_IDS, hex, out));
        let parts = module.path.split('/').filter(|part| !part.is_empty());
        let parts: Vec<u64> = parts.map(|part| self.string(interned::MAPPING_PATHS, part, out)).collect();
        let iid = self.mappings.len() as u64 + 1;
        self.mappings.insert(id, iid);
        out.message(interned::MAPPINGS, |out| {
            out.uint(IID, iid);
            build_id.into_iter().for_each(|id| out.uint(2, id));
            parts.iter().for_each(|&part| out.uint(7, part));
        });
        Some(iid)
    }

    /// The number of a string in one of the tables of strings.
    fn string(&mut self, table: u32, text: &'a str, out: &mut Message) -> u64 {
        let next = self.strings.len() as u64 + 1;
        let iid = *self.strings.entry((table, text)).or_insert(next);
        if iid == next {
            out.message(table, |out| {
                out.uint(IID, iid);
                match table {
                    // As bytes, not as digits.
                    interned::BUILD_IDS => out.data(2, &bytes_of(text)),
                    _ => out.text(2, text),
                }
            });
        }
        iid
    }
}

/// The bytes of hexadecimal digits.
fn bytes_of(digits: &str) -> Vec<u8> {
    let digit = |byte: &u8| char::from(*byte).to_digit(16).unwrap_or(0) as u8;
    digits
        .as_bytes()
        .chunks_exact(2)
        .map(|pair| pair.iter().fold(0, |value, byte| value << 4 | digit(byte)))
        .collect()
}
