//! One CPU's events of timerlat, from the kernel's pages to samples.

use crate::Counts;
use crate::histogram::LiveHistogram;
use crate::sampler::Sampler;
use crate::warm_up::timerlat_warm_up;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use whylate_base::Ns;
use whylate_events::{EventKind, Timerlat, TimerlatContext};
use whylate_ftrace::bytes::Endian;
use whylate_ftrace::decode::Decoders;
use whylate_ftrace::format::{EventFormat, EventFormats};
use whylate_ftrace::page::PageLayout;
use whylate_ftrace::symbols::{SymbolCache, Symbols};
use whylate_ftrace::tracefs::{Instance, PageReader, TracefsError};

/// Pages taken at once: what a full buffer has, and what is written meanwhile. Then it is the next CPU's turn.
const PAGES: usize = 1024;

/// What it takes to read the events.
pub(super) struct Decoding {
    layout: PageLayout,
    decoders: Decoders,
    /// The events have no symbols.
    symbols: SymbolCache,
    page: Vec<u8>,
}

impl Decoding {
    pub(super) fn of(instance: &Instance) -> Result<Decoding, TracefsError> {
        let file = "events/ftrace/timerlat/format";
        let text = instance.tracefs().read(file)?;
        let format = EventFormat::parse("ftrace", &text).ok_or_else(|| TracefsError::Malformed {
            path: instance.tracefs().root().join(file),
            what: format!("no format of an event that is known to whylate: {text:?}"),
        })?;
        let mut formats = EventFormats::default();
        formats.insert(format);
        let pages = instance.page_layout()?;
        Ok(Decoding {
            layout: pages.layout,
            decoders: Decoders::new(&formats, Endian::NATIVE),
            symbols: SymbolCache::new(Arc::new(Symbols::parse(Vec::new()))),
            page: vec![0; pages.size],
        })
    }

    /// The events of the page that was read.
    fn events(&mut self, mut take: impl FnMut(Ns, Timerlat)) {
        let Some(mut cursor) = self.layout.open(&self.page) else { return };
        while let Some(record) = cursor.next(&self.page) {
            let Some(bytes) = self.page.get(record.bytes) else { continue };
            let Some(id) = self.decoders.id(bytes) else { continue };
            if let Some(EventKind::Timerlat(sample)) = self.decoders.decode(id, bytes, &mut self.symbols) {
                take(Ns(i64::try_from(record.timestamp).unwrap_or(i64::MAX)), sample);
            }
        }
    }
}

/// A CPU that is measured.
pub(super) struct CpuTrack {
    pages: PageReader,
    counted: Counted,
}

impl CpuTrack {
    /// `last` is whose latency is the sample.
    pub(super) fn new(pages: PageReader, sampler: Sampler, last: TimerlatContext, interval: Ns) -> CpuTrack {
        CpuTrack { pages, counted: Counted::new(sampler, last, interval) }
    }

    pub(super) fn begin(&mut self, at: Ns) {
        self.counted.begin = at;
    }

    /// Takes in what the kernel has written.
    pub(super) fn drain(&mut self, decoding: &mut Decoding) -> Result<(), TracefsError> {
        for _ in 0..PAGES {
            if self.pages.read_page(&mut decoding.page)?.is_none() {
                break;
            }
            decoding.events(|at, sample| self.counted.take(at, &sample));
        }
        Ok(())
    }

    pub(super) fn is_over(&self) -> bool {
        self.counted.sampler.is_over()
    }

    /// When the activation in progress was due; `None` between two of them.
    pub(super) fn waits_since(&self) -> Option<Ns> {
        self.counted.current.as_ref().filter(|current| !current.done).map(|current| current.due)
    }

    pub(super) fn counts(&self) -> Counts {
        let Counted { irq, thread, last, lost, .. } = &self.counted;
        Counts::Timerlat {
            irq: irq.snapshot(),
            thread: (*last == TimerlatContext::UserReturn).then(|| thread.snapshot()),
            lost: *lost,
        }
    }

    pub(super) fn close(&mut self) {
        self.counted.sampler.end();
    }
}

/// What the events of a CPU come to.
struct Counted {
    sampler: Sampler,
    last: TimerlatContext,
    interval: Ns,
    /// What was due earlier does not count.
    begin: Ns,
    /// So many more that do not.
    warm_up: u32,
    current: Option<Current>,
    irq: LiveHistogram,
    thread: LiveHistogram,
    lost: u64,
}

/// The latest activation: an interrupt, a thread, a return, with one number.
struct Current {
    seq: u32,
    /// The earliest that its events show: each was written a little after it had read the clock.
    due: Ns,
    counts: bool,
    done: bool,
}

impl Counted {
    fn new(sampler: Sampler, last: TimerlatContext, interval: Ns) -> Counted {
        Counted {
            sampler,
            last,
            interval,
            begin: Ns::MAX,
            warm_up: timerlat_warm_up(interval),
            current: None,
            irq: LiveHistogram::new(),
            thread: LiveHistogram::new(),
            lost: 0,
        }
    }

    fn take(&mut self, at: Ns, sample: &Timerlat) {
        let done = sample.context == self.last;
        let current = self.activation(at - sample.latency, sample.seq);
        let (due, counts) = (current.due, current.counts);
        current.done |= done;
        // Of one that is late, when it was due; else when the next will be.
        let expected = if current.done { due + self.interval } else { due };
        self.sampler.recorder.due.store(expected.0, Relaxed);
        if !counts {
            return;
        }
        match sample.context {
            TimerlatContext::Irq => self.irq.record(sample.latency),
            TimerlatContext::Thread => self.thread.record(sample.latency),
            TimerlatContext::UserReturn => {}
        }
        if done {
            self.sampler.sample(due, due + sample.latency);
        }
    }

