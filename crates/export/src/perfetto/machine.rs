//! Another machine in this one's time: for each of its CPUs a track of the threads that ran and one of its interrupts, and the
//! packets between both machines with arrows.

use super::packets::Packets;
use super::slices::{event, number, rows, text, track, track_event};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::io;
use whylate_base::{Comm, Cpu, Ns, Tid};
use whylate_events::{EventKind, EventSource};
use whylate_ledger::{softirq_name, thread_name};

/// `TrackEvent`: an arrow begins at this slice, or ends at it.
const FLOW: u32 = 47;
const TERMINATING_FLOW: u32 = 48;

/// A machine that exchanged packets with the one whose trace is written.
pub struct OtherMachine<'a> {
    /// What it did.
    pub source: &'a mut dyn EventSource,
    /// The time of the written trace at an instant of the source.
    pub to_own: &'a dyn Fn(Ns) -> Ns,
    /// No instant is off by more than this.
    pub error: Ns,
    /// Packets that were answered: the sender's part, the other machine's, and that of the thread with the answer. In order.
    pub packets: &'a [[PacketPart; 3]],
}

/// What a thread did before it sent a packet, or for one that it got.
#[derive(Clone, Copy, Debug)]
pub struct PacketPart {
    /// Where it begins, in the time of the written trace.
    pub start: Ns,
    /// Where it ends.
    pub end: Ns,
    /// The thread, of its own machine.
    pub thread: (Tid, Comm),
}

/// Tracks of one CPU: threads, and interrupts.
#[derive(Default)]
struct CpuRows {
    threads: u64,
    interrupts: u64,
    runs: bool,
    /// Interrupts in progress.
    depth: u32,
}

/// Writes the tracks, with numbers from `uuid` on; gives back how many events they show.
pub(super) fn write(machine: OtherMachine<'_>, mut uuid: u64, packets: &mut Packets<'_>) -> io::Result<u64> {
    let OtherMachine { source, to_own, error, packets: trips } = machine;
    write_packets(trips, error, &mut uuid, packets)?;
    let mut cpus: BTreeMap<Cpu, CpuRows> = BTreeMap::new();
    let (mut shown, mut last) = (0, Ns::ZERO);
    while let Some(one) = source.next_event() {
        let (at, cpu) = (to_own(one.ts), one.cpu);
        last = at;
        let entry: Option<String> = match one.kind {
            EventKind::Switch(_) => None,
            EventKind::IrqEntry { name, .. } => Some(name.to_string()),
            EventKind::VectorEntry { name, .. } => Some(name.to_string()),
            EventKind::SoftirqEntry { vec } => Some(softirq_name(vec).to_owned()),
            EventKind::IrqExit { .. } | EventKind::VectorExit { .. } | EventKind::SoftirqExit { .. } => None,
            _ => continue,
        };
        let rows_of_cpu = match cpus.entry(cpu) {
            Entry::Occupied(rows) => rows.into_mut(),
            Entry::Vacant(none) => {
                let about = format!("Of the other machine; its clock is joined within {error}");
                for (of, what) in [(uuid, "threads"), (uuid + 1, "interrupts")] {
                    track(packets, of, of, &format!("peer: CPU {cpu}, {what}"), &about)?;
                }
                let rows = CpuRows { threads: uuid, interrupts: uuid + 1, ..CpuRows::default() };
                uuid += 2;
                none.insert(rows)
            }
        };
        shown += 1;
        match (one.kind, entry) {
            (EventKind::Switch(switch), _) => {
                if std::mem::replace(&mut rows_of_cpu.runs, !switch.next_tid.is_idle()) {
                    event(packets, at, rows_of_cpu.threads, track_event::END, "", |_| {})?;
                }
                if !switch.next_tid.is_idle() {
                    let name = thread_name(&switch.next_comm, switch.next_tid);
                    event(packets, at, rows_of_cpu.threads, track_event::BEGIN, &name, |out| {
                        text(out, "priority", &switch.next_prio.to_string());
                    })?;
                }
            }
            (_, Some(name)) => {
                rows_of_cpu.depth += 1;
                event(packets, at, rows_of_cpu.interrupts, track_event::BEGIN, &name, |_| {})?;
            }
            // One that began before the trace has no slice.
            (_, None) if rows_of_cpu.depth > 0 => {
                rows_of_cpu.depth -= 1;
                event(packets, at, rows_of_cpu.interrupts, track_event::END, "", |_| {})?;
            }
            (_, None) => {}
        }
    }
    for rows_of_cpu in cpus.values() {
        for (open, of) in
            [(u32::from(rows_of_cpu.runs), rows_of_cpu.threads), (rows_of_cpu.depth, rows_of_cpu.interrupts)]
        {
            (0..open).try_for_each(|_| event(packets, last, of, track_event::END, "", |_| {}))?;
        }
    }
    Ok(shown)
}

/// A part with the arrows that lead to it and away from it.
struct Arrowed {
    part: PacketPart,
    arrives: Option<u64>,
    leaves: Option<u64>,
}

fn write_packets(
    trips: &[[PacketPart; 3]],
    error: Ns,
    uuid: &mut u64,
    packets: &mut Packets<'_>,
) -> io::Result<()> {
    let (mut own, mut peer) = (Vec::new(), Vec::new());
    for (trip, [sent, answered, received]) in (0u64..).zip(trips) {
        // Chains have arrows from 1 on.
        let there = (1 << 40) + 2 * trip;
        own.push(Arrowed { part: *sent, arrives: None, leaves: Some(there) });
        peer.push(Arrowed { part: *answered, arrives: Some(there), leaves: Some(there + 1) });
        own.push(Arrowed { part: *received, arrives: Some(there + 1), leaves: None });
    }
    own.sort_by_key(|one| (one.part.start, one.part.end));
    let about =
        format!("What was sent, and what was done for the answer; the clocks are joined within {error}");
    for (name, parts) in [("packets: this machine", &own), ("packets: the peer", &peer)] {
        for row in rows(parts, |one| (one.part.start, one.part.end)) {
            track(packets, *uuid, *uuid, name, &about)?;
            row.into_iter().try_for_each(|one| write_part(packets, *uuid, one))?;
            *uuid += 1;
        }
    }
    Ok(())
}

fn write_part(packets: &mut Packets<'_>, uuid: u64, one: &Arrowed) -> io::Result<()> {
    let PacketPart { start, end, thread: (tid, comm) } = one.part;
    event(packets, start, uuid, track_event::BEGIN, &thread_name(&comm, tid), |out| {
        number(out, "ns", end - start);
        let mut arrow = |field, id: Option<u64>| id.iter().for_each(|&id| out.fixed64(field, id));
        arrow(FLOW, one.leaves);
        arrow(TERMINATING_FLOW, one.arrives);
    })?;
    event(packets, end, uuid, track_event::END, "", |_| {})
}
