//! The timerlat tracer's samples as activations of its thread.
//!
//! ```text
//!        due                  irq sample        thread sample       return to user space
//!         |---- delay ----[ timer irq ]-- others --|------- own work -------|
//!               why did the interrupt    by the osnoise events:
//!               come late?               irqs, softirqs, NMIs, threads
//! ```
//!
//! Sources: kernel/trace/trace_osnoise.c, Documentation/trace/timerlat-tracer.rst. The osnoise events' times are
//! net of what interrupted them, so they fill the time from their start that nothing above them took.

use super::actors::{self, task};
use super::interrupted::{Interrupted, interrupted};
use super::intervals::Intervals;
use crate::assemble::Assembler;
use crate::causes::Cause;
use crate::charge::attribution::Charge;
use crate::model::{Activation, CpuTrack, Culprit, OnCpu, Segment, Slice, Trigger};
use crate::timeline::Timeline;
use std::collections::{BTreeMap, VecDeque};
use whylate_base::{Comm, Confidence, Cpu, Evidence, Ns, Priority, Tid};
use whylate_events::{Event, Kind, Name, Noise, NoiseSource, Symbol, Timerlat, TimerlatContext};

/// The priority the kernel gives a timerlat thread (`DEFAULT_TIMERLAT_PRIO`, trace_osnoise.c).
const PRIORITY: i32 = 95;
/// More interferences than this between two samples are not kept.
const MAX_NOISES: usize = 4_096;
/// A kernel stack is no deeper.
const MAX_FRAMES: usize = 128;
/// An interference that ended longer before its event than this is on another clock than the trace.
const SAME_CLOCK: Ns = Ns::from_ms(100);
/// The kernel's own way between interrupts, and from the last of them to the thread, is not longer.
const LONGEST_PATH: Ns = Ns::from_us(50);

/// What is known of each CPU's sample in progress.
#[derive(Default)]
pub(super) struct Timerlats {
    cpus: BTreeMap<Cpu, CpuSamples>,
}

#[derive(Default)]
struct CpuSamples {
    irq: Option<Sample>,
    thread: Option<Sample>,
    returned: Option<Sample>,
    stack: Vec<Symbol>,
    /// True while the CPU's last event of interest was a sample: a stack that follows is the sample's.
    takes_frames: bool,
    noises: VecDeque<(Ns, Noise)>,
    /// The interrupt in which samples are taken, by name and number.
    timer: Option<(Name, u32)>,
    /// True once an interference was measured by a coarse clock.
    is_coarse: bool,
    /// The tracer's thread.
    own: Option<Tid>,
    /// True once activations were made from samples.
    explained: bool,
}

#[derive(Clone, Copy)]
struct Sample {
    at: Ns,
    seq: u32,
    latency: Ns,
    /// The thread that was current.
    tid: Tid,
}

impl Timerlats {
    pub(super) fn sample(&mut self, assembler: &mut Assembler<'_>, event: &Event, sample: &Timerlat) {
        let on = self.cpus.entry(event.cpu).or_default();
        let Timerlat { seq, latency, context } = *sample;
        if latency < Ns::ZERO {
            return;
        }
        let taken = Sample { at: event.ts, seq, latency, tid: event.context.tid };
        let same = |earlier: &Option<Sample>| earlier.is_some_and(|earlier| earlier.seq == seq);
        match context {
            TimerlatContext::Irq => {
                on.conclude(assembler, event.cpu);
                on.irq = Some(taken);
            }
            TimerlatContext::Thread => {
                if !same(&on.irq) || on.thread.is_some() {
                    on.conclude(assembler, event.cpu);
                }
                on.thread = Some(taken);
            }
            TimerlatContext::UserReturn if same(&on.thread) => on.returned = Some(taken),
            TimerlatContext::UserReturn => {}
        }
        self.cpus.entry(event.cpu).or_default().takes_frames = true;
    }

