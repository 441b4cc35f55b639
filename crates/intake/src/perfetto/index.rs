//! The first pass over a Perfetto trace: where the bundles of each CPU are, and what describes the
//! recording. Of everything else only the lengths are read.

mod describe;

use super::symbols::Symbols;
use super::wire::{PACKET, plausible, varint};
use crate::error::OpenError;
use crate::seekable::{ReadAt, read_full};
use crate::unpack::spool::Spool;
use std::collections::{BTreeMap, HashMap};
use std::io::Read;
use std::ops::Range;
use std::sync::Arc;
use whylate_base::{Comm, Tid};
use whylate_events::Damage;

/// Where a bundle is: in the file, or among the unpacked packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BundleAt {
    pub(super) at: u64,
    pub(super) size: u32,
    pub(super) unpacked: bool,
    /// Which of its sequence's tables of functions it has.
    pub(super) generation: u16,
}

/// What the first pass found.
#[derive(Default)]
pub(super) struct Index {
    /// By the sequence that wrote them and their CPU, in the file's order.
    pub(super) bundles: BTreeMap<(u32, u32), Vec<BundleAt>>,
    pub(super) unpacked: Option<Arc<dyn ReadAt>>,
    pub(super) comms: HashMap<Tid, Comm>,
    pub(super) symbols: Symbols,
    pub(super) release: Option<String>,
    pub(super) machine: Option<String>,
    pub(super) cpus: u32,
    /// Whether the events' clock is the monotonic one, where the file has it.
    pub(super) monotonic: Option<bool>,
    /// By CPU: events that the kernel had lost when the recording began, and when it ended.
    losses: BTreeMap<u64, [Option<u64>; 2]>,
    pub(super) damage: Vec<Damage>,
    /// Packets of any kind.
    pub(super) packets: u64,
    count: usize,
    left_out: u64,
    unlisted: u64,
}

/// Bundles that are kept track of: at 16 bytes each, of a trace of hundreds of gigabytes.
const MOST_BUNDLES: usize = 4 << 20;
/// Sequences that wrote bundles, times their CPUs. Each holds one bundle at a time, and they are merged.
const MOST_STREAMS: usize = 8192;
/// A bundle is what a CPU's buffer gave at once, a few hundred kilobytes; what claims more is damaged.
const LARGEST_BUNDLE: u64 = 64 << 20;
/// The same of what describes the recording, and of compressed packets.
const LARGEST_PACKET: u64 = 64 << 20;
const MOST_CPUS: u64 = 8192;
const MOST_NAMES: usize = 4 << 20;
const MOST_DAMAGE: usize = 100;
const WINDOW: usize = 64 << 10;
/// `SEQ_INCREMENTAL_STATE_CLEARED` of `TracePacket.sequence_flags`.
const INCREMENTAL_STATE_CLEARED: u64 = 1;
/// Longest tag and length of a field.
const HEAD: u64 = 20;
/// After damage, so many packets in a row must make sense.
const IN_A_ROW: usize = 3;
/// How far the next packet is looked for.
const FARTHEST: u64 = 16 << 20;

/// Reads a trace from end to end.
pub(super) fn index(source: Arc<dyn ReadAt>, name: &str) -> Result<Index, OpenError> {
    let mut index = Index::default();
    let size = source.size();
    let mut pass = Pass::new(source, &mut index, name, false);
    pass.packets(0..size)?;
    let (spool, parts) = (pass.spool.take(), std::mem::take(&mut pass.parts));
    if let Some(spool) = spool {
        let unpacked = spool.finish()?;
        let mut pass = Pass::new(unpacked.clone(), &mut index, name, true);
        for part in parts {
            pass.packets(part)?;
        }
        index.unpacked = Some(unpacked);
    }
    index.finish();
    Ok(index)
}

impl Index {
    fn note(&mut self, damage: Damage) {
        if self.damage.len() < MOST_DAMAGE {
            self.damage.push(damage);
        } else {
            self.unlisted += 1;
        }
    }

