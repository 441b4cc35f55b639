//! The events of a Perfetto trace in time order.

use super::bundle::{Bundle, Head, Next};
use super::compact::{CompactSwitch, CompactWaking};
use super::event::{decode, decode_generic, kind_of, number};
use super::generic::{Described, Generic};
use super::index::{BundleAt, index};
use super::state::StateBits;
use super::symbols::Symbols;
use crate::clock_jumps::ClockJumps;
use crate::error::OpenError;
use crate::seekable::{ReadAt, read_full};
use std::collections::HashMap;
use std::sync::Arc;
use whylate_base::{Comm, Cpu, Ns, Priority, Tid};
use whylate_events::{
    Context, ContextFlags, Damage, Event, EventKind, EventSource, Kind, KindSet, Merge, Switch, TraceInfo,
    Wake,
};

pub(crate) struct PerfettoSource {
    merge: Merge<CpuStream>,
    event: Option<Event>,
    info: TraceInfo,
    comms: Vec<(Tid, Comm)>,
    ended: bool,
}

/// What to do where a Perfetto trace has no events that show latency.
const RECORD: &str = "record with the data source linux.ftrace and the events sched/sched_switch, \
     sched/sched_waking, irq/*, timer/*";

impl PerfettoSource {
    pub(crate) fn open(
        source: Arc<dyn ReadAt>,
        name: &str,
        wanted: KindSet,
    ) -> Result<PerfettoSource, OpenError> {
        let mut index = index(source.clone(), name)?;
        if index.bundles.is_empty() {
            return Err(OpenError::Perfetto { name: name.to_owned(), advice: RECORD });
        }
        let states = StateBits::of_release(index.release.as_deref());
        let highest = index.bundles.keys().map(|&(_, cpu)| cpu + 1).max().unwrap_or(0);
        let info = TraceInfo {
            format: "Perfetto".to_owned(),
            cpus: index.cpus.max(highest),
            lost_events: index.lost_events(),
            data_bytes: Some(index.bytes()),
            kernel_release: index.release.take(),
            machine: index.machine.take(),
            damage: std::mem::take(&mut index.damage),
            ..TraceInfo::default()
        };
        let comms = index.comms.drain().collect();
        let unpacked = index.unpacked.take();
        let symbols = Arc::new(std::mem::take(&mut index.symbols));
        let streams =
            std::mem::take(&mut index.bundles).into_iter().map(|((sequence, cpu), places)| CpuStream {
                source: source.clone(),
                unpacked: unpacked.clone(),
                cpu: Cpu(cpu),
                places: places.into_iter(),
                sequence,
                generation: 0,
                symbols: symbols.clone(),
                bundle: None,
                at: 0,
                states,
                wanted,
                described: HashMap::new(),
                running: None,
                pending: None,
                last: i64::MIN,
                jumps: ClockJumps::default(),
                lost: false,
                tally: Tally::default(),
            });
        let merge = Merge::new(streams);
        let mut perfetto = PerfettoSource { merge, event: None, info, comms, ended: false };
        // Each stream has read its first bundle, which has its clock.
        perfetto.info.clock = perfetto.clock(index.monotonic == Some(true));
        Ok(perfetto)
    }

    fn clock(&self, monotonic: bool) -> Option<String> {
        let clocks = self.merge.streams().filter_map(|stream| stream.tally.clock);
        let name = match clocks.max()? {
            // A missing field has the default (`FtraceClock` in ftrace_event_bundle.proto).
            0 if monotonic => "mono",
            0 => "boot",
            2 => "global",
            3 => "local",
            4 => "mono_raw",
            _ => return None,
        };
        Some(name.to_owned())
    }

    #[cold]
    fn complete(&mut self) {
        let mut seen = KindSet::NONE;
        for stream in self.merge.streams() {
            let Tally { events, seen: kinds, span, damage, backwards, jumps, errors, unlisted, .. } =
                &stream.tally;
            self.info.events += events;
            seen = seen.union(*kinds);
            if let Some(span) = *span {
                self.info.cover(span);
            }
            self.info.damage.extend(damage.iter().cloned());
            let cpu = stream.cpu;
            for (count, what) in [
                (*backwards, "events are older than those before them: left out"),
                (*jumps, "events have a time that cannot be: left out"),
                (*errors, "times Perfetto could not read the kernel's buffer"),
                (*unlisted, "more damaged places"),
            ] {
                if count > 0 {
                    self.info.damage.push(Damage::whole(format!("CPU {cpu}: {count} {what}")));
                }
            }
        }
        self.info.recorded = Some(seen);
    }
}