    /// Takes an interference in, and returns it as it is understood: the interrupt in which a sample was taken is the
    /// CPU's own timer, by whatever name and line the architecture has for it.
    pub(super) fn noise(&mut self, assembler: &mut Assembler<'_>, event: &Event, noise: &Noise) -> Noise {
        let on = self.cpus.entry(event.cpu).or_default();
        on.takes_frames = false;
        let mut noise = *noise;
        if noise.source == NoiseSource::Thread {
            let thread = assembler.timeline_mut().threads.get_mut(thread_of(&noise));
            if thread.comm_at(event.ts).is_empty() {
                thread.assume_name(Comm::from(noise.name.as_str()));
            }
        }
        if is_coarse(&noise) {
            on.is_coarse = true;
            return noise;
        }
        let as_recorded = noise;
        let end = noise.start + noise.duration;
        if noise.start > event.ts || event.ts - end > SAME_CLOCK {
            noise.start = event.ts - noise.duration;
        }
        let sample = on.irq.filter(|_| on.thread.is_none());
        let is_first = !on.noises.iter().any(|&(seen, noise)| is_of_sample(seen, &noise, sample));
        if is_first && is_of_sample(event.ts, &noise, sample) {
            on.timer = Some((noise.name, noise.id));
        }
        if noise.source == NoiseSource::Irq && on.timer == Some((noise.name, noise.id)) {
            noise.name = actors::own_timer(&noise);
        }
        let understood = Noise { name: noise.name, ..as_recorded };
        if on.noises.len() == MAX_NOISES {
            on.noises.pop_front();
        }
        on.noises.push_back((event.ts, noise));
        understood
    }

    pub(super) fn frame(&mut self, cpu: Cpu, name: Symbol) {
        let Some(on) = self.cpus.get_mut(&cpu) else { return };
        // Another interrupt may have come between the sample and its stack, which begins in the handler.
        if name.as_str().starts_with("timerlat_irq") && (on.irq.is_some() || on.thread.is_some()) {
            on.stack.clear();
            on.takes_frames = true;
        }
        if on.takes_frames && on.stack.len() < MAX_FRAMES {
            on.stack.push(name);
        }
    }

    /// The trace ended.
    pub(super) fn finish(&mut self, assembler: &mut Assembler<'_>) {
        for (&cpu, on) in &mut self.cpus {
            on.conclude(assembler, cpu);
            if let Some(tid) = on.own.filter(|_| on.explained) {
                // That it was current in its own samples is no activation of its own.
                assembler.timeline_mut().threads.get_mut(tid).open = None;
            }
        }
    }

    /// True of a CPU whose timerlat thread was explained by its samples.
    pub(super) fn explained(&self, cpu: Cpu) -> bool {
        self.cpus.get(&cpu).is_some_and(|on| on.explained)
    }
}

impl CpuSamples {
    /// All that belongs to one sample was seen: makes its activation, unless the scheduler's events do.
    fn conclude(&mut self, assembler: &mut Assembler<'_>, cpu: Cpu) {
        let (irq, thread, returned) = (self.irq.take(), self.thread.take(), self.returned.take());
        let stack = std::mem::take(&mut self.stack);
        // One that came back before it began is damaged, and the rest of the sample is not.
        let is_possible = |returned: &Sample| thread.is_none_or(|thread| returned.latency >= thread.latency);
        let returned = returned.filter(is_possible);
        let Some(last) = thread.or(irq) else { return };
        let seen = assembler.timeline().seen;
        let by_scheduler =
            seen.contains(Kind::Switch) && (seen.contains(Kind::Waking) || seen.contains(Kind::Wakeup));
        self.own = thread.map(|thread| thread.tid).or(self.own);
        let own = self.own.unwrap_or(actors::unnamed(cpu));
        let is_coarse = self.is_coarse;
        let noises = self.noises.make_contiguous();
        let observed = ObservedSample { cpu, own, irq, thread, returned, stack, noises, is_coarse };
        if !by_scheduler && observed.possible() {
            let kept = !observed.stack.is_empty();
            let (activation, notes) = observed.activation(assembler.timeline_mut());
            self.explained = true;
            // The tracer saves a stack where its own limit was exceeded.
            assembler.keep_measured(activation, notes, kept);
        }
        self.noises.retain(|&(seen, _)| seen > last.at);
    }
}