    /// The activation of that number, which was due by then.
    fn activation(&mut self, due: Ns, seq: u32) -> &mut Current {
        let new = match self.current.take() {
            Some(current) if current.seq == seq => Current { due: current.due.min(due), ..current },
            before => {
                let counts = due >= self.begin && !self.sampler.is_over() && self.is_warm();
                match before.filter(|before| before.counts) {
                    Some(before) if counts => self.between(&before, due, seq),
                    None if counts => self.sampler.begin(due),
                    _ => {}
                }
                Current { seq, due, counts, done: false }
            }
        };
        self.current.insert(new)
    }

    /// True after the first few activations, of which this may be one.
    fn is_warm(&mut self) -> bool {
        let left = self.warm_up;
        self.warm_up = left.saturating_sub(1);
        left == 0
    }

    /// Periods without an activation were missed; activations without an event were lost.
    fn between(&mut self, before: &Current, due: Ns, seq: u32) {
        let activations = i64::from(seq.wrapping_sub(before.seq));
        let interval = self.interval.0.max(1);
        let periods = ((due - before.due).0 + interval / 2) / interval;
        self.sampler.recorder.miss(periods - activations);
        self.lost += u64::try_from(activations - 1).unwrap_or(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recorder::{Recorder, Signals};
    use crate::sampler::Wanted;
    use TimerlatContext::{Irq, Thread, UserReturn};
    use whylate_base::Cpu;

    const PERIOD: Ns = Ns::from_ms(1);
    /// Between reading the clock and writing the event.
    const WRITTEN: Ns = Ns(300);

    fn counted(last: TimerlatContext, wanted: Wanted) -> Counted {
        let sampler = Sampler::new(Cpu(0), wanted, Arc::new(Recorder::new()), Arc::new(Signals::default()));
        Counted { begin: Ns::from_ms(5), ..Counted::new(sampler, last, PERIOD) }
    }

    const ALL: Wanted = Wanted { threshold: Ns(1), worst: 0, stop_at_threshold: false, loops: u64::MAX };

    fn activation(counted: &mut Counted, seq: u32, period: i64, parts: &[(TimerlatContext, i64)]) {
        let due = Ns(PERIOD.0 * period);
        for (nth, &(context, latency)) in (1..).zip(parts) {
            let latency = Ns(latency);
            counted.take(due + latency + Ns(WRITTEN.0 * nth), &Timerlat { seq, context, latency });
        }
    }

    #[test]
    fn each_latency_is_counted_as_the_tracer_measured_it() {
        let mut counted = counted(UserReturn, ALL);
        for period in 0..30 {
            let latencies = [(Irq, 1_000 + period), (Thread, 5_000 + period), (UserReturn, 7_000 + period)];
            activation(&mut counted, period as u32 + 1, period, &latencies);
        }
        // From period 5 on, without ten to warm up.
        let histogram = counted.sampler.recorder.histogram.snapshot();
        assert_eq!(
            [&histogram, &counted.irq.snapshot(), &counted.thread.snapshot()].map(|part| (
                part.count(),
                part.min(),
                part.max()
            )),
            [7, 1, 5].map(|us| (15, Some(Ns(us * 1_000 + 15)), Some(Ns(us * 1_000 + 29))))
        );
        let first = counted.sampler.recorder.spikes.pop().expect("a spike");
        assert_eq!(first, [15_000_300, 15_007_315, 0], "due a clock's reading late, and exactly as late");
        assert_eq!((counted.lost, counted.sampler.recorder.missed.load(Relaxed)), (0, 0));
        assert!(counted.current.is_some_and(|current| current.done));
        assert_eq!(counted.sampler.recorder.due(), Ns(30_000_300));
    }

    #[test]
    fn periods_without_an_activation_and_activations_without_events_are_told_apart() {
        let mut counted = counted(Thread, ALL);
        let on_time = [(Irq, 1_000), (Thread, 5_000)];
        for (seq, period) in (1..=20).zip(0..20) {
            activation(&mut counted, seq, period, &on_time);
        }
        // 4.5 ms late: the kernel leaves out the periods that passed.
        activation(&mut counted, 21, 20, &[(Irq, 1_000), (Thread, 4_500_000)]);
        activation(&mut counted, 22, 25, &on_time);
        // Of two further ones the events were overwritten.
        activation(&mut counted, 25, 28, &on_time);
        assert_eq!((counted.sampler.recorder.missed.load(Relaxed), counted.lost), (4, 2));
        assert_eq!(counted.sampler.recorder.histogram.snapshot().max(), Some(Ns(4_500_000)));
        activation(&mut counted, 26, 29, &[(Irq, 2_000)]);
        assert_eq!(counted.sampler.recorder.due(), Ns(29_000_300), "that thread has not run");
        assert!(counted.current.is_some_and(|current| !current.done));
    }

    #[test]
    fn enough_is_enough() {
        let mut counted = counted(Thread, Wanted { loops: 3, ..ALL });
        for period in 5..50 {
            activation(&mut counted, period as u32, period, &[(Irq, 1_000), (Thread, 5_000)]);
        }
        let count = |histogram: &LiveHistogram| histogram.snapshot().count();
        assert!(counted.sampler.is_over());
        assert_eq!((count(&counted.sampler.recorder.histogram), count(&counted.irq)), (3, 3));
    }
}
