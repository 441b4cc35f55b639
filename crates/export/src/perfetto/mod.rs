//! Perfetto traces: the events as ftrace bundles, and ledger and verdicts as tracks of their own.
//!
//! ```text
//! clock snapshot, system info
//! ftrace bundles, a CPU's events each, as they come  ── scheduling, interrupts, system calls ...
//! track descriptors, slices                          ── one track a thread: activations, and in them what
//!                                                       their time was charged to; findings as instants; a track
//!                                                       for each element of a chain, with arrows between them
//! track descriptors, slices                          ── another machine: its CPUs, and packets with arrows
//! perf samples                                       ── call stacks, where the recording has some
//! ```
//!
//! Field numbers are those of `protos/perfetto/trace` of github.com/google/perfetto.

mod bundles;
mod chains;
mod event;
mod machine;
mod packets;
mod proto;
mod samples;
mod slices;
mod tracks;

use crate::cut::Cut;
use crate::sink::{Written, explained};
use bundles::Bundles;
pub use machine::{OtherMachine, PacketPart};
use packets::{FTRACE_SEQUENCE, Packets, packet, time};
use std::io::{self, Write};
use whylate_base::Ns;
use whylate_events::{EventSource, TraceInfo};
use whylate_ledger::{Explanation, Options};

/// `BUILTIN_CLOCK_MONOTONIC`, `BUILTIN_CLOCK_BOOTTIME`
const MONOTONIC: u32 = 3;
const BOOTTIME: u32 = 6;

/// Writes the events of `source` that `cut` keeps, and the explanation of the whole trace within the cut's
/// time. Gives back what was written, and the explanation.
///
/// # Errors
/// What `out` answers.
pub fn write(
    source: &mut dyn EventSource,
    cut: &Cut,
    options: &Options,
    out: &mut dyn Write,
) -> io::Result<(Written, Explanation)> {
    write_beside(source, cut, options, None, out)
}

/// The same with what another machine did in that time.
///
/// # Errors
/// What `out` answers.
pub fn write_beside(
    source: &mut dyn EventSource,
    cut: &Cut,
    options: &Options,
    other: Option<OtherMachine<'_>>,
    out: &mut dyn Write,
) -> io::Result<(Written, Explanation)> {
    let mut written = Written::default();
    let info = source.info().clone();
    let mut packets = Packets::new(out);
    let mut bundles = Bundles::new(event::StateBits::of_release(info.kernel_release.as_deref()));
    let mut begun = false;
    let mut events = 0;
    let mut no_form = 0;
    let (explanation, selected) = explained(source, cut, options, &mut written, |event, _| {
        if !std::mem::replace(&mut begun, true) {
            begin(&mut packets, &info, event.ts)?;
        }
        match bundles.add(event, &mut packets)? {
            true => events += 1,
            false => no_form += 1,
        }
        Ok(())
    })?;
    bundles.finish(&mut packets)?;
    let (activations, next_track) = tracks::write(&explanation, &selected, &mut packets)?;
    let next_track = match &explanation.chains {
        Some(chains) => chains::write(chains, &selected, next_track, &mut packets)?,
        None => next_track,
    };
    let of_other = other.map(|other| machine::write(other, next_track, &mut packets)).transpose()?;
    let samples = match &explanation.trace.stacks {
        Some(stacks) => samples::write(stacks, &selected, &mut packets)?,
        None => 0,
    };
    packets.out.flush()?;
    Ok((
        Written { events, no_form, activations, samples, of_other: of_other.unwrap_or(0), ..written },
        explanation,
    ))
}

/// What a reader must know before the first event.
fn begin(packets: &mut Packets<'_>, info: &TraceInfo, first: Ns) -> io::Result<()> {
    // Bundles are taken to be in boot time, and nothing shows how far that is from another clock: so both
    // have the same reading here, and times are shown as the trace clock has them.
    let primary = if info.clock.as_deref() == Some("mono") { MONOTONIC } else { BOOTTIME };
    packets.write(|packet| {
        packet.uint(packet::TIMESTAMP, time(first));
        packet.uint(packet::SEQUENCE_ID, FTRACE_SEQUENCE);
        packet.message(packet::CLOCK_SNAPSHOT, |snapshot| {
            for clock in [MONOTONIC, BOOTTIME] {
                snapshot.message(1, |reading| {
                    reading.uint(1, clock);
                    reading.uint(2, time(first));
                });
            }
            snapshot.uint(2, primary);
        });
    })?;
    packets.write(|packet| {
        packet.uint(packet::SEQUENCE_ID, FTRACE_SEQUENCE);
        packet.message(packet::SYSTEM_INFO, |system| {
            if let Some(release) = &info.kernel_release {
                system.message(1, |uname| {
                    uname.text(1, "Linux");
                    uname.text(3, release);
                    if let Some(machine) = &info.machine {
                        uname.text(4, machine);
                    }
                });
            }
            system.uint(8, info.cpus);
        });
    })
}