    fn finish(&mut self) {
        if self.left_out > 0 {
            let what =
                format!("{} bundles of events are more than can be kept track of: left out", self.left_out);
            self.damage.push(Damage::whole(what));
        }
        if self.unlisted > 0 {
            self.damage.push(Damage::whole(format!("{} more damaged places", self.unlisted)));
        }
    }

    /// Bytes of all bundles.
    pub(super) fn bytes(&self) -> u64 {
        self.bundles.values().flatten().map(|place| u64::from(place.size)).sum()
    }

    /// Events that the kernel lost between the recording's beginning and end, as it counted them.
    pub(super) fn lost_events(&self) -> u64 {
        let lost = |counts: &[Option<u64>; 2]| match *counts {
            [Some(before), Some(after)] => after.saturating_sub(before),
            _ => 0,
        };
        self.losses.values().map(lost).fold(0, u64::saturating_add)
    }
}

struct Pass<'i> {
    source: Arc<dyn ReadAt>,
    index: &'i mut Index,
    name: &'i str,
    /// True while unpacked data is read: its offsets are not those of the file.
    unpacked: bool,
    window: Vec<u8>,
    window_at: u64,
    spool: Option<Spool>,
    /// What each compressed packet unpacked to: each begins with a packet.
    parts: Vec<Range<u64>>,
}

/// A field's number, and its value or place.
enum Found {
    Int(u64),
    Bytes(Range<u64>),
}