/// One sample, and what happened around it.
struct ObservedSample<'a> {
    cpu: Cpu,
    /// The tracer's thread; it is real-time by itself, whatever else was recorded.
    own: Tid,
    irq: Option<Sample>,
    thread: Option<Sample>,
    returned: Option<Sample>,
    stack: Vec<Symbol>,
    noises: &'a [(Ns, Noise)],
    /// True where interferences were measured by a coarse clock, and left out.
    is_coarse: bool,
}

impl ObservedSample<'_> {
    /// False of samples that contradict themselves, as damaged ones do.
    fn possible(&self) -> bool {
        self.irq.zip(self.thread).is_none_or(|(irq, thread)| thread.latency >= irq.latency)
    }

    fn activation(&self, timeline: &mut Timeline) -> (Activation, Vec<Evidence>) {
        let last = self.thread.or(self.irq).unwrap_or(Sample {
            at: Ns::ZERO,
            seq: 0,
            latency: Ns::ZERO,
            tid: Tid::IDLE,
        });
        let due = last.at - last.latency;
        let running = self.thread.map(|_| last.at);
        let done = self.returned.map(|returned| due + returned.latency);
        let end = done.unwrap_or(last.at);
        let (tid, comm, priority) = actors::measured(timeline, due, self.cpu, self.own, PRIORITY);
        let (mut ledger, notes) = self.wait(timeline, due, last.at);
        ledger.extend(self.work(timeline, last.at, end));
        let tracks = vec![self.track(timeline, tid, comm, priority, &ledger, last.at)];
        let activation = Activation {
            cpu: self.cpu,
            trigger: Trigger::Timer,
            woken: self.irq.map(|irq| (due + irq.latency).min(end)),
            running,
            done,
            ledger,
            tracks,
            ..Activation::of(tid, comm, priority, due, end)
        };
        (activation, notes)
    }

    /// From the expiry to the thread.
    fn wait(&self, timeline: &Timeline, due: Ns, running: Ns) -> (Vec<Segment>, Vec<Evidence>) {
        let mut intervals = Intervals::new(self.cpu, due, running);
        let mut notes = Vec::new();
        let recorded = timeline.seen.contains(Kind::Osnoise) && !self.is_coarse;
        let irq_at = self.irq.map(|irq| (due + irq.latency).min(running));
        let timer = self.timer_interrupt(irq_at);
        let delay_end = timer.map(|timer| timer.start.max(due)).or(irq_at).unwrap_or(due).min(running);
        self.claim(timeline, &mut intervals, NoiseSource::Nmi, due, running);
        // Only what keeps interrupts disabled itself delays one: neither softirqs nor threads do.
        self.claim(timeline, &mut intervals, NoiseSource::Irq, due, running);
        self.claim(timeline, &mut intervals, NoiseSource::Softirq, delay_end, running);
        self.claim(timeline, &mut intervals, NoiseSource::Thread, delay_end, running);
        let current = self.irq.map(|irq| irq.tid);
        let names: Vec<&str> = self.stack.iter().map(|name| name.as_str()).collect();
        let place = interrupted(&names);
        // Its own thread, still awake, delays no other thread.
        let others = current.filter(|&current| current != self.own);
        let delay = delay_charge(timeline, others, place.as_ref(), due, delay_end - due);
        intervals.fill(due, delay_end, delay_end - due, delay);
        // The handler itself, up to its sample.
        let handled = irq_at.unwrap_or(delay_end);
        let handler = Charge::to(Cause::Irq, Some(actors::local_timer()), Confidence::Medium);
        intervals.fill(delay_end, handled, handled - delay_end, handler);
        let segments = intervals.finish(|from, to| match current {
            Some(_) if to - from > LONGEST_PATH => Charge::unexplained(),
            // No other thread ran: the kernel's own path to the thread.
            Some(_) if recorded => Charge::to(Cause::Dispatch, None, Confidence::Medium),
            Some(Tid::IDLE) => Charge::to(Cause::Dispatch, None, Confidence::Low),
            _ => Charge::unexplained(),
        });
        if self.is_coarse {
            notes.push(Evidence::general(
                "the osnoise events count in whole milliseconds: the trace's clock is too coarse for them, so they are \
                 not used",
            ));
        }
        if let (Some(irq), Some(irq_at)) = (self.irq, irq_at) {
            notes.extend(place.map(|place| {
                Evidence::at(
                    irq_at,
                    self.cpu,
                    actors::hit(&actors::called(timeline, irq.at, irq.tid), &place),
                )
            }));
        }
        (segments, notes)
    }

    /// From the thread's sample to its return to user space and back.
    fn work(&self, timeline: &Timeline, running: Ns, end: Ns) -> Vec<Segment> {
        let mut intervals = Intervals::new(self.cpu, running, end);
        for source in [NoiseSource::Nmi, NoiseSource::Irq, NoiseSource::Softirq, NoiseSource::Thread] {
            self.claim(timeline, &mut intervals, source, running, end);
        }
        intervals.finish(|_, _| Charge::to(Cause::OwnWork, None, Confidence::High))
    }

    /// The interrupt in which the sample was taken: the first to end after it, begun before.
    fn timer_interrupt(&self, irq_at: Option<Ns>) -> Option<Noise> {
        let irq = self.irq?;
        let irq_at = irq_at?;
        let ended_after = |&&(seen, noise): &&(Ns, Noise)| {
            noise.source == NoiseSource::Irq && seen >= irq.at && noise.start <= irq_at.max(irq.at)
        };
        self.noises.iter().find(ended_after).map(|&(_, noise)| noise)
    }

    /// Charges what the interferences of one kind took of `from..to`.
    fn claim(&self, timeline: &Timeline, intervals: &mut Intervals, source: NoiseSource, from: Ns, to: Ns) {
        let is_unordered = self.irq.is_none() && self.thread.is_some_and(|thread| from < thread.at);
        let hit = || if is_unordered { self.first_thread(from) } else { None };
        let mut blocker = self.irq.map(|irq| irq.tid).or_else(hit);
        for (_, noise) in self.noises.iter().filter(|(_, noise)| noise.source == source) {
            let blocking = source == NoiseSource::Thread && blocker == Some(thread_of(noise));
            if blocking {
                blocker = None;
            }
            let before = from.since(noise.start);
            // What lies before is net time as well: what is left of it cannot have been longer.
            let time = noise.duration.since(before);
            if noise.start < to && time > Ns::ZERO {
                let mut charge = charge(timeline, noise, blocking);
                // Neither priority nor interrupt was seen: whether the scheduler let this thread in front is not known.
                if is_unordered && charge.by.is_some() && charge.confidence == Confidence::Medium {
                    charge = match blocking {
                        true => Charge { confidence: Confidence::Low, ..charge },
                        false => Charge::unexplained(),
                    };
                }
                intervals.fill(noise.start.max(from), to, time, charge);
            }
        }
    }

    /// The thread that the timer's interrupt hit, where the interrupt's sample is missing: threads are measured from
    /// that interrupt on, so its time begins right behind the expiry.
    fn first_thread(&self, due: Ns) -> Option<Tid> {
        let of_threads = self.noises.iter().filter(|(_, noise)| noise.source == NoiseSource::Thread);
        let first = of_threads.map(|(_, noise)| noise).find(|noise| noise.start + noise.duration > due)?;
        (first.start.since(due) <= LONGEST_PATH).then(|| thread_of(first))
    }

    fn track(
        &self,
        timeline: &Timeline,
        tid: Tid,
        comm: Comm,
        priority: Priority,
        ledger: &[Segment],
        running: Ns,
    ) -> CpuTrack {
        let below = match self.irq.map(|irq| irq.tid) {
            None => OnCpu::Unknown,
            Some(Tid::IDLE) => OnCpu::Idle,
            Some(current) => match task(timeline, running, current, "") {
                Culprit::Task { tid, comm, priority } => OnCpu::Task { tid, comm, priority },
                _ => OnCpu::Unknown,
            },
        };
        let own = OnCpu::Task { tid, comm, priority };
        let slices = ledger.iter().map(|segment| Slice {
            start: segment.start,
            end: segment.end,
            on_cpu: match segment.by {
                Some(Culprit::Task { tid, comm, priority }) => OnCpu::Task { tid, comm, priority },
                Some(Culprit::Irq { irq, name }) => OnCpu::Irq { irq, name },
                Some(Culprit::Softirq { vec }) => OnCpu::Softirq { vec },
                None if segment.start >= running => own,
                None => below,
            },
        });
        CpuTrack { cpu: self.cpu, slices: slices.collect() }
    }
}

