//! Events gathered by CPU, as `FtraceEventBundle`s.

use super::event::{Functions, StateBits, write as write_event};
use super::packets::{FTRACE_SEQUENCE, NEEDS_STATE, Packets, STATE_CLEARED, packet};
use super::proto::Message;
use std::collections::BTreeMap;
use std::io;
use whylate_base::Cpu;
use whylate_events::{Event, EventKind};

/// A CPU's bundle is written when it has this many bytes.
const BUNDLE: usize = 64 << 10;
/// All of them are, when they have this many together: a machine may have thousands of CPUs.
const ALL_BUNDLES: usize = 8 << 20;

/// `FtraceEventBundle`
const CPU: u32 = 1;
const LOST_EVENTS: u32 = 3;
/// `InternedData.kernel_symbols`
const KERNEL_SYMBOLS: u32 = 26;

/// Bundles being filled.
pub(super) struct Bundles {
    by_cpu: BTreeMap<Cpu, Bundle>,
    bytes: usize,
    states: StateBits,
    functions: Functions,
    begun: bool,
}

#[derive(Default)]
struct Bundle {
    events: Message,
    /// Events were lost before its first.
    lost: bool,
}

impl Bundles {
    pub(super) fn new(states: StateBits) -> Bundles {
        let functions = Functions::default();
        Bundles { by_cpu: BTreeMap::new(), bytes: 0, states, functions, begun: false }
    }

    /// Adds an event; false when there is no form for it.
    pub(super) fn add(&mut self, event: &Event, packets: &mut Packets<'_>) -> io::Result<bool> {
        if let EventKind::Lost { .. } = event.kind {
            self.flush(event.cpu, packets)?;
            self.by_cpu.entry(event.cpu).or_default().lost = true;
            return Ok(true);
        }
        let bundle = self.by_cpu.entry(event.cpu).or_default();
        let before = bundle.events.len();
        if !write_event(event, self.states, &mut self.functions, &mut bundle.events) {
            return Ok(false);
        }
        let length = bundle.events.len();
        self.bytes += length - before;
        if length >= BUNDLE {
            self.flush(event.cpu, packets)?;
        } else if self.bytes >= ALL_BUNDLES {
            self.finish(packets)?;
        }
        Ok(true)
    }

    /// Writes what is left.
    pub(super) fn finish(&mut self, packets: &mut Packets<'_>) -> io::Result<()> {
        let cpus: Vec<Cpu> = self.by_cpu.keys().copied().collect();
        cpus.into_iter().try_for_each(|cpu| self.flush(cpu, packets))
    }

    fn flush(&mut self, cpu: Cpu, packets: &mut Packets<'_>) -> io::Result<()> {
        let Some(bundle) = self.by_cpu.get_mut(&cpu).filter(|bundle| !bundle.events.is_empty()) else {
            return Ok(());
        };
        let functions = &mut self.functions;
        let flags = if self.begun { NEEDS_STATE } else { STATE_CLEARED | NEEDS_STATE };
        packets.write(|out| {
            out.uint(packet::SEQUENCE_ID, FTRACE_SEQUENCE);
            out.uint(packet::SEQUENCE_FLAGS, flags);
            let new = functions.take_new();
            if !new.is_empty() {
                out.message(packet::INTERNED_DATA, |interned| {
                    for (id, name) in &new {
                        interned.message(KERNEL_SYMBOLS, |symbol| {
                            symbol.uint(1, *id);
                            symbol.data(2, name.as_str().as_bytes());
                        });
                    }
                });
            }
            out.message(packet::FTRACE_EVENTS, |ftrace| {
                ftrace.uint(CPU, cpu.0);
                ftrace.append(&bundle.events);
                if bundle.lost {
                    ftrace.bool(LOST_EVENTS, true);
                }
            });
        })?;
        self.begun = true;
        self.bytes -= bundle.events.len();
        bundle.events.clear();
        bundle.lost = false;
        Ok(())
    }
}
