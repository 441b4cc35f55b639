//! One `FtraceEventBundle`: some events of one CPU, in its own order.

use super::compact::{Compact, CompactSwitch, CompactWaking};
use super::event::number;
use super::generic::Described;
use super::wire::{Value, field, fields};
use std::collections::HashMap;
use std::ops::Range;

/// A bundle's bytes, and how far they were read.
pub(super) struct Bundle {
    bytes: Vec<u8>,
    at: usize,
    compact: Compact,
    event: Option<Head>,
    switch: Option<CompactSwitch>,
    waking: Option<CompactWaking>,
    /// Events were lost before it.
    pub(super) lost: bool,
    pub(super) clock: u64,
    /// Events that this bundle and those behind it give without a message of their own.
    pub(super) described: HashMap<u32, Described>,
    /// What Perfetto itself could not read of the kernel's pages.
    pub(super) errors: u64,
    pub(super) damaged: bool,
}

/// A `FtraceEvent`, taken apart as far as all events are alike.
#[derive(Clone, Debug)]
pub(super) struct Head {
    pub(super) ts: u64,
    pub(super) pid: i32,
    /// `common_flags`; older recordings do not have them.
    pub(super) flags: Option<u8>,
    /// The field that is the event, and its message.
    pub(super) number: u32,
    message: Range<usize>,
}

/// What comes next.
pub(super) enum Next {
    Event(Head),
    Switch(CompactSwitch),
    Waking(CompactWaking),
}

impl Next {
    pub(super) fn ts(&self) -> u64 {
        match self {
            Next::Event(head) => head.ts,
            Next::Switch(switch) => switch.ts,
            Next::Waking(waking) => waking.ts,
        }
    }
}

impl Bundle {
    pub(super) fn new(bytes: Vec<u8>) -> Bundle {
        let mut bundle = Bundle {
            at: 0,
            compact: Compact::default(),
            event: None,
            switch: None,
            waking: None,
            lost: false,
            clock: 0,
            described: HashMap::new(),
            errors: 0,
            damaged: false,
            bytes,
        };
        let mut at = 0;
        while let Some(field) = field(&bundle.bytes, &mut at, bundle.bytes.len()) {
            match (field.number, field.value) {
                (3, Value::Varint(lost)) => bundle.lost = lost != 0,
                (4, Value::Bytes(place)) => bundle.compact = Compact::find(&bundle.bytes, place),
                (5, Value::Varint(clock)) => bundle.clock = clock,
                (8, _) => bundle.errors += 1,
                (11, Value::Bytes(place)) => {
                    let described = described(bundle.bytes.get(place).unwrap_or_default());
                    bundle.described.extend(described);
                }
                _ => {}
            }
        }
        bundle.damaged = at != bundle.bytes.len();
        bundle.event = bundle.next_event();
        bundle.switch = bundle.compact.switch(&bundle.bytes);
        bundle.waking = bundle.compact.waking(&bundle.bytes);
        bundle
    }

    /// The earliest of what is left; at the same instant a wake-up comes before the switch it leads to.
    pub(super) fn next(&mut self) -> Option<Next> {
        let event = self.event.as_ref().map_or(u64::MAX, |head| head.ts);
        let switch = self.switch.as_ref().map_or(u64::MAX, |switch| switch.ts);
        let waking = self.waking.as_ref().map_or(u64::MAX, |waking| waking.ts);
        if event <= switch
            && event <= waking
            && let Some(head) = self.event.take()
        {
            self.event = self.next_event();
            return Some(Next::Event(head));
        }
        if waking <= switch
            && let Some(waking) = self.waking.take()
        {
            self.waking = self.compact.waking(&self.bytes);
            return Some(Next::Waking(waking));
        }
        let switch = self.switch.take()?;
        self.switch = self.compact.switch(&self.bytes);
        Some(Next::Switch(switch))
    }

    /// An event's message.
    pub(super) fn message(&self, head: &Head) -> &[u8] {
        self.bytes.get(head.message.clone()).unwrap_or_default()
    }

    /// True when some of it could not be read.
    pub(super) fn damaged(&self) -> bool {
        self.damaged || self.compact.damaged
    }

    fn next_event(&mut self) -> Option<Head> {
        while let Some(field) = field(&self.bytes, &mut self.at, self.bytes.len()) {
            if let (2, Value::Bytes(place)) = (field.number, field.value) {
                match head(&self.bytes, place) {
                    Some(head) => return Some(head),
                    None => self.damaged = true,
                }
            }
        }
        None
    }
}

fn head(bytes: &[u8], place: Range<usize>) -> Option<Head> {
    let (mut at, end) = (place.start, place.end);
    let mut ts = None;
    let mut head = Head { ts: 0, pid: 0, flags: None, number: 0, message: end..end };
    while let Some(field) = field(bytes, &mut at, end) {
        match (field.number, field.value) {
            (number::TIMESTAMP, Value::Varint(value)) => ts = Some(value),
            (number::PID, Value::Varint(pid)) => head.pid = pid as i32,
            (number::COMMON_FLAGS, Value::Varint(flags)) => head.flags = Some(flags as u8),
            (number, Value::Bytes(message)) => (head.number, head.message) = (number, message),
            _ => {}
        }
    }
    head.ts = ts?;
    (at == end).then_some(head)
}

/// A `GenericEventDescriptor`: a field's number, and a `DescriptorProto` of its message.
fn described(bytes: &[u8]) -> Option<(u32, Described)> {
    let (mut id, mut described) = (None, Described::default());
    for field in fields(bytes) {
        match (field.number, field.bytes(bytes)) {
            (1, None) => id = field.int().and_then(|id| u32::try_from(id).ok()),
            (2, Some(descriptor)) => {
                for part in fields(descriptor) {
                    match (part.number, part.bytes(descriptor)) {
                        (1, Some(name)) => described.name = String::from_utf8_lossy(name).into_owned(),
                        (2, Some(field)) => described.fields.extend(described_field(field)),
                        _ => {}
                    }
                }
            }
            _ => {}
        }
    }
    Some((id?, described))
}

/// A `FieldDescriptorProto`: its number and name.
fn described_field(bytes: &[u8]) -> Option<(u32, String)> {
    let (mut number, mut name) = (None, None);
    for field in fields(bytes) {
        match field.number {
            1 => name = field.bytes(bytes).map(|name| String::from_utf8_lossy(name).into_owned()),
            3 => number = field.int().and_then(|number| u32::try_from(number).ok()),
            _ => {}
        }
    }
    number.zip(name)
}