/// Why the timer's interrupt was late, by the thread that it hit and the place.
fn delay_charge(
    timeline: &Timeline,
    current: Option<Tid>,
    place: Option<&Interrupted>,
    due: Ns,
    delay: Ns,
) -> Charge {
    let unknown = Charge::to(Cause::TimerLate, None, Confidence::Low);
    match (current, place) {
        (_, Some(Interrupted::Idle { .. })) if delay <= actors::LONGEST_IDLE_EXIT => {
            Charge::to(Cause::IdleExit, None, Confidence::Medium)
        }
        (Some(Tid::IDLE), _) if delay <= actors::LONGEST_IDLE_EXIT => {
            Charge::to(Cause::IdleExit, None, Confidence::Medium)
        }
        (Some(current), Some(Interrupted::Kernel { enabling: true, .. })) if !current.is_idle() => {
            Charge::to(Cause::IrqsDisabled, Some(task(timeline, due, current, "")), Confidence::Medium)
        }
        _ => unknown,
    }
}

/// What an interference is charged to; `blocking`: it is of the thread that the timer's interrupt came upon.
fn charge(timeline: &Timeline, noise: &Noise, blocking: bool) -> Charge {
    match noise.source {
        NoiseSource::Nmi => Charge::to(Cause::Nmi, None, Confidence::High),
        NoiseSource::Irq => Charge::to(Cause::Irq, Some(actors::irq(noise)), Confidence::High),
        NoiseSource::Softirq => {
            Charge::to(Cause::Softirq, Some(Culprit::Softirq { vec: noise.id }), Confidence::High)
        }
        // The CPU was idle: this is the kernel's path to the thread.
        NoiseSource::Thread if thread_of(noise).is_idle() => {
            Charge::to(Cause::Dispatch, None, Confidence::Medium)
        }
        NoiseSource::Thread => {
            let culprit = task(timeline, noise.start, thread_of(noise), noise.name.as_str());
            actors::in_front(culprit, blocking, Priority::realtime(PRIORITY))
        }
    }
}

/// True of an interference that a clock of whole milliseconds measured, as machines have that keep time by the tick:
/// its length is the clock's, not its own. By another clock it is one of a million.
pub(super) fn is_coarse(noise: &Noise) -> bool {
    const STEP: i64 = 1_000_000;
    noise.start != Ns::ZERO && noise.start.0 % STEP == 0 && noise.duration.0 % STEP == 0
}

/// True of an interrupt that ended after the sample in it was taken.
fn is_of_sample(seen: Ns, noise: &Noise, sample: Option<Sample>) -> bool {
    noise.source == NoiseSource::Irq
        && sample.is_some_and(|sample| seen >= sample.at && noise.start <= sample.at)
}

fn thread_of(noise: &Noise) -> Tid {
    Tid(i32::try_from(noise.id).unwrap_or(i32::MAX))
}
