//! The events of a text that were read so far: put in order, counted, with the losses between them.

use super::buffers::{Buffers, LostOf};
use super::event_head::EventHead;
use super::foreign;
use super::header::NotedLoss;
use super::pieces::{Pieces, Place};
use super::priorities::Priorities;
use super::sched::{Queued, RanFor};
use super::seen_cpus::SeenCpus;
use super::statistics::Statistics;
use super::tally::Tally;
use super::timehist::{Row, ShownRows, Slices};
use super::window::{WINDOW, Window};
use std::collections::BTreeMap;
use whylate_base::{Cpu, Ns, Priority};
use whylate_events::{
    Context, ContextFlags, Damage, Event, EventKind, Fact, Kind, KindSet, LeftOut, Marker, Wake,
};

/// Losses of one CPU that wait; the kernel notes one before each event.
const MOST_LOSSES: usize = 64;
/// An excerpt has few marks of lines that were left out.
const MOST_LEFT_OUT: usize = 1024;

/// Takes events in, line by line.
pub(crate) struct Collected {
    wanted: KindSet,
    pub(crate) window: Window,
    /// Records read so far, of every kind.
    pub(crate) read: u64,
    pub(crate) lost: u64,
    /// Loss notes that wait for the next event of their CPU, which gives them an instant.
    losses: BTreeMap<u32, Vec<EventKind>>,
    /// The buffers that the rows are of.
    pub(crate) buffers: Buffers,
    /// Where and when the last event was, wanted or not.
    pub(crate) last: Option<EventHead>,
    pub(crate) pieces: Pieces,
    /// Where a mark shows that lines were left out.
    left_out: Vec<LeftOut>,
    pub(crate) span: Option<(Ns, Ns)>,
    pub(crate) cpus: SeenCpus,
    backwards: Tally,
    /// The same between rows with words between them: parts that an author put into another order.
    parts_backwards: u64,
    too_late: Tally,
    /// Events with a priority that Linux does not have.
    foreign: Tally,
    statistics: Statistics,
    priorities: Priorities,
    /// Switches that lines of their own show.
    switches: usize,
    /// Rows of `perf sched timehist`, of which events are made.
    slices: Slices,
    shown_rows: ShownRows,
    /// The line of the first one.
    first_row: Option<u64>,
    /// Such rows beside events of another form.
    rows_beside: Tally,
    /// Rows of `perf sched timehist` with a delay from before another wake-up.
    contradicted: Tally,
}

impl Collected {
    pub(crate) fn new(wanted: KindSet) -> Collected {
        Collected {
            wanted,
            window: Window::default(),
            read: 0,
            lost: 0,
            losses: BTreeMap::new(),
            buffers: Buffers::default(),
            last: None,
            pieces: Pieces::default(),
            left_out: Vec::new(),
            span: None,
            cpus: SeenCpus::default(),
            backwards: Tally::default(),
            parts_backwards: 0,
            too_late: Tally::default(),
            foreign: Tally::default(),
            statistics: Statistics::default(),
            priorities: Priorities::default(),
            switches: 0,
            slices: Slices::default(),
            shown_rows: ShownRows::default(),
            first_row: None,
            rows_beside: Tally::default(),
            contradicted: Tally::default(),
        }
    }

    /// Leaves out what was read so far; `None` where some of it may have been asked for.
    pub(crate) fn begun_again(&self) -> Option<Collected> {
        (self.read < WINDOW as u64).then(|| Collected::new(self.wanted))
    }

    /// The event of the line `number`.
    pub(crate) fn event(&mut self, number: u64, event: Event) {
        let is_parted = self.pieces.is_parted();
        match self.pieces.place(&event, self.last) {
            Place::Within => {}
            Place::FirstOfCpu => self.loss(number, None, &event),
            place @ (Place::First | Place::FirstOfRecording) => {
                for last in self.pieces.begin(&event) {
                    self.loss(number, None, &last.event(EventKind::Other));
                }
                if place == Place::First {
                    self.loss(number, None, &event);
                }
            }
        }
        self.losses_before(number, &event);
        let is_earlier = self.last.is_some_and(|last| event.ts < last.ts);
        self.parts_backwards += u64::from(is_parted && is_earlier);
        self.met(number, &event);
        self.statistics.see(&event);
        self.priorities.learn(&event.kind);
        self.switches += usize::from(matches!(event.kind, EventKind::Switch(_)));
        self.keep(number, event);
    }

