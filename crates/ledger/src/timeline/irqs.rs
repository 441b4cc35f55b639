//! The hard interrupts of a trace: their lines and names, by a short id.

use super::lengths::Lengths;
use crate::model::irq_kind::{IrqKind, OF_EXPIRY};
use rustc_hash::FxHashMap;
use whylate_base::Ns;
use whylate_events::Name;

/// A hard interrupt's line and name, by index into [`Irqs`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct IrqId(u16);

impl IrqId {
    /// Its index.
    pub(crate) fn index(self) -> u16 {
        self.0
    }
}

/// The interrupts of a trace.
#[derive(Default)]
pub(crate) struct Irqs {
    known: Vec<(Option<u32>, Name)>,
    /// How long the handlers of each took, where that was seen.
    lengths: Vec<Lengths>,
    /// Each one's index in `known`.
    ids: FxHashMap<(Option<u32>, Name), u16>,
}

/// No machine has more; in a damaged recording those beyond are nameless.
const MAX_IRQS: usize = u16::MAX as usize;

impl Irqs {
    /// The id of a line (or of an architecture vector, which has none) with its name.
    pub(crate) fn id(&mut self, irq: Option<u32>, name: Name) -> IrqId {
        // The first few are most of all, and found quicker so.
        let first = self.known.iter().take(8).position(|entry| entry.0 == irq && entry.1 == name);
        if let Some(index) = first {
            return IrqId(index as u16);
        }
        let next = self.known.len().min(MAX_IRQS) as u16;
        if usize::from(next) == MAX_IRQS {
            return IrqId(self.ids.get(&(irq, name)).copied().unwrap_or(next));
        }
        let id = *self.ids.entry((irq, name)).or_insert(next);
        if id == next {
            self.known.push((irq, name));
        }
        IrqId(id)
    }

    /// The id of an interrupt of which a timer's expiry alone is recorded.
    pub(crate) fn stand_in(&mut self) -> IrqId {
        self.id(None, OF_EXPIRY.into())
    }

    /// True of that one.
    pub(crate) fn is_stand_in(&self, id: IrqId) -> bool {
        let (irq, name) = self.get(id);
        irq.is_none() && name.is(OF_EXPIRY)
    }

    /// The id of a line whose name is not given: that of the same line with a name, where it is known.
    pub(crate) fn of_line(&mut self, irq: u32) -> IrqId {
        match self.known.iter().position(|entry| entry.0 == Some(irq)) {
            Some(index) => IrqId(index as u16),
            None => self.id(Some(irq), Name::default()),
        }
    }

    /// The line and name behind an id.
    pub(crate) fn get(&self, id: IrqId) -> (Option<u32>, Name) {
        self.known.get(usize::from(id.0)).copied().unwrap_or_default()
    }

    /// All lines and names.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (Option<u32>, Name)> {
        self.known.iter().copied()
    }

    /// What raises it.
    pub(crate) fn kind(&self, id: IrqId) -> IrqKind {
        let (irq, name) = self.get(id);
        IrqKind::of(irq, name.as_str())
    }

    /// Notes that a handler took `length`.
    pub(crate) fn took(&mut self, id: IrqId, length: Ns) {
        let index = usize::from(id.0);
        if index >= self.lengths.len() {
            self.lengths.resize(index + 1, Lengths::default());
        }
        self.lengths[index].add(length);
    }

    /// How long its handlers usually take.
    pub(crate) fn usual(&self, id: IrqId) -> Lengths {
        self.lengths.get(usize::from(id.0)).copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interrupt_keeps_its_id_and_those_beyond_reason_have_no_name() {
        let mut irqs = Irqs::default();
        let name = |n: u32| Name::from(format!("irq-{n}").as_str());
        let ids: Vec<IrqId> = (0..70_000).map(|n| irqs.id(Some(n), name(n))).collect();
        for n in [0, 7, 8, 9, 1_000, MAX_IRQS - 1] {
            let line = n as u32;
            assert_eq!(irqs.id(Some(line), name(line)), ids[n]);
            assert_eq!(irqs.get(ids[n]), (Some(line), name(line)));
        }
        assert_eq!(irqs.get(ids[MAX_IRQS]), (None, Name::default()));
        assert_ne!(irqs.id(Some(1), name(2)), irqs.id(Some(2), name(2)));
    }
}
