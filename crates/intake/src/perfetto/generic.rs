//! Events without a message of their own: a name, and fields by name.

use super::wire::{Field, fields};
use std::collections::HashMap;
use whylate_base::Text;

/// Events without a message of their own, by name and the names of their fields.
#[derive(Clone, Debug, Default)]
pub(super) struct Described {
    pub(super) name: String,
    pub(super) fields: HashMap<u32, String>,
}

/// A generic event: its name and its fields by name.
pub(super) struct Generic<'b> {
    pub(super) name: &'b [u8],
    fields: Vec<(&'b [u8], Held<'b>)>,
}

/// What a generic event's field holds.
#[derive(Clone, Copy)]
enum Held<'b> {
    Int(i64),
    Text(&'b [u8]),
}

/// More fields than any event has that is read here.
const MOST_FIELDS: usize = 32;

impl<'b> Generic<'b> {
    /// Reads a `GenericFtraceEvent`.
    pub(super) fn read(bytes: &'b [u8]) -> Generic<'b> {
        let mut generic = Generic { name: &[], fields: Vec::new() };
        for field in fields(bytes) {
            match (field.number, field.bytes(bytes)) {
                (1, Some(name)) => generic.name = name,
                (2, Some(field)) if generic.fields.len() < MOST_FIELDS => {
                    let (mut name, mut held) = (&[][..], None);
                    for part in fields(field) {
                        match part.number {
                            1 => name = part.bytes(field).unwrap_or_default(),
                            3 => held = part.bytes(field).map(Held::Text),
                            4 | 5 => held = part.int().map(|value| Held::Int(value as i64)),
                            _ => {}
                        }
                    }
                    generic.fields.extend(held.map(|held| (name, held)));
                }
                _ => {}
            }
        }
        generic
    }

    /// Reads an event that the bundle itself describes (`generic_event_descriptors`).
    pub(super) fn described(bytes: &'b [u8], by: &'b Described) -> Generic<'b> {
        let named = |field: Field| {
            let name = by.fields.get(&field.number)?;
            let held = match field.bytes(bytes) {
                Some(text) => Held::Text(text),
                None => Held::Int(field.int()? as i64),
            };
            Some((name.as_bytes(), held))
        };
        let fields = fields(bytes).filter_map(named).take(MOST_FIELDS).collect();
        Generic { name: by.name.as_bytes(), fields }
    }

    fn held(&self, name: &str) -> Option<Held<'b>> {
        self.fields.iter().find(|(field, _)| *field == name.as_bytes()).map(|&(_, held)| held)
    }

    pub(super) fn int(&self, name: &str) -> Option<i64> {
        match self.held(name)? {
            Held::Int(value) => Some(value),
            Held::Text(_) => None,
        }
    }

    pub(super) fn text<const N: usize>(&self, name: &str) -> Option<Text<N>> {
        match self.held(name)? {
            Held::Text(text) => Some(Text::from_bytes(text)),
            Held::Int(_) => None,
        }
    }
}