impl EventSource for PerfettoSource {
    fn next_event(&mut self) -> Option<&Event> {
        self.event = self.merge.next();
        if self.event.is_none() && !std::mem::replace(&mut self.ended, true) {
            self.complete();
        }
        self.event.as_ref()
    }

    fn info(&self) -> &TraceInfo {
        &self.info
    }

    fn comms(&self) -> Vec<(Tid, Comm)> {
        self.comms.clone()
    }
}

/// The events of one CPU, a bundle at a time.
struct CpuStream {
    source: Arc<dyn ReadAt>,
    unpacked: Option<Arc<dyn ReadAt>>,
    cpu: Cpu,
    places: std::vec::IntoIter<BundleAt>,
    /// The packets that its events are in, and which of their tables of functions the bundle has.
    sequence: u32,
    generation: u16,
    symbols: Arc<Symbols>,
    bundle: Option<Bundle>,
    /// Where the bundle is in the file.
    at: u64,
    states: StateBits,
    wanted: KindSet,
    described: HashMap<u32, Described>,
    /// The running thread, by the last switch: compact switches do not have the thread that leaves.
    running: Option<(Tid, Comm, Priority)>,
    /// The event behind a loss that was just reported.
    pending: Option<Event>,
    last: i64,
    jumps: ClockJumps,
    lost: bool,
    tally: Tally,
}

#[derive(Default)]
struct Tally {
    events: u64,
    seen: KindSet,
    span: Option<(Ns, Ns)>,
    clock: Option<u64>,
    backwards: u64,
    jumps: u64,
    errors: u64,
    damage: Vec<Damage>,
    unlisted: u64,
}

const MOST_DAMAGE: usize = 100;

/// Of `common_flags` those bits that mean the same in every kernel.
fn flags(raw: Option<u8>) -> ContextFlags {
    const SAME: u8 = 0x01 | 0x04 | 0x08 | 0x10 | 0x40;
    raw.map_or(ContextFlags::IRQS_UNKNOWN, |raw| ContextFlags(u16::from(raw & SAME)))
}

impl CpuStream {
    fn note(&mut self, what: &str) {
        if self.tally.damage.len() < MOST_DAMAGE {
            self.tally.damage.push(Damage::at(self.at, format!("CPU {}: {what}", self.cpu)));
        } else {
            self.tally.unlisted += 1;
        }
        self.lost = true;
    }

    /// Reads the next bundle; `None` at the end.
    fn next_bundle(&mut self) -> Option<()> {
        if self.bundle.take().is_some_and(|bundle| bundle.damaged()) {
            self.note("a bundle of events is damaged: some of its events are lost");
        }
        let place = self.places.next()?;
        (self.at, self.generation) = (place.at, place.generation);
        let source = if place.unpacked { self.unpacked.as_ref() } else { Some(&self.source) };
        let mut bytes = vec![0; place.size as usize];
        let read = source.and_then(|source| read_full(&**source, &mut bytes, place.at).ok());
        if read != Some(bytes.len()) {
            self.note("a bundle of events cannot be read");
        }
        bytes.truncate(read.unwrap_or(0));
        let mut bundle = Bundle::new(bytes);
        self.lost |= bundle.lost;
        self.tally.errors += bundle.errors;
        self.tally.clock = self.tally.clock.max(Some(bundle.clock));
        self.described.extend(bundle.described.drain());
        if self.lost {
            self.running = None;
        }
        self.bundle = Some(bundle);
        Some(())
    }

