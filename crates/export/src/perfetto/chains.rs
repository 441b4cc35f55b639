//! Chains as tracks: a row for each element of a path, in it that element's part of the worst instances, and arrows from
//! part to part.

use super::packets::Packets;
use super::slices::{event, number, rows, text, track, track_event};
use super::tracks::write_segment;
use crate::cut::Selected;
use std::io;
use whylate_base::Ns;
use whylate_ledger::{Chain, Chains, Hop, thread_name};

/// `TrackEvent`: an arrow begins or goes on at this slice, or ends at it. Both are `fixed64`.
const FLOW: u32 = 47;
const TERMINATING_FLOW: u32 = 48;

/// A hop of an instance, with the arrows that lead to it and away from it.
struct Part<'a> {
    hop: &'a Hop,
    arrives: Option<u64>,
    leaves: Option<u64>,
    /// What made the instance late, where it was this hop.
    why: Option<&'a str>,
    latency: Ns,
}

/// Writes the tracks of `chains`, as far as these lie in the cut, with numbers from `uuid` on; gives back the first number that
/// no track has.
pub(super) fn write(
    chains: &Chains,
    selected: &Selected<'_>,
    mut uuid: u64,
    packets: &mut Packets<'_>,
) -> io::Result<u64> {
    let mut arrows = 0;
    for (n, chain) in chains.found.iter().enumerate() {
        let names = chain.names();
        for (at, parts) in parts(chain, selected, &mut arrows).into_iter().enumerate() {
            let element = names.get(at).map_or("", String::as_str);
            let about = format!("{}: the worst {} of {}", names.join(" -> "), chain.worst.len(), chain.count);
            for row in rows(&parts, |part| (part.hop.start, part.hop.end)) {
                track(packets, uuid, uuid, &format!("whylate: chain {}, {element}", n + 1), &about)?;
                row.into_iter().try_for_each(|part| write_part(packets, uuid, part))?;
                uuid += 1;
            }
        }
    }
    Ok(uuid)
}

/// For each element of the path its parts of the worst instances, by time. A hop that takes no time has no slice: the
/// arrows pass it by.
fn parts<'a>(chain: &'a Chain, selected: &Selected<'_>, arrows: &mut u64) -> Vec<Vec<Part<'a>>> {
    let mut by_element: Vec<Vec<Part<'_>>> = chain.path.iter().map(|_| Vec::new()).collect();
    for instance in chain.worst.iter().filter(|instance| selected.overlaps(instance.start, instance.end)) {
        let late = instance.verdict.as_ref().map(|verdict| (verdict.hop, verdict.why.as_str()));
        let mut hops = instance.hops.iter().enumerate().filter(|(_, hop)| hop.end > hop.start).peekable();
        let mut arrives = None;
        while let Some((at, hop)) = hops.next() {
            let leaves = hops.peek().is_some().then(|| {
                *arrows += 1;
                *arrows
            });
            let why = late.filter(|&(late, _)| late == at).map(|(_, why)| why);
            if let Some(parts) = by_element.get_mut(at) {
                parts.push(Part { hop, arrives, leaves, why, latency: instance.latency() });
            }
            arrives = leaves;
        }
    }
    for parts in &mut by_element {
        parts.sort_by_key(|part| (part.hop.start, part.hop.end));
    }
    by_element
}

fn write_part(packets: &mut Packets<'_>, uuid: u64, part: &Part<'_>) -> io::Result<()> {
    let Part { hop, arrives, leaves, why, latency } = part;
    let (tid, comm) = &hop.thread;
    let name = format!("{} -> {} ({})", hop.from, hop.to, hop.kind);
    event(packets, hop.start, uuid, track_event::BEGIN, &name, |out| {
        text(out, "thread", &thread_name(comm, *tid));
        number(out, "hop_ns", hop.length());
        number(out, "chain_ns", *latency);
        if let Some(why) = why {
            text(out, "why", why);
        }
        let mut arrow = |field, id: &Option<u64>| id.iter().for_each(|&id| out.fixed64(field, id));
        arrow(FLOW, leaves);
        arrow(TERMINATING_FLOW, arrives);
    })?;
    for segment in hop.ledger.iter().filter(|segment| segment.end > segment.start) {
        write_segment(packets, uuid, segment)?;
    }
    event(packets, hop.end, uuid, track_event::END, "", |_| {})
}