    /// The event of the line `number` states since when a thread has been on a runqueue. That is its wake-up where no row shows one;
    /// of a thread that was preempted it is nothing new. It may be before the first event.
    pub(crate) fn queued(&mut self, number: u64, at: Event, queued: Queued) {
        self.event(number, at);
        if !self.statistics.are_needed(&queued) {
            return;
        }
        let Queued { tid, comm, waited } = queued;
        let kind = EventKind::Waking(Wake { comm, tid, prio: Priority::UNKNOWN, target_cpu: at.cpu });
        // The end of a sleep is counted where its thread is woken: by the running one, unless an interrupt takes it over.
        let flags = at.context.flags;
        let context = match waited.is_none() && !flags.in_interrupt() && !at.context.is_unknown() {
            true => at.context,
            false => {
                let flags = ContextFlags::IRQS_UNKNOWN | ContextFlags::BYSTANDER;
                Context { tid: at.context.tid, flags, preempt_depth: None }
            }
        };
        let ts = (at.ts - waited.unwrap_or(Ns::ZERO)).max(Ns::ZERO);
        self.keep(number, Event { ts, context, kind, ..at });
    }

    /// The event of the line `number` states for how long the running thread has had its CPU.
    pub(crate) fn ran_for(&mut self, number: u64, at: Event, RanFor { tid, time }: RanFor) {
        let since = (at.ts - time).max(Ns::ZERO);
        let is_news = self.statistics.lack(at.cpu, tid, since) && self.pieces.cuts().is_empty();
        if is_news && tid == at.context.tid {
            let context = Context { tid, flags: ContextFlags::IRQS_UNKNOWN, preempt_depth: None };
            self.keep(number, Event { ts: since, context, ..at });
        }
        self.event(number, at);
    }

    /// An event that has no line of its own.
    pub(crate) fn also(&mut self, number: u64, event: Event) {
        self.read += 1;
        self.keep(number, event);
    }

    /// The row of `perf sched timehist` in the line `number`. A text with events of its own has these.
    pub(crate) fn row(&mut self, number: u64, row: Row, text: &str) {
        if self.slices.is_empty() && self.last.is_some() {
            self.rows_beside.add(number, "");
            return;
        }
        self.first_row = self.first_row.or(Some(number));
        // A second output of the same recording has nothing new in it.
        if self.shown_rows.has(text) && self.pieces.repeats(row.at()) {
            return;
        }
        if self.pieces.row(row.at()) {
            while let Some(event) = self.slices.next(true) {
                self.of_row(number, event);
            }
            self.slices.begin_again();
            self.pieces.begin_recording(number);
        }
        self.slices.row(row);
        if self.slices.is_contradicted() {
            self.contradicted.add(number, text);
        }
        while let Some(event) = self.slices.next(false) {
            self.of_row(number, event);
        }
    }

    fn of_row(&mut self, number: u64, event: Event) {
        match event.kind {
            EventKind::Lost { count, .. } => self.loss(number, count, &event),
            _ => self.event(number, event),
        }
    }

    /// True where the events were made of rows of `perf sched timehist`.
    pub(crate) fn is_timehist(&self) -> bool {
        !self.slices.is_empty()
    }

    /// Counts an event line and remembers it.
    pub(crate) fn met(&mut self, number: u64, event: &Event) {
        self.read += 1;
        self.cpus.of(event);
        if self.last.is_some_and(|last| event.ts < last.ts) {
            self.backwards.add(number, "");
        }
        self.span = match self.span {
            Some((first, last)) => Some((first.min(event.ts), last.max(event.ts))),
            None => Some((event.ts, event.ts)),
        };
        self.last = Some(EventHead::of(event));
    }

    /// The line `number` is a mark that lines were left out, after what was at `at`.
    pub(crate) fn leaves_out(&mut self, number: u64, at: Ns) {
        if self.left_out.len() < MOST_LEFT_OUT {
            self.left_out.push(LeftOut { at, line: number, ends_piece: false });
        }
    }

    /// Where lines were left out, and where pieces end.
    pub(crate) fn left_out(&self) -> Vec<LeftOut> {
        self.left_out.iter().chain(self.pieces.cuts()).copied().collect()
    }

    /// Keeps an event for those who asked for its kind.
    pub(crate) fn keep(&mut self, number: u64, event: Event) {
        if foreign::is_foreign(&event.kind) {
            self.foreign.add(number, "");
        }
        if self.wanted.contains(event.kind.kind()) && !self.window.push(event) {
            self.too_late.add(number, "");
        }
    }

    /// The next event in order; where some priorities are not those of Linux, without any.
    pub(crate) fn next(&mut self) -> Option<Event> {
        let mut event = self.window.pop()?;
        match self.foreign.count() {
            0 => self.priorities.complete(&mut event.kind),
            _ => event.kind = foreign::without_priorities(event.kind),
        }
        Some(event)
    }

