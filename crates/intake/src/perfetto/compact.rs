//! `FtraceEventBundle.compact_sched`: switches and wake-ups by columns, times as differences, names in
//! a table.

use super::wire::{Value, field, varint};
use std::ops::Range;
use whylate_base::Comm;

/// A column: packed numbers, read from the front.
#[derive(Clone, Debug, Default)]
struct Column(Range<usize>);

impl Column {
    fn next(&mut self, bytes: &[u8]) -> Option<u64> {
        let (value, size) = varint(bytes.get(self.0.clone())?)?;
        self.0.start += size;
        Some(value)
    }
}

/// One row of `switch_*`: the thread that leaves is the one that came in the row before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CompactSwitch {
    pub(super) ts: u64,
    pub(super) prev_state: i64,
    pub(super) next_tid: i32,
    pub(super) next_prio: i32,
    pub(super) next_comm: Comm,
}

/// One row of `waking_*`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CompactWaking {
    pub(super) ts: u64,
    pub(super) tid: i32,
    pub(super) target_cpu: i32,
    pub(super) prio: i32,
    pub(super) comm: Comm,
    /// `common_flags` of the waker, where they were kept.
    pub(super) flags: Option<u8>,
}

/// The columns of a bundle; rows are handed out in order.
#[derive(Clone, Debug, Default)]
pub(super) struct Compact {
    names: Vec<Range<usize>>,
    /// By field number.
    columns: [Column; 13],
    switch_ts: u64,
    waking_ts: u64,
    /// Rows that lack a column, or more rows of one column than of another.
    pub(super) damaged: bool,
}

impl Compact {
    /// Finds the columns in the message at `place` of the bundle's bytes.
    pub(super) fn find(bytes: &[u8], place: Range<usize>) -> Compact {
        let mut compact = Compact::default();
        let mut at = place.start;
        while let Some(field) = field(bytes, &mut at, place.end) {
            match (field.number, field.value) {
                (5, Value::Bytes(name)) => compact.names.push(name),
                (number @ (1..=4 | 6..=12), Value::Bytes(column)) => {
                    if let Some(slot) = compact.columns.get_mut(number as usize) {
                        compact.damaged |= !slot.0.is_empty();
                        *slot = Column(column);
                    }
                }
                (1..=12, _) => compact.damaged = true,
                _ => {}
            }
        }
        compact.damaged |= at != place.end;
        compact
    }

    fn column(&mut self, number: usize, bytes: &[u8]) -> Option<u64> {
        self.columns.get_mut(number)?.next(bytes)
    }

    fn name(&self, index: u64, bytes: &[u8]) -> Option<Comm> {
        let place = self.names.get(usize::try_from(index).ok()?)?;
        Some(Comm::from_bytes(bytes.get(place.clone())?))
    }

    /// The next switch.
    pub(super) fn switch(&mut self, bytes: &[u8]) -> Option<CompactSwitch> {
        let ts = self.column(1, bytes)?;
        self.switch_ts = self.switch_ts.wrapping_add(ts);
        let row = (|| {
            Some(CompactSwitch {
                ts: self.switch_ts,
                prev_state: self.column(2, bytes)? as i64,
                next_tid: self.column(3, bytes)? as i32,
                next_prio: self.column(4, bytes)? as i32,
                next_comm: self.column(6, bytes).and_then(|index| self.name(index, bytes))?,
            })
        })();
        self.whole(row, 1)
    }

    /// The next wake-up.
    pub(super) fn waking(&mut self, bytes: &[u8]) -> Option<CompactWaking> {
        let ts = self.column(7, bytes)?;
        self.waking_ts = self.waking_ts.wrapping_add(ts);
        let row = (|| {
            Some(CompactWaking {
                ts: self.waking_ts,
                tid: self.column(8, bytes)? as i32,
                target_cpu: self.column(9, bytes)? as i32,
                prio: self.column(10, bytes)? as i32,
                comm: self.column(11, bytes).and_then(|index| self.name(index, bytes))?,
                // A column that was added later.
                flags: self.column(12, bytes).map(|flags| flags as u8),
            })
        })();
        self.whole(row, 7)
    }

    /// A row that is not whole ends its columns: those behind it cannot be assigned.
    fn whole<T>(&mut self, row: Option<T>, times: usize) -> Option<T> {
        if row.is_none() {
            self.damaged = true;
            if let Some(column) = self.columns.get_mut(times) {
                column.0 = 0..0;
            }
        }
        row
    }
}