impl<'i> Pass<'i> {
    fn new(source: Arc<dyn ReadAt>, index: &'i mut Index, name: &'i str, unpacked: bool) -> Pass<'i> {
        Pass {
            source,
            index,
            name,
            unpacked,
            window: Vec::new(),
            window_at: 0,
            spool: None,
            parts: Vec::new(),
        }
    }

    fn note(&mut self, at: u64, what: impl Into<String>) {
        // Lost bundles are reported where they are read.
        let damage = match self.unpacked {
            true => Damage::whole(format!("compressed packets: {}", what.into())),
            false => Damage::at(at, what),
        };
        self.index.note(damage);
    }

    fn packets(&mut self, place: Range<u64>) -> Result<(), OpenError> {
        let (mut at, end) = (place.start, place.end);
        while at < end {
            match self.field(at, end) {
                Some((1, Found::Bytes(packet), next)) => {
                    self.index.packets += 1;
                    self.packet(packet)?;
                    at = next;
                }
                _ => match self.resynchronise(at + 1, end) {
                    Some(next) => {
                        let skipped = next - at;
                        self.note(
                            at,
                            format!("no packet: {skipped} bytes are skipped, to where packets go on"),
                        );
                        at = next;
                    }
                    None => {
                        self.note(at, "the trace ends inside a packet: what is there of it is read");
                        if let Some((from, _)) = self.cut(at, end) {
                            self.packet(from..end)?;
                        }
                        return Ok(());
                    }
                },
            }
        }
        Ok(())
    }

    /// Of a packet that is longer than what is left: where it begins, and its length.
    fn cut(&mut self, at: u64, end: u64) -> Option<(u64, u64)> {
        cut(self.peek(at, end), at, end)
    }

    /// True for a place the window does not have.
    fn is_far(&self, at: u64, end: u64) -> bool {
        at < self.window_at || (at + HEAD).min(end) > self.window_at + self.window.len() as u64
    }

    /// Where packets go on behind damage.
    fn resynchronise(&mut self, from: u64, end: u64) -> Option<u64> {
        let until = end.min(from.saturating_add(FARTHEST));
        (from..until).find(|&at| self.chain(at, end))
    }

    /// True when packets in a row begin at `at`, or the last ones.
    fn chain(&mut self, mut at: u64, end: u64) -> bool {
        if self.peek(at, end).first() != Some(&PACKET) {
            return false;
        }
        for found in 0..IN_A_ROW {
            if at == end {
                return found > 0;
            }
            let next = match self.is_far(at, end) {
                // A guess may lead anywhere: the window stays where the next guess is.
                true => {
                    let mut head = [0; HEAD as usize];
                    let read = read_full(&*self.source, &mut head, at).unwrap_or(0);
                    let within = usize::try_from(end - at).unwrap_or(read).min(read);
                    cut(head.get(..within).unwrap_or_default(), at, end)
                }
                false => self.cut(at, end),
            };
            match next {
                Some((from, length)) if length > 0 && length <= end - from => at = from + length,
                _ => return false,
            }
        }
        true
    }

    fn packet(&mut self, place: Range<u64>) -> Result<(), OpenError> {
        let (mut at, end) = (place.start, place.end);
        let (mut sequence, mut flags) = (0, 0);
        let (mut bundles, mut interned) = (Vec::new(), Vec::new());
        while at < end {
            let Some((number, found, next)) = self.field(at, end) else {
                // Of a bundle that is cut there is still its beginning.
                if let Some(rest) = self.cut_bundle(at, end) {
                    bundles.push(rest);
                }
                self.note(at, "a packet makes no sense from here on: its rest is skipped");
                break;
            };
            match (number, found) {
                (1, Found::Bytes(bundle)) => bundles.push(bundle),
                (10, Found::Int(id)) => sequence = id as u32,
                (12, Found::Bytes(place)) => interned.push(place),
                (13, Found::Int(bits)) => flags = bits,
                (2 | 6 | 34 | 45, Found::Bytes(place)) => self.describe(number, place),
                (50, Found::Bytes(place)) => self.unpack(place)?,
                _ => {}
            }
            at = next;
        }
        if flags & INCREMENTAL_STATE_CLEARED != 0 {
            self.index.symbols.begin_again(sequence);
        }
        for place in interned {
            match self.read(place.clone()) {
                Some(bytes) => self.index.symbols.intern(sequence, &bytes),
                None => {
                    self.note(place.start, "a packet is longer than any with names of functions: skipped")
                }
            }
        }
        for bundle in bundles {
            self.bundle(sequence, bundle);
        }
        Ok(())
    }

    fn cut_bundle(&mut self, at: u64, end: u64) -> Option<Range<u64>> {
        // `TracePacket.ftrace_events` has the tag that a packet has: field 1, with a length.
        let (from, _) = self.cut(at, end)?;
        Some(from..end)
    }

    fn bundle(&mut self, sequence: u32, place: Range<u64>) {
        let size = place.end - place.start;
        let cpu = self.cpu_of(place.clone());
        let (Some(size), Some(cpu)) =
            (u32::try_from(size).ok().filter(|&size| u64::from(size) <= LARGEST_BUNDLE), cpu)
        else {
            self.note(place.start, "a bundle of events makes no sense: skipped");
            return;
        };
        let is_new = !self.index.bundles.contains_key(&(sequence, cpu));
        if self.index.count >= MOST_BUNDLES || is_new && self.index.bundles.len() >= MOST_STREAMS {
            self.index.left_out += 1;
            return;
        }
        self.index.count += 1;
        let generation = self.index.symbols.generation(sequence);
        let place = BundleAt { at: place.start, size, unpacked: self.unpacked, generation };
        self.index.bundles.entry((sequence, cpu)).or_default().push(place);
    }

    /// A bundle's CPU, which is its first field; one without is of CPU 0.
    fn cpu_of(&mut self, place: Range<u64>) -> Option<u32> {
        let (mut at, end) = (place.start, place.end);
        while at < end {
            match self.field(at, end) {
                Some((1, Found::Int(cpu), _)) => {
                    return u32::try_from(cpu).ok().filter(|&cpu| u64::from(cpu) < MOST_CPUS);
                }
                Some((_, _, next)) => at = next,
                None => break,
            }
        }
        Some(0)
    }

    /// `ProcessTree`, `ClockSnapshot`, `FtraceStats`, `SystemInfo`.
    fn describe(&mut self, number: u32, place: Range<u64>) {
        let Some(bytes) = self.read(place.clone()) else {
            self.note(place.start, "a packet is longer than any that describes a recording: skipped");
            return;
        };
        self.index.describe(number, &bytes);
    }

    /// Unpacks `compressed_packets` for the second part of the pass.
    fn unpack(&mut self, place: Range<u64>) -> Result<(), OpenError> {
        if self.unpacked {
            self.note(place.start, "a compressed packet inside another: skipped");
            return Ok(());
        }
        let Some(packed) = self.read(place.clone()) else {
            self.note(place.start, "a compressed packet is longer than any is: skipped");
            return Ok(());
        };
        let spool = match &mut self.spool {
            Some(spool) => spool,
            none => none.insert(Spool::new(self.name)?),
        };
        let start = spool.written;
        let mut decoder = flate2::read::ZlibDecoder::new(&packed[..]);
        let mut buffer = vec![0; 64 << 10];
        let trouble = loop {
            match decoder.read(&mut buffer) {
                Ok(0) => break None,
                Ok(count) => spool.write(buffer.get(..count).unwrap_or_default())?,
                Err(error) => break Some(error),
            }
        };
        let end = spool.written;
        self.parts.push(start..end);
        if let Some(error) = trouble {
            self.note(place.start, format!("a compressed packet is damaged ({error}): its rest is lost"));
        }
        Ok(())
    }

    fn read(&self, place: Range<u64>) -> Option<Vec<u8>> {
        let size = place.end.checked_sub(place.start).filter(|&size| size <= LARGEST_PACKET)?;
        let mut bytes = vec![0; size as usize];
        let read = read_full(&*self.source, &mut bytes, place.start).ok()?;
        bytes.truncate(read);
        Some(bytes)
    }

    /// The field at `at`, and where the next one is.
    fn field(&mut self, at: u64, end: u64) -> Option<(u32, Found, u64)> {
        let head = self.peek(at, end);
        let (tag, size) = varint(head)?;
        let rest = head.get(size..)?;
        let number = u32::try_from(tag >> 3).ok().filter(|&number| number > 0)?;
        let from = at + size as u64;
        let (found, next) = match tag & 7 {
            0 => varint(rest).map(|(value, size)| (Found::Int(value), from + size as u64))?,
            1 => (Found::Int(u64::from_le_bytes(*rest.first_chunk()?)), from + 8),
            2 => {
                let (length, size) = varint(rest)?;
                let from = from + size as u64;
                let to = from.checked_add(length).filter(|&to| to <= end)?;
                (Found::Bytes(from..to), to)
            }
            5 => (Found::Int(u32::from_le_bytes(*rest.first_chunk()?).into()), from + 4),
            _ => return None,
        };
        (next <= end).then_some((number, found, next))
    }

    /// The bytes at `at`, as many as a tag and a length may have.
    fn peek(&mut self, at: u64, end: u64) -> &[u8] {
        let wanted = (at + HEAD).min(end);
        if self.is_far(at, end) {
            self.window.resize(WINDOW, 0);
            self.window_at = at;
            let read = read_full(&*self.source, &mut self.window, at).unwrap_or(0);
            self.window.truncate(read);
        }
        let start = (at - self.window_at) as usize;
        let to = (wanted.saturating_sub(self.window_at) as usize).min(self.window.len());
        self.window.get(start..to).unwrap_or_default()
    }
}

/// Of a packet whose first bytes are `head`, at `at`: where its content begins, and its length.
fn cut(head: &[u8], at: u64, end: u64) -> Option<(u64, u64)> {
    let rest = head.strip_prefix(&[PACKET])?;
    let (length, size) = varint(rest)?;
    let from = at + 1 + size as u64;
    let tag = varint(rest.get(size..)?)?.0;
    (plausible(tag) && from < end).then_some((from, length))
}

#[cfg(test)]
mod tests;
