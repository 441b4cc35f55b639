//! Call stacks in a trace.dat: a section behind all pages, which other readers never look for.
//!
//! ```text
//! ... pages │ section 0x7773: sizes, JSON (compressed) │ "whylate.stacks/1", offset of the section │ end of the file
//! ```
//!
//! No option points to the section, because trace-cmd warns of options that it does not know. A file that is cut loses it
//! first. The JSON has every string once, and numbers in place of names, so that a million samples stay small.

use super::compress::Compression;
use super::container::Container;
use super::error::Trouble;
use super::input::Input;
use super::read_at::ReadAt;
use super::v7;
use crate::bytes::Endian;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::io;
use whylate_base::{Cpu, Ns, Tid};
use whylate_events::{
    AddressId, CodeAddress, CodeLocation, CodeModule, ModuleId, ModuleKind, MutexProtocol, MutexReading,
    SampleKind, StackId, StackSample, Stacks,
};

/// The section's number: no number of trace-cmd's is near it.
pub(super) const SECTION: u16 = 0x7773;
/// The file's last bytes, before the offset of the section.
pub(super) const END: &[u8; 16] = b"whylate.stacks/1";

/// The document. A number that stands for a string is an index into `strings`, plus one; zero is none.
#[derive(Default, Serialize, Deserialize)]
struct Document {
    period_ns: i64,
    lost: u64,
    cost_ns: Option<i64>,
    notes: Vec<String>,
    /// Earlier versions wrote none.
    #[serde(default)]
    mutexes: Vec<MutexRow>,
    strings: Vec<String>,
    /// Path, build id, kind.
    modules: Vec<(u32, u32, u8)>,
    /// CodeModule (plus one), offset, locations.
    addresses: Vec<(u32, u64, Vec<LocationRow>)>,
    stacks: Vec<Vec<u32>>,
    samples: Vec<SampleRow>,
}

/// Function, file, line.
type LocationRow = (u32, u32, u32);
/// Nanoseconds since the sample before, tid, pid, CPU, kind, the kind's value, stack.
type SampleRow = (i64, i32, i32, u32, u8, u64, u32);

/// From, to, waiter, pid, address, protocol, owner, symbol.
type MutexRow = (i64, i64, i32, i32, u64, u8, i32, u32);

const PROTOCOLS: [MutexProtocol; 3] = [MutexProtocol::None, MutexProtocol::Inherit, MutexProtocol::Protect];
const MODULE_KINDS: [ModuleKind; 4] =
    [ModuleKind::Program, ModuleKind::System, ModuleKind::Kernel, ModuleKind::Jit];

/// The JSON text of the stacks.
pub(super) fn encode(stacks: &Stacks) -> io::Result<Vec<u8>> {
    let mut strings = Strings::default();
    let module = |strings: &mut Strings, module: &CodeModule| {
        let kind = MODULE_KINDS.iter().position(|&kind| kind == module.kind).unwrap_or(0) as u8;
        (strings.number(Some(&module.path)), strings.number(module.build_id.as_deref()), kind)
    };
    let address = |strings: &mut Strings, address: &CodeAddress| {
        let location = |location: &CodeLocation| {
            let function = strings.number(location.function.as_deref());
            (function, strings.number(location.file.as_deref()), location.line.unwrap_or(0))
        };
        let locations = address.locations.iter().map(location).collect();
        (address.module.map_or(0, |id| id.0 + 1), address.offset, locations)
    };
    let mutex = |strings: &mut Strings, mutex: &MutexReading| {
        let protocol = PROTOCOLS.iter().position(|&protocol| protocol == mutex.protocol).unwrap_or(0) as u8;
        let (from, to, waiter, pid) = (mutex.from.0, mutex.to.0, mutex.waiter.0, mutex.pid.0);
        let symbol = strings.number(mutex.symbol.as_deref());
        (from, to, waiter, pid, mutex.address, protocol, mutex.owner.0, symbol)
    };
    let mut before = Ns::ZERO;
    let sample = |sample: &StackSample| {
        let (kind, value) = number_of(sample.kind);
        let gone = sample.time - before;
        before = sample.time;
        (gone.0, sample.tid.0, sample.pid.0, sample.cpu.0, kind, value, sample.stack.0)
    };
    let document = Document {
        period_ns: stacks.period.0,
        lost: stacks.lost,
        cost_ns: stacks.cost.map(|cost| cost.0),
        notes: stacks.notes.clone(),
        mutexes: stacks.mutexes.iter().map(|one| mutex(&mut strings, one)).collect(),
        modules: stacks.modules.iter().map(|one| module(&mut strings, one)).collect(),
        addresses: stacks.addresses.iter().map(|one| address(&mut strings, one)).collect(),
        stacks: stacks.stacks.iter().map(|stack| stack.iter().map(|id| id.0).collect()).collect(),
        samples: stacks.samples.iter().map(sample).collect(),
        strings: strings.all,
    };
    Ok(serde_json::to_vec(&document)?)
}