    /// The kind of an event, and its content where that is wanted.
    fn of_event(&mut self, head: &Head) -> (Kind, Context, Option<EventKind>) {
        let message = self.bundle.as_ref().map(|bundle| bundle.message(head)).unwrap_or_default();
        let described = self.described.get(&head.number);
        let generic = match described {
            Some(described) => Some(Generic::described(message, described)),
            None => (head.number == number::GENERIC).then(|| Generic::read(message)),
        };
        let (kind, decoded) = match generic {
            Some(generic) => {
                let decoded = decode_generic(&generic);
                (decoded.kind(), Some(decoded))
            }
            None => {
                let kind = kind_of(head.number).unwrap_or(Kind::Other);
                let wanted = self.wanted.contains(kind) || kind == Kind::Switch;
                let name = |number| self.symbols.name(self.sequence, self.generation, number);
                (kind, wanted.then(|| decode(head.number, message, self.states, name)))
            }
        };
        if let Some(EventKind::Switch(switch)) = decoded {
            self.running = Some((switch.next_tid, switch.next_comm, switch.next_prio));
        }
        let context = Context { tid: Tid(head.pid), flags: flags(head.flags), preempt_depth: None };
        (kind, context, decoded)
    }

    /// The running thread. Before the first switch, and after a loss, it is not known: then a thread id that no
    /// thread has.
    fn current(&self) -> (Tid, Comm, Priority) {
        let unknown = Tid(-1 - i32::try_from(self.cpu.0).unwrap_or(0));
        self.running.unwrap_or((unknown, Comm::from("<...>"), Priority::DEFAULT))
    }

    fn of_switch(&mut self, switch: CompactSwitch) -> (Context, EventKind) {
        let (tid, comm, prio) = self.current();
        self.running = Some((Tid(switch.next_tid), switch.next_comm, Priority(switch.next_prio)));
        // The scheduler switches with interrupts off.
        let context = Context { tid, flags: ContextFlags::IRQS_OFF, preempt_depth: None };
        let kind = EventKind::Switch(Switch {
            prev_comm: comm,
            prev_tid: tid,
            prev_prio: prio,
            prev_state: self.states.of(switch.prev_state),
            next_comm: switch.next_comm,
            next_tid: Tid(switch.next_tid),
            next_prio: Priority(switch.next_prio),
        });
        (context, kind)
    }

    fn of_waking(&self, waking: CompactWaking) -> (Context, EventKind) {
        let (tid, ..) = self.current();
        let context = Context { tid, flags: flags(waking.flags), preempt_depth: None };
        let kind = EventKind::Waking(Wake {
            comm: waking.comm,
            tid: Tid(waking.tid),
            prio: Priority(waking.prio),
            target_cpu: Cpu(waking.target_cpu as u32),
        });
        (context, kind)
    }
}

impl Iterator for CpuStream {
    type Item = Event;

    fn next(&mut self) -> Option<Event> {
        if let Some(event) = self.pending.take() {
            return Some(event);
        }
        loop {
            let Some(next) = self.bundle.as_mut().and_then(Bundle::next) else {
                self.next_bundle()?;
                continue;
            };
            let Some(ts) = i64::try_from(next.ts()).ok().filter(|&ts| ts >= self.last) else {
                self.tally.backwards += 1;
                self.lost = true;
                continue;
            };
            if !self.jumps.plausible(Ns(ts)) {
                self.tally.jumps += 1;
                self.lost = true;
                continue;
            }
            self.last = ts;
            let (kind, context, decoded) = match next {
                Next::Event(head) => self.of_event(&head),
                Next::Switch(switch) => {
                    let (context, kind) = self.of_switch(switch);
                    (Kind::Switch, context, Some(kind))
                }
                Next::Waking(waking) => {
                    let (context, kind) = self.of_waking(waking);
                    (Kind::Waking, context, Some(kind))
                }
            };
            let ts = Ns(ts);
            self.tally.events += 1;
            self.tally.seen.insert(kind);
            self.tally.span = Some((self.tally.span.map_or(ts, |(first, _)| first), ts));
            let event = |kind| Event { ts, cpu: self.cpu, context, kind };
            let event_wanted = decoded.filter(|_| self.wanted.contains(kind)).map(event);
            if std::mem::take(&mut self.lost) {
                self.tally.seen.insert(Kind::Lost);
                if self.wanted.contains(Kind::Lost) {
                    let lost = EventKind::Lost { count: None, since: None, kinds: KindSet::NONE };
                    let lost = event(lost);
                    self.pending = event_wanted;
                    return Some(lost);
                }
            }
            if event_wanted.is_some() {
                return event_wanted;
            }
        }
    }
}