    /// Events of a CPU were lost before its next one.
    pub(crate) fn loss_waits(&mut self, loss: &NotedLoss<'_>) {
        let LostOf { since, kinds } = self.buffers.lost(loss.buffer, loss.cpu.0);
        let waiting = self.losses.entry(loss.cpu.0).or_default();
        if waiting.len() < MOST_LOSSES {
            waiting.push(EventKind::Lost { count: loss.count, since, kinds });
        }
    }

    /// Events were lost, and an event line notes it.
    pub(crate) fn loss_at(&mut self, number: u64, count: Option<u64>, at: &Event) {
        self.losses_before(number, at);
        self.loss(number, count, at);
    }

    fn losses_before(&mut self, number: u64, event: &Event) {
        if self.losses.is_empty() {
            return;
        }
        for kind in self.losses.remove(&event.cpu.0).unwrap_or_default() {
            self.lost_at(number, Event { kind, ..*event });
        }
    }

    fn loss(&mut self, number: u64, count: Option<u64>, at: &Event) {
        let kind = EventKind::Lost { count, since: None, kinds: KindSet::NONE };
        self.lost_at(number, Event { kind, ..*at });
    }

    fn lost_at(&mut self, number: u64, loss: Event) {
        if let EventKind::Lost { count: Some(count), .. } = loss.kind {
            self.lost = self.lost.saturating_add(count);
        }
        self.keep(number, loss);
    }

    /// The header's facts as markers before the first event, in its thread's context so that
    /// no other thread seems to have run then.
    pub(crate) fn facts_first(&mut self, facts: Vec<Fact>) {
        let last = self.last.map(|last| last.event(EventKind::Other));
        let Some(first) = self.window.first().copied().or(last) else { return };
        let wanted = self.wanted.contains(Kind::Marker);
        for fact in facts.into_iter().rev().filter(|_| wanted) {
            self.window.push_first(Event { kind: marker(&fact), ..first });
        }
    }

    /// Facts between the events, which hold from there on.
    pub(crate) fn facts_at(&mut self, number: u64, at: EventHead, facts: Vec<Fact>) {
        for fact in facts {
            self.keep(number, at.event(marker(&fact)));
        }
    }

    /// Of one run in two forms the events are taken: they show more than the rows.
    fn drop_rows_of_the_same_run(&mut self) {
        let (Some((from, to)), Some((first, last))) = (self.span, self.slices.span()) else { return };
        let rows = self.slices.switches();
        if first <= to && from <= last && self.switches.saturating_mul(2) >= rows {
            let number = self.first_row.unwrap_or_default();
            (0..rows).for_each(|_| self.rows_beside.add(number, ""));
            self.slices = Slices::default();
        }
    }

    /// The text has ended: losses that no event of their CPU follows are placed at the last one.
    pub(crate) fn end(&mut self, number: u64) {
        self.drop_rows_of_the_same_run();
        while let Some(event) = self.slices.next(true) {
            self.of_row(number, event);
        }
        let Some(last) = self.last else { return };
        let end = self.span.map_or(last.ts, |(_, end)| end);
        for last in self.pieces.end(end) {
            self.loss(number, None, &last.event(EventKind::Other));
        }
        for (cpu, losses) in std::mem::take(&mut self.losses) {
            let at = EventHead { cpu: Cpu(cpu), context: Context::default(), ..last };
            losses.into_iter().for_each(|kind| self.lost_at(number, at.event(kind)));
        }
    }

    /// What of the events' order is damaged.
    pub(crate) fn damage(&self) -> [Option<Damage>; 5] {
        let backwards = self.backwards.count();
        [
            (backwards > 0).then(|| match backwards == self.parts_backwards {
                // No event is missing.
                true => Damage::whole(
                    "the parts of the text are not in the order of their times: the events were sorted",
                )
                .detail(),
                false => Damage::whole(format!(
                    "time runs backwards at {backwards} places: the events were sorted"
                )),
            }),
            self.too_late.damage("events left out, as later ones than they were far before them in the text"),
            self.foreign
                .damage("events with priorities that Linux does not have, so that no priority is used"),
            self.rows_beside.damage(
                "rows of perf sched timehist beside events are left out: save them in a file of their own",
            ),
            self.contradicted.damage(
                "rows whose `sch delay` began before another wake-up of their thread, which shows that events were lost meanwhile: the \
                 lateness counts from the last wake-up, and whether the thread was late before that is not known",
            ),
        ]
    }
}

fn marker(fact: &Fact) -> EventKind {
    EventKind::Marker(Marker::from(fact.to_string().as_str()))
}