/// The stacks at the end of a file, where it has some.
pub(super) fn read(source: &dyn ReadAt, container: &Container) -> Option<Result<Stacks, Trouble>> {
    let footer = (END.len() + 8) as u64;
    let at = source.size().checked_sub(footer)?;
    let mut input = Input::new(source, at, container.endian);
    let end = input.take(END.len() as u64, "the end of the stacks").ok()?;
    (end == END).then(|| section(source, container.endian, container.compression, &mut input))
}

fn section(
    source: &dyn ReadAt,
    endian: Endian,
    compression: Compression,
    footer: &mut Input<'_>,
) -> Result<Stacks, Trouble> {
    let at = footer.u64("the offset of the stacks")?;
    let text = v7::section(source, endian, compression, at, SECTION)?;
    decode(&text).map_err(|what| Trouble::bad(at, what))
}

/// Reads what [`encode`] wrote; every number of another member is in range afterwards.
fn decode(text: &[u8]) -> Result<Stacks, String> {
    let document: Document =
        serde_json::from_slice(text).map_err(|error| format!("the stacks are not readable: {error}"))?;
    let string = |number: u32| {
        let index = number.checked_sub(1)? as usize;
        document.strings.get(index).cloned()
    };
    let (modules, addresses) = (document.modules.len(), document.addresses.len());
    let wrong = |what: &str| format!("the stacks name {what} that they do not have");
    let mut stacks = Stacks {
        period: Ns(document.period_ns),
        lost: document.lost,
        cost: document.cost_ns.map(Ns),
        notes: document.notes,
        ..Stacks::default()
    };
    for &(path, build_id, kind) in &document.modules {
        let kind = MODULE_KINDS.get(usize::from(kind)).copied().unwrap_or_default();
        stacks.modules.push(CodeModule {
            path: string(path).unwrap_or_default(),
            build_id: string(build_id),
            kind,
        });
    }
    for &(module, offset, ref locations) in &document.addresses {
        if module as usize > modules {
            return Err(wrong("a module"));
        }
        let location = |&(function, file, line): &LocationRow| CodeLocation {
            function: string(function),
            file: string(file),
            line: Some(line).filter(|&line| line > 0),
        };
        let locations = locations.iter().map(location).collect();
        let module = module.checked_sub(1).map(ModuleId);
        stacks.addresses.push(CodeAddress { module, offset, locations });
    }
    for stack in document.stacks {
        if stack.iter().any(|&id| id as usize >= addresses) {
            return Err(wrong("an address"));
        }
        stacks.stacks.push(stack.into_iter().map(AddressId).collect());
    }
    for (from, to, waiter, pid, address, protocol, owner, symbol) in document.mutexes {
        let protocol = PROTOCOLS.get(usize::from(protocol)).copied();
        stacks.mutexes.push(MutexReading {
            from: Ns(from),
            to: Ns(to),
            waiter: Tid(waiter),
            pid: Tid(pid),
            address,
            protocol: protocol.ok_or_else(|| wrong("a protocol of mutexes"))?,
            owner: Tid(owner),
            symbol: string(symbol),
        });
    }
    let mut time = Ns::ZERO;
    for (gone, tid, pid, cpu, kind, value, stack) in document.samples {
        time = Ns(time.0.saturating_add(gone));
        let kind = kind_of(kind, value).ok_or_else(|| wrong("a kind of sample"))?;
        if stack as usize >= stacks.stacks.len() {
            return Err(wrong("a stack"));
        }
        let (tid, pid, cpu, stack) = (Tid(tid), Tid(pid), Cpu(cpu), StackId(stack));
        stacks.samples.push(StackSample { time, tid, pid, cpu, kind, stack });
    }
    Ok(stacks)
}

fn number_of(kind: SampleKind) -> (u8, u64) {
    match kind {
        SampleKind::SwitchOut => (0, 0),
        SampleKind::MinorFault { address } => (1, address),
        SampleKind::MajorFault { address } => (2, address),
        SampleKind::CpuClock => (3, 0),
        SampleKind::Wake { woken } => (4, u64::from(woken.0.cast_unsigned())),
        SampleKind::Syscall { number } => (5, number.cast_unsigned()),
        SampleKind::Timer => (6, 0),
    }
}

fn kind_of(number: u8, value: u64) -> Option<SampleKind> {
    Some(match number {
        0 => SampleKind::SwitchOut,
        1 => SampleKind::MinorFault { address: value },
        2 => SampleKind::MajorFault { address: value },
        3 => SampleKind::CpuClock,
        4 => SampleKind::Wake { woken: Tid(u32::try_from(value).ok()?.cast_signed()) },
        5 => SampleKind::Syscall { number: value.cast_signed() },
        6 => SampleKind::Timer,
        _ => return None,
    })
}

