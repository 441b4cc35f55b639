//! What tracks are made of: their descriptions, slices and instants, and what is written beside these.

use super::packets::{Packets, STATE_CLEARED, TRACK_SEQUENCE, packet, time};
use super::proto::Message;
use std::io;
use whylate_base::Ns;

/// `TrackDescriptor`
mod descriptor {
    pub(super) const UUID: u32 = 1;
    pub(super) const NAME: u32 = 2;
    pub(super) const PARENT: u32 = 5;
    pub(super) const CHILD_ORDERING: u32 = 11;
    pub(super) const RANK: u32 = 12;
    pub(super) const DESCRIPTION: u32 = 14;
    /// `ChildTracksOrdering.EXPLICIT`
    pub(super) const BY_RANK: u32 = 3;
}

/// `TrackEvent`
pub(super) mod track_event {
    pub(super) const ANNOTATIONS: u32 = 4;
    pub(super) const TYPE: u32 = 9;
    pub(super) const TRACK: u32 = 11;
    pub(super) const CATEGORIES: u32 = 22;
    pub(super) const NAME: u32 = 23;
    pub(in crate::perfetto) const BEGIN: u32 = 1;
    pub(in crate::perfetto) const END: u32 = 2;
    pub(in crate::perfetto) const INSTANT: u32 = 3;
}

/// A number that no other track of the trace has: `whylate` in ASCII. The numbers of all our tracks come after it.
pub(super) const ROOT: u64 = 0x0077_6879_6c61_7465;

/// Describes the track that all others are part of.
pub(super) fn begin(packets: &mut Packets<'_>) -> io::Result<()> {
    packets.write(|out| {
        out.uint(packet::SEQUENCE_ID, TRACK_SEQUENCE);
        out.uint(packet::SEQUENCE_FLAGS, STATE_CLEARED);
        out.message(packet::TRACK_DESCRIPTOR, |track| {
            track.uint(descriptor::UUID, ROOT);
            track.text(descriptor::NAME, "whylate");
            track.text(
                descriptor::DESCRIPTION,
                "Why threads were late: their activations, due to done, and the \
                cause that each stretch of time is charged to",
            );
            track.uint(descriptor::CHILD_ORDERING, descriptor::BY_RANK);
        });
    })
}

/// Describes a track; those of a lower rank are shown above it.
pub(super) fn track(
    packets: &mut Packets<'_>,
    uuid: u64,
    rank: u64,
    name: &str,
    about: &str,
) -> io::Result<()> {
    packets.write(|out| {
        out.uint(packet::SEQUENCE_ID, TRACK_SEQUENCE);
        out.message(packet::TRACK_DESCRIPTOR, |track| {
            track.uint(descriptor::UUID, uuid);
            track.uint(descriptor::PARENT, ROOT);
            track.text(descriptor::NAME, name);
            track.text(descriptor::DESCRIPTION, about);
            track.int(descriptor::RANK, rank as i64);
        });
    })
}

/// Parts slices, sorted by their beginning, into as few rows as need be for none to overlap in a row: a thread that
/// overruns its period is due again before it is done.
pub(super) fn rows<T>(slices: &[T], span: impl Fn(&T) -> (Ns, Ns)) -> Vec<Vec<&T>> {
    let mut rows: Vec<Vec<&T>> = Vec::new();
    for slice in slices {
        let is_free = |row: &&mut Vec<&T>| row.last().is_none_or(|last| span(last).1 <= span(slice).0);
        match rows.iter_mut().find(is_free) {
            Some(row) => row.push(slice),
            None => rows.push(vec![slice]),
        }
    }
    rows
}

/// A `TrackEvent`; its end has neither name nor annotations.
pub(super) fn event(
    packets: &mut Packets<'_>,
    at: Ns,
    uuid: u64,
    kind: u32,
    name: &str,
    annotate: impl FnOnce(&mut Message),
) -> io::Result<()> {
    packets.write(|out| {
        out.uint(packet::TIMESTAMP, time(at));
        out.uint(packet::SEQUENCE_ID, TRACK_SEQUENCE);
        out.message(packet::TRACK_EVENT, |out| {
            annotate(out);
            out.uint(track_event::TYPE, kind);
            out.uint(track_event::TRACK, uuid);
            if kind != track_event::END {
                out.text(track_event::CATEGORIES, "whylate");
                out.text(track_event::NAME, name);
            }
        });
    })
}

/// `DebugAnnotation` with a `string_value`
pub(super) fn text(out: &mut Message, name: &str, value: &str) {
    out.message(track_event::ANNOTATIONS, |annotation| {
        annotation.text(10, name);
        annotation.text(6, value);
    });
}

/// With an `int_value`
pub(super) fn number(out: &mut Message, name: &str, value: Ns) {
    out.message(track_event::ANNOTATIONS, |annotation| {
        annotation.text(10, name);
        annotation.int(4, value.0);
    });
}

/// With a `double_value`
pub(super) fn share(out: &mut Message, value: f64) {
    out.message(track_event::ANNOTATIONS, |annotation| {
        annotation.text(10, "share");
        annotation.double(5, value);
    });
}