/// Strings, each once.
#[derive(Default)]
struct Strings {
    all: Vec<String>,
    numbers: HashMap<String, u32>,
}

impl Strings {
    fn number(&mut self, text: Option<&str>) -> u32 {
        let Some(text) = text else { return 0 };
        if let Some(&number) = self.numbers.get(text) {
            return number;
        }
        self.all.push(text.to_owned());
        let number = self.all.len() as u32;
        self.numbers.insert(text.to_owned(), number);
        number
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Stacks with each kind of everything.
    pub(in crate::dat) fn sample_stacks() -> Stacks {
        let location = |function: Option<&str>, line: Option<u32>| CodeLocation {
            function: function.map(str::to_owned),
            file: line.map(|_| "/src/control.c".to_owned()),
            line,
        };
        let address = |module, offset, locations| CodeAddress { module, offset, locations };
        let kinds = [
            SampleKind::SwitchOut,
            SampleKind::MinorFault { address: u64::MAX },
            SampleKind::MajorFault { address: 0 },
            SampleKind::CpuClock,
            SampleKind::Wake { woken: Tid(-5) },
            SampleKind::Syscall { number: -1 },
            SampleKind::Timer,
        ];
        Stacks {
            modules: MODULE_KINDS
                .map(|kind| CodeModule {
                    path: format!("/{kind:?}"),
                    build_id: Some("00ff".to_owned()),
                    kind,
                })
                .to_vec(),
            addresses: vec![
                address(None, u64::MAX, Vec::new()),
                address(Some(ModuleId(3)), 7, vec![location(Some("inner"), Some(8)), location(None, None)]),
            ],
            stacks: vec![vec![AddressId(1), AddressId(0)], Vec::new()],
            samples: (0i64..)
                .zip(kinds)
                .map(|(n, kind)| StackSample {
                    time: Ns(1_000_000_007 * n),
                    tid: Tid(11),
                    pid: Tid(10),
                    cpu: Cpu(1),
                    kind,
                    stack: StackId((n % 2) as u32),
                })
                .collect(),
            period: Ns::from_ms(1),
            lost: 3,
            cost: Some(Ns(5)),
            mutexes: vec![MutexReading {
                from: Ns(5),
                to: Ns(6),
                waiter: Tid(11),
                pid: Tid(10),
                address: 0x4060,
                protocol: MutexProtocol::Inherit,
                owner: Tid(12),
                symbol: Some("queue_lock".to_owned()),
            }],
            notes: vec!["a note".to_owned()],
        }
    }

    #[test]
    fn stacks_survive_the_file() {
        for stacks in [sample_stacks(), Stacks::default()] {
            assert_eq!(decode(&encode(&stacks).expect("encoded")).expect("decoded"), stacks);
        }
    }

    #[test]
    fn a_file_of_an_earlier_version_is_read() {
        let text = String::from_utf8(encode(&sample_stacks()).expect("encoded")).expect("JSON");
        let start = text.find("\"mutexes\"").expect("a member");
        let end = text.find("\"strings\"").expect("the next");
        let earlier = format!("{}{}", &text[..start], &text[end..]);
        assert_ne!(earlier, text);
        let stacks = decode(earlier.as_bytes()).expect("decoded");
        assert_eq!(stacks, Stacks { mutexes: Vec::new(), ..sample_stacks() });
    }

    #[test]
    fn numbers_out_of_range_are_refused() {
        let text = String::from_utf8(encode(&sample_stacks()).expect("encoded")).expect("JSON");
        for (right, wrong, what) in [
            ("\"stacks\":[[1,0],[]]", "\"stacks\":[[1,2],[]]", "an address"),
            ("[4,7,", "[5,7,", "a module"),
            (",1,0,0,0]", ",1,0,0,2]", "a stack"),
            (",1,0,0,0]", ",1,9,0,0]", "a kind"),
            (",16480,1,12,", ",16480,3,12,", "a protocol"),
        ] {
            assert!(text.contains(right), "{right} in {text}");
            let error = decode(text.replace(right, wrong).as_bytes()).expect_err(what);
            assert!(error.contains(what), "{error}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_survived(cut in 0usize..600, flip in 0usize..600, byte in any::<u8>()) {
            let mut text = encode(&sample_stacks()).expect("encoded");
            if let Some(place) = text.get_mut(flip) { *place = byte; }
            let end = text.len().min(cut);
            for bytes in [&text[..], &text[..end]] {
                if let Ok(stacks) = decode(bytes) {
                    for id in 0..stacks.stacks.len() {
                        prop_assert!(stacks.frames(StackId(id as u32)).count() < 100);
                    }
                }
            }
        }
    }
}
